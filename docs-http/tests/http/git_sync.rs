//! Git synchronization over HTTP: the settings, and webhook deliveries from Git hosts.

use std::{io, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, future::join_all, stream};
use hmac::{Hmac, KeyInit, Mac};
use poem::Body;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::time::timeout;

use crate::{
    server::{Answer, Server},
    story::has,
};

/// The fields of every response with the settings.
const SETTING: &[&str] = &[
    "object",
    "url",
    "ref",
    "direction",
    "hasCredentials",
    "webhook.url",
    "webhook.secretCreatedAt",
    "state.inStep",
    "setBy.displayName",
    "updatedAt",
];

fn setting(field: &str, value: Value) -> Value {
    let mut body =
        json!({ "url": "https://git.example/docs", "ref": "refs/heads/main", "direction": "both" });
    body[field] = value;
    body
}

fn signed(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    mac.update(body.as_bytes());
    format!("sha256={}", data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()))
}

/// Creates a space synchronized with a repository. Returns the path of the settings, the path of the webhook, and the
/// secret.
async fn in_step(s: &Server) -> (String, String, String) {
    s.repository.put("README.md", "# Start\n\nHello.\n");
    let path = format!("/v1/spaces/{}/git/sync", s.space().await);
    let set = s.put(&path, setting("schedule", json!(30))).await;
    s.platform.settle().await.expect("settled");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let webhook = text(&set["webhook"]["url"]);
    let webhook = webhook.strip_prefix("https://docs.example").expect("this server").to_owned();
    (path, webhook, text(&set["webhook"]["secret"]))
}

/// Exports a space to a repository until both have the same content.
pub(crate) async fn followed(s: &Server, space: &str) {
    let path = format!("/v1/spaces/{space}/git/sync");
    s.put(&path, setting("direction", json!("export"))).await;
    s.platform.settle().await.expect("settled");
}

/// Calls every synchronization operation.
pub(crate) async fn story(s: &Server) {
    let path = format!("/v1/spaces/{}/git/sync", s.space().await);
    let bare = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main", "direction": "both" });
    let set = s.put(&path, bare).await;
    has(&set, SETTING);
    has(&set, &["webhook.secret"]);
    assert_eq!(set["schedule"], Value::Null);
    for absent in ["commitMessage", "provider", "repoTreeURL", "repoProjectDirectory"] {
        assert!(set.get(absent).is_none(), "{absent}");
    }
    s.platform.settle().await.expect("settled");
    let shown = s.get(&path).await;
    has(&shown, SETTING);
    has(&shown["state"], &["commit", "lastImport.commit", "job.id", "job.state", "job.endedAt"]);
    let full = json!({
        "url": "https://me:hidden@git.example/docs", "ref": "refs/heads/main", "direction": "export", "schedule": 60,
        "commitMessage": "Publish", "provider": "github", "repoTreeURL": "https://git.example/docs/tree/main",
        "repoCommitURL": "https://git.example/docs/commit", "repoProjectDirectory": "docs",
    });
    let set = s.put(&path, full).await;
    has(&set, SETTING);
    has(
        &set,
        &["schedule", "commitMessage", "provider", "repoTreeURL", "repoCommitURL", "repoProjectDirectory"],
    );
    assert_eq!((&set["hasCredentials"], set.to_string().contains("hidden")), (&json!(true), false), "{set}");
    has(&s.post(&format!("{path}/secret"), 200, json!({})).await.body, &["webhook.secret"]);
    s.post(&format!("{path}/run"), 204, json!({})).await;
    s.platform.settle().await.expect("settled");
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "removed");
}

#[tokio::test]
async fn git_sync_of_a_space_is_an_installation() {
    let s = Server::new().await;
    let space = s.space().await;
    let one = format!("/v1/git/installations/{space}");
    s.ask("GET", &one, &s.admin, None).await.refused(404, "without Git Sync");
    s.ask("DELETE", &one, &s.admin, None).await.is(204, "without Git Sync");
    let site = s.site("Docs", &[&space, &s.space().await]).await;
    let list = format!("{site}/spaces/git/installations");
    assert_eq!(s.get(&list).await, json!({ "count": 0, "items": [] }));
    let full = json!({
        "url": "https://me:hidden@git.example/docs", "ref": "refs/heads/main", "direction": "export",
        "commitMessage": "Publish", "repoProjectDirectory": "docs",
    });
    s.put(&format!("/v1/spaces/{space}/git/sync"), full.clone()).await;
    let first = s.get(&one).await;
    let (created, updated) = (first["createdAt"].clone(), first["updatedAt"].clone());
    let me = s.get("/v1/user").await;
    assert_eq!(
        first,
        json!({
            "object": "git-sync-installation", "id": space, "target": { "type": "space", "spaceId": space },
            "status": "active", "provider": "gitlab", "providerConfiguration": { "branch": "refs/heads/main" },
            "projectDirectory": "docs", "commitMessageTemplate": "Publish", "createdAt": created, "updatedAt": updated,
            "createdBy": me["id"], "urls": { "location": format!("https://docs.example{one}") },
        })
    );
    assert_eq!(s.get(&list).await, json!({ "count": 1, "items": [first] }));
    s.put(
        &format!("/v1/spaces/{space}/git/sync"),
        json!({
            "url": "https://github.com/engines/docs", "ref": "refs/heads/next", "direction": "export",
        }),
    )
    .await;
    let changed = s.get(&one).await;
    assert_eq!((&changed["createdAt"], &changed["provider"]), (&created, &json!("github")));
    assert_eq!(changed["providerConfiguration"], json!({ "branch": "refs/heads/next" }));
    // Only those who may manage the space see its setting.
    let seen = s.ask("GET", &list, &s.reader, None).await.is(200, "a reader of the site");
    assert_eq!(seen, json!({ "count": 0, "items": [] }));
    s.ask("GET", &one, &s.reader, None).await.refused(403, "a reader");
    s.ask("DELETE", &one, &s.reader, None).await.refused(403, "a reader");
    s.ask("DELETE", &one, &s.outsider, None).await.is(204, "a hidden space");
    s.ask("DELETE", &one, &s.admin, None).await.is(205, "removed");
    s.ask("GET", &one, &s.admin, None).await.refused(404, "removed");
    s.ask("GET", &format!("/v1/spaces/{space}/git/sync"), &s.admin, None).await.refused(404, "removed");
}

