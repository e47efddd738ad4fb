//! Storing an import: the revision, the space's head, and the end of the job, all or nothing.

use std::sync::Arc;

use async_trait::async_trait;

use serde::{Deserialize, Serialize};

use super::super::sync::ImportPayload;
use crate::{
    Result,
    model::{GitCommit, RevisionId},
    platform::{Actor, access, spaces::move_head_to},
    policy::SpaceAction,
    store::{
        Hash, Operation, Tx, jobs,
        records::{GitState, RevisionRecord, SpaceRecord},
    },
};

/// What became of an import.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Applied {
    /// It is stored, and the job is done.
    Done,
    /// Something that happened later was applied meanwhile.
    Stale(String),
    /// Another worker has the job.
    TakenOver,
}

/// Stores an import.
pub(super) struct StoreImport {
    pub(super) payload: ImportPayload,
    pub(super) revision: RevisionId,
    pub(super) root: Hash,
    pub(super) commit: GitCommit,
    pub(super) git: GitState,
    pub(super) finished: jobs::FinishJob,
}

#[async_trait]
impl Operation for StoreImport {
    type Out = Applied;
    const NAME: &'static str = "git_imported";

    async fn apply(&self, tx: &mut Tx) -> Result<Applied> {
        // Whoever asked may have lost the right, or the space may be gone, while the import ran.
        let actor = Actor::User(self.payload.by.clone());
        let proof = access::space(tx, &actor, &self.payload.space).await?.require(SpaceAction::Manage)?;
        let old: &Arc<SpaceRecord> = proof.space();
        if let Some(why) = self.payload.is_stale(old, self.finished.job.lane_at) {
            return Ok(Applied::Stale(why));
        }
        if !jobs::finish(tx, &self.finished).await? {
            return Ok(Applied::TakenOver);
        }
        let now = self.finished.now;
        let by = self.payload.by.clone();
        let revision = RevisionRecord {
            parents: vec![old.head.clone()],
            git: Some(self.commit.clone()),
            ..RevisionRecord::new(self.revision.clone(), old.id.clone(), self.root, now, by)
        };
        if self.payload.request.standalone == Some(true) {
            tx.create(revision);
            return Ok(Applied::Done);
        }
        let new = SpaceRecord {
            head: revision.id.clone(),
            root: revision.root,
            git: Some(self.git.clone()),
            updated_at: now.later_than(old.updated_at),
            ..SpaceRecord::clone(old)
        };
        move_head_to(tx, &proof, new, revision)?;
        Ok(Applied::Done)
    }
}
