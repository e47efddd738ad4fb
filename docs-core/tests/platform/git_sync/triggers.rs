//! Triggers of synchronization: merges, webhooks and the schedule.

use docs_core::{
    ErrorKind,
    platform::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer},
    ports::GitError,
};
use docs_memstore::MemPushFault;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::*;
use crate::support::Refused;

#[tokio::test]
async fn merges_are_exported_and_bursts_are_one_commit() {
    let (w, remote, space) = begun(FILES, json!({ "direction": "export" })).await;
    let first = commits(&remote);
    let start = at_first(&w, &space).await;
    for n in 0..10 {
        change(&w, &space, set(&start, &format!("Edit {n}.\n"))).await;
        w.clock.advance(Duration::from_millis(1));
    }
    assert_eq!(jobs(&w, &space).await.iter().filter(|job| job.state == JobState::Queued).count(), 1);
    settle(&w).await;
    assert_eq!(commits(&remote), first + 1);
    assert_in_step(&w, &space).await;
    let commit = remote.commits()[first].clone();
    assert_eq!(commit.branch.commit.message, "DOCS-11: change request with no subject merged");
    assert_eq!(commit.author.name, "Ada");
    settle(&w).await;
    assert_eq!(jobs(&w, &space).await.len(), 2, "nothing follows from an export");
}

/// Creates the first page of a space.
async fn at_first(w: &World, space: &SpaceId) -> docs_core::model::PageId {
    change(w, space, json!([insert("Start", "Hello.\n")])).await.remove(0)
}

#[tokio::test]
async fn commit_message_follows_the_configured_template() {
    let message = "Docs: {change_request_subject} (#{change_request_number})";
    let (w, remote, space) = begun(&[], json!({ "commitMessage": message })).await;
    let new = docs_core::model::CreateChangeRequest {
        subject: Some("New prices".parse().expect("a subject")),
        ..Default::default()
    };
    let request =
        w.as_admin().space(&space).change_requests().create(new).await.expect("created").number.to_string();
    let update = serde_json::from_value(json!({ "changes": [insert("Prices", "Low.\n")] })).expect("changes");
    w.as_admin().space(&space).change_request(&request).edit(update).await.expect("edited");
    w.as_admin().space(&space).change_request(&request).merge().await.expect("merged");
    settle(&w).await;
    let messages: Vec<String> =
        remote.commits().iter().map(|commit| commit.branch.commit.message.clone()).collect();
    assert_eq!(messages.last().map(String::as_str), Some("Docs: New prices (#1)"), "{messages:?}");
}

#[tokio::test]
async fn a_space_that_mirrors_a_repository_exports_nothing() {
    let (w, remote, space) = in_step(FILES, json!({ "direction": "import" })).await;
    let limits = at(&w, &space, "limits").await;
    change(&w, &space, set(&limits, "Mine.\n")).await;
    settle(&w).await;
    assert_eq!((commits(&remote), jobs(&w, &space).await.len()), (0, 1));
    push(&w, &space, &remote, ("README.md", "# Start\n\nBye.\n")).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(
        (text(&w, &space, "limits").await.as_str(), text(&w, &space, "readme").await.as_str()),
        ("None.\n", "Bye.\n")
    );
}

async fn deliver(
    w: &World,
    space: &str,
    delivery: GitDelivery<'_>,
    body: &str,
) -> docs_core::Result<GitWebhookAnswer> {
    let mut webhook = GitWebhook::open(&w.platform, space, delivery).await?;
    for part in body.as_bytes().chunks(7) {
        webhook.take(part)?;
    }
    webhook.end().await
}

fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    mac.update(body.as_bytes());
    format!("sha256={}", data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()))
}

fn body(reference: &str, after: &str) -> String {
    json!({ "ref": reference, "before": "x", "after": after, "repository": { "id": 1 } }).to_string()
}

