//! The content that an edit applies to.

use chrono::{DateTime, Utc};
use docs_store::Hash;

use super::{
    super::{TextMerger, load::Session},
    pending_edits::PendingEdits,
};

/// The content that an edit applies to.
pub(crate) struct EditState<'a, 's> {
    pub(crate) session: &'a Session<'s>,
    pub(crate) root: Hash,
    /// The changes of earlier edits, on top of the root.
    pub(super) pending: &'a PendingEdits,
    pub(crate) now: DateTime<Utc>,
    pub(crate) merger: &'a dyn TextMerger,
}
