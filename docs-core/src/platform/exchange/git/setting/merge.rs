//! Merging a commit with unexported content of a space, by the same rules as change requests. Conflicting changes are
//! put into a change request.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::operation;

use crate::{
    Error, Result,
    content::{ContentMerge, ThreeWay},
    model::{
        ChangeRequestId, ChangeRequestStatus, GitCommit, GitSyncDirection, JobId, JobResult, JobStage,
        RevisionId, Subject,
    },
    platform::{
        content::change_requests::new_request,
        exchange::git::{
            import::CommitContent,
            sync::{
                Attempt, CommitOrigin, CommitOutcome, ImportPayload, Times, move_head_in_sync, synced_record,
            },
        },
        jobs::{JobRun, Progress, Urgency},
        kernel::{actor::Actor, platform::Platform},
        library::follow::git::{NewSyncJob, enqueue},
    },
    ports::Checkout,
    store::{
        Hash, Key, Operation, Tx,
        jobs::{self, JobOutcome},
        records::{
            ChangeRequestRecord, GitState, GitSyncConflict, GitSyncState, RevisionRecord, SpaceRecord,
        },
    },
};

/// The input of a run.
pub(super) struct SyncInput<'a> {
    pub(super) space: Arc<SpaceRecord>,
    pub(super) sync: &'a GitSyncState,
    pub(super) payload: ImportPayload,
    pub(super) checkout: &'a dyn Checkout,
    /// The URL with credentials.
    pub(super) url: String,
}

/// The content of a commit as a revision that is in sync with the commit, independent of the live content.
pub(super) struct CommitRevision {
    pub(super) revision: RevisionRecord,
    pub(super) git: GitState,
}

impl Platform {
    /// Merges a commit with the content of its space.
    pub(super) async fn merge_commit(
        &self,
        at: SyncInput<'_>,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let storing = self.begin_write_window();
        progress.stage(JobStage::ConfigCheck).await?;
        let space = &*at.space;
        // Without a common revision, the base is empty, so all content counts as added.
        let base = common_revision(self, &at).await?;
        let on = match &base {
            Some(base) => SpaceRecord { head: base.id.clone(), root: base.root, ..space.clone() },
            None => SpaceRecord { git: None, ..space.clone() },
        };
        let base_root = match &base {
            Some(base) => base.root,
            None => self.content().empty_root(&space.domain).await?,
        };
        let read = self.read_commit(&at.payload, &on, at.checkout, progress).await?;
        progress.stage(JobStage::Finalize).await?;
        let sides = ThreeWay { base: base_root, ours: space.root, theirs: read.root };
        let merged = self.content().merge(&space.domain, sides).await?;
        let theirs = self.commit_revision(&at, run, read);
        let base = match base {
            Some(base) => RevisionRecord::clone(&base),
            // The empty base of a change request.
            None => {
                let (now, by) = (theirs.revision.created_at, at.sync.by.clone());
                RevisionRecord::new(self.id(), space.id.clone(), base_root, now, by)
            }
        };
        let revision = RevisionRecord { parents: vec![base.id.clone()], ..theirs.revision };
        let theirs = CommitRevision { revision, ..theirs };
        self.check_write_window(storing)?;
        match merged.is_clean() {
            true => self.store_merge(at, theirs, merged, run).await,
            false => self.store_conflict(at, base, theirs, merged, run).await,
        }
    }

    /// Returns the imported content of a commit as a revision.
    pub(super) fn commit_revision(
        &self,
        at: &SyncInput<'_>,
        run: &mut JobRun,
        read: CommitContent,
    ) -> CommitRevision {
        for warning in &read.warnings {
            run.append_log(self, warning.clone());
        }
        run.append_log(self, read.what);
        let (id, now, commit): (RevisionId, _, _) = (self.id(), self.now(), at.checkout.commit());
        let state = at.payload.state(&commit.oid, &id, Times { event: run.job.lane_at, now });
        let by = at.sync.by.clone();
        CommitRevision {
            revision: RevisionRecord {
                git: Some(at.payload.commit(commit, CommitOrigin::External)),
                ..RevisionRecord::new(id, at.space.id.clone(), read.root, now, by)
            },
            git: GitState { layout: read.layout, places: read.places, ..state },
        }
    }

    async fn store_merge(
        &self,
        at: SyncInput<'_>,
        theirs: CommitRevision,
        merged: ContentMerge,
        run: &mut JobRun,
    ) -> Result<Attempt> {
        let space = &at.space;
        let id: RevisionId = self.id();
        let result = match merged.root {
            root if root == space.root => None,
            root if root == theirs.revision.root => Some(theirs.revision.id.clone()),
            _ => Some(id.clone()),
        };
        run.append_log(self, "merged the changes of the space and the repository".to_owned());
        let result = JobResult { revision: result, ..JobResult::default() };
        let live = RevisionRecord {
            parents: vec![space.head.clone(), theirs.revision.id.clone()],
            ..RevisionRecord::new(
                id,
                space.id.clone(),
                merged.root,
                theirs.revision.created_at,
                at.sync.by.clone(),
            )
        };
        let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
        let (head, job) = (&space.head, self.id());
        let operation = store_merge(&at.payload, head, space.root, &theirs, &live, &job, &finished);
        let outcome = self.write(&Actor::Platform, &operation).await?;
        Ok(self.attempt(outcome, run))
    }

