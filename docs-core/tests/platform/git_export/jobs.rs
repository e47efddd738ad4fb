//! The states of export jobs.

use std::sync::OnceLock;

use async_trait::async_trait;
use docs_core::{
    ErrorKind,
    model::{GitProvider, Role},
    ports::{Checkout, Commit, FetchRequest, GitError, GitRemote, PushFiles, PushRequest, blob_id},
};
use docs_memstore::MemPushFault;

use super::*;
use crate::support::Refused;

const FILES: &[(&str, &str)] =
    &[("SUMMARY.md", "* [Start](README.md)\n"), ("README.md", "# Start\n\nHello.\n")];

async fn edit(w: &World, space: &SpaceId, text: &str) {
    let start = at(w, space, "readme").await;
    change(w, space, set(&start, text)).await;
}

/// Returns the live revision as shown by the API.
async fn head(w: &World, space: &SpaceId) -> Value {
    let of = ContentVersion::space(space.clone());
    serde_json::to_value(w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read"))
        .expect("JSON")
}

#[tokio::test]
async fn export_is_one_commit_referenced_by_revision_and_pages() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    let more = json!({
        "url": "https://me:hunter2@git.example/docs", "repoCommitURL": "https://git.example/docs/commit/",
        "repoTreeURL": "https://git.example/docs/tree/main",
        "gitInfo": { "provider": "gitlab", "url": "https://git.example/shown" },
    });
    assert_eq!(export(&w, &space, more).await, (JobState::Done, None));
    let [commit] = &remote.commits()[..] else { panic!("one commit") };
    assert_eq!(commit.url, "https://me:hunter2@git.example/docs");
    assert_eq!((commit.author.name.as_str(), commit.author.email.as_str()), ("Ada", "ada@example.com"));
    assert_ne!(commit.committer.name, "Ada");
    assert_eq!(commit.branch.commit.message, "Update the docs");
    assert_eq!((&commit.written[..], &commit.removed[..]), (&["README.md".to_owned()][..], &[][..]));
    let (head, job) = (head(&w, &space).await, latest(&w, &space).await);
    assert_eq!(
        head["git"],
        json!({
            "oid": commit.branch.commit.oid, "message": "Update the docs", "createdByPlatform": true,
            "createdByGitBook": true, "ref": "refs/heads/main",
            "url": format!("https://git.example/docs/commit/{}", commit.branch.commit.oid),
        })
    );
    assert_eq!(head["pages"][0]["git"], json!({ "path": "README.md", "oid": blob_id(b"# Start\n\nBye.\n") }));
    assert_eq!(job.result.expect("what came of it").revision.expect("a revision").to_string(), head["id"]);
    let info = w.as_admin().space(&space).git_info().await.expect("known");
    assert_eq!(info.url.as_deref(), Some("https://git.example/shown"));
    assert_eq!(info.installation_provider, GitProvider::Gitlab);
    let shown = format!("{:?} {head} {info:?}", latest(&w, &space).await);
    assert!(!shown.contains("hunter2"), "{shown}");
    w.check().await;
}

#[tokio::test]
async fn imported_content_is_not_exported_again_unless_forced() {
    let (w, remote, space) = world_of(FILES).await;
    let asked = remote.urls().len();
    assert!(log(&exported(&w, &space).await).contains("needed"));
    assert_eq!(remote.urls().len(), asked, "the repository is not asked");
    edit(&w, &space, "Bye.\n").await;
    exported(&w, &space).await;
    let revision = head(&w, &space).await["id"].clone();
    exported(&w, &space).await;
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!((commits(&remote), head(&w, &space).await["id"].clone()), (1, revision));
    // The commit is not imported again.
    let request = json!({ "url": URL, "ref": "refs/heads/main" });
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    w.clock.advance(Duration::from_millis(1));
    w.as_admin().space(&space).import_git(request).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    assert!(log(&latest(&w, &space).await).contains("needed"));
}

#[tokio::test]
async fn reverted_edit_creates_no_commit() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    edit(&w, &space, "Hello.\n").await;
    assert!(log(&exported(&w, &space).await).contains("needed"));
    assert_eq!(commits(&remote), 0);
}

