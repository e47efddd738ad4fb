//! The synchronization job: compares a space with its repository and performs the next step.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    conflict::Standing,
    credit::{Credit, recent},
    unite::Syncing,
};
use crate::{
    Error, ErrorKind, Result,
    content::Content,
    model::{
        BoundedText, ExportGitRepository, GitInfoUpdate, GitSyncDirection, ImportGitRepository, JobResult,
        JobStage, UserId,
    },
    platform::{
        exchange::git::{
            export::{Base, Export, Missing},
            no_git,
            sync::{
                Attempt, ExportPayload, FromSetting, ImportPayload, SyncPayload, Unsaid, branch_is_gone,
                git_error,
            },
        },
        jobs::{Effect, Job, Progress, Run},
        kernel::platform::Platform,
        library::follow::git::SyncRun,
    },
    ports::{FetchRequest, GitError},
    store::{
        jobs::JobOutcome,
        records::{ChangeRequestRecord, GitSyncState, SpaceRecord},
    },
};

/// Maximum number of attempts of a run while one of the sides keeps changing.
const MAX_ATTEMPTS: usize = 5;

#[async_trait]
impl Job for SyncRun {
    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect> {
        let mut progress = run.progress(platform);
        for _ in 0..MAX_ATTEMPTS {
            if let Attempt::Ended(effect) = platform.sync_once(&self, run, &mut progress).await? {
                return Ok(effect);
            }
            run.say(platform, "the space or the repository has changed; starting again".to_owned());
            if run.is_stopping() {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    "the server is stopping; the synchronization \
                                                               continues later",
                ));
            }
        }
        let message = "the space or the repository keeps changing; retrying later";
        Err(Error::new(ErrorKind::Unavailable, message))
    }
}

impl Platform {
    async fn sync_once(&self, job: &SyncRun, run: &mut Run, progress: &mut Progress<'_>) -> Result<Attempt> {
        let found: Option<Arc<SpaceRecord>> = self.read().await?.get(&SpaceRecord::at(&job.space)).await?;
        let Some(space) = found.filter(|space| space.deleted_at.is_none()) else {
            return Err(Error::not_found("space"));
        };
        let (space, standing) = self.settle_conflict(space).await?;
        let Some(sync) = space.git_sync.clone() else {
            run.say(self, "the synchronization of the space was turned off".to_owned());
            return Ok(Attempt::Ended(Effect::Done));
        };
        if sync.setting.direction == GitSyncDirection::Export {
            if is_unwritten(&space) {
                return Ok(self.nothing_written(run));
            }
            let payload = self.export_payload(&space, &sync, None).await?;
            return self.export_once(&payload, run, progress).await;
        }
        progress.stage(JobStage::RepoFetch).await?;
        let payload = import_payload(&space, &sync);
        let url = payload.url(self, run)?;
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let reference = &*payload.request.reference;
        let wanted = payload.fetch_of(&url, reference);
        if self.is_at_known(&space, &sync, &standing, &wanted).await? {
            return Ok(match standing {
                Standing::Open(request) => self.waits_for(&request, run),
                Standing::Free => self.in_step_already(run),
            });
        }
        let checkout = match git.fetch(&wanted).await {
            Ok(checkout) => checkout,
            Err(GitError::NoRef(_)) if sync.setting.direction == GitSyncDirection::Both => {
                if let Standing::Open(request) = standing {
                    return Ok(self.waits_for(&request, run));
                }
                if is_unwritten(&space) {
                    return Ok(self.nothing_written(run));
                }
                if space.git_of(&sync.source()).is_some() {
                    return Err(branch_is_gone(reference));
                }
                return self.make_branch(space, &sync, url, run, progress).await;
            }
            Err(error) => return Err(git_error(error)),
        };
        run.say(self, format!("fetched {reference} at {}", checkout.commit().oid));
        let syncing = Syncing { space, sync: &sync, payload, checkout: &*checkout, url };
        self.sync_with(syncing, standing, run, progress).await
    }

