//! Buffered changes of consecutive edits, which are applied to the map together.
//!
//! Applying them one by one would rewrite the nodes on the path to each change once per edit. Edits of single records
//! are planned against the map and the pending changes. Before an edit that reads positions or subtrees, the pending
//! changes are applied.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use docs_model::PageId;
use docs_store::{Key, key::segments};

use super::{
    super::{Rank, keys, map::ValueChange},
    EditChanges, PagePlace,
};

#[derive(Default)]
pub(super) struct PendingEdits {
    changes: BTreeMap<Key, ValueChange>,
    /// The number of new pages by parent.
    children: HashMap<Option<PageId>, u64>,
    /// The number of new records by class.
    records: HashMap<&'static str, u64>,
    /// The levels and path lengths of new pages and of their parents.
    places: HashMap<PageId, PagePlace>,
    numbers: HashMap<Key, u64>,
}

impl PendingEdits {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn add(&mut self, plan: &mut EditChanges) {
        if let Some(parent) = plan.new_below.take() {
            *self.children.entry(parent).or_default() += 1;
        }
        if let Some(class) = plan.new_record.take() {
            *self.records.entry(class).or_default() += 1;
        }
        self.places.extend(std::mem::take(&mut plan.places));
        self.numbers.extend(plan.numbered.take().map(|it| (it.base, it.number)));
        self.changes.extend(std::mem::take(&mut plan.changes).into_changes());
    }

    /// Removes and returns the pending changes.
    pub(super) fn take(&mut self) -> BTreeMap<Key, ValueChange> {
        std::mem::take(self).changes
    }

    pub(super) fn get(&self, key: &Key) -> Option<&ValueChange> {
        self.changes.get(key)
    }

    /// Returns the last number that was appended to a name.
    pub(super) fn number(&self, base: &Key) -> Option<u64> {
        self.numbers.get(base).copied()
    }

    pub(super) fn place(&self, page: &PageId) -> Option<PagePlace> {
        self.places.get(page).copied()
    }

    /// Returns the number of new children of a page.
    pub(super) fn children(&self, parent: Option<&PageId>) -> u64 {
        self.children.get(&parent.cloned()).copied().unwrap_or_default()
    }

    /// Returns the number of new records of a class.
    pub(super) fn records(&self, class: &'static str) -> u64 {
        self.records.get(class).copied().unwrap_or_default()
    }

    /// Returns the rank of the last new child of a page.
    pub(super) fn last_child(&self, parent: Option<&PageId>) -> Option<Rank> {
        let (from, to) = keys::children(parent).prefix_range();
        let (key, _) = self.changes.range(from..to).next_back()?;
        segments(key).get(2)?.parse().ok()
    }

    pub(super) fn range(&self, (from, to): (Key, Key)) -> impl Iterator<Item = (&Key, Option<&Bytes>)> {
        self.changes.range(from..to).map(|(key, change)| (key, change.as_ref()))
    }
}