#[tokio::test]
async fn export_refetches_after_a_concurrent_push() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    let fault = MemPushFault::Overtaken("other.txt".to_owned(), "x".into());
    remote.edit(|repository| repository.push_faults.push_back(fault));
    let job = exported(&w, &space).await;
    assert!(log(&job).contains("another push"), "{job:?}");
    let files = files(&remote);
    assert_eq!((files["README.md"].as_str(), files["other.txt"].as_str()), ("# Start\n\nBye.\n", "x"));
    assert_eq!((commits(&remote), job.attempt), (1, 1));
}

#[tokio::test]
async fn export_fails_if_every_push_attempt_loses_the_race() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    remote.edit(|repository| {
        let fault = |n| MemPushFault::Overtaken("other.txt".to_owned(), format!("{n}").into());
        repository.push_faults.extend((0..10).map(fault));
    });
    let (state, error) = export(&w, &space, json!({})).await;
    let error = error.expect("why");
    assert_eq!(state, JobState::Failed);
    assert!(error.contains("refs/heads/main") && error.contains("5 attempts"), "{error}");
    assert_eq!(commits(&remote), 0);
    assert_eq!(head(&w, &space).await["git"], Value::Null);
}

#[tokio::test]
async fn rejected_push_fails_with_the_message_of_the_host() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    remote.edit(|repository| {
        repository.push_faults.push_back(MemPushFault::Rejected("protected branch".to_owned()));
    });
    let (state, error) = export(&w, &space, json!({})).await;
    assert_eq!(state, JobState::Failed);
    assert!(error.expect("why").contains("protected branch"));
    assert_eq!(head(&w, &space).await["git"], Value::Null);
    // The failed export does not block the next one.
    exported(&w, &space).await;
    assert_eq!(commits(&remote), 1);
}

#[tokio::test]
async fn export_is_retried_after_disconnect_with_one_commit() {
    for (fault, before) in [(MemPushFault::Unreachable, 0), (MemPushFault::AnswerLost, 1)] {
        let (w, remote, space) = world_of(FILES).await;
        edit(&w, &space, "Bye.\n").await;
        remote.edit(|repository| repository.push_faults.push_back(fault));
        assert_eq!(export(&w, &space, json!({})).await, (JobState::Queued, None));
        assert_eq!(commits(&remote), before);
        w.clock.advance(Duration::from_secs(60));
        w.platform.settle().await.expect("settled");
        assert_eq!(latest(&w, &space).await.state, JobState::Done);
        assert_eq!(commits(&remote), 1);
        let head = head(&w, &space).await;
        assert_eq!(head["git"]["oid"], remote.commits()[0].branch.commit.oid);
        assert_eq!(head["git"]["createdByGitBook"], true);
        assert_eq!(head["pages"][0]["git"]["oid"], blob_id(b"# Start\n\nBye.\n"));
        w.check().await;
    }
}

#[tokio::test]
async fn second_of_two_queued_exports_creates_no_commit() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    w.clock.advance(Duration::from_millis(1));
    for message in ["One", "Two"] {
        w.as_admin()
            .space(&space)
            .export_git(request(json!({ "commitMessage": message })))
            .await
            .expect("enqueued");
    }
    w.platform.settle().await.expect("settled");
    assert_eq!(
        remote.commits().iter().map(|it| it.branch.commit.message.as_str()).collect::<Vec<_>>(),
        ["One"]
    );
    let jobs = w.as_admin().space(&space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    assert!(jobs.iter().all(|job| job.state == JobState::Done), "{jobs:?}");
}

