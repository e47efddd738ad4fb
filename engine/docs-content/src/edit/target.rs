//! The content that an edit applies to.

use chrono::{DateTime, Utc};
use docs_store::Hash;

use super::{
    super::{TextMerger, load::Session},
    pending::Pending,
};

/// The content that an edit applies to.
pub(crate) struct At<'a, 's> {
    pub(crate) session: &'a Session<'s>,
    pub(crate) root: Hash,
    /// The changes of earlier edits, on top of the root.
    pub(super) pending: &'a Pending,
    pub(crate) now: DateTime<Utc>,
    pub(crate) merger: &'a dyn TextMerger,
}
