//! Git exports over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::Server;

fn request(field: &str, value: Value) -> Value {
    let mut body = json!({
        "url": "https://git.example/docs", "ref": "refs/heads/main", "commitMessage": "Explain the limits",
    });
    // A dot separates the object name from the field name.
    match field.split_once('.') {
        Some((outer, inner)) => body[outer] = json!({ inner: value }),
        None => body[field] = value,
    }
    body
}

#[tokio::test]
async fn export_returns_a_job_that_reports_the_result() {
    let s = Server::new().await;
    s.repository.put("README.md", "# Start\n");
    let space = format!("/v1/spaces/{}", s.space().await);
    let body = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    s.post(&format!("{space}/git/import"), 204, body).await;
    s.platform.settle().await.expect("settled");
    s.clock.advance(Duration::from_millis(1));
    let request = request("repoCommitURL", json!("https://git.example/commit"));
    let request = request_with(request, "ref", json!("refs/heads/docs"));
    let answer = s.post(&format!("{space}/git/export"), 204, request).await;
    let link = answer.header("link").expect("where the job is");
    let path =
        link.strip_prefix("<https://docs.example").and_then(|rest| rest.split_once('>')).expect("a link").0;
    s.platform.settle().await.expect("settled");
    let job = s.get(path).await;
    assert_eq!(
        (&job["kind"], &job["state"], &job["error"]),
        (&json!("git_export"), &json!("done"), &Value::Null)
    );
    let content = s.get(&format!("{space}/content")).await;
    assert_eq!(content["id"], job["result"]["revision"]);
    let oid = s.repository.commits()[0].branch.commit.oid.clone();
    assert_eq!(
        content["git"],
        json!({
            "oid": oid, "message": "Explain the limits", "createdByGitBook": true, "createdByPlatform": true,
            "ref": "refs/heads/docs", "url": format!("https://git.example/commit/{oid}"),
        })
    );
}

fn request_with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

#[tokio::test]
async fn invalid_export_field_is_rejected_by_name() {
    let s = Server::new().await;
    let path = format!("/v1/spaces/{}/git/export", s.space().await);
    let long = |length: usize| json!("x".repeat(length));
    for (field, values) in [
        (
            "url",
            vec![
                json!(""),
                json!("example.com/a"),
                json!("ssh://git@git.example/a"),
                json!("https://"),
                json!(1),
                long(2049),
            ],
        ),
        (
            "ref",
            vec![
                json!(""),
                json!("main"),
                json!("refs/tags/v1"),
                json!("refs/heads/"),
                json!(null),
                long(1025),
            ],
        ),
        ("commitMessage", vec![json!(""), json!("  \n"), json!(null), json!(["x"]), long(4001)]),
        ("repoCacheID", vec![json!(1), long(513)]),
        ("repoTreeURL", vec![json!("https://me:pw@git.example/x"), json!(1), long(2049)]),
        ("repoCommitURL", vec![json!("https://me:pw@git.example/x"), json!(1), long(2049)]),
        ("repoProjectDirectory", vec![json!("../up"), json!("/top"), json!(1), long(1025)]),
        ("timestamp", vec![json!("yesterday"), json!(1)]),
        ("force", vec![json!("yes"), json!(1)]),
        ("gitInfo", vec![json!("github"), json!(1)]),
        ("gitInfo.provider", vec![json!("gitea"), json!(1)]),
        ("gitInfo.url", vec![json!("https://me:pw@git.example/x"), json!(1), long(2049)]),
    ] {
        for value in values {
            s.invalid("POST", &path, request(field, value), field).await;
        }
    }
    for field in ["url", "ref", "commitMessage"] {
        let mut body = request("force", json!(true));
        body.as_object_mut().expect("an object").remove(field);
        s.invalid("POST", &path, body, field).await;
    }
    assert!(s.repository.urls().is_empty(), "nothing was asked of the repository");
}

#[tokio::test]
async fn legacy_installation_removal_is_a_no_op() {
    let s = Server::new().await;
    let space = s.space().await;
    for space in [space.as_str(), "gone", "no-id!"] {
        let path = format!("/v1/spaces/{space}/git/legacy-installation");
        for _ in 0..2 {
            s.ask("DELETE", &path, &s.admin, None).await.is(204, &path);
        }
    }
}
