//! The state to which an edit is applied.

use chrono::{DateTime, Utc};
use docs_store::Hash;

use super::{
    super::{TextMerger, load::Session},
    pending_edits::PendingEdits,
};

/// The state to which an edit is applied.
pub(crate) struct EditState<'a, 's> {
    pub(crate) session: &'a Session<'s>,
    pub(crate) root: Hash,
    /// The changes of earlier edits, relative to the root.
    pub(super) pending: &'a PendingEdits,
    pub(crate) now: DateTime<Utc>,
    pub(crate) merger: &'a dyn TextMerger,
}
