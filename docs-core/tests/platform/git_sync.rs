//! Git synchronization as a setting of a space, with a remote that stores pushed commits.

mod conflicts;
mod deaths;
mod guards;
mod random;
mod setting;
mod triggers;

use std::{sync::Arc, time::Duration};

use docs_core::{
    model::{GitSyncSetting, Job, JobState, SetGitSync, SpaceId},
    store::PageRequest,
};
use docs_memstore::{MemGit, MemRefs};
use serde_json::{Value, json};

use crate::{
    git_export::{URL, at, change, commits, content, files, log, set},
    support::{World, insert},
};

const FILES: &[(&str, &str)] = &[
    ("SUMMARY.md", "* [Start](README.md)\n* [Limits](limits.md)\n"),
    ("README.md", "# Start\n\nHello.\n\nSecond.\n\nThird.\n"),
    ("limits.md", "# Limits\n\nNone.\n"),
];

fn setting(more: Value) -> SetGitSync {
    let mut setting = json!({ "url": URL, "ref": "refs/heads/main", "direction": "both" });
    let (Value::Object(all), Value::Object(more)) = (&mut setting, more) else { panic!("maps") };
    all.extend(more);
    serde_json::from_value(setting).expect("a setting")
}

async fn put(w: &World, space: &SpaceId, more: Value) -> GitSyncSetting {
    w.as_admin().space(space).set_git_sync(setting(more)).await.expect("set")
}

async fn state(w: &World, space: &SpaceId) -> GitSyncSetting {
    w.as_admin().space(space).git_sync().await.expect("a setting")
}

/// Runs all due jobs.
async fn settle(w: &World) {
    w.clock.advance(Duration::from_millis(1));
    w.platform.settle().await.expect("settled");
}

/// Runs all due jobs, and the retries that become due later.
async fn settle_all(w: &World) {
    for _ in 0..12 {
        w.clock.advance(Duration::from_secs(3_600));
        w.platform.settle().await.expect("settled");
    }
}

/// Returns the synchronization jobs of a space with their logs, newest first.
async fn jobs(w: &World, space: &SpaceId) -> Vec<Job> {
    let listed = w.as_admin().space(space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    let mut jobs = Vec::new();
    for job in listed.iter().filter(|job| job.kind == "git_sync") {
        jobs.push(w.as_admin().space(space).get_job(&job.id).await.expect("a job"));
    }
    jobs
}

/// Creates a repository with these files and its branch.
fn repository(files: &[(&str, &str)]) -> MemGit {
    let remote = MemGit::empty();
    if !files.is_empty() {
        remote.edit(|repository| repository.refs = MemRefs::Only(["refs/heads/main".to_owned()].into()));
    }
    for (path, text) in files {
        remote.put(path, (*text).to_owned());
    }
    remote
}

/// Creates a space with synchronization to a repository with these files.
async fn begun(files: &[(&str, &str)], more: Value) -> (World, MemGit, SpaceId) {
    let remote = repository(files);
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.space().await;
    put(&w, &space, more).await;
    settle(&w).await;
    (w, remote, space)
}

/// Creates a space that is in sync with a repository with these files.
async fn in_step(files: &[(&str, &str)], more: Value) -> (World, MemGit, SpaceId) {
    let (w, remote, space) = begun(files, more).await;
    assert_in_step(&w, &space).await;
    (w, remote, space)
}

async fn assert_in_step(w: &World, space: &SpaceId) {
    let (state, jobs) = (state(w, space).await, jobs(w, space).await);
    assert!(state.state.in_step && state.state.change_request.is_none(), "{state:?} {jobs:#?}");
    assert!(jobs.iter().all(|job| job.state == JobState::Done), "{jobs:#?}");
    w.check().await;
}

/// Writes a file of the repository and requests a run, as a webhook does.
async fn push(w: &World, space: &SpaceId, remote: &MemGit, (path, text): (&str, &str)) {
    remote.put(path, text.to_owned());
    w.as_admin().space(space).run_git_sync().await.expect("enqueued");
}

/// Returns the Markdown of the page at a path.
async fn text(w: &World, space: &SpaceId, path: &str) -> String {
    let page = at(w, space, path).await;
    let of = docs_core::platform::ContentVersion::space(space.clone());
    let page = serde_json::to_value(crate::support::page(w, &of, &page).await).expect("JSON");
    page["markdown"].as_str().unwrap_or_default().to_owned()
}
