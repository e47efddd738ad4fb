//! The merged records before the page tree is repaired.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_model::PageId;
use docs_store::Key;

use super::{super::PageEntry, conflict::ConflictNote};

/// The serialized form of a record.
pub(super) type StoredRecord = Option<Bytes>;

/// All versions of a page that at least one side changed.
pub(crate) struct TouchedPage {
    pub(crate) base: Option<PageEntry>,
    pub(crate) ours: Option<PageEntry>,
    pub(crate) theirs: Option<PageEntry>,
    pub(crate) merged: Option<PageEntry>,
}

/// The result of merging individual records, before the page tree is repaired.
#[derive(Default)]
pub(crate) struct MergedRecords {
    pub(crate) pages: BTreeMap<PageId, TouchedPage>,
    /// Changes of other records, relative to main content.
    pub(super) values: BTreeMap<Key, Option<Bytes>>,
    pub(crate) notes: BTreeSet<ConflictNote>,
    pub(super) texts: Vec<String>,
}