    async fn store_conflict(
        &self,
        at: SyncInput<'_>,
        base: RevisionRecord,
        theirs: CommitRevision,
        merged: ContentMerge,
        run: &mut JobRun,
    ) -> Result<Attempt> {
        let id: ChangeRequestId = self.id();
        let what = format!(
            "{} changes conflict with those of the space and are in a change request; export is paused \
             until it is merged or archived",
            merged.conflicts.len()
        );
        run.append_log(self, what);
        let result = JobResult { change_request: Some(id.clone()), ..JobResult::default() };
        let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
        let operation =
            StoreConflict { head: at.space.head.clone(), payload: at.payload, id, base, theirs, finished };
        let outcome = self.write(&Actor::Platform, &operation).await?;
        Ok(self.attempt(outcome, run))
    }
}

/// Returns the last common revision of a space and its repository.
async fn common_revision(platform: &Platform, at: &SyncInput<'_>) -> Result<Option<Arc<RevisionRecord>>> {
    let state = at.space.git_state_for(&at.payload.source());
    match state.and_then(|git| git.revision.as_ref()) {
        Some(id) => Ok(platform.read().await?.get(&RevisionRecord::key_for(&at.space.id, id)).await?),
        None => Ok(None),
    }
}

/// Records the merge of a commit with the live revision `head`, whose content is `ours`. `job` exports the changes of
/// the space.
#[operation("git_united")]
async fn store_merge(
    tx: &mut Tx,
    payload: &ImportPayload,
    head: &RevisionId,
    ours: Hash,
    theirs: &CommitRevision,
    live: &RevisionRecord,
    job: &JobId,
    finished: &jobs::FinishJob,
) -> Result<CommitOutcome> {
    let proof = match payload.begin(tx, Some(head), finished).await? {
        Ok(proof) => proof,
        Err(outcome) => return Ok(outcome),
    };
    let CommitRevision { revision, git } = theirs;
    if live.root == revision.root {
        let live = RevisionRecord { parents: vec![head.clone()], ..revision.clone() };
        move_head_in_sync(tx, &proof, live, GitSyncDirection::Import, git.clone()).await?;
        return Ok(CommitOutcome::Done);
    }
    tx.create(revision.clone());
    if live.root != ours {
        move_head_in_sync(tx, &proof, live.clone(), GitSyncDirection::Import, git.clone()).await?;
        return Ok(CommitOutcome::Done);
    }
    let now = revision.created_at;
    let new = synced_record(proof.space(), GitSyncDirection::Import, git.clone(), now);
    let space = tx.put(&**proof.space(), new)?;
    let wake = NewSyncJob { job: job.clone(), by: None, now, urgency: Urgency::FollowUp };
    enqueue(tx, &space, wake).await?;
    Ok(CommitOutcome::Done)
}

/// Records a change request with the content of a commit, where users resolve the conflicts.
struct StoreConflict {
    payload: ImportPayload,
    head: RevisionId,
    id: ChangeRequestId,
    base: RevisionRecord,
    theirs: CommitRevision,
    finished: jobs::FinishJob,
}

#[async_trait]
impl Operation for StoreConflict {
    type Output = CommitOutcome;
    const NAME: &'static str = "git_conflict";

    fn hot_keys(&self) -> Vec<Key> {
        vec![ChangeRequestRecord::last_number(&self.payload.space)]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<CommitOutcome> {
        let proof = match self.payload.begin(tx, Some(&self.head), &self.finished).await? {
            Ok(proof) => proof,
            Err(outcome) => return Ok(outcome),
        };
        let (space, CommitRevision { revision, git }) = (proof.space(), &self.theirs);
        if tx.get::<RevisionRecord>(&RevisionRecord::key_for(&space.id, &self.base.id)).await?.is_none() {
            tx.create(self.base.clone());
        }
        tx.create(revision.clone());
        let request = ChangeRequestRecord {
            status: ChangeRequestStatus::Open,
            subject: subject(revision.git.as_ref()),
            head: revision.id.clone(),
            root: revision.root,
            initial: self.base.id.clone(),
            base_root: self.base.root,
            ..new_request(tx, space, &self.id, &revision.by, revision.created_at).await?
        };
        tx.create(request);
        let since = space.git.as_ref().and_then(|git| git.revision.clone());
        let conflict = GitSyncConflict { request: self.id.clone(), since, then: git.clone() };
        put_conflict(tx, space, conflict)?;
        Ok(CommitOutcome::Done)
    }
}

pub(super) fn put_conflict(tx: &mut Tx, space: &SpaceRecord, conflict: GitSyncConflict) -> Result<()> {
    let Some(sync) = &space.git_sync else { return Err(Error::internal("the setting exists")) };
    let sync = GitSyncState { conflict: Some(conflict), ..GitSyncState::clone(sync) };
    tx.put(space, SpaceRecord { git_sync: Some(Box::new(sync)), ..space.clone() })?;
    Ok(())
}

/// Returns the subject of the change request for a commit.
pub(super) fn subject(commit: Option<&GitCommit>) -> Subject {
    let oid: String = commit.map(|commit| commit.oid.chars().take(7).collect()).unwrap_or_default();
    Subject::from_truncated(&format!("Changes from Git {oid}")).unwrap_or_default()
}