    /// Returns `true` if the ref points to the commit that the space is in sync with, or to the one with an unresolved
    /// conflict. No fetch is needed then.
    async fn is_at_known(
        &self,
        space: &SpaceRecord,
        sync: &GitSyncState,
        standing: &Standing,
        wanted: &FetchRequest,
    ) -> Result<bool> {
        let is_behind = sync.setting.direction.exports() && !space.is_in_step();
        let known = match standing {
            Standing::Open(_) => sync.conflict.as_ref().and_then(|conflict| conflict.then.oid.as_ref()),
            Standing::Free if is_behind => None,
            Standing::Free => space.git_of(&sync.source()).and_then(|git| git.oid.as_ref()),
        };
        let Some(known) = known else { return Ok(false) };
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        Ok(git.resolve(wanted).await.map_err(git_error)?.as_ref() == Some(known))
    }

    /// Ends a run that has nothing to do.
    fn in_step_already(&self, run: &mut Run) -> Attempt {
        run.say(self, "space and repository are in sync; no change needed".to_owned());
        Attempt::Ended(Effect::Done)
    }

    /// Ends a run for a space without any content yet.
    fn nothing_written(&self, run: &mut Run) -> Attempt {
        run.say(self, "the space has no content yet; no export needed".to_owned());
        Attempt::Ended(Effect::Done)
    }

    /// Ends a run for a space with an unresolved conflict.
    fn waits_for(&self, request: &ChangeRequestRecord, run: &mut Run) -> Attempt {
        let what = format!("export is paused until change request #{} is merged or archived", request.number);
        run.say(self, what);
        let result = JobResult { change_request: Some(request.id.clone()), ..JobResult::default() };
        run.outcome = JobOutcome { result: Some(result), object: None };
        Attempt::Ended(Effect::Done)
    }

    /// Performs the next step for a fetched commit.
    async fn sync_with(
        &self,
        at: Syncing<'_>,
        standing: Standing,
        run: &mut Run,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let oid = &at.checkout.commit().oid;
        if let Standing::Open(request) = standing {
            let conflict =
                at.sync.conflict.as_ref().filter(|conflict| conflict.then.oid.as_ref() == Some(oid));
            if conflict.is_none() {
                return self.renew_conflict(at, &request, run, progress).await;
            }
            return Ok(self.waits_for(&request, run));
        }
        let is_known = at.space.git.as_ref().is_some_and(|git| git.is_of(oid, &at.payload.source()));
        let exports = at.sync.setting.direction.exports();
        match is_known {
            true if exports && !at.space.is_in_step() => self.export_to(at, run, progress).await,
            true => Ok(self.in_step_already(run)),
            false if !exports || at.space.is_in_step() || at.space.root == Content::nothing() => {
                self.import_on(at.payload, &at.space, at.checkout, run, progress).await
            }
            false => self.unite_with(at, run, progress).await,
        }
    }

    /// Exports to a commit that the space is in sync with.
    async fn export_to(
        &self,
        at: Syncing<'_>,
        run: &mut Run,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let payload = self.export_payload(&at.space, at.sync, None).await?;
        let base = Base { checkout: Some(at.checkout), is_branch: true };
        let export =
            Export { payload: &payload, space: at.space, base, url: at.url, missing: Missing::Pushed };
        self.export_on(export, run, progress).await
    }

    /// Exports to a branch that does not exist yet.
    async fn make_branch(
        &self,
        space: Arc<SpaceRecord>,
        sync: &GitSyncState,
        url: String,
        run: &mut Run,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let payload = self.export_payload(&space, sync, None).await?;
        let (checkout, is_branch) = self.base(&payload, &url).await?;
        if is_branch {
            return Ok(Attempt::Moved);
        }
        run.say(self, format!("the repository has no {} yet", payload.request.reference));
        let base = Base { checkout: checkout.as_deref(), is_branch };
        let export = Export { payload: &payload, space, base, url, missing: Missing::Pushed };
        self.export_on(export, run, progress).await
    }

