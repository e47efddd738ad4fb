//! Recording an import atomically: the revision, the head of the space, and the end of the job.

use docs_macros::operation;

use crate::{
    Result,
    model::{GitCommit, GitSyncDirection, RevisionId},
    platform::exchange::git::sync::{CommitOutcome, ImportPayload, move_head_in_sync},
    store::{
        Hash, Tx, jobs,
        records::{GitState, RevisionRecord},
    },
};

/// Records an import. `on` is the live revision that it may replace, or `None` for any revision.
#[operation("git_imported")]
pub(super) async fn store_import(
    tx: &mut Tx,
    payload: &ImportPayload,
    revision: &RevisionId,
    root: Hash,
    commit: &GitCommit,
    git: &GitState,
    on: Option<&RevisionId>,
    finished: &jobs::FinishJob,
) -> Result<CommitOutcome> {
    let proof = match payload.begin(tx, on, finished).await? {
        Ok(proof) => proof,
        Err(outcome) => return Ok(outcome),
    };
    let old = proof.space();
    let (now, by) = (finished.now, payload.by.clone());
    let revision = RevisionRecord {
        parents: vec![old.head.clone()],
        git: Some(commit.clone()),
        ..RevisionRecord::new(revision.clone(), old.id.clone(), root, now, by)
    };
    if payload.request.standalone == Some(true) {
        tx.create(revision);
        return Ok(CommitOutcome::Done);
    }
    move_head_in_sync(tx, &proof, revision, GitSyncDirection::Import, git.clone()).await?;
    Ok(CommitOutcome::Done)
}
