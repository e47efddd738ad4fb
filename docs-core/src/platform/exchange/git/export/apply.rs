//! Recording an export atomically: the commit, the Git locations of the files, and the end of the job.

use async_trait::async_trait;
use docs_macros::operation;

use crate::{
    Result,
    model::{GitCommit, GitSyncDirection, RevisionId},
    platform::exchange::git::sync::{CommitOutcome, ExportPayload, move_head_in_sync},
    store::{
        Hash, Operation, Tx, jobs,
        records::{GitState, RevisionRecord, SpaceRecord},
    },
};

/// A revision created by an export.
pub(super) struct NewRevision {
    pub(super) id: RevisionId,
    pub(super) root: Hash,
    pub(super) parent: RevisionId,
}

/// Records an export.
pub(super) struct StoreExport {
    pub(super) payload: ExportPayload,
    /// The content of the commit.
    pub(super) exported: NewRevision,
    /// The content edited during the export, with its Git locations, or `None` if it is unchanged.
    pub(super) edited: Option<NewRevision>,
    pub(super) commit: GitCommit,
    pub(super) git: GitState,
    pub(super) finished: jobs::FinishJob,
}

#[async_trait]
impl Operation for StoreExport {
    type Output = CommitOutcome;
    const NAME: &'static str = "git_exported";

    async fn apply(&self, tx: &mut Tx) -> Result<CommitOutcome> {
        let on = self.edited.as_ref().unwrap_or(&self.exported);
        let proof = match self.payload.begin(tx, Some(&on.parent), &self.finished).await? {
            Ok(proof) => proof,
            Err(outcome) => return Ok(outcome),
        };
        let exported = self.revision(&self.exported, Some(self.commit.clone()));
        let live = match &self.edited {
            None => exported,
            Some(edited) => {
                tx.create(exported);
                self.revision(edited, None)
            }
        };
        move_head_in_sync(tx, &proof, live, GitSyncDirection::Export, self.git.clone()).await?;
        Ok(CommitOutcome::Done)
    }
}

impl StoreExport {
    fn revision(&self, new: &NewRevision, git: Option<GitCommit>) -> RevisionRecord {
        let (space, by) = (self.payload.space.clone(), self.payload.by.clone());
        let revision = RevisionRecord::new(new.id.clone(), space, new.root, self.finished.now, by);
        RevisionRecord { parents: vec![new.parent.clone()], git, ..revision }
    }
}

/// Records that the live revision `head` has the same content as the last synchronized commit.
#[operation("git_in_step")]
pub(super) async fn record_in_sync(
    tx: &mut Tx,
    payload: &ExportPayload,
    head: &RevisionId,
    finished: &jobs::FinishJob,
) -> Result<()> {
    let proof = payload.proof(tx).await?;
    if !jobs::finish(tx, finished).await? {
        return Ok(());
    }
    let old = proof.space();
    // Later changes have their own job.
    let same = old.git.as_ref().filter(|_| old.head == *head);
    let Some(git) = same.filter(|_| payload.is_stale(old, finished.job.lane_at).is_none()) else {
        return Ok(());
    };
    let git = Some(GitState { revision: Some(head.clone()), ..git.clone() });
    tx.put(&**old, SpaceRecord { git, ..SpaceRecord::clone(old) })?;
    Ok(())
}
