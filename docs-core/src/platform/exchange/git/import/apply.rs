//! Recording an import atomically: the revision, the head of the space, and the end of the job.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    model::{GitCommit, GitSyncDirection, RevisionId},
    platform::exchange::git::sync::{ImportPayload, move_head_in_sync},
    store::{
        Hash, Operation, Tx, jobs,
        records::{GitState, RevisionRecord},
    },
};

/// The outcome of recording an import.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Applied {
    /// The import is recorded and the job is finished.
    Done,
    /// The content of the space has changed and must not be overwritten.
    Changed,
    /// A later event was applied first.
    Stale(String),
    /// Another worker has taken over the job.
    TakenOver,
}

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
    type Out = Applied;
    const NAME: &'static str = "git_imported";

    async fn apply(&self, tx: &mut Tx) -> Result<Applied> {
        let proof = self.payload.proof(tx).await?;
        let old = proof.space();
        if let Some(why) = self.payload.is_stale(old, self.finished.job.lane_at) {
            return Ok(Applied::Stale(why));
        }
        if self.on.as_ref().is_some_and(|on| *on != old.head) {
            return Ok(Applied::Changed);
        }
        if !jobs::finish(tx, &self.finished).await? {
            return Ok(Applied::TakenOver);
        }
        let (now, by) = (self.finished.now, self.payload.by.clone());
        let revision = RevisionRecord {
            parents: vec![old.head.clone()],
            git: Some(self.commit.clone()),
            ..RevisionRecord::new(self.revision.clone(), old.id.clone(), self.root, now, by)
        };
        if self.payload.request.standalone == Some(true) {
            tx.create(revision);
            return Ok(Applied::Done);
        }
        move_head_in_sync(tx, &proof, revision, (GitSyncDirection::Import, self.git.clone())).await?;
        Ok(Applied::Done)
    }
}
