//! Conflicting changes of the space and the repository.

use docs_core::{
    model::{ChangeRequestStatus, SettableStatus, UpdateChangeRequest},
    store::PageRequest,
};

use super::*;

#[tokio::test]
async fn concurrent_edits_are_merged_and_synced_to_both_sides() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    let start = at(&w, &space, "readme").await;
    change(&w, &space, set(&start, "Hello there.\n\nSecond.\n\nThird.\n")).await;
    push(&w, &space, &remote, ("README.md", "# Start\n\nHello.\n\nSecond.\n\nThird, at last.\n")).await;
    push(&w, &space, &remote, ("limits.md", "# Limits\n\nTwo.\n")).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    let both = "Hello there.\n\nSecond.\n\nThird, at last.\n";
    assert_eq!(text(&w, &space, "readme").await, both);
    assert_eq!(text(&w, &space, "limits").await, "Two.\n");
    assert_eq!(files(&remote)["README.md"], format!("# Start\n\n{both}"));
    let [commit] = &remote.commits()[..] else { panic!("one commit") };
    assert_eq!(commit.written, ["README.md"]);
}

#[tokio::test]
async fn pages_created_on_either_side_are_synced_to_both() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    change(&w, &space, json!([insert("Prices", "Low.\n")])).await;
    remote.put("faq.md", "# Questions\n\nNone.\n");
    push(&w, &space, &remote, ("SUMMARY.md", &format!("{}* [Questions](faq.md)\n", FILES[0].1))).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "prices").await, "Low.\n");
    assert_eq!(text(&w, &space, "faq").await, "None.\n");
    let files = files(&remote);
    assert_eq!(files["prices.md"], "# Prices\n\nLow.\n");
    assert!(files["SUMMARY.md"].contains("faq.md") && files["SUMMARY.md"].contains("prices.md"), "{files:?}");
}

#[tokio::test]
async fn a_program_that_is_not_exported_stays_in_the_space() {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    let file = json!([{ "operation": "insert_files",
        "files": [{ "name": "run.js", "contentType": "text/plain", "base64": "eA==" }] }]);
    change(&w, &space, file).await;
    settle(&w).await;
    let id = content(&w, &space).await["files"][0]["id"].clone();
    let start = at(&w, &space, "readme").await;
    change(&w, &space, set(&start, &format!("Hello. [Run](/files/{})\n", id.as_str().expect("an id")))).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    let log = log(&jobs(&w, &space).await[0]);
    assert!(log.contains("skipped the file `run.js`: "), "{log}");
    let before = content(&w, &space).await;
    push(&w, &space, &remote, ("limits.md", "# Limits\n\nTwo.\n")).await;
    settle(&w).await;
    remote.put("new.md", "# New\n\nText.\n");
    push(&w, &space, &remote, ("SUMMARY.md", &format!("{}* [New](new.md)\n", FILES[0].1))).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    let after = content(&w, &space).await;
    assert_eq!(after["files"], before["files"]);
    let texts = |content: &Value| content["texts"][start.as_str()].clone();
    assert_eq!(texts(&after), texts(&before));
    assert_eq!(text(&w, &space, "new").await, "Text.\n");
    let names: Vec<String> = files(&remote).into_keys().collect();
    assert_eq!(names, ["README.md", "SUMMARY.md", "limits.md", "new.md"]);
}

/// Creates a space that waits for the resolution of a conflict, because both sides have changed the same line.
pub(super) async fn torn() -> (World, MemGit, SpaceId, String) {
    let (w, remote, space) = in_step(FILES, json!({})).await;
    let limits = at(&w, &space, "limits").await;
    change(&w, &space, set(&limits, "Ours.\n")).await;
    push(&w, &space, &remote, ("limits.md", "# Limits\n\nTheirs.\n")).await;
    settle(&w).await;
    let shown = state(&w, &space).await.state;
    let request = shown.change_request.expect("a change request").to_string();
    assert!(!shown.in_step);
    (w, remote, space, request)
}

