//! The jobs of a space over HTTP, listed in any state.

use std::time::Duration;

use docs_memstore::{CallKind, Fault, FaultPlan};
use serde_json::{Value, json};

use crate::server::{Server, id};

/// Requests an import. Returns the path of its job.
async fn import(s: &Server, space: &str, url: &str, reference: &str) -> String {
    // Ensures that every job is newer than the previous one.
    s.clock.advance(Duration::from_millis(1));
    let body = json!({ "url": url, "ref": reference });
    let answer = s.post(&format!("{space}/git/import"), 204, body).await;
    let link = answer.header("link").expect("where the job is").to_owned();
    let path =
        link.strip_prefix("<https://docs.example").and_then(|rest| rest.strip_suffix(">; rel=\"status\""));
    path.unwrap_or_else(|| panic!("{link}")).to_owned()
}

/// Puts three pages into the repository.
fn three_pages(s: &Server) {
    for page in ["README.md", "a.md", "b.md"] {
        s.repository.put(page, "# Page\n");
    }
    s.repository.put("SUMMARY.md", "* [Start](README.md)\n* [A](a.md)\n* [B](b.md)\n");
}

async fn jobs(s: &Server, space: &str) -> Vec<Value> {
    s.get(&format!("{space}/jobs")).await["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn failed_import_is_listed_with_its_error() {
    let s = Server::new().await;
    s.repository.put("README.md", "# Start\n");
    let space = format!("/v1/spaces/{}", s.space().await);
    let before = s.get(&space).await;
    for (url, reference, error) in [
        ("https://git.example/docs", "refs/heads/nope", "ref: the repository has no `refs/heads/nope`"),
        (
            "https://me:hunter2@git.example/docs",
            "refs/heads/nope",
            "ref: the repository has no `refs/heads/nope`",
        ),
        ("https://git.example/none", "refs/heads/main", "the URL is not the URL of a repository"),
        (
            "https://me:hunter2@git.example/locked",
            "refs/heads/main",
            "the repository rejected the credentials",
        ),
        (
            "https://me:hunter2@git.example/broken",
            "refs/heads/main",
            "failed to read the repository: https://…@git.example/broken is damaged",
        ),
    ] {
        let path = import(&s, &space, url, reference).await;
        let waiting = s.get(&path).await;
        assert_eq!((&waiting["state"], &waiting["attempt"]), (&json!("queued"), &json!(0)), "{url}");
        assert!(waiting["dueAt"].is_string() && waiting["endedAt"].is_null(), "{waiting}");
        s.platform.settle().await.expect("settled");
        let job = s.get(&path).await;
        assert_eq!((&job["state"], &job["error"]), (&json!("failed"), &json!(error)), "{url}");
        assert_eq!((&job["object"], &job["kind"]), (&json!("job"), &json!("git_import")));
        assert_eq!((&job["stage"], &job["createdBy"]["displayName"]), (&json!("repo_fetch"), &json!("Ada")));
        assert!(
            job["startedAt"].is_string() && job["endedAt"].is_string() && job["dueAt"].is_null(),
            "{job}"
        );
        assert!(!job.to_string().contains("hunter2"), "{job}");
        let listed = &jobs(&s, &space).await[0];
        assert_eq!(
            (&listed["id"], &listed["error"], &listed["log"]),
            (&job["id"], &job["error"], &Value::Null)
        );
        assert!(!job["log"].as_array().expect("a log").is_empty());
    }
    assert_eq!(s.get(&space).await["revision"], before["revision"], "the space is as it was");
    s.check().await;
}

#[tokio::test]
async fn finished_import_has_its_revision_and_counts() {
    let s = Server::new().await;
    three_pages(&s);
    let space = format!("/v1/spaces/{}", s.space().await);
    let path = import(&s, &space, "https://git.example/docs", "refs/heads/main").await;
    s.platform.settle().await.expect("settled");
    let (job, space_now) = (s.get(&path).await, s.get(&space).await);
    assert_eq!(
        (&job["state"], &job["stage"], &job["error"]),
        (&json!("done"), &json!("finalize"), &Value::Null)
    );
    assert_eq!(job["result"]["revision"], space_now["revision"]);
    let url = job["result"]["url"].as_str().expect("an address");
    assert!(url.ends_with(space_now["revision"].as_str().expect("an id")), "{url}");
    assert!(job["log"].to_string().contains("read 3 pages"), "{job}");
}

#[tokio::test]
async fn running_import_reports_page_progress() {
    let s = Server::new().await;
    three_pages(&s);
    let mut told = Vec::new();
    // Pause the import at its n-th commit, for every n.
    for nth in 1.. {
        let space = format!("/v1/spaces/{}", s.space().await);
        let path = import(&s, &space, "https://git.example/docs", "refs/heads/main").await;
        let commit = s.faults.calls(CallKind::Commit) + nth;
        s.faults.set_plan(FaultPlan::none().with_fault(CallKind::Commit, commit, Fault::HoldBefore));
        let look = async {
            s.faults.wait_until_held(1).await;
            let job = s.get(&path).await;
            s.faults.release(1);
            job
        };
        let mut settle = std::pin::pin!(s.platform.settle());
        let job = tokio::select! {
            biased;
            job = look => job,
            settled = &mut settle => {
                settled.expect("settled");
                break;
            }
        };
        settle.await.expect("settled");
        told.push((job["state"].clone(), job["stage"].clone(), job["progress"].clone()));
        assert_eq!(s.get(&path).await["state"], "done");
    }
    let of_three =
        |done: u64| (json!("running"), json!("content_process"), json!({ "done": done, "total": 3 }));
    told.retain(|(.., progress)| !progress.is_null());
    told.dedup();
    assert_eq!(told[..3], [1, 2, 3].map(of_three), "{told:?}");
}

#[tokio::test]
async fn jobs_are_paginated_newest_first() {
    let s = Server::new().await;
    s.repository.put("README.md", "# Start\n");
    let space = format!("/v1/spaces/{}", s.space().await);
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(import(&s, &space, "https://git.example/docs", "refs/heads/nope").await);
        s.platform.settle().await.expect("settled");
    }
    let (mut seen, mut next) = (Vec::new(), String::new());
    loop {
        let page = s.get(&format!("{space}/jobs?limit=2{next}")).await;
        seen.extend(
            page["items"].as_array().expect("a list").iter().map(|job| format!("{space}/jobs/{}", id(job))),
        );
        match page["next"]["page"].as_str() {
            Some(cursor) => next = format!("&page={cursor}"),
            None => break,
        }
    }
    made.reverse();
    assert_eq!(seen, made);
}

