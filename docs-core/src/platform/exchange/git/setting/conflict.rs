//! The change request with conflicting changes of a commit: its state, and updates from later commits.

use std::sync::Arc;

use docs_macros::operation;

use super::merge::{CommitRevision, SyncInput, put_conflict, subject};
use crate::{
    Error, Result,
    content::ThreeWay,
    model::{JobResult, JobStage, RevisionId, SpaceId},
    platform::{
        access,
        content::{
            change_requests::{feed_head, is_editable},
            merging::conflicting_pages,
        },
        exchange::git::sync::{Attempt, CommitOutcome, ImportPayload},
        jobs::{JobRun, Progress},
        kernel::{actor::Actor, platform::Platform},
    },
    policy::SpaceAction,
    store::{
        Tx,
        jobs::{self, JobOutcome},
        records::{
            ChangeRequestRecord, GitSyncConflict, GitSyncState, RevisionKind, RevisionRecord, SpaceRecord,
        },
    },
};

/// The state of a conflict with the repository.
pub(super) enum ConflictState {
    NoConflict,
    /// This change request has to be merged or archived first.
    Open(Arc<ChangeRequestRecord>),
}

impl Platform {
    /// Checks the conflict of a space. Once its change request is merged or archived, the space is in sync with its
    /// commit: parts that were rejected count as changes of the space.
    pub(super) async fn settle_conflict(
        &self,
        space: Arc<SpaceRecord>,
    ) -> Result<(Arc<SpaceRecord>, ConflictState)> {
        let Some(conflict) = space.git_sync.as_ref().and_then(|sync| sync.conflict.as_ref()) else {
            return Ok((space, ConflictState::NoConflict));
        };
        let tx = self.read().await?;
        let request: Option<Arc<ChangeRequestRecord>> =
            tx.get(&ChangeRequestRecord::key_for(&conflict.request)).await?;
        drop(tx);
        if let Some(request) = request.filter(|request| is_open(&space, conflict, request)) {
            return Ok((space, ConflictState::Open(request)));
        }
        self.write(&Actor::Platform, &settle_conflict(&space.id)).await?;
        let settled: Option<Arc<SpaceRecord>> =
            self.read().await?.get(&SpaceRecord::key_for(&space.id)).await?;
        Ok((settled.ok_or_else(|| Error::not_found("space"))?, ConflictState::NoConflict))
    }

    /// Updates the change request of an earlier commit with a later one.
    pub(super) async fn renew_conflict(
        &self,
        at: SyncInput<'_>,
        request: &Arc<ChangeRequestRecord>,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let storing = self.begin_write_window();
        progress.stage(JobStage::ConfigCheck).await?;
        let space = &*at.space;
        let Some(conflict) = &at.sync.conflict else { return Ok(Attempt::Moved) };
        let id = conflict
            .then
            .revision
            .clone()
            .ok_or_else(|| Error::internal("a synchronized commit has a revision"))?;
        let before: Option<Arc<RevisionRecord>> =
            self.read().await?.get(&RevisionRecord::key_for(&space.id, &id)).await?;
        let before = before.ok_or_else(|| Error::internal("the revision of a synchronized commit exists"))?;
        // Items from the earlier commit keep their ids.
        let on = SpaceRecord {
            head: before.id.clone(),
            root: before.root,
            git: Some(conflict.then.clone()),
            ..space.clone()
        };
        let read = self.read_commit(&at.payload, &on, at.checkout, progress).await?;
        progress.stage(JobStage::Finalize).await?;
        let theirs = self.commit_revision(&at, run, read);
        let sides = ThreeWay { base: before.root, ours: request.root, theirs: theirs.revision.root };
        let merged = self.content().merge(&space.domain, sides).await?;
        let is_same = merged.root == theirs.revision.root;
        let head = RevisionRecord {
            parents: vec![request.head.clone(), theirs.revision.id.clone()],
            kind: RevisionKind::Update,
            conflicts: conflicting_pages(&merged),
            ..RevisionRecord::new(
                self.id(),
                space.id.clone(),
                merged.root,
                theirs.revision.created_at,
                at.sync.by.clone(),
            )
        };
        let what = format!("change request #{} now contains this commit", request.number);
        run.append_log(self, what);
        let result = JobResult { change_request: Some(request.id.clone()), ..JobResult::default() };
        let theirs = CommitRevision {
            revision: RevisionRecord { parents: vec![before.id.clone()], ..theirs.revision },
            ..theirs
        };
        self.check_write_window(storing)?;
        let (head, since) = ((!is_same).then_some(&head), conflict.since.as_ref());
        let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
        let operation = renew_conflict(&at.payload, &space.head, since, request, &theirs, head, &finished);
        let outcome = self.write(&Actor::Platform, &operation).await?;
        Ok(self.attempt(outcome, run))
    }
}