#[tokio::test]
async fn conflicts_create_a_change_request_and_pause_exports() {
    let (w, remote, space, request) = torn().await;
    let handle = || w.as_admin().space(&space).change_request(&request);
    let made = handle().get().await.expect("a request");
    assert_eq!(made.status, ChangeRequestStatus::Open);
    assert!(made.subject.starts_with("Changes from Git "), "{}", made.subject);
    let job = &jobs(&w, &space).await[0];
    assert_eq!(job.result.as_ref().and_then(|it| it.change_request.clone()), Some(made.id));
    // The space can still be edited, while synchronization waits.
    change(&w, &space, json!([insert("Prices", "Low.\n")])).await;
    settle(&w).await;
    assert!(
        log(&jobs(&w, &space).await[0]).contains("until change request #"),
        "{:?}",
        jobs(&w, &space).await
    );
    assert_eq!(commits(&remote), 0);
    assert_eq!(files(&remote)["limits.md"], "# Limits\n\nTheirs.\n");
    assert_eq!(text(&w, &space, "limits").await, "Ours.\n");
    // A user resolves the conflict.
    let limits = at(&w, &space, "limits").await;
    handle().pull().await.expect("pulled");
    let both =
        serde_json::from_value(json!({ "changes": set(&limits, "Ours and theirs.\n") })).expect("changes");
    handle().edit(both).await.expect("edited");
    handle().merge().await.expect("merged");
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "limits").await, "Ours and theirs.\n");
    let files = files(&remote);
    assert_eq!(
        (files["limits.md"].as_str(), files["prices.md"].as_str()),
        ("# Limits\n\nOurs and theirs.\n", "# Prices\n\nLow.\n")
    );
}

#[tokio::test]
async fn archiving_the_conflict_request_leaves_the_space_unchanged() {
    let (w, remote, space, request) = torn().await;
    let archived = UpdateChangeRequest { status: Some(SettableStatus::Archived), ..Default::default() };
    w.as_admin().space(&space).change_request(&request).update(archived).await.expect("archived");
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(files(&remote)["limits.md"], "# Limits\n\nOurs.\n");
}

#[tokio::test]
async fn later_pushes_update_the_open_change_request() {
    let (w, remote, space, request) = torn().await;
    let handle = || w.as_admin().space(&space).change_request(&request);
    let first = handle().get().await.expect("a request").subject;
    push(&w, &space, &remote, ("README.md", "# Start\n\nMore.\n")).await;
    settle(&w).await;
    assert_ne!(handle().get().await.expect("a request").subject, first, "it names the commit");
    // Edits in the change request are preserved.
    let limits = at(&w, &space, "limits").await;
    let mine = serde_json::from_value(json!({ "changes": set(&limits, "Decided.\n") })).expect("changes");
    handle().edit(mine).await.expect("edited");
    remote.put("faq.md", "# Questions\n\nNone.\n");
    push(&w, &space, &remote, ("SUMMARY.md", &format!("{}* [Questions](faq.md)\n", FILES[0].1))).await;
    settle(&w).await;
    push(&w, &space, &remote, ("faq.md", "# Questions\n\nOne.\n")).await;
    settle(&w).await;
    let requests = w.as_admin().space(&space).change_requests();
    let open =
        docs_core::platform::RequestFilter { status: Some(ChangeRequestStatus::Open), ..Default::default() };
    assert_eq!(requests.list(&open, &PageRequest::default()).await.expect("listed").items.len(), 1);
    handle().merge().await.expect("merged");
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "readme").await, "More.\n");
    assert_eq!(text(&w, &space, "faq").await, "One.\n");
    assert!(text(&w, &space, "limits").await.contains("Decided."), "{}", text(&w, &space, "limits").await);
}

#[tokio::test]
async fn first_sync_of_two_filled_sides_loses_nothing() {
    let remote = repository(FILES);
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.space().await;
    change(&w, &space, json!([insert("Prices", "Low.\n")])).await;
    put(&w, &space, json!({})).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "limits").await, "None.\n");
    assert_eq!(text(&w, &space, "prices").await, "Low.\n");
    assert_eq!(files(&remote)["prices.md"], "# Prices\n\nLow.\n");
    assert_eq!(files(&remote)["README.md"], FILES[1].1);
}

#[tokio::test]
async fn group_emoji_missing_in_the_files_survives_a_push() {
    let remote = repository(&[]);
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.space().await;
    put(&w, &space, json!({})).await;
    let group = json!({ "operation": "insert_page", "title": "Guides", "type": "group", "emoji": "🚀" });
    let made = change(&w, &space, json!([insert("Start", "Hello.\n"), group])).await;
    change(&w, &space, json!([{ "operation": "insert_page", "title": "One", "into": made[1], "document": { "markdown": "1\n" } }])).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    push(&w, &space, &remote, ("README.md", "# Start\n\nBye.\n")).await;
    settle(&w).await;
    assert_in_step(&w, &space).await;
    assert_eq!(text(&w, &space, "start").await, "Bye.\n");
    assert!(content(&w, &space).await.to_string().contains("1f680"), "{}", content(&w, &space).await);
}