#[tokio::test]
async fn git_jobs_run_by_timestamp_and_late_ones_are_dropped() {
    let (w, remote, space) = world_of(FILES).await;
    edit(&w, &space, "Bye.\n").await;
    let asked = remote.urls().len();
    let hour = |hour: u32| json!({ "url": format!("https://git.example/{hour}"), "timestamp": format!("2999-01-01T0{hour}:00:00Z") });
    let import = |n: u32| {
        let mut request = hour(n);
        request["ref"] = json!("refs/heads/main");
        let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
        let handle = w.as_admin().space(&space).import_git(request);
        async { handle.await.expect("enqueued") }
    };
    import(4).await;
    w.as_admin().space(&space).export_git(request(hour(2))).await.expect("enqueued");
    import(3).await;
    w.platform.settle().await.expect("settled");
    let urls: Vec<String> = remote.urls()[asked..].to_vec();
    let order: Vec<&str> = urls.iter().map(|url| &url[url.len() - 1..]).collect();
    // An export consists of a fetch and a push.
    assert_eq!(order, ["2", "2", "3", "4"]);
    assert_eq!(commits(&remote), 1);
    edit(&w, &space, "Late.\n").await;
    assert_eq!(export(&w, &space, hour(1)).await, (JobState::Done, None));
    assert!(log(&latest(&w, &space).await).contains("dropped"));
    assert_eq!((commits(&remote), remote.urls().len()), (1, asked + 4));
    let mut forced = hour(1);
    forced["force"] = json!(true);
    assert_eq!(export(&w, &space, forced).await, (JobState::Done, None));
    assert_eq!(commits(&remote), 2);
}

#[tokio::test]
async fn missing_branch_is_created_from_the_default_branch() {
    let (w, remote, space) = world_of(FILES).await;
    remote.put("LICENSE", "x");
    edit(&w, &space, "Bye.\n").await;
    assert_eq!(export(&w, &space, json!({ "ref": "refs/heads/docs" })).await, (JobState::Done, None));
    let made = &remote.commits()[0];
    assert_eq!(made.reference, "refs/heads/docs");
    assert!(made.parent.is_some() && made.branch.files.contains_key("LICENSE"));
    assert_eq!(made.written, ["README.md"], "what the default branch has is not written again");
    assert_eq!(files(&remote)["README.md"], "# Start\n\nHello.\n", "the default branch is as it was");
}

#[tokio::test]
async fn export_of_an_empty_space_fails() {
    let (w, remote, space) = world_of(&[]).await;
    let (state, error) = export(&w, &space, json!({})).await;
    assert_eq!(state, JobState::Failed);
    assert!(error.expect("why").contains("Markdown"));
    assert_eq!(commits(&remote), 0);
}

/// The space was in sync with a different repository before.
#[tokio::test]
async fn export_to_another_repository_preserves_its_files() {
    let (w, remote, space) = world_of(FILES).await;
    let start = at(&w, &space, "readme").await;
    change(&w, &space, json!([insert("Other", "x\n")])).await;
    exported(&w, &space).await;
    // Files with the same names, whose content is not from the space.
    remote.put("README.md", "# Theirs\n");
    remote.put("other.md", "# Theirs\n");
    let other = at(&w, &space, "other").await;
    change(&w, &space, json!([{ "operation": "delete_page", "page": other }])).await;
    change(&w, &space, set(&start, "Mine.\n")).await;
    assert_eq!(
        export(&w, &space, json!({ "url": "https://git.example/elsewhere" })).await,
        (JobState::Done, None)
    );
    let files = files(&remote);
    assert_eq!((files["README.md"].as_str(), files["other.md"].as_str()), ("# Theirs\n", "# Theirs\n"));
    assert_eq!(files["readme/README.md"], "# Start\n\nMine.\n");
}

/// A repository whose pushes edit the space.
struct Busy {
    remote: MemGit,
    world: OnceLock<(World, SpaceId)>,
}

#[async_trait]
impl GitRemote for Busy {
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        self.remote.fetch(request).await
    }

    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError> {
        let commit = self.remote.push(request, files).await?;
        let (w, space) = self.world.get().expect("it is set");
        edit(w, space, "Edited meanwhile.\n").await;
        Ok(commit)
    }
}

