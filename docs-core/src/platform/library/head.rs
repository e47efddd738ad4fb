//! The head of a space: its current revision.

use std::sync::Arc;

use chrono::TimeDelta;

use crate::{
    Error, Result,
    model::{EditMode, UserId},
    platform::library::follow::{self, git},
    policy::SpaceProof,
    store::{
        KeyBuf, Tx,
        records::{RevisionRecord, SpaceRecord},
        topic,
    },
};

/// Time limit for restoring a deleted space.
pub const RESTORE_WINDOW: TimeDelta = TimeDelta::days(7);

/// Stores a new space with its first revision.
pub(in crate::platform) fn create_space(tx: &mut Tx, record: SpaceRecord, by: &UserId) -> Arc<SpaceRecord> {
    let record = SpaceRecord { revisions: 1, ..record };
    tx.create(first_revision(&record, by));
    tx.feed(topic::HEAD, KeyBuf::new("head").part(record.id.as_str()).key());
    tx.create(record)
}

/// Builds the first revision of a space.
fn first_revision(space: &SpaceRecord, by: &UserId) -> RevisionRecord {
    let (head, id) = (space.head.clone(), space.id.clone());
    RevisionRecord {
        number: Some(1),
        ..RevisionRecord::new(head, id, space.root, space.created_at, by.clone())
    }
}

/// Makes a new revision the head of a space.
pub(in crate::platform) async fn move_head(
    tx: &mut Tx,
    proof: &SpaceProof,
    revision: RevisionRecord,
) -> Result<()> {
    let space = proof.space();
    let new = SpaceRecord {
        head: revision.id.clone(),
        root: revision.root,
        updated_at: revision.created_at.later_than(space.updated_at),
        ..SpaceRecord::clone(space)
    };
    move_head_to(tx, proof, new, revision).await
}

/// Makes a new revision the head of a space together with other changes to the space. Enqueues its Git synchronization
/// and its translations.
pub(in crate::platform) async fn move_head_to(
    tx: &mut Tx,
    proof: &SpaceProof,
    new: SpaceRecord,
    revision: RevisionRecord,
) -> Result<()> {
    tx.feed(topic::HEAD, KeyBuf::new("head").part(new.id.as_str()).key());
    let number = proof.space().revisions + 1;
    let revision = tx.create(RevisionRecord { number: Some(number), ..revision });
    let space = tx.put(&**proof.space(), SpaceRecord { revisions: number, ..new })?;
    git::follow(tx, &space, &revision).await?;
    follow::translations::follow_source(tx, &space, &revision).await
}

/// Rejects direct changes to live content if only change requests may change it.
pub(in crate::platform) fn require_live(proof: &SpaceProof) -> Result<()> {
    match proof.space().edit_mode {
        EditMode::Live => Ok(()),
        EditMode::Locked => Err(Error::conflict(
            "the live content of this space is locked; use a change request, or set `editMode` to `live`",
        )),
    }
}