    /// Merges a new commit with unexported content of the space.
    async fn unite_with(
        &self,
        at: Syncing<'_>,
        run: &mut Run,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        // An export that died after its push has left an unrecorded commit. It has the content of a revision of the
        // space, and is recognized by its message and date.
        let commit = at.checkout.commit();
        let state = at.space.git.as_ref();
        let tx = self.read().await?;
        let revisions = recent(&tx, &at.space, state.and_then(|git| git.revision.as_ref())).await?;
        let mut exported = None;
        for (place, revision) in revisions.iter().enumerate() {
            let credit = Credit::of(&tx, &at.space, at.sync, &revisions[place..]).await?;
            if credit.is_of(commit) {
                exported = Some((Arc::clone(revision), credit));
                break;
            }
        }
        drop(tx);
        if let Some((revision, credit)) = exported {
            let payload = self.export_payload(&at.space, at.sync, Some(credit)).await?;
            let space = SpaceRecord {
                head: revision.id.clone(),
                root: revision.root,
                ..SpaceRecord::clone(&at.space)
            };
            let base = Base { checkout: Some(at.checkout), is_branch: true };
            let url = at.url.clone();
            let export =
                Export { payload: &payload, space: Arc::new(space), base, url, missing: Missing::Left };
            match self.export_on(export, run, progress).await? {
                Attempt::Differs => {}
                attempt => return Ok(attempt),
            }
        }
        self.unite(at, run, progress).await
    }

    /// The payload of an export, for the live revision or the one with the given metadata.
    async fn export_payload(
        &self,
        space: &SpaceRecord,
        sync: &GitSyncState,
        credit: Option<Credit>,
    ) -> Result<ExportPayload> {
        let credit = match credit {
            Some(credit) => credit,
            None => {
                let tx = self.read().await?;
                let since = space.git.as_ref().and_then(|git| git.revision.as_ref());
                let revisions = recent(&tx, space, since).await?;
                Credit::of(&tx, space, sync, &revisions).await?
            }
        };
        let wanted = import_payload(space, sync).request;
        let request = ExportGitRepository {
            url: wanted.url,
            reference: wanted.reference,
            commit_message: BoundedText::cut(&credit.message)
                .ok_or_else(|| Error::internal("a commit message is not blank"))?,
            repo_cache_id: wanted.repo_cache_id,
            repo_tree_url: wanted.repo_tree_url,
            repo_commit_url: wanted.repo_commit_url,
            repo_project_directory: wanted.repo_project_directory,
            timestamp: None,
            force: None,
            git_info: wanted.git_info,
        };
        Ok(of_setting(space, sync, credit.by, request, Some(credit.at)))
    }
}

/// Returns `true` if a space has never had content.
fn is_unwritten(space: &SpaceRecord) -> bool {
    space.git.is_none() && space.root == Content::nothing()
}

/// The payload of an import.
pub(super) fn import_payload(space: &SpaceRecord, sync: &GitSyncState) -> ImportPayload {
    let set = &sync.setting;
    let info = set.provider.map(|provider| GitInfoUpdate { provider: Some(provider), url: None });
    let request = ImportGitRepository {
        url: set.url.clone(),
        reference: set.reference.clone(),
        repo_cache_id: None,
        repo_tree_url: set.repo_tree_url.clone(),
        repo_commit_url: set.repo_commit_url.clone(),
        repo_project_directory: set.repo_project_directory.clone(),
        timestamp: None,
        force: None,
        standalone: None,
        git_info: info,
    };
    of_setting(space, sync, sync.by.clone(), request, None)
}

fn of_setting<R>(
    space: &SpaceRecord,
    sync: &GitSyncState,
    by: UserId,
    request: R,
    committed_at: Option<crate::model::Timestamp>,
) -> SyncPayload<R> {
    let unsaid = match sync.setting.direction {
        GitSyncDirection::Both => Unsaid::Kept,
        GitSyncDirection::Import | GitSyncDirection::Export => Unsaid::Lost,
    };
    let sealed_url = sync.credentials.as_ref().map(|credentials| credentials.url.clone());
    let setting = Some(FromSetting { generation: sync.generation.clone(), unsaid, committed_at });
    SyncPayload { space: space.id.clone(), by, request, sealed_url, setting }
}