#[tokio::test]
async fn document_imports_are_listed_with_result_or_error() {
    let s = Server::new().await;
    let space = format!("/v1/spaces/{}", s.space().await);
    s.patch(&space, json!({ "editMode": "live" })).await;
    let revision = s.get(&space).await["revision"].clone();
    let body = json!({ "url": "https://web.example/gone", "source": "website" });
    let answer = s.ask("POST", &format!("{space}/content/import"), &s.editor, Some(body)).await;
    let message = answer.refused(400, "an import").to_owned();
    assert_eq!(s.get(&space).await["revision"], revision);
    let [job] = &jobs(&s, &space).await[..] else { panic!("one job") };
    assert_eq!((&job["state"], &job["error"]), (&json!("failed"), &json!(message)));
    assert_eq!((&job["kind"], &job["createdBy"]["displayName"]), (&json!("content_import"), &json!("Eve")));
    let body = json!({ "url": "https://web.example/start", "source": "html" });
    s.clock.advance(Duration::from_millis(1));
    let done = s.post(&format!("{space}/content/import"), 201, body).await.body;
    assert_eq!(jobs(&s, &space).await[0]["result"]["revision"], done["revision"]);
    // A request that is rejected before anything is fetched leaves no job.
    let before = s.stored().await;
    let body = json!({ "url": "https://web.example/start", "source": "notion" });
    s.ask("POST", &format!("{space}/content/import"), &s.editor, Some(body)).await.refused(400, "an import");
    assert_eq!(s.stored().await, before);
}

#[tokio::test]
async fn jobs_require_edit_access_to_their_space() {
    let s = Server::new().await;
    let space = format!("/v1/spaces/{}", s.space().await);
    let job = import(&s, &space, "https://git.example/docs", "refs/heads/nope").await;
    for path in [format!("{space}/jobs"), job.clone()] {
        for (token, status) in [(&s.editor, 200), (&s.reader, 403), (&s.guest, 404), (&s.outsider, 404)] {
            assert_eq!(s.ask("GET", &path, token, None).await.status, status, "{path}");
        }
    }
    let other = format!("/v1/spaces/{}", s.space().await);
    let theirs = job.replace(&space, &other);
    assert_eq!(s.ask("GET", &theirs, &s.admin, None).await.refused(404, "of another space"), "no such job");
    assert_eq!(
        s.ask("GET", &format!("{space}/jobs/x"), &s.admin, None).await.refused(404, "none"),
        "no such job"
    );
    let answer = s.ask("GET", &format!("{space}/jobs?page=x"), &s.admin, None).await;
    assert!(answer.refused(400, "a cursor").starts_with("page: "));
}
