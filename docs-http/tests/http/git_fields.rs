//! Effects of the fields of Git import and export requests.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, id};

const IMPORT: &str = "import";
const EXPORT: &str = "export";

/// Creates a server with a space. Returns the path of the space.
async fn space() -> (Server, String) {
    let s = Server::new().await;
    s.repository.put("README.md", "# Start\n\nOne.\n");
    let path = format!("/v1/spaces/{}", s.space().await);
    (s, path)
}

/// Returns a request with the required fields and additional ones.
fn body(kind: &str, more: Value) -> Value {
    let mut body = json!({ "url": "https://git.example/owner/docs.git", "ref": "refs/heads/main" });
    if kind == EXPORT {
        body["commitMessage"] = json!("Export");
    }
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

/// Imports or exports. Returns the finished job with its log.
async fn sync(s: &Server, space: &str, kind: &str, more: Value) -> Value {
    // Ensures that this job is newer than all others.
    s.clock.advance(Duration::from_millis(1));
    s.post(&format!("{space}/git/{kind}"), 204, body(kind, more)).await;
    s.platform.settle().await.expect("settled");
    let newest = id(&s.get(&format!("{space}/jobs")).await["items"][0]);
    let job = s.get(&format!("{space}/jobs/{newest}")).await;
    assert_eq!((&job["kind"], &job["state"]), (&json!(format!("git_{kind}")), &json!("done")), "{job}");
    job
}

/// Returns the log lines of a job.
fn said(job: &Value) -> Vec<&str> {
    let lines = job["log"].as_array().expect("a log");
    lines.iter().map(|line| line["text"].as_str().expect("a text")).collect()
}

async fn head(s: &Server, space: &str) -> Value {
    s.get(&format!("{space}/content")).await
}

/// Returns the text of the first page.
async fn text(s: &Server, space: &str) -> String {
    let page = id(&head(s, space).await["pages"][0]);
    let page = s.get(&format!("{space}/content/page/{page}?format=markdown")).await;
    page["markdown"].as_str().expect("a text").to_owned()
}

/// Changes the text of the first page.
async fn edit(s: &Server, space: &str, text: &str) {
    let page = id(&head(s, space).await["pages"][0]);
    let change = json!({ "operation": "update_page", "page": page, "document": { "markdown": text } });
    let requests = format!("{space}/change-requests");
    let request = format!("{requests}/{}", id(&s.post(&requests, 201, json!({})).await.body));
    s.post(&format!("{request}/content"), 200, json!({ "changes": [change] })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
}

#[tokio::test]
async fn git_info_has_the_given_provider_and_url() {
    for kind in [IMPORT, EXPORT] {
        for (more, provider, url, name) in [
            (json!({}), "gitlab", "https://git.example/owner/docs.git", "docs"),
            (json!({ "gitInfo": {} }), "gitlab", "https://git.example/owner/docs.git", "docs"),
            (
                json!({ "gitInfo": { "provider": "github", "url": "https://github.example/me/shown" } }),
                "github",
                "https://github.example/me/shown",
                "shown",
            ),
            (
                json!({ "gitInfo": { "provider": "gitlab" } }),
                "gitlab",
                "https://git.example/owner/docs.git",
                "docs",
            ),
            (
                json!({ "repoTreeURL": "https://git.example/owner/docs/tree/main" }),
                "gitlab",
                "https://git.example/owner/docs/tree/main",
                "docs",
            ),
            (
                json!({ "gitInfo": { "url": "https://g.example/a/b" }, "repoTreeURL": "https://git.example/tree" }),
                "gitlab",
                "https://g.example/a/b",
                "b",
            ),
            (
                json!({ "gitInfo": { "url": "" }, "repoTreeURL": "" }),
                "gitlab",
                "https://git.example/owner/docs.git",
                "docs",
            ),
            (json!({ "url": "https://GitHub.com/x/y.git" }), "github", "https://GitHub.com/x/y.git", "y"),
            (
                json!({ "url": "https://me:hunter2@git.example/x/y" }),
                "gitlab",
                "https://git.example/x/y",
                "y",
            ),
        ] {
            let (s, space) = space().await;
            if kind == EXPORT {
                sync(&s, &space, IMPORT, json!({})).await;
                edit(&s, &space, "Two.\n").await;
            }
            sync(&s, &space, kind, more.clone()).await;
            let info = s.get(&format!("{space}/git/info")).await;
            assert_eq!((&info["url"], &info["repoName"]), (&json!(url), &json!(name)), "{kind} {more}");
            let tree = more["repoTreeURL"].as_str().filter(|url| !url.is_empty());
            assert_eq!(info["repoTreeURL"].as_str(), tree, "{kind} {more}");
            assert_eq!(info["installationProvider"], provider, "{kind} {more}");
            let installation = (&info["installationStatus"], &info["installationId"]);
            assert_eq!(installation, (&json!("pending"), &s.get(&space).await["id"]), "{kind} {more}");
            assert!(info["updatedAt"].is_string() && info.get("integration").is_none(), "{info}");
            assert_eq!(s.get(&space).await["gitSync"], info, "{kind} {more}");
            assert!(!info.to_string().contains("hunter2"), "{info}");
        }
    }
}

#[tokio::test]
async fn commit_url_is_derived_from_repo_commit_url() {
    for (told, shown) in [
        (json!("https://git.example/commit"), Some("https://git.example/commit/")),
        (json!("https://git.example/commit/"), Some("https://git.example/commit/")),
        (json!(""), None),
        (Value::Null, None),
    ] {
        let (s, space) = space().await;
        let more = || match told.is_null() {
            true => json!({}),
            false => json!({ "repoCommitURL": told }),
        };
        sync(&s, &space, IMPORT, more()).await;
        let imported = head(&s, &space).await["git"].clone();
        edit(&s, &space, "Two.\n").await;
        sync(&s, &space, EXPORT, more()).await;
        let exported = head(&s, &space).await["git"].clone();
        assert_eq!(exported["oid"], json!(s.repository.commits()[0].branch.commit.oid));
        for (git, is_ours) in [(imported, false), (exported, true)] {
            let oid = git["oid"].as_str().expect("a commit").to_owned();
            let url = shown.map(|below| format!("{below}{oid}"));
            assert_eq!(git["url"].as_str().map(str::to_owned), url, "{told}");
            assert_eq!(git["createdByGitBook"], is_ours);
            assert_eq!(git["ref"], "refs/heads/main");
        }
    }
}

#[tokio::test]
async fn only_the_project_directory_is_synchronized() {
    for directory in ["docs/en", "docs/en/", "./docs/en"] {
        let (s, space) = space().await;
        s.repository.put("docs/en/README.md", "# English\n");
        s.repository.put("docs/en/more.md", "# More\n");
        s.repository.put("docs/README.md", "# All\n");
        let more = json!({ "repoProjectDirectory": directory });
        sync(&s, &space, IMPORT, more.clone()).await;
        let content = head(&s, &space).await;
        let pages = content["pages"].as_array().expect("pages");
        let titles: Vec<&Value> = pages.iter().map(|page| &page["title"]).collect();
        assert_eq!(titles, ["English", "More"], "{directory}");
        assert_eq!(pages[1]["git"]["path"], "docs/en/more.md");
        edit(&s, &space, "Hello.\n").await;
        sync(&s, &space, EXPORT, more).await;
        let written = &s.repository.commits()[0].written;
        assert!(written.contains(&"docs/en/README.md".to_owned()), "{written:?}");
        assert!(written.iter().all(|path| path.starts_with("docs/en/")), "{written:?}");
        let top = s.repository.edit(|repository| repository.files["README.md"].clone());
        assert_eq!(top, "# Start\n\nOne.\n", "what is beside it stays");
    }
}

#[tokio::test]
async fn same_commit_is_imported_once_unless_forced() {
    let (s, space) = space().await;
    let job = sync(&s, &space, IMPORT, json!({})).await;
    assert_eq!(job["result"]["revision"], head(&s, &space).await["id"]);
    let first = head(&s, &space).await["id"].clone();
    let again = sync(&s, &space, IMPORT, json!({})).await;
    assert!(said(&again).contains(&"this commit was already imported; no import needed"), "{again}");
    assert_eq!((&again["result"], &head(&s, &space).await["id"]), (&Value::Null, &first));
    // Later edits are not overwritten either.
    edit(&s, &space, "Edited.\n").await;
    let edited = head(&s, &space).await["id"].clone();
    sync(&s, &space, IMPORT, json!({})).await;
    assert_eq!(head(&s, &space).await["id"], edited);
    // With another branch or repository, it is another commit.
    for more in [json!({ "ref": "refs/heads/next" }), json!({ "url": "https://git.example/other" })] {
        let before = head(&s, &space).await["id"].clone();
        sync(&s, &space, IMPORT, more.clone()).await;
        assert_ne!(head(&s, &space).await["id"], before, "{more}");
    }
    edit(&s, &space, "Edited.\n").await;
    sync(&s, &space, IMPORT, json!({ "url": "https://git.example/other", "force": true })).await;
    assert_eq!(text(&s, &space).await, "One.\n");
}

#[tokio::test]
async fn exported_content_is_only_compared_again_with_force() {
    let (s, space) = space().await;
    sync(&s, &space, IMPORT, json!({})).await;
    let job = sync(&s, &space, EXPORT, json!({})).await;
    assert!(said(&job).contains(&"the repository already has this revision; no export needed"), "{job}");
    assert!(s.repository.commits().is_empty());
    // The file was changed in the repository: the export skips it without `force`, and overwrites it with the text of
    // the space with `force`.
    s.repository.put("README.md", "# Start\n\nTheirs.\n");
    sync(&s, &space, EXPORT, json!({})).await;
    assert!(s.repository.commits().is_empty());
    sync(&s, &space, EXPORT, json!({ "force": true })).await;
    assert_eq!(s.repository.commits().len(), 1);
    assert_eq!(s.repository.edit(|repository| repository.files["README.md"].clone()), "# Start\n\nOne.\n");
}

#[tokio::test]
async fn event_older_than_the_last_one_is_dropped_unless_forced() {
    for (older, newer) in [(IMPORT, IMPORT), (IMPORT, EXPORT), (EXPORT, IMPORT), (EXPORT, EXPORT)] {
        let (s, space) = space().await;
        sync(&s, &space, IMPORT, json!({ "timestamp": "2025-01-01T00:00:00Z" })).await;
        edit(&s, &space, "Two.\n").await;
        s.repository.put("other.txt", "so that it is another commit");
        sync(&s, &space, newer, json!({ "timestamp": "2025-01-03T00:00:00Z" })).await;
        edit(&s, &space, "Three.\n").await;
        s.repository.put("other.txt", "so that it is yet another");
        let (before, pushed) = (head(&s, &space).await["id"].clone(), s.repository.commits().len());
        let job = sync(&s, &space, older, json!({ "timestamp": "2025-01-02T00:00:00Z" })).await;
        let told = "dropped: the event of 2025-01-02T00:00:00.000Z is older than the applied event of 2025-01-03T00:00:00.000Z";
        assert!(said(&job).contains(&told), "{older} after {newer}: {job}");
        assert_eq!((&head(&s, &space).await["id"], s.repository.commits().len()), (&before, pushed));
        let forced = json!({ "timestamp": "2025-01-02T00:00:00Z", "force": true });
        sync(&s, &space, older, forced).await;
        assert_ne!(head(&s, &space).await["id"], before, "{older} after {newer}");
    }
}

#[tokio::test]
async fn import_with_an_equal_timestamp_is_applied() {
    let (s, space) = space().await;
    let at = json!({ "timestamp": "2025-01-01T00:00:00Z" });
    sync(&s, &space, IMPORT, at.clone()).await;
    s.repository.put("README.md", "# Start\n\nTwo.\n");
    sync(&s, &space, IMPORT, at).await;
    assert_eq!(text(&s, &space).await, "Two.\n");
}

#[tokio::test]
async fn standalone_import_only_creates_a_revision() {
    let (s, space) = space().await;
    sync(&s, &space, IMPORT, json!({ "timestamp": "2025-01-03T00:00:00Z" })).await;
    let (before, known) = (head(&s, &space).await, s.get(&format!("{space}/git/info")).await);
    s.repository.put("README.md", "# Start\n\nProposed.\n");
    let more = json!({
        "ref": "refs/pull/7/head", "standalone": true, "timestamp": "2025-01-01T00:00:00Z",
        "gitInfo": { "provider": "github", "url": "https://git.example/shown" },
    });
    let job = sync(&s, &space, IMPORT, more).await;
    let revision = job["result"]["revision"].as_str().expect("a revision").to_owned();
    let told = format!("created revision {revision}; the content of the space is unchanged");
    assert!(said(&job).contains(&&*told), "{job}");
    assert_eq!(head(&s, &space).await, before);
    assert_eq!(s.get(&format!("{space}/git/info")).await, known);
    let made = s.get(&format!("{space}/revisions/{revision}")).await;
    assert_eq!(made["git"]["ref"], "refs/pull/7/head");
    let page = id(&made["pages"][0]);
    let page = s.get(&format!("{space}/revisions/{revision}/page/{page}?format=markdown")).await;
    assert_eq!(page["markdown"], "Proposed.\n");
    // A forced import does not count as an event: later events are still compared with the last applied event.
    let job = sync(&s, &space, IMPORT, json!({ "timestamp": "2025-01-02T00:00:00Z" })).await;
    assert!(said(&job).iter().any(|line| line.starts_with("dropped: ")), "{job}");
}

#[tokio::test]
async fn cache_name_and_url_with_credentials_reach_the_remote() {
    for kind in [IMPORT, EXPORT] {
        for (told, kept) in [(json!({ "repoCacheID": "kept" }), Some("kept")), (json!({}), None)] {
            let (s, space) = space().await;
            // The id of the space is the default name.
            let kept = kept.unwrap_or(space.trim_start_matches("/v1/spaces/"));
            if kind == EXPORT {
                sync(&s, &space, IMPORT, json!({})).await;
                edit(&s, &space, "Two.\n").await;
            }
            let asked = s.repository.urls().len();
            let mut more = told.clone();
            more["url"] = json!("https://me:hunter2@git.example/docs");
            sync(&s, &space, kind, more).await;
            let urls = s.repository.urls()[asked..].to_vec();
            assert!(urls.iter().all(|url| url == "https://me:hunter2@git.example/docs"), "{urls:?}");
            let ids = s.repository.cache_ids()[asked..].to_vec();
            assert!(!ids.is_empty() && ids.iter().all(|id| id.as_deref() == Some(kept)), "{kind}: {ids:?}");
        }
    }
}