#[tokio::test]
async fn signed_pushes_are_imported_by_one_coalesced_job() {
    let remote = repository(FILES);
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.space().await;
    let secret = put(&w, &space, json!({})).await.webhook.secret.expect("made");
    settle(&w).await;
    remote.put("README.md", "# Start\n\nBye.\n");
    let body = body("refs/heads/main", "0123456789012345678901234567890123456789");
    let signed = signature(&secret, &body);
    for n in 0..3 {
        let (signature, token) =
            if n == 1 { (None, Some(secret.as_str())) } else { (Some(signed.as_str()), None) };
        let delivery = GitDelivery { signature, token, event: GitHostEvent::Push };
        assert_eq!(
            deliver(&w, space.as_str(), delivery, &body).await.expect("taken"),
            GitWebhookAnswer::Enqueued
        );
    }
    assert_eq!(jobs(&w, &space).await.len(), 2, "one for the setting, one for all pushes");
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
    // A repeated or delayed delivery has no effect.
    let delivery = GitDelivery { signature: Some(&signed), token: None, event: GitHostEvent::Push };
    assert_eq!(
        deliver(&w, space.as_str(), delivery, &body).await.expect("taken"),
        GitWebhookAnswer::Enqueued
    );
    settle(&w).await;
    assert!(log(&jobs(&w, &space).await[0]).contains("in sync"), "{:?}", jobs(&w, &space).await[0]);
}

#[tokio::test]
async fn irrelevant_pushes_enqueue_no_job() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    let secret = w.as_admin().space(&space).rotate_git_sync_secret().await.expect("rotated").webhook.secret;
    let secret = secret.expect("made");
    let known = state(&w, &space).await.state.commit.expect("a commit");
    let zeros = "0".repeat(40);
    for (event, body) in [
        (GitHostEvent::Push, body("refs/heads/main", &known)),
        (GitHostEvent::Push, body("refs/heads/other", "abc")),
        (GitHostEvent::Push, body("refs/heads/main", &zeros)),
        (GitHostEvent::Other, body("refs/heads/main", "abc")),
    ] {
        let signed = signature(&secret, &body);
        let delivery = GitDelivery { signature: Some(&signed), token: None, event };
        assert_eq!(
            deliver(&w, space.as_str(), delivery, &body).await.expect("taken"),
            GitWebhookAnswer::Ignored,
            "{body}"
        );
    }
    assert_eq!(jobs(&w, &space).await.len(), 1);
    // An unparseable body may be any event.
    for body in [String::new(), "x".repeat(2_000_000)] {
        let signed = signature(&secret, &body);
        let delivery = GitDelivery { signature: Some(&signed), token: None, event: GitHostEvent::Push };
        assert_eq!(
            deliver(&w, space.as_str(), delivery, &body).await.expect("taken"),
            GitWebhookAnswer::Enqueued
        );
    }
    let delivery = GitDelivery { signature: None, token: Some(&secret), event: GitHostEvent::Push };
    let mut webhook = GitWebhook::open(&w.platform, space.as_str(), delivery).await.expect("opened");
    webhook.take(&vec![0; 25 << 20]).expect("it fits");
    webhook.take(b"x").refused(ErrorKind::TooLarge);
}

#[tokio::test]
async fn unauthenticated_delivery_is_answered_like_unknown_webhook() {
    let (w, _, space) = in_step(FILES, json!({})).await;
    let old = w.as_admin().space(&space).rotate_git_sync_secret().await.expect("rotated").webhook.secret;
    let old = old.expect("made");
    w.as_admin().space(&space).rotate_git_sync_secret().await.expect("rotated");
    let (bare, body) = (w.space().await, body("refs/heads/main", "abc"));
    let (rotated, empty) = (signature(&old, &body), signature("", &body));
    for at in [space.as_str(), bare.as_str(), "nowhere", "no id!"] {
        for (signature, token) in [
            (None, None),
            (Some(rotated.as_str()), Some(old.as_str())),
            (Some(empty.as_str()), Some("")),
            (Some("sha256="), None),
            (Some("sha1=00"), None),
            (Some("sha256=zz"), None),
        ] {
            let delivery = GitDelivery { signature, token, event: GitHostEvent::Push };
            let error = deliver(&w, at, delivery, &body).await.refused(ErrorKind::NotFound);
            assert_eq!(error.message(), "no such webhook", "{at}");
        }
    }
}

