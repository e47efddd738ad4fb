//! The synchronization job: compares a space with its repository and performs the next step.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    commit_metadata::{CommitMetadata, recent_revisions},
    conflict::ConflictState,
    merge::SyncInput,
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
            export::{Export, ExportBase, MissingContentAction},
            no_git,
            sync::{
                Attempt, ExportPayload, ImportPayload, SettingContext, SyncPayload, UnexportableFields,
                deleted_branch_error, git_error,
            },
        },
        jobs::{Effect, Job, JobRun, Progress},
        kernel::platform::Platform,
        library::follow::git::SyncRun,
    },
    ports::{FetchRequest, GitError},
    store::{
        jobs::JobOutcome,
        records::{ChangeRequestRecord, GitSyncState, SpaceRecord},
    },
};

/// Maximum number of attempts of a run when one of the sides keeps changing.
const MAX_ATTEMPTS: usize = 5;

#[async_trait]
impl Job for SyncRun {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let mut progress = run.progress(platform);
        for _ in 0..MAX_ATTEMPTS {
            if let Attempt::Ended(effect) = platform.attempt_sync(&self, run, &mut progress).await? {
                return Ok(effect);
            }
            run.append_log(platform, "the space or the repository has changed; starting again".to_owned());
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
    async fn attempt_sync(
        &self,
        job: &SyncRun,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let found: Option<Arc<SpaceRecord>> =
            self.read().await?.get(&SpaceRecord::key_for(&job.space)).await?;
        let Some(space) = found.filter(|space| space.deleted_at.is_none()) else {
            return Err(Error::not_found("space"));
        };
        let (space, standing) = self.settle_conflict(space).await?;
        let Some(sync) = space.git_sync.clone() else {
            run.append_log(self, "the synchronization of the space was turned off".to_owned());
            return Ok(Attempt::Ended(Effect::Done));
        };
        if sync.setting.direction == GitSyncDirection::Export {
            if has_no_content(&space) {
                return Ok(self.end_without_content(run));
            }
            let payload = self.export_payload(&space, &sync, None).await?;
            return self.attempt_export(&payload, run, progress).await;
        }
        progress.stage(JobStage::RepoFetch).await?;
        let payload = import_payload(&space, &sync);
        let url = payload.url(self, run)?;
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let reference = &*payload.request.reference;
        let wanted = payload.fetch_request(&url, reference);
        if self.is_at_known_commit(&space, &sync, &standing, &wanted).await? {
            return Ok(match standing {
                ConflictState::Open(request) => self.end_with_conflict(&request, run),
                ConflictState::NoConflict => self.end_in_sync(run),
            });
        }
        let checkout = match git.fetch(&wanted).await {
            Ok(checkout) => checkout,
            Err(GitError::NoRef(_)) if sync.setting.direction == GitSyncDirection::Both => {
                if let ConflictState::Open(request) = standing {
                    return Ok(self.end_with_conflict(&request, run));
                }
                if has_no_content(&space) {
                    return Ok(self.end_without_content(run));
                }
                if space.git_state_for(&sync.source()).is_some() {
                    return Err(deleted_branch_error(reference));
                }
                return self.make_branch(space, &sync, url, run, progress).await;
            }
            Err(error) => return Err(git_error(error)),
        };
        run.append_log(self, format!("fetched {reference} at {}", checkout.commit().oid));
        let syncing = SyncInput { space, sync: &sync, payload, checkout: &*checkout, url };
        self.sync_with(syncing, standing, run, progress).await
    }

    /// Returns `true` if the ref points to the commit that the space is in sync with, or to the one with an unresolved
    /// conflict. No fetch is needed then.
    async fn is_at_known_commit(
        &self,
        space: &SpaceRecord,
        sync: &GitSyncState,
        standing: &ConflictState,
        wanted: &FetchRequest,
    ) -> Result<bool> {
        let is_behind = sync.setting.direction.exports() && !space.is_in_sync();
        let known = match standing {
            ConflictState::Open(_) => sync.conflict.as_ref().and_then(|conflict| conflict.then.oid.as_ref()),
            ConflictState::NoConflict if is_behind => None,
            ConflictState::NoConflict => space.git_state_for(&sync.source()).and_then(|git| git.oid.as_ref()),
        };
        let Some(known) = known else { return Ok(false) };
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        Ok(git.resolve(wanted).await.map_err(git_error)?.as_ref() == Some(known))
    }

    /// Ends a run that has nothing to do.
    fn end_in_sync(&self, run: &mut JobRun) -> Attempt {
        run.append_log(self, "space and repository are in sync; no change needed".to_owned());
        Attempt::Ended(Effect::Done)
    }

    /// Ends a run for a space that has no content yet.
    fn end_without_content(&self, run: &mut JobRun) -> Attempt {
        run.append_log(self, "the space has no content yet; no export needed".to_owned());
        Attempt::Ended(Effect::Done)
    }

    /// Ends a run for a space with an unresolved conflict.
    fn end_with_conflict(&self, request: &ChangeRequestRecord, run: &mut JobRun) -> Attempt {
        let what = format!("export is paused until change request #{} is merged or archived", request.number);
        run.append_log(self, what);
        let result = JobResult { change_request: Some(request.id.clone()), ..JobResult::default() };
        run.outcome = JobOutcome { result: Some(result), object: None };
        Attempt::Ended(Effect::Done)
    }

    /// Performs the next step for a fetched commit.
    async fn sync_with(
        &self,
        at: SyncInput<'_>,
        standing: ConflictState,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let oid = &at.checkout.commit().oid;
        if let ConflictState::Open(request) = standing {
            let conflict =
                at.sync.conflict.as_ref().filter(|conflict| conflict.then.oid.as_ref() == Some(oid));
            if conflict.is_none() {
                return self.renew_conflict(at, &request, run, progress).await;
            }
            return Ok(self.end_with_conflict(&request, run));
        }
        let is_known = at.space.git.as_ref().is_some_and(|git| git.is_synced_to(oid, &at.payload.source()));
        let exports = at.sync.setting.direction.exports();
        match is_known {
            true if exports && !at.space.is_in_sync() => self.export_to(at, run, progress).await,
            true => Ok(self.end_in_sync(run)),
            false if !exports || at.space.is_in_sync() || at.space.root == Content::empty_hash() => {
                self.import_on(at.payload, &at.space, at.checkout, run, progress).await
            }
            false => self.merge_with(at, run, progress).await,
        }
    }

    /// Exports to a commit that the space is in sync with.
    async fn export_to(
        &self,
        at: SyncInput<'_>,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let payload = self.export_payload(&at.space, at.sync, None).await?;
        let base = ExportBase { checkout: Some(at.checkout), is_branch: true };
        let export = Export {
            payload: &payload,
            space: at.space,
            base,
            url: at.url,
            missing: MissingContentAction::Push,
        };
        self.export_on(export, run, progress).await
    }

    /// Exports to a branch that does not exist yet.
    async fn make_branch(
        &self,
        space: Arc<SpaceRecord>,
        sync: &GitSyncState,
        url: String,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let payload = self.export_payload(&space, sync, None).await?;
        let (checkout, is_branch) = self.base(&payload, &url).await?;
        if is_branch {
            return Ok(Attempt::Moved);
        }
        run.append_log(self, format!("the repository has no {} yet", payload.request.reference));
        let base = ExportBase { checkout: checkout.as_deref(), is_branch };
        let export = Export { payload: &payload, space, base, url, missing: MissingContentAction::Push };
        self.export_on(export, run, progress).await
    }

    /// Merges a new commit with unexported content of the space.
    async fn merge_with(
        &self,
        at: SyncInput<'_>,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        // An export that crashed after its push has left an unrecorded commit. The commit has the content of a revision
        // of the space, and is recognized by its message and date.
        let commit = at.checkout.commit();
        let state = at.space.git.as_ref();
        let tx = self.read().await?;
        let revisions = recent_revisions(&tx, &at.space, state.and_then(|git| git.revision.as_ref())).await?;
        let mut exported = None;
        for (place, revision) in revisions.iter().enumerate() {
            let credit = CommitMetadata::for_revisions(&tx, &at.space, at.sync, &revisions[place..]).await?;
            if credit.matches(commit) {
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
            let base = ExportBase { checkout: Some(at.checkout), is_branch: true };
            let url = at.url.clone();
            let export = Export {
                payload: &payload,
                space: Arc::new(space),
                base,
                url,
                missing: MissingContentAction::Ignore,
            };
            match self.export_on(export, run, progress).await? {
                Attempt::Differs => {}
                attempt => return Ok(attempt),
            }
        }
        self.merge_commit(at, run, progress).await
    }

    /// Returns the payload of an export, for the live revision or for the one with the given metadata.
    async fn export_payload(
        &self,
        space: &SpaceRecord,
        sync: &GitSyncState,
        credit: Option<CommitMetadata>,
    ) -> Result<ExportPayload> {
        let credit = match credit {
            Some(credit) => credit,
            None => {
                let tx = self.read().await?;
                let since = space.git.as_ref().and_then(|git| git.revision.as_ref());
                let revisions = recent_revisions(&tx, space, since).await?;
                CommitMetadata::for_revisions(&tx, space, sync, &revisions).await?
            }
        };
        let wanted = import_payload(space, sync).request;
        let request = ExportGitRepository {
            url: wanted.url,
            reference: wanted.reference,
            commit_message: BoundedText::from_truncated(&credit.message)
                .ok_or_else(|| Error::internal("a commit message is not blank"))?,
            repo_cache_id: wanted.repo_cache_id,
            repo_tree_url: wanted.repo_tree_url,
            repo_commit_url: wanted.repo_commit_url,
            repo_project_directory: wanted.repo_project_directory,
            timestamp: None,
            force: None,
            git_info: wanted.git_info,
        };
        Ok(setting_payload(space, sync, credit.by, request, Some(credit.at)))
    }
}

/// Returns `true` if a space has never had content.
fn has_no_content(space: &SpaceRecord) -> bool {
    space.git.is_none() && space.root == Content::empty_hash()
}

/// Returns the payload of an import.
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
    setting_payload(space, sync, sync.by.clone(), request, None)
}

fn setting_payload<R>(
    space: &SpaceRecord,
    sync: &GitSyncState,
    by: UserId,
    request: R,
    committed_at: Option<crate::model::Timestamp>,
) -> SyncPayload<R> {
    let unsaid = match sync.setting.direction {
        GitSyncDirection::Both => UnexportableFields::Retained,
        GitSyncDirection::Import | GitSyncDirection::Export => UnexportableFields::Cleared,
    };
    let sealed_url = sync.credentials.as_ref().map(|credentials| credentials.url.clone());
    let setting = Some(SettingContext { generation: sync.generation.clone(), unsaid, committed_at });
    SyncPayload { space: space.id.clone(), by, request, sealed_url, setting }
}