#[tokio::test]
async fn edits_during_an_export_are_kept_and_exported_next() {
    let remote = MemGit::new();
    let busy = Arc::new(Busy { remote: remote.clone(), world: OnceLock::new() });
    let w = World::with_git(Arc::clone(&busy) as Arc<dyn GitRemote>).await;
    let space = w.space().await;
    FILES.iter().for_each(|(path, text)| remote.put(path, text.to_string()));
    import_again(&w, &space).await;
    assert!(busy.world.set((w.clone(), space.clone())).is_ok());
    edit(&w, &space, "Bye.\n").await;
    let job = exported(&w, &space).await;
    assert_eq!(files(&remote)["README.md"], "# Start\n\nBye.\n");
    let now = head(&w, &space).await;
    assert_eq!(now["git"], Value::Null, "what is live is not in the repository");
    assert_eq!(
        now["pages"][0]["git"]["oid"],
        blob_id(b"# Start\n\nBye.\n"),
        "but where its page is kept is known"
    );
    let made = job.result.expect("what came of it").revision.expect("a revision");
    assert_ne!(made.to_string(), now["id"]);
    exported(&w, &space).await;
    assert_eq!(files(&remote)["README.md"], "# Start\n\nEdited meanwhile.\n");
    assert_eq!(commits(&remote), 2);
    w.check().await;
}

#[tokio::test]
async fn invalid_or_forbidden_export_is_not_enqueued() {
    let (w, _, space) = world_of(FILES).await;
    for (more, field) in [
        (json!({ "url": "nonsense" }), "url"),
        (json!({ "ref": "main" }), "ref"),
        (json!({ "ref": "refs/tags/v1" }), "ref"),
        (json!({ "ref": "refs/heads/" }), "ref"),
        (json!({ "commitMessage": " \n" }), "commitMessage"),
        (json!({ "repoTreeURL": "https://me:pw@git.example/x" }), "repoTreeURL"),
        (json!({ "repoCommitURL": "https://me:pw@git.example/x" }), "repoCommitURL"),
        (json!({ "gitInfo": { "url": "https://me:pw@git.example/x" } }), "gitInfo.url"),
        (json!({ "repoTreeURL": "javascript:x" }), "repoTreeURL"),
        (json!({ "repoCommitURL": "javascript:x" }), "repoCommitURL"),
        (json!({ "gitInfo": { "url": "javascript:x" } }), "gitInfo.url"),
        (json!({ "ref": "refs/heads/a..b" }), "ref"),
        (json!({ "url": "git://git.example/a" }), "url"),
        (json!({ "repoProjectDirectory": "../x" }), "repoProjectDirectory"),
    ] {
        let error = w.as_admin().space(&space).export_git(request(more)).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with(&format!("{field}: ")), "{error}");
    }
    let editor = w.member("Eve", Some(Role::Edit)).await;
    w.platform
        .as_actor(&editor)
        .space(&space)
        .export_git(request(json!({})))
        .await
        .refused(ErrorKind::Forbidden);
    let w = World::new().await;
    let space = w.space().await;
    w.as_admin().space(&space).export_git(request(json!({}))).await.refused(ErrorKind::Precondition);
}

#[tokio::test]
async fn removing_a_legacy_git_installation_is_idempotent() {
    let (w, _, space) = world_of(FILES).await;
    let handle = || w.as_admin().space(&space);
    edit(&w, &space, "Bye.\n").await;
    export(&w, &space, json!({ "gitInfo": { "provider": "github", "url": "https://git.example/x" } })).await;
    for _ in 0..2 {
        handle().remove_legacy_git_installation().await.expect("removed");
        let info = handle().git_info().await.expect("known");
        // Without a stated service, it is derived from the host.
        let shown = (info.installation_provider, info.url.as_deref());
        assert_eq!(shown, (GitProvider::Gitlab, Some("https://git.example/x")));
    }
    let editor = w.member("Eve", Some(Role::Edit)).await;
    let refused = w.platform.as_actor(&editor).space(&space).remove_legacy_git_installation().await;
    refused.refused(ErrorKind::Forbidden);
    // A space that was never synchronized has no installation.
    handle().remove_legacy_git_installation().await.expect("removed");
}
