//! The setting: required permissions, rejected values, and representation.

use docs_core::{
    ErrorKind,
    model::{EditMode, Role, UpdateSpace},
};

use super::*;
use crate::support::Refused;

#[tokio::test]
async fn credentials_and_webhook_secret_are_never_returned() {
    let (w, remote, space) = in_step(FILES, json!({ "url": "https://me:hunter2@git.example/docs" })).await;
    let shown = state(&w, &space).await;
    assert_eq!((shown.setting.url.as_str(), shown.has_credentials), (URL, true));
    assert_eq!(shown.webhook.secret, None);
    assert_eq!(shown.webhook.url, format!("{}/webhooks/git/{space}", w.platform.urls().base()));
    assert!(remote.urls().iter().all(|url| url.contains("hunter2")), "{:?}", remote.urls());
    // The same URL without credentials keeps the stored ones; another URL does not.
    assert!(put(&w, &space, json!({ "direction": "import" })).await.has_credentials);
    assert_eq!(state(&w, &space).await.webhook.secret_created_at, shown.webhook.secret_created_at);
    remote.edit(|repository| repository.failure = Some(docs_core::ports::GitError::Credentials));
    settle(&w).await;
    let all = format!("{:?} {:?}", jobs(&w, &space).await, state(&w, &space).await);
    assert!(!all.contains("hunter2"), "{all}");
    assert!(!put(&w, &space, json!({ "url": "https://git.example/other" })).await.has_credentials);
}

#[tokio::test]
async fn webhook_secret_is_returned_only_at_its_creation() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    let first = w.as_admin().space(&space).rotate_git_sync_secret().await.expect("rotated").webhook;
    w.clock.advance(Duration::from_secs(1));
    let second = w.as_admin().space(&space).rotate_git_sync_secret().await.expect("rotated").webhook;
    assert!(first.secret.as_ref().is_some_and(|secret| secret.len() == 64) && first.secret != second.secret);
    assert!(second.secret_created_at > first.secret_created_at);
    assert_eq!(put(&w, &space, json!({})).await.webhook.secret, None);
    assert_eq!(put(&w, &space, json!({ "direction": "import" })).await.webhook.secret, None);
    // The webhook secret of the previous repository does not apply to another one.
    let elsewhere = put(&w, &space, json!({ "url": "https://git.example/other" })).await.webhook;
    assert!(elsewhere.secret.is_some() && elsewhere.secret != second.secret);
    assert!(elsewhere.secret_created_at >= second.secret_created_at);
}

#[tokio::test]
async fn only_space_managers_read_and_change_its_sync_setting() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    for (name, role, kind) in [
        ("Rea", Some(Role::Read), ErrorKind::Forbidden),
        ("Edi", Some(Role::Edit), ErrorKind::Forbidden),
        ("Gus", None, ErrorKind::NotFound),
    ] {
        let actor = w.member(name, role).await;
        let handle = || w.platform.as_actor(&actor).space(&space);
        handle().git_sync().await.refused(kind);
        handle().set_git_sync(setting(json!({}))).await.refused(kind);
        handle().rotate_git_sync_secret().await.refused(kind);
        handle().run_git_sync().await.refused(kind);
        match kind {
            // Removing the setting of an inaccessible space succeeds without effect.
            ErrorKind::NotFound => assert!(!handle().remove_git_sync().await.expect("needed")),
            _ => drop(handle().remove_git_sync().await.refused(kind)),
        }
    }
    let cleo = w.member("Cleo", Some(Role::Create)).await;
    w.platform.as_actor(&cleo).space(&space).set_git_sync(setting(json!({}))).await.expect("set");
}

#[tokio::test]
async fn sync_continues_after_its_creator_is_removed() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    let cleo = w.member("Cleo", Some(Role::Create)).await;
    w.platform.as_actor(&cleo).space(&space).set_git_sync(setting(json!({}))).await.expect("set");
    let user = cleo.user().expect("a user");
    w.as_admin().org(&w.org).member(user).remove().await.expect("removed");
    push(&w, &space, &remote, ("README.md", "# Start\n\nBye.\n")).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
}

#[tokio::test]
async fn without_a_setting_nothing_is_shown_or_synchronized() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    let limits = at(&w, &space, "limits").await;
    change(&w, &space, set(&limits, "Two.\n")).await;
    assert!(w.as_admin().space(&space).remove_git_sync().await.expect("removed"));
    settle(&w).await;
    assert!(log(&jobs(&w, &space).await[0]).contains("was turned off"));
    assert_eq!(commits(&remote), 0);
    let handle = || w.as_admin().space(&space);
    handle().git_sync().await.refused(ErrorKind::NotFound);
    assert!(!handle().remove_git_sync().await.expect("needed"));
    handle().rotate_git_sync_secret().await.refused(ErrorKind::NotFound);
    handle().run_git_sync().await.refused(ErrorKind::NotFound);
    assert!(handle().git_info().await.is_ok(), "what was imported is still known");
}

#[tokio::test]
async fn live_edits_stay_locked_with_synchronization() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    let live = || UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
    let error = w.as_admin().space(&space).update(live()).await.refused(ErrorKind::Conflict);
    assert!(error.message().starts_with("editMode: "), "{error}");
    put(&w, &space, json!({ "direction": "export" })).await;
    w.as_admin().space(&space).update(live()).await.expect("updated");
    let error =
        w.as_admin().space(&space).set_git_sync(setting(json!({}))).await.refused(ErrorKind::Conflict);
    assert!(error.message().starts_with("direction: "), "{error}");
}

#[tokio::test]
async fn invalid_sync_setting_is_rejected_by_field() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    for (more, field) in [
        (json!({ "url": "nonsense" }), "url"),
        (json!({ "ref": "main" }), "ref"),
        (json!({ "ref": "refs/tags/one" }), "ref"),
        (json!({ "commitMessage": " " }), "commitMessage"),
        (json!({ "repoTreeURL": "https://a:b@x.example" }), "repoTreeURL"),
        (json!({ "repoCommitURL": "javascript:x" }), "repoCommitURL"),
        (json!({ "repoProjectDirectory": "../up" }), "repoProjectDirectory"),
    ] {
        let error = w.as_admin().space(&space).set_git_sync(setting(more)).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with(&format!("{field}: ")), "{error}");
    }
    put(&w, &space, json!({ "ref": "refs/tags/one", "direction": "import" })).await;
}