/// Returns `true` if a conflict is unresolved. Another synchronization makes it obsolete.
pub(super) fn is_open(
    space: &SpaceRecord,
    conflict: &GitSyncConflict,
    request: &ChangeRequestRecord,
) -> bool {
    is_editable(request.status) && is_current(space, conflict)
}

fn is_current(space: &SpaceRecord, conflict: &GitSyncConflict) -> bool {
    space.git.as_ref().and_then(|git| git.revision.as_ref()) == conflict.since.as_ref()
}

/// Removes the resolved conflict of a space.
#[operation("git_conflict_settled")]
async fn settle_conflict(tx: &mut Tx, space: &SpaceId) -> Result<()> {
    let proof = access::space(tx, &Actor::Platform, space).await?.require(SpaceAction::Manage)?;
    let old = proof.space();
    let Some(sync) = &old.git_sync else { return Ok(()) };
    let Some(conflict) = &sync.conflict else { return Ok(()) };
    let request: Option<Arc<ChangeRequestRecord>> =
        tx.get(&ChangeRequestRecord::key_for(&conflict.request)).await?;
    let git = match request {
        Some(request) if is_open(old, conflict, &request) => return Ok(()),
        Some(_) if is_current(old, conflict) => Some(conflict.then.clone()),
        _ => old.git.clone(),
    };
    let sync = GitSyncState { conflict: None, ..GitSyncState::clone(sync) };
    let new = SpaceRecord { git, git_sync: Some(Box::new(sync)), ..SpaceRecord::clone(old) };
    tx.put(&**old, new)?;
    Ok(())
}

/// Records a later commit in a change request, which must be unchanged since `request` was read. `head` is the new head
/// of the change request if its content differs from the commit.
#[operation("git_conflict_renewed")]
async fn renew_conflict(
    tx: &mut Tx,
    payload: &ImportPayload,
    live: &RevisionId,
    since: Option<&RevisionId>,
    request: &ChangeRequestRecord,
    theirs: &CommitRevision,
    head: Option<&RevisionRecord>,
    finished: &jobs::FinishJob,
) -> Result<CommitOutcome> {
    let found: Option<Arc<ChangeRequestRecord>> = tx.get(&ChangeRequestRecord::key_for(&request.id)).await?;
    let Some(old) = found.filter(|old| old.head == request.head && is_editable(old.status)) else {
        return Ok(CommitOutcome::Changed);
    };
    let proof = match payload.begin(tx, Some(live), finished).await? {
        Ok(proof) => proof,
        Err(outcome) => return Ok(outcome),
    };
    let CommitRevision { revision, git } = theirs;
    tx.create(revision.clone());
    if let Some(head) = head {
        tx.create(head.clone());
    }
    let head = head.unwrap_or(revision);
    let earlier: Option<Arc<RevisionRecord>> = match revision.parents.first() {
        Some(earlier) => tx.get(&RevisionRecord::key_for(&old.space, earlier)).await?,
        None => None,
    };
    // A subject that a user has set is preserved.
    let is_ours = earlier.is_some_and(|earlier| old.subject == subject(earlier.git.as_ref()));
    let subject = if is_ours { subject(revision.git.as_ref()) } else { old.subject.clone() };
    let mut new = ChangeRequestRecord {
        head: head.id.clone(),
        root: head.root,
        subject,
        updated_at: revision.created_at.later_than(old.updated_at),
        ..ChangeRequestRecord::clone(&old)
    };
    new.contribute(&revision.by, revision.created_at);
    feed_head(tx, &old);
    tx.put(&*old, new)?;
    let conflict = GitSyncConflict { request: old.id.clone(), since: since.cloned(), then: git.clone() };
    put_conflict(tx, proof.space(), conflict)?;
    Ok(CommitOutcome::Done)
}