#[tokio::test]
async fn sync_setting_is_created_read_run_and_deleted() {
    let s = Server::new().await;
    let (path, ..) = in_step(&s).await;
    let shown = s.get(&path).await;
    assert_eq!(
        (&shown["object"], &shown["url"], &shown["ref"], &shown["direction"], &shown["schedule"]),
        (
            &json!("git-sync"),
            &json!("https://git.example/docs"),
            &json!("refs/heads/main"),
            &json!("both"),
            &json!(30)
        )
    );
    assert_eq!((&shown["hasCredentials"], &shown["webhook"]["secret"]), (&json!(false), &Value::Null));
    let state = &shown["state"];
    assert_eq!((&state["inStep"], &state["job"]["state"]), (&json!(true), &json!("done")));
    assert_eq!(state["lastImport"]["commit"], state["commit"]);
    s.clock.advance(Duration::from_millis(1));
    let run = s.ask("POST", &format!("{path}/run"), &s.admin, None).await;
    run.is(204, "run");
    let made = s.ask("POST", &format!("{path}/secret"), &s.admin, None).await.is(200, "rotated");
    assert_eq!(made["webhook"]["secret"].as_str().map(str::len), Some(64));
    for _ in 0..2 {
        s.platform.settle().await.expect("settled");
    }
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "removed");
    s.ask("GET", &path, &s.admin, None).await.refused(404, "removed");
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "gone already");
    s.check().await;
}

#[tokio::test]
async fn invalid_setting_field_is_rejected_by_name() {
    let s = Server::new().await;
    let path = format!("/v1/spaces/{}/git/sync", s.space().await);
    let long = |length: usize| json!("x".repeat(length));
    for (field, values) in [
        ("url", vec![json!(""), json!("ssh://git@git.example/docs"), json!(1), long(2049)]),
        ("ref", vec![json!("main"), json!("refs/tags/one"), json!(""), long(1025)]),
        ("direction", vec![json!("up"), json!(1), Value::Null]),
        ("schedule", vec![json!(0), json!(4), json!(10_081), json!(-1), json!("hourly")]),
        ("commitMessage", vec![json!(""), json!(" \n"), json!(1), long(4001)]),
        ("provider", vec![json!("gitea"), json!(1)]),
        ("repoTreeURL", vec![json!("https://me:pw@git.example/x"), json!(1), long(2049)]),
        ("repoCommitURL", vec![json!("https://me:pw@git.example/x"), json!(1), long(2049)]),
        ("repoProjectDirectory", vec![json!("../up"), json!("/top"), json!(1), long(1025)]),
    ] {
        for value in values {
            s.invalid("PUT", &path, setting(field, value), field).await;
        }
    }
    assert!(s.repository.urls().is_empty(), "nothing was asked of the repository");
}

/// A body that sends `bytes` and then never ends.
pub(crate) fn unfinished(bytes: usize) -> Body {
    let first = Bytes::from(vec![b' '; bytes]);
    Body::from_bytes_stream(stream::iter([Ok::<_, io::Error>(first)]).chain(stream::pending()))
}

async fn deliver(s: &Server, webhook: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    s.send_with("POST", webhook, headers, Some(("application/json", body.to_owned()))).await
}

