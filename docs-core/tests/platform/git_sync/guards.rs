//! Limits of a synchronization setting: it does not use credentials for other purposes, does not retry indefinitely,
//! does not restore a deleted branch, and does not follow a space to another organization.

use std::time::Duration;

use docs_core::{
    ErrorKind,
    model::{GitSyncDirection, JobState, Role, SpaceId},
    ports::GitError,
};
use docs_memstore::{MemGit, MemRefs};
use serde_json::{Value, json};

use super::{FILES, assert_in_step, conflicts::torn, in_step, jobs, push, put, setting, settle, state, text};
use crate::{
    collections::{organization, to},
    git_export::{at, change, commits, set},
    support::{Refused as _, World},
};

/// Returns a setting with credentials in its URL.
fn with_credentials(more: Value) -> docs_core::model::SetGitSync {
    let mut with = setting(more);
    let url = with.url.replacen("https://", "https://bea:token@", 1);
    with.url = docs_core::model::BoundedText::new(url).expect("a URL");
    with
}

#[tokio::test]
async fn others_need_own_credentials_to_widen_a_sync_setting() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    let bea = w.member("Bea", Some(Role::Create)).await;
    let cleo = w.member("Cleo", Some(Role::Create)).await;
    let bea = || w.platform.as_actor(&bea).space(&space);
    let cleo = || w.platform.as_actor(&cleo).space(&space);
    bea().set_git_sync(with_credentials(json!({ "direction": "import" }))).await.expect("set");
    // Changes of the schedule need no new credentials.
    for minutes in [15, 30] {
        let more = json!({ "direction": "import", "schedule": minutes });
        let set = cleo().set_git_sync(setting(more)).await.expect("set");
        assert!(set.has_credentials);
    }
    for more in [
        json!({ "direction": "both" }),
        json!({ "direction": "export" }),
        json!({ "direction": "import", "ref": "refs/heads/private" }),
        json!({ "direction": "import", "repoProjectDirectory": "private" }),
    ] {
        let refused = cleo().set_git_sync(setting(more)).await.refused(ErrorKind::Invalid);
        assert!(refused.message().starts_with("url: must contain your own credentials"), "{refused}");
    }
    assert_eq!(state(&w, &space).await.setting.direction, GitSyncDirection::Import, "nothing is changed");
    let theirs = cleo().set_git_sync(with_credentials(json!({ "direction": "both" }))).await.expect("set");
    assert!(theirs.has_credentials, "their own");
    // The credentials are not used for another URL.
    let url = "https://git.example/other";
    let elsewhere = bea().set_git_sync(setting(json!({ "url": url, "direction": "import" }))).await;
    assert!(!elsewhere.expect("set").has_credentials);
}

#[tokio::test]
async fn synchronized_space_cannot_be_transferred() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    let other = organization(&w, &w.admin).await;
    let transfer = || w.as_admin().space(&space).transfer(to(&other));
    let refused = transfer().await.refused(ErrorKind::Precondition);
    assert!(refused.message().contains("synchronized with a repository"), "{refused}");
    assert!(w.as_admin().space(&space).remove_git_sync().await.expect("removed"));
    transfer().await.expect("transferred");
}

#[tokio::test]
async fn restored_space_catches_up_on_commits() {
    let (w, remote, space) = in_step(FILES, json!({ "schedule": 15 })).await;
    w.as_admin().space(&space).delete().await.expect("deleted");
    remote.put("README.md", "# Start\n\nBye.\n");
    for _ in 0..3 {
        w.clock.advance(Duration::from_secs(15 * 60));
        w.platform.settle().await.expect("settled");
    }
    w.as_admin().space(&space).restore().await.expect("restored");
    settle(&w).await;
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
    // Synchronization continues.
    remote.put("README.md", "# Start\n\nAgain.\n");
    w.clock.advance(Duration::from_secs(15 * 60));
    w.platform.settle().await.expect("settled");
    assert_eq!(text(&w, &space, "readme").await, "Again.\n");
}

