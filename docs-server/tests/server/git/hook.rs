//! A Git host with a push hook that calls the webhook of a synchronized space. The tests never request an import or
//! export.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    client::{Client, id},
    git::{
        host::{Host, has_git},
        repository::{bare, check, commits, git},
    },
    process::{Process, TOKEN, until},
};

/// Returns `true` if the programs used by the hook are installed. Otherwise prints that the test does not run.
fn has_hook_programs() -> bool {
    let has = |name: &str| {
        Command::new(name).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let all = has("openssl") && has("curl");
    if !all {
        eprintln!("the hook was not run: there is no openssl or no curl on this machine");
    }
    all
}

/// A space synchronized with a repository, and a clone of that repository.
struct Pair {
    client: Client,
    space: String,
    repository: PathBuf,
    work: PathBuf,
    /// Log of the hook: the webhook response to each push, one per line.
    told: PathBuf,
    webhook: String,
    secret: String,
}

impl Pair {
    /// Creates a repository with two pages, and a space synchronized with it.
    async fn new(folder: &Path, host: &Host, client: Client) -> Self {
        let repository = bare(folder, "docs");
        let (url, work) = (host.url("docs"), folder.join("work"));
        println!("$ git clone {url} work");
        git(folder, &["clone", "--quiet", &url, "work"]);
        git(&work, &["checkout", "--quiet", "-B", "main"]);
        for (path, text) in [
            ("SUMMARY.md", "* [Start](README.md)\n* [Guide](guide.md)\n"),
            ("README.md", "# Start\n\nHello.\n"),
            ("guide.md", "# Guide\n\nFirst.\n\nSecond.\n"),
        ] {
            fs::write(work.join(path), text).expect("a file");
        }
        git(&work, &["add", "--all"]);
        git(&work, &["commit", "--quiet", "--message", "Begin"]);
        git(&work, &["push", "--quiet", "--set-upstream", "origin", "main"]);
        let org = id(&client.get("/orgs").await["items"][0]);
        let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Docs" })).await);
        let setting = json!({ "url": url, "ref": "refs/heads/main", "direction": "both" });
        println!("> PUT /v1/spaces/{space}/git/sync {{ direction: both }}");
        let set = client.call("PUT", &format!("/spaces/{space}/git/sync"), setting).await.expect("an answer");
        assert!(set.status < 300, "{}", set.body);
        let text = |name: &str| set.body["webhook"][name].as_str().expect("a text").to_owned();
        let (webhook, secret) = (text("url"), text("secret"));
        let pair = Self { client, space, repository, work, told: folder.join("told"), webhook, secret };
        pair.in_step().await;
        pair.hook(&pair.secret);
        pair
    }

    /// Installs a push hook on the host that calls the webhook and signs with this secret.
    fn hook(&self, secret: &str) {
        let (webhook, told) = (&self.webhook, self.told.display());
        let script = format!(
            r#"#!/bin/sh
while read -r before after ref; do
  body="{{\"ref\":\"$ref\",\"before\":\"$before\",\"after\":\"$after\"}}"
  signature=$(printf '%s' "$body" | openssl dgst -sha256 -hmac '{secret}' | sed 's/^.* //')
  status=$(curl --silent --output /dev/null --write-out '%{{http_code}}' \
    --header 'Content-Type: application/json' --header 'X-GitHub-Event: push' \
    --header "X-Hub-Signature-256: sha256=$signature" --data-binary "$body" '{webhook}')
  echo "$status $ref $after" >> '{told}'
done
"#
        );
        let path = self.repository.join("hooks/post-receive");
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, script).expect("a hook");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
    }

    /// Returns the statuses of all webhook responses so far.
    fn told(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.told).unwrap_or_default();
        text.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    }

    async fn jobs(&self) -> Vec<Value> {
        let jobs = self.client.get(&format!("/spaces/{}/jobs", self.space)).await;
        jobs["items"].as_array().expect("jobs").clone()
    }

    /// Waits until all jobs have finished, and returns the synchronization settings.
    async fn settled(&self) -> Value {
        until("the end of all jobs", async || self.jobs().await.iter().all(|job| job["endedAt"].is_string()))
            .await;
        let setting = self.client.get(&format!("/spaces/{}/git/sync", self.space)).await;
        let jobs = self.jobs().await;
        assert!(jobs.iter().all(|job| job["state"] == "done"), "{jobs:#?}");
        assert!(!format!("{setting} {jobs:?}").contains("hunter2"), "no answer has the password");
        println!(
            "  in step: {}, commit {}, {} jobs",
            setting["state"]["inStep"],
            setting["state"]["commit"],
            jobs.len()
        );
        setting
    }

    async fn in_step(&self) {
        let setting = self.settled().await;
        assert_eq!(setting["state"]["inStep"], true, "{setting}");
    }

    /// Returns the text of the page for a file.
    async fn text(&self, path: &str) -> String {
        crate::git::page_of(&self.client, &self.space, path).await.1
    }

    async fn edit(&self, path: &str, from: &str, to: &str) {
        println!("> change request on {path}: {from} -> {to}, merged");
        crate::git::edit_page(&self.client, &self.space, path, from, to).await;
    }

    /// Replaces text in the clone and pushes it. The hook has run when this returns.
    fn push(&self, path: &str, from: &str, to: &str) {
        println!("$ git push: {path}: {from} -> {to}");
        git(&self.work, &["pull", "--quiet", "--rebase"]);
        let file = self.work.join(path);
        let text = fs::read_to_string(&file).expect("a file");
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replace(from, to)).expect("a file");
        git(&self.work, &["commit", "--quiet", "--all", "--message", "Edited in Git"]);
        git(&self.work, &["push", "--quiet"]);
        println!("  hook: {:?}", self.told());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn push_hook_and_merges_keep_repository_and_space_in_sync() {
    if !has_git() || !has_hook_programs() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let host = Host::new(folder.path(), |_| ());
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    let server = Process::with(&["--bind", "127.0.0.1:0", "--store", &store, "--outbound", "private"]).await;
    let pair = Pair::new(folder.path(), &host, Client::new(&server.base, TOKEN)).await;
    assert_eq!(pair.text("README.md").await, "Hello.\n");

    pair.push("README.md", "Hello.", "Hello again.");
    assert_eq!(pair.told(), ["202"], "the hook was heard");
    pair.in_step().await;
    assert_eq!(pair.text("README.md").await, "Hello again.\n");

    let before = commits(&pair.repository);
    pair.edit("guide.md", "First.", "First of all.").await;
    until("the push", async || commits(&pair.repository) > before).await;
    until("the hook", async || pair.told().len() == 2).await;
    pair.in_step().await;
    println!("  hook of our own push: {:?}", pair.told());
    assert_eq!(commits(&pair.repository), before + 1, "our own push makes no second commit");
    git(&pair.work, &["pull", "--quiet", "--ff-only"]);
    let stat = git(&pair.work, &["diff", "--numstat", "HEAD~1"]);
    println!("$ git diff --numstat HEAD~1\n  {stat}");
    assert_eq!(stat, "1\t1\tguide.md", "the edited line of the edited file alone");

    let jobs = pair.jobs().await.len();
    pair.hook("a guess");
    pair.push("guide.md", "Second.", "Theirs.");
    assert_eq!(pair.told().last().map(String::as_str), Some("404"), "a wrong secret is refused");
    pair.settled().await;
    assert_eq!(pair.jobs().await.len(), jobs, "and wakes nobody");

    // Both sides have changed the same line.
    let pushed = commits(&pair.repository);
    pair.edit("guide.md", "Second.", "Ours.").await;
    let mut request = Value::Null;
    until("a change request", async || {
        request = pair.settled().await["state"]["changeRequest"].clone();
        request.is_string()
    })
    .await;
    let request = request.as_str().expect("an id");
    let shown = pair.client.get(&format!("/spaces/{}/change-requests/{request}", pair.space)).await;
    println!("  change request #{}: {}", shown["number"], shown["subject"]);
    assert_eq!(commits(&pair.repository), pushed, "nothing is pushed while people have to decide");
    assert_eq!(pair.text("guide.md").await, "First of all.\n\nOurs.\n");

    // With the correct secret restored, the push updates the same change request.
    pair.hook(&pair.secret);
    pair.push("guide.md", "Theirs.", "Theirs, still.");
    assert_eq!(pair.told().last().map(String::as_str), Some("202"));
    let setting = pair.settled().await;
    assert_eq!(setting["state"]["changeRequest"], request, "{setting}");
    check(&pair.repository);
}
