//! Batches of changes that are passed to the search index.

use crate::{
    Error, ErrorKind, Result,
    ports::{SearchError, SearchIndex, search::IndexChange},
};

/// Number of changes passed to the index per batch.
const INDEX_BATCH: usize = 500;
/// Bytes of text passed to the index per batch.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// The part of a batch that one organization fills before the next one continues.
const TURN_SHARE: usize = 4;

/// A batch of index changes.
#[derive(Default)]
pub(super) struct IndexBatch {
    pub(super) changes: Vec<IndexChange>,
    bytes: usize,
    /// The changes of this turn.
    turn_changes: usize,
    /// The bytes of the text of this turn.
    turn_bytes: usize,
}

impl IndexBatch {
    pub(super) fn push(&mut self, change: IndexChange) {
        if let IndexChange::PutPage(page) = &change {
            self.bytes += page.size();
            self.turn_bytes += page.size();
        }
        self.turn_changes += 1;
        self.changes.push(change);
    }

    pub(super) fn extend(&mut self, changes: impl IntoIterator<Item = IndexChange>) {
        changes.into_iter().for_each(|change| self.push(change));
    }

    /// Passes a full batch to the index, without a position: until the space is recorded, its previous root applies.
    pub(super) async fn apply_if_full(&mut self, index: &dyn SearchIndex) -> Result<()> {
        if self.is_full() {
            self.bytes = 0;
            index.apply(std::mem::take(&mut self.changes), None).await.map_err(lost_batch_error)?;
        }
        Ok(())
    }

    pub(super) const fn is_full(&self) -> bool {
        self.changes.len() >= INDEX_BATCH || self.bytes >= BATCH_BYTES
    }

    pub(super) const fn begin_turn(&mut self) {
        (self.turn_changes, self.turn_bytes) = (0, 0);
    }

    /// Returns `true` if the turn of the organization ends.
    pub(super) const fn ends_turn(&self) -> bool {
        self.is_full()
            || self.turn_changes >= INDEX_BATCH / TURN_SHARE
            || self.turn_bytes >= BATCH_BYTES / TURN_SHARE
    }
}

/// Wraps an error of `apply`. A failed batch, which may contain several spaces, ends the round. The next round reads
/// the feed again.
pub(super) fn lost_batch_error(error: SearchError) -> Error {
    Error::new(ErrorKind::Unavailable, "the search index does not accept changes now").caused_by(error)
}
