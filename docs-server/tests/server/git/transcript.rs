//! A Git host with a password, a clone, and a space: edits on one side arrive on the other.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::{
    client::{Client, id},
    git::{
        host::{Host, Moment, WHO, has_git},
        repository::{bare, check, commits, git},
    },
    process::{Process, TOKEN, until},
};

/// A space and the repository that it is synchronized with.
struct Story {
    client: Client,
    space: String,
    url: String,
}

impl Story {
    /// Creates a space in the first organization.
    async fn new(client: Client, url: String) -> Self {
        let org = id(&client.get("/orgs").await["items"][0]);
        let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Docs" })).await);
        Self { client, space, url }
    }

    /// Imports or exports, and returns the finished job.
    async fn sync(&self, what: &str, url: &str) -> Value {
        let mut body = json!({ "url": url, "ref": "refs/heads/main" });
        if what == "export" {
            body["commitMessage"] = json!("Edited on the platform");
        }
        let space = format!("/spaces/{}", self.space);
        self.client.post(&format!("{space}/git/{what}"), body).await;
        let mut newest = Value::Null;
        until("result of job", async || {
            newest = self.client.get(&format!("{space}/jobs")).await["items"][0].clone();
            newest["endedAt"].is_string()
        })
        .await;
        let job = self.client.get(&format!("{space}/jobs/{}", id(&newest))).await;
        println!("{what}: {} {}", job["state"], job["error"]);
        assert!(!job.to_string().contains("hunter2"), "{job}");
        job
    }

    async fn done(&self, what: &str) {
        let job = self.sync(what, &self.url).await;
        assert_eq!(job["state"], "done", "{job}");
    }

    /// Requests an import after a push, as the push hook of a host does.
    async fn pushed(&self) {
        self.done("import").await;
    }

    /// Returns the text of the page for a file.
    async fn text(&self, path: &str) -> String {
        crate::git::page_of(&self.client, &self.space, path).await.1
    }

    async fn edit(&self, path: &str, from: &str, to: &str) {
        crate::git::edit_page(&self.client, &self.space, path, from, to).await;
    }
}

/// Replaces text in a clone and pushes it.
fn edit_and_push(work: &Path, path: &str, from: &str, to: &str) {
    let file = work.join(path);
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains(from), "{text}");
    fs::write(&file, text.replace(from, to)).expect("a file");
    git(work, &["commit", "--quiet", "--all", "--message", "Edited in Git"]);
    git(work, &["push", "--quiet"]);
}

/// Commits two handwritten pages.
fn first_commit(work: &Path) {
    fs::write(work.join("README.md"), "# Start\n\nHello.\n").expect("a file");
    // Without this file, the first export would add one.
    fs::write(work.join("SUMMARY.md"), "* [Start](README.md)\n* [Guide](guide.md)\n").expect("a file");
    fs::write(
        work.join("guide.md"),
        "---\nicon: rocket\n---\n\n# Guide\r\n\r\n| a | b |\r\n|:-|-:|\r\n| 1 | 2 |\r\n",
    )
    .expect("a file");
    git(work, &["add", "--all"]);
    git(work, &["commit", "--quiet", "--message", "Begin"]);
    git(work, &["push", "--quiet", "origin", "HEAD:main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_sync_both_ways_through_a_host_with_a_password() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let moments = Arc::new(Mutex::new(Vec::new()));
    let seen = moments.clone();
    let host = Host::new(folder.path(), move |moment| seen.lock().expect("nobody panicked").push(moment));
    let repository = bare(folder.path(), "docs");
    let url = host.url("docs");

    println!("clone {url}");
    git(folder.path(), &["clone", "--quiet", &url, "work"]);
    let work = folder.path().join("work");
    git(&work, &["checkout", "--quiet", "-B", "main"]);
    first_commit(&work);
    git(&work, &["branch", "--quiet", "--set-upstream-to=origin/main"]);

    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    let server = Process::with(&["--bind", "127.0.0.1:0", "--store", &store, "--outbound", "private"]).await;
    let client = Client::new(&server.base, TOKEN);
    let story = Story::new(client, url).await;

    for who in ["ada:wrong", "eve:hunter2"] {
        let job = story.sync("import", &host.url_for(who, "docs")).await;
        assert_eq!(
            (&job["state"], &job["error"]),
            (&json!("failed"), &json!("the repository rejected the credentials"))
        );
    }
    story.done("import").await;
    assert_eq!(story.text("README.md").await, "Hello.\n");

    println!("edit on the platform");
    story.edit("guide.md", "| 1 | 2 |", "| 1 | 3 |").await;
    story.done("export").await;
    git(&work, &["pull", "--quiet", "--ff-only"]);
    let stat = git(&work, &["diff", "--numstat", "HEAD~1"]);
    assert_eq!(stat, "1\t1\tguide.md", "the edited line of the edited file alone");
    assert_eq!(git(&work, &["log", "-1", "--format=%s"]), "Edited on the platform");

    println!("edit in Git");
    edit_and_push(&work, "README.md", "Hello.", "Hello again.");
    story.pushed().await;
    assert_eq!(story.text("README.md").await, "Hello again.\n");
    assert!(story.text("guide.md").await.contains("| 1 | 3 |"));

    println!("both, one after the other");
    story.edit("README.md", "again", "for the third time").await;
    story.done("export").await;
    git(&work, &["pull", "--quiet", "--ff-only"]);
    edit_and_push(&work, "guide.md", "# Guide", "# Guides");
    story.pushed().await;
    let made = commits(&repository);
    story.done("export").await;
    assert_eq!(commits(&repository), made, "what came from the repository is not exported to it");
    check(&repository);

    let space = story.client.get(&format!("/spaces/{}", story.space)).await;
    assert!(!space.to_string().contains("hunter2") && !space.to_string().contains(WHO), "{space}");
    let moments = moments.lock().expect("nobody panicked").clone();
    assert_eq!(moments.iter().filter(|moment| **moment == Moment::PushTaken).count(), 5, "{moments:?}");
}