#[tokio::test]
async fn push_events_of_every_git_host_are_accepted() {
    let s = Server::new().await;
    let (path, webhook, secret) = in_step(&s).await;
    let body = json!({ "ref": "refs/heads/main", "after": "f".repeat(40), "commits": [] }).to_string();
    let signature = signed(&secret, &body);
    for (what, headers, status) in [
        ("GitHub", vec![("X-Hub-Signature-256", signature.as_str()), ("X-GitHub-Event", "push")], 202),
        ("GitHub's test", vec![("X-Hub-Signature-256", signature.as_str()), ("X-GitHub-Event", "ping")], 204),
        (
            "GitHub's issues",
            vec![("X-Hub-Signature-256", signature.as_str()), ("X-GitHub-Event", "issues")],
            204,
        ),
        ("GitLab", vec![("X-Gitlab-Token", secret.as_str()), ("X-Gitlab-Event", "Push Hook")], 202),
        ("GitLab's notes", vec![("X-Gitlab-Token", secret.as_str()), ("X-Gitlab-Event", "Note Hook")], 204),
        ("Gitea", vec![("X-Hub-Signature-256", signature.as_str()), ("X-Gitea-Event", "push")], 202),
        ("Forgejo", vec![("X-Hub-Signature-256", signature.as_str()), ("X-Forgejo-Event", "push")], 202),
        ("Bitbucket", vec![("X-Hub-Signature", signature.as_str()), ("X-Event-Key", "repo:push")], 202),
    ] {
        let answer = deliver(&s, &webhook, &headers, &body).await;
        assert_eq!((answer.status, &answer.body), (status, &Value::Null), "{what}");
    }
    // All deliveries together enqueued one job.
    let jobs = s.get(&path.replace("git/sync", "jobs")).await;
    assert_eq!(jobs["items"].as_array().map(Vec::len), Some(2), "{jobs:#}");
    s.platform.settle().await.expect("settled");
}

#[tokio::test]
async fn unauthenticated_delivery_gets_404_like_unknown_webhook() {
    let s = Server::new().await;
    let (_, webhook, secret) = in_step(&s).await;
    let body = json!({ "ref": "refs/heads/main", "after": "f".repeat(40) }).to_string();
    let (right, other) = (signed(&secret, &body), signed(&secret, "another body"));
    let nowhere = format!("/webhooks/git/{}", s.space().await);
    let before = s.stored().await;
    let (event, bearer) = (("X-GitHub-Event", "push"), format!("Bearer {}", s.admin));
    let mut answers = Vec::new();
    for (webhook, headers) in [
        (&*webhook, vec![event]),
        (&*webhook, vec![event, ("X-Hub-Signature-256", other.as_str())]),
        (&*webhook, vec![event, ("X-Hub-Signature-256", "sha256=00")]),
        (&*webhook, vec![("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", "guess")]),
        (&*webhook, vec![event, ("Authorization", bearer.as_str())]),
        (&*nowhere, vec![event, ("X-Hub-Signature-256", right.as_str())]),
        ("/webhooks/git/unknown", vec![event, ("X-Hub-Signature-256", right.as_str())]),
    ] {
        let answer = deliver(&s, webhook, &headers, &body).await;
        answer.refused(404, webhook);
        answers.push(answer.body);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:#?}");
    assert!(before == s.stored().await, "nothing changed");
    assert_eq!(s.send_with("GET", &webhook, &[], None).await.status, 405);
}

#[tokio::test]
async fn unauthenticated_or_too_long_is_rejected_before_its_body() {
    let s = Server::new().await;
    let (_, webhook, secret) = in_step(&s).await;
    let signature = signed(&secret, "x");
    for (headers, status) in [
        (vec![("X-GitHub-Event", "push")], 404),
        (vec![("X-Hub-Signature-256", "sha256=00")], 404),
        (vec![("X-Hub-Signature-256", "sha1=0000000000000000000000000000000000000000")], 404),
        (vec![("X-Gitlab-Token", "guess")], 404),
        (vec![("X-Hub-Signature-256", signature.as_str()), ("Content-Length", "26214401")], 413),
    ] {
        for at in [webhook.as_str(), "/webhooks/git/unknown"] {
            let never = futures_util::stream::pending::<std::io::Result<bytes::Bytes>>();
            let mut request = s.client.post(at).body(poem::Body::from_bytes_stream(never));
            for (name, value) in &headers {
                request = request.header(*name, *value);
            }
            let answer = request.send().await.0;
            assert_eq!(answer.status().as_u16(), status, "{headers:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn deliveries_without_proof_use_no_memory_of_others() {
    let s = Server::new().await;
    let (_, attacked, _) = in_step(&s).await;
    let (_, webhook, secret) = in_step(&s).await;
    let wrong = signed("guess", "x");
    let unproven = (0..40).map(|_| {
        let request = s.client.post(&attacked).header("X-Hub-Signature-256", &wrong);
        request.header("X-GitHub-Event", "push").body(unfinished(1 << 20)).send()
    });
    let mut unproven = std::pin::pin!(join_all(unproven));
    assert!(timeout(Duration::from_millis(10), &mut unproven).await.is_err(), "they are not finished");
    let commits = "x".repeat(8_000_000);
    for (reference, status) in [("refs/heads/main", 202), ("refs/heads/other", 204)] {
        let body = json!({ "commits": commits, "ref": reference, "after": "f".repeat(40) }).to_string();
        let signature = signed(&secret, &body);
        let headers = [("X-Hub-Signature-256", signature.as_str()), ("X-GitHub-Event", "push")];
        assert_eq!(deliver(&s, &webhook, &headers, &body).await.status, status, "{reference}");
    }
}
