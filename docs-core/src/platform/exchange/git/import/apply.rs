//! Recording an import atomically: the revision, the head of the space, and the end of the job.

use async_trait::async_trait;

use crate::{
    Result,
    model::{GitCommit, GitSyncDirection, RevisionId},
    platform::exchange::git::sync::{CommitOutcome, ImportPayload, move_head_in_sync},
    store::{
        Hash, Operation, Tx, jobs,
        records::{GitState, RevisionRecord},
    },
};

/// Records an import.
pub(super) struct StoreImport {
    pub(super) payload: ImportPayload,
    pub(super) revision: RevisionId,
    pub(super) root: Hash,
    pub(super) commit: GitCommit,
    pub(super) git: GitState,
    /// The live revision that it may replace; `None` for any.
    pub(super) on: Option<RevisionId>,
    pub(super) finished: jobs::FinishJob,
}

#[async_trait]
impl Operation for StoreImport {
    type Out = CommitOutcome;
    const NAME: &'static str = "git_imported";

    async fn apply(&self, tx: &mut Tx) -> Result<CommitOutcome> {
        let proof = match self.payload.begin(tx, self.on.as_ref(), &self.finished).await? {
            Ok(proof) => proof,
            Err(outcome) => return Ok(outcome),
        };
        let old = proof.space();
        let (now, by) = (self.finished.now, self.payload.by.clone());
        let revision = RevisionRecord {
            parents: vec![old.head.clone()],
            git: Some(self.commit.clone()),
            ..RevisionRecord::new(self.revision.clone(), old.id.clone(), self.root, now, by)
        };
        if self.payload.request.standalone == Some(true) {
            tx.create(revision);
            return Ok(CommitOutcome::Done);
        }
        move_head_in_sync(tx, &proof, revision, GitSyncDirection::Import, self.git.clone()).await?;
        Ok(CommitOutcome::Done)
    }
}
