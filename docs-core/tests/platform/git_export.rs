//! Git export to a remote that stores pushed commits.

mod books;
mod foreign_files;
mod jobs;
mod one_page;
mod round_trip;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use docs_core::{
    model::{
        ContentUpdateChange, CreateChangeRequest, ExportGitRepository, ImportGitRepository, Job, JobState,
        MergeOutcome, PageId, RevisionPage, SpaceId, UpdateContent,
    },
    platform::{ContentOptions, ContentVersion},
    store::PageRequest,
};
use docs_memstore::MemGit;
use serde_json::{Value, json};

use crate::support::{World, insert};

pub(crate) const URL: &str = "https://git.example/docs";

fn request(more: Value) -> ExportGitRepository {
    let mut request = json!({ "url": URL, "ref": "refs/heads/main", "commitMessage": "Update the docs" });
    let (Value::Object(all), Value::Object(more)) = (&mut request, more) else { panic!("maps") };
    all.extend(more);
    serde_json::from_value(request).expect("a request")
}

/// Exports. Returns the final state of the job and its error.
async fn export(w: &World, space: &SpaceId, more: Value) -> (JobState, Option<String>) {
    // Ensures that this job is the newest.
    w.clock.advance(Duration::from_millis(1));
    w.as_admin().space(space).export_git(request(more)).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    let job = latest(w, space).await;
    (job.state, job.error)
}

/// Exports and expects success, with or without a new commit.
async fn exported(w: &World, space: &SpaceId) -> Job {
    let (state, error) = export(w, space, json!({})).await;
    assert_eq!((state, error), (JobState::Done, None));
    latest(w, space).await
}

/// Imports the current state of the remote, even if it was just exported.
async fn import_again(w: &World, space: &SpaceId) {
    import_folder(w, space, "").await;
}

/// Imports the current state of a folder of the remote.
async fn import_folder(w: &World, space: &SpaceId, folder: &str) {
    let job = run_import(w, space, folder).await;
    assert_eq!((job.state, job.error), (JobState::Done, None));
}

/// Imports the current state of a folder of the remote, and returns the job.
async fn run_import(w: &World, space: &SpaceId, folder: &str) -> Job {
    w.clock.advance(Duration::from_millis(1));
    let request =
        json!({ "url": URL, "ref": "refs/heads/main", "force": true, "repoProjectDirectory": folder });
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    w.as_admin().space(space).import_git(request).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
    latest(w, space).await
}

/// Returns the newest job of a space, with its log.
async fn latest(w: &World, space: &SpaceId) -> Job {
    let jobs = w.as_admin().space(space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    w.as_admin().space(space).get_job(&jobs[0].id).await.expect("a job")
}

pub(crate) fn log(job: &Job) -> String {
    job.log.iter().map(|line| format!("{}\n", line.text)).collect()
}

/// Creates a space from a repository with these files.
async fn world_of(files: &[(&str, &str)]) -> (World, MemGit, SpaceId) {
    let remote = MemGit::empty();
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.space().await;
    if !files.is_empty() {
        remote.edit(|repository| {
            repository.refs = docs_memstore::MemRefs::Only(["refs/heads/main".to_owned()].into());
        });
        for (path, text) in files {
            remote.put(path, text.to_string());
        }
        import_again(&w, &space).await;
    }
    (w, remote, space)
}

/// Changes content through a change request. Returns the created pages.
pub(crate) async fn change(w: &World, space: &SpaceId, changes: Value) -> Vec<PageId> {
    let requests = w.as_admin().space(space).change_requests();
    let number = requests.create(CreateChangeRequest::default()).await.expect("created").number.to_string();
    let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
    let request = || w.as_admin().space(space).change_request(&number);
    let done = request().edit(update).await.expect("edited");
    assert_eq!(request().merge().await.expect("merged").result, MergeOutcome::Merge);
    let made = done.changes.iter().filter_map(|change| match change {
        ContentUpdateChange::CreatedPage { page, .. } => Some(page.id.clone()),
        _ => None,
    });
    made.collect()
}

pub(crate) fn files(remote: &MemGit) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    remote
        .edit(|repository| repository.files.iter().map(|(path, bytes)| (path.clone(), text(bytes))).collect())
}

pub(crate) fn commits(remote: &MemGit) -> usize {
    remote.commits().len()
}

/// Returns the page at a path.
pub(crate) async fn at(w: &World, space: &SpaceId, path: &str) -> PageId {
    let of = ContentVersion::space(space.clone());
    match w.as_admin().content(&of).get_page_by_path(path, ContentOptions::default()).await.expect(path) {
        RevisionPage::Document(page) => page.base.id,
        RevisionPage::Group(page) => page.base.id,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn set(page: &PageId, text: &str) -> Value {
    json!([{ "operation": "update_page", "page": page, "document": { "markdown": text } }])
}

/// Returns the content of a space, without Git metadata and timestamps.
pub(crate) async fn content(w: &World, space: &SpaceId) -> Value {
    fn clean(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in ["git", "createdAt", "updatedAt", "urls", "downloadURL"] {
                    map.remove(key);
                }
                map.values_mut().for_each(clean);
            }
            Value::Array(items) => items.iter_mut().for_each(clean),
            _ => {}
        }
    }
    fn ids(pages: &[RevisionPage], out: &mut Vec<PageId>) {
        for page in pages {
            match page {
                RevisionPage::Document(page) => {
                    out.push(page.base.id.clone());
                    ids(&page.pages, out);
                }
                RevisionPage::Group(page) => ids(&page.pages, out),
                RevisionPage::Link(_) | RevisionPage::Computed(_) => {}
            }
        }
    }
    let of = ContentVersion::space(space.clone());
    let revision = w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read");
    let mut pages = Vec::new();
    ids(&revision.pages, &mut pages);
    let mut texts = BTreeMap::new();
    for id in pages {
        let page = crate::support::page(w, &of, &id).await;
        texts.insert(id.to_string(), serde_json::to_value(page).expect("JSON"));
    }
    let mut all = json!({
        "pages": revision.pages, "files": revision.files, "reusable": revision.reusable_contents,
        "variables": revision.variables, "texts": texts,
    });
    clean(&mut all);
    all
}