#[tokio::test]
async fn scheduled_sync_backs_off_on_permanent_failures() {
    let (w, remote, space) = in_step(FILES, json!({ "schedule": 15 })).await;
    remote.put(".gitbook.yaml", "root: [");
    for _ in 0..96 {
        w.clock.advance(Duration::from_secs(15 * 60));
        w.platform.settle().await.expect("settled");
    }
    let failed = jobs(&w, &space).await.iter().filter(|job| job.state == JobState::Failed).count();
    assert!((3..=8).contains(&failed), "{failed} in a day of 96 looks");
    remote.remove(".gitbook.yaml");
    remote.put("README.md", "# Start\n\nBye.\n");
    w.as_admin().space(&space).run_git_sync().await.expect("whoever asks does not wait");
    settle(&w).await;
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
}

#[tokio::test]
async fn manual_run_does_not_wait_for_a_delayed_run() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    remote.edit(|repository| repository.failure = Some(GitError::Unreachable("no route".to_owned())));
    push(&w, &space, &remote, ("README.md", "# Start\n\nBye.\n")).await;
    settle(&w).await;
    assert_eq!(jobs(&w, &space).await[0].state, JobState::Queued, "it is tried again later");
    remote.edit(|repository| repository.failure = None);
    // A merge waits for the delayed run; a manual request does not.
    let limits = at(&w, &space, "limits").await;
    change(&w, &space, set(&limits, "Two.\n")).await;
    settle(&w).await;
    assert_eq!(text(&w, &space, "readme").await, "Hello.\n\nSecond.\n\nThird.\n");
    w.as_admin().space(&space).run_git_sync().await.expect("enqueued");
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
}

/// Deletes the branch and checks that a later edit is not exported, and that the missing branch is reported.
async fn assert_misses_the_branch(w: &World, remote: &MemGit, space: &SpaceId) {
    remote.edit(|repository| repository.refs = MemRefs::Only(["refs/heads/other".to_owned()].into()));
    let limits = at(w, space, "limits").await;
    change(w, space, set(&limits, "Two.\n")).await;
    settle(w).await;
    let shown = state(w, space).await.state.job.expect("a job");
    assert!(shown.error.is_some_and(|error| error.contains("has no refs/heads/main")), "it is said");
    assert_eq!(commits(remote), 0);
}

#[tokio::test]
async fn deleted_branch_is_reported_and_not_recreated() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    assert_misses_the_branch(&w, &remote, &space).await;
}

#[tokio::test]
async fn export_only_sync_does_not_recreate_a_deleted_branch() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    put(&w, &space, json!({ "direction": "export" })).await;
    settle(&w).await;
    assert_misses_the_branch(&w, &remote, &space).await;
    // After the branch is recreated, the pending edits are exported.
    remote.edit(|repository| repository.refs = MemRefs::Only(["refs/heads/main".to_owned()].into()));
    w.as_admin().space(&space).run_git_sync().await.expect("enqueued");
    settle(&w).await;
    assert_in_step_but_for_failures(&w, &space).await;
    assert_eq!(commits(&remote), 1);
}

/// Checks that space and repository are in sync, regardless of earlier failures.
async fn assert_in_step_but_for_failures(w: &World, space: &SpaceId) {
    assert!(state(w, space).await.state.in_step);
    assert_eq!(jobs(w, space).await[0].state, JobState::Done);
}

#[tokio::test]
async fn no_export_to_a_deleted_branch_during_a_conflict() {
    let (w, remote, space, _) = torn().await;
    remote.edit(|repository| repository.refs = MemRefs::Only(["refs/heads/other".to_owned()].into()));
    w.as_admin().space(&space).run_git_sync().await.expect("enqueued");
    settle(&w).await;
    assert_eq!(commits(&remote), 0);
    assert!(state(&w, &space).await.state.change_request.is_some());
}

#[tokio::test]
async fn switch_to_import_only_overrides_a_pending_conflict() {
    let (w, _, space, _) = torn().await;
    put(&w, &space, json!({ "direction": "import" })).await;
    settle(&w).await;
    assert_eq!(text(&w, &space, "limits").await, "Theirs.\n");
    assert!(state(&w, &space).await.state.change_request.is_none());
}