#[tokio::test]
async fn schedule_polls_at_its_interval_and_imports_changes() {
    let (w, remote, space) = in_step(FILES, json!({ "schedule": 15 })).await;
    let before = jobs(&w, &space).await.len();
    for _ in 0..4 {
        w.clock.advance(Duration::from_secs(15 * 60));
        w.platform.settle().await.expect("settled");
    }
    assert_eq!(jobs(&w, &space).await.len(), before, "a look that finds nothing is no job of the space");
    let looked = remote.urls().len();
    remote.put("README.md", "# Start\n\nBye.\n");
    w.clock.advance(Duration::from_secs(15 * 60));
    w.platform.settle().await.expect("settled");
    assert!(remote.urls().len() > looked);
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
    assert_in_step(&w, &space).await;
    // Without a schedule, or without a setting, the repository is not polled.
    put(&w, &space, json!({})).await;
    settle(&w).await;
    let looked = remote.urls().len();
    w.clock.advance(Duration::from_secs(24 * 3_600));
    w.platform.settle().await.expect("settled");
    assert_eq!(remote.urls().len(), looked);
}

#[tokio::test]
async fn scheduled_sync_reports_a_failure_once_and_recovers() {
    let (w, remote, space) = in_step(FILES, json!({ "schedule": 15 })).await;
    remote.edit(|repository| repository.failure = Some(GitError::Credentials));
    for _ in 0..5 {
        w.clock.advance(Duration::from_secs(15 * 60));
        w.platform.settle().await.expect("settled");
    }
    let all = jobs(&w, &space).await;
    assert_eq!(all.iter().filter(|job| job.state == JobState::Failed).count(), 1, "{all:#?}");
    let shown = state(&w, &space).await.state.job.expect("a job");
    assert_eq!(shown.error.as_deref(), Some("the repository rejected the credentials"));
    remote.edit(|repository| repository.failure = None);
    remote.put("README.md", "# Start\n\nBye.\n");
    w.clock.advance(Duration::from_secs(15 * 60));
    w.platform.settle().await.expect("settled");
    assert_eq!(text(&w, &space, "readme").await, "Bye.\n");
    assert!(state(&w, &space).await.state.in_step);
}

#[tokio::test]
async fn lost_export_response_is_recovered_without_duplicates() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    change(&w, &space, json!([insert("Prices", "Low.\n")])).await;
    remote.edit(|repository| repository.push_faults.push_back(MemPushFault::AnswerLost));
    settle(&w).await;
    // The space is edited in the meantime.
    let limits = at(&w, &space, "limits").await;
    change(&w, &space, set(&limits, "Two.\n")).await;
    settle_all(&w).await;
    assert_in_step(&w, &space).await;
    let files = files(&remote);
    assert_eq!(
        (files["prices.md"].as_str(), files["limits.md"].as_str()),
        ("# Prices\n\nLow.\n", "# Limits\n\nTwo.\n")
    );
    assert_eq!(commits(&remote), 2);
}

#[tokio::test]
async fn push_during_an_export_is_merged_without_loss() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    let start = at(&w, &space, "readme").await;
    change(&w, &space, set(&start, "Ours.\n")).await;
    let fault = MemPushFault::Overtaken("limits.md".to_owned(), "# Limits\n\nTheirs.\n".into());
    remote.edit(|repository| repository.push_faults.push_back(fault));
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "limits").await, "Theirs.\n");
    assert_eq!(files(&remote)["README.md"], "# Start\n\nOurs.\n");
}

#[tokio::test]
async fn synchronized_space_is_detected_without_a_fetch() {
    let (w, remote, space) = in_step(FILES, json!({ "schedule": 15 })).await;
    let fetched = remote.fetches();
    w.as_admin().space(&space).run_git_sync().await.expect("enqueued");
    settle(&w).await;
    assert!(log(&jobs(&w, &space).await[0]).contains("in sync"), "{:?}", jobs(&w, &space).await[0]);
    w.clock.advance(Duration::from_secs(15 * 60));
    w.platform.settle().await.expect("settled");
    assert_eq!(remote.fetches(), fetched, "neither a run nor a look has fetched");
    remote.put("README.md", "# Start\n\nBye.\n");
    w.clock.advance(Duration::from_secs(15 * 60));
    w.platform.settle().await.expect("settled");
    assert_eq!((remote.fetches(), text(&w, &space, "readme").await.as_str()), (fetched + 1, "Bye.\n"));
}

#[tokio::test]
async fn conflicting_commit_is_not_fetched_again() {
    let (w, remote, space, _) = super::conflicts::torn().await;
    let fetched = remote.fetches();
    w.as_admin().space(&space).run_git_sync().await.expect("enqueued");
    settle(&w).await;
    assert!(log(&jobs(&w, &space).await[0]).contains("until change request #"));
    assert_eq!(remote.fetches(), fetched);
}
