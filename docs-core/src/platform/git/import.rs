//! The job that makes a space's content equal to a repository's.

mod apply;
mod links;
mod read;

use std::sync::Arc;

use async_trait::async_trait;
use percent_encoding::percent_decode_str;
use url::Url;

use self::{
    apply::{Applied, StoreImport},
    read::Importer,
};

use super::ImportPayload;
use crate::{
    Error, ErrorKind, Result,
    content::gitsync::{FormatError, PathError, RepoPath},
    model::{GitCommit, GitProvider, GitSync, JobResult, JobStage, RevisionId, Timestamp, without_nul},
    platform::{
        Actor, Platform,
        jobs::{Effect, Job, Run},
    },
    ports::{Checkout, Commit, FetchRequest, GitError},
    store::{
        jobs::JobOutcome,
        records::{GitState, SpaceRecord},
    },
};

/// Most characters of a commit's message that a revision keeps.
const MAX_MESSAGE: usize = 4_000;

#[async_trait]
impl Job for ImportPayload {
    const KIND: &'static str = "git_import";

    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect> {
        platform.import_job(self, run).await
    }
}

impl Platform {
    async fn import_job(&self, payload: ImportPayload, run: &mut Run) -> Result<Effect> {
        let space: Option<Arc<SpaceRecord>> =
            self.read().await?.get(&SpaceRecord::at(&payload.space)).await?;
        let space =
            space.filter(|space| space.deleted_at.is_none()).ok_or_else(|| Error::not_found("space"))?;
        if let Some(why) = is_stale(&space, &payload, run.job.lane_at) {
            run.say(self, why);
            return Ok(Effect::Done);
        }
        let mut progress = run.progress(self);
        progress.stage(JobStage::RepoFetch).await?;
        let checkout = self.fetch(run, &payload).await?;
        let commit = checkout.commit().clone();
        run.say(self, format!("fetched {} at {}", payload.request.reference, commit.oid));
        let known = space.git.as_ref().is_some_and(|git| git.is_of(&commit.oid, &source_of(&payload)));
        if known && !is_set(payload.request.force) && !is_set(payload.request.standalone) {
            run.say(self, "this commit was imported before; nothing to do".to_owned());
            return Ok(Effect::Done);
        }
        let directory = payload.request.repo_project_directory.as_deref().unwrap_or_default();
        let project = RepoPath::new(directory).map_err(|error| path_error(&error))?;
        let storing = self.storing();
        progress.stage(JobStage::ConfigCheck).await?;
        let mut importer = Importer::new(self, &space, &*checkout).await?;
        let read = importer.read(&project, &mut progress).await?;
        progress.stage(JobStage::Finalize).await?;
        for warning in &read.warnings {
            run.say(self, warning.clone());
        }
        run.say(self, format!("read {} pages and {} files", read.pages, read.files));
        let revision: RevisionId = self.id();
        if is_set(payload.request.standalone) {
            run.say(self, format!("made the revision {revision}; the space's content is unchanged"));
        }
        let result = JobResult { revision: Some(revision.clone()), url: None };
        let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
        let operation = StoreImport {
            git: git_state(&payload, &commit, run.job.lane_at, finished.now),
            commit: git_commit(&payload, &commit),
            root: read.root,
            revision,
            finished,
            payload,
        };
        self.require_stored(storing)?;
        match self.write(&Actor::Platform, &operation).await? {
            Applied::Done => {}
            Applied::Stale(why) => {
                run.say(self, why);
                return Ok(Effect::Done);
            }
            Applied::TakenOver => {
                tracing::warn!(job.id = %run.job.id, "another worker has taken the import over");
            }
        }
        Ok(Effect::Finished)
    }

    async fn fetch(&self, run: &Run, payload: &ImportPayload) -> Result<Box<dyn Checkout>> {
        let git = self.ports().git.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::Precondition, "this server does not read Git repositories")
        })?;
        let url = match &payload.sealed_url {
            None => payload.request.url.to_string(),
            Some(sealed) => self.secrets().open(run.job.id.as_str(), sealed).map_err(|_| {
                Error::new(
                    ErrorKind::Precondition,
                    "the credentials were sealed by another server; import again",
                )
            })?,
        };
        let request = FetchRequest {
            url,
            reference: payload.request.reference.to_string(),
            cache_id: payload.request.repo_cache_id.as_ref().map(ToString::to_string),
        };
        git.fetch(&request).await.map_err(git_error)
    }
}

/// Why an import comes too late: something that happened after it was applied already.
pub(super) fn is_stale(space: &SpaceRecord, payload: &ImportPayload, event_at: Timestamp) -> Option<String> {
    if is_set(payload.request.force) || is_set(payload.request.standalone) {
        return None;
    }
    let last = space.git.as_ref()?.event_at?;
    (event_at < last)
        .then(|| format!("dropped: an event of {last} was applied already, this one is of {event_at}"))
}

/// The name of a repository: the last part of the path to it.
fn repo_name(address: &str) -> String {
    let url = Url::parse(address);
    let path = url.as_ref().map_or(address, Url::path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let name = percent_decode_str(last.trim_end_matches(".git")).decode_utf8_lossy();
    without_nul(&name).into_owned()
}

/// What the space shows of its repository after the import.
fn git_state(payload: &ImportPayload, commit: &Commit, event_at: Timestamp, now: Timestamp) -> GitState {
    let request = &payload.request;
    let info = request.git_info.as_ref();
    // Where readers find the files: what the request says of it, else the repository, unless it is on the server's
    // disk.
    let told = info.and_then(|info| info.url.as_deref()).or(request.repo_tree_url.as_deref());
    let local = Url::parse(&request.url).is_ok_and(|url| url.scheme() == "file");
    let link =
        told.filter(|url| !url.is_empty()).or_else(|| (!local).then_some(&*request.url)).map(str::to_owned);
    let shown = link.clone().unwrap_or_else(|| request.url.to_string());
    let name = repo_name(&shown);
    GitState {
        info: GitSync {
            repo_name: (!name.is_empty()).then_some(name),
            installation_provider: info.and_then(|info| info.provider).map(|provider| match provider {
                crate::model::GitInfoProvider::Github => GitProvider::Github,
                crate::model::GitInfoProvider::Gitlab => GitProvider::Gitlab,
            }),
            integration: None,
            url: link,
            updated_at: Some(now),
        },
        oid: Some(commit.oid.clone()),
        source: Some(source_of(payload)),
        event_at: Some(event_at),
    }
}

/// The commit as the revision shows it.
fn git_commit(payload: &ImportPayload, commit: &Commit) -> GitCommit {
    let below = payload.request.repo_commit_url.as_deref().filter(|url| !url.is_empty());
    GitCommit {
        oid: commit.oid.clone(),
        // No store keeps NUL, and a message is no reason to refuse its commit.
        message: without_nul(&commit.message).chars().take(MAX_MESSAGE).collect(),
        created_by_platform: false,
        created_by_git_book: false,
        url: below.map(|url| format!("{}/{}", url.trim_end_matches('/'), commit.oid)),
        reference: Some(payload.request.reference.to_string()),
    }
}

/// What is imported, apart from the commit: the same commit from elsewhere is another import.
fn source_of(payload: &ImportPayload) -> String {
    let directory = payload.request.repo_project_directory.as_deref().unwrap_or_default();
    format!("{} {} {directory}", payload.request.url, payload.request.reference)
}

fn is_set(flag: Option<bool>) -> bool {
    flag == Some(true)
}

/// What a repository's failure means for the job: what may pass is tried again.
pub(super) fn git_error(error: GitError) -> Error {
    let kind = if error.may_pass() { ErrorKind::Unavailable } else { ErrorKind::Invalid };
    Error::new(kind, error.to_string()).caused_by(error)
}

pub(super) fn format_error(error: FormatError) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string()).caused_by(error)
}

pub(super) fn path_error(error: &PathError) -> Error {
    Error::invalid("repoProjectDirectory", error)
}
