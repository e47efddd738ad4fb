//! Changes of a run of edits that wait to be applied to the map together.
//!
//! Applying them one by one would make the nodes on the way to each change once an edit. Edits of single records are
//! planned against the map together with the pending changes; an edit that reads positions or subtrees has the pending
//! changes applied first.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use docs_model::PageId;
use docs_store::{Key, key::segments};

use super::{
    super::{Rank, keys, map::Change},
    Plan,
};

/// The level of a page, counted from 1, and the bytes of its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PagePlace {
    pub(crate) level: usize,
    pub(crate) path_bytes: usize,
}

impl PagePlace {
    /// The place of a page with a slug below this one. The top level is the default place.
    pub(crate) const fn below(self, slug: &str) -> Self {
        let slash = if self.path_bytes == 0 { 0 } else { 1 };
        let path_bytes = if slug.is_empty() { 0 } else { self.path_bytes + slash + slug.len() };
        Self { level: self.level + 1, path_bytes }
    }
}

/// What a name that is taken was numbered with, so that the next one starts there.
pub(super) struct Numbered {
    /// The names among which it has to be unique, and the wanted one.
    pub(super) base: Key,
    pub(super) number: u64,
}

/// The pending changes.
#[derive(Default)]
pub(super) struct Pending {
    changes: BTreeMap<Key, Change>,
    /// The new pages, by their parents.
    children: HashMap<Option<PageId>, u64>,
    /// The new records, by their classes.
    records: HashMap<&'static str, u64>,
    /// Where new pages and their parents are.
    places: HashMap<PageId, PagePlace>,
    numbers: HashMap<Key, u64>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds what an edit changes.
    pub(super) fn add(&mut self, plan: &mut Plan) {
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

    /// Takes the changes out, to be applied.
    pub(super) fn take(&mut self) -> BTreeMap<Key, Change> {
        std::mem::take(self).changes
    }

    /// The change of a key.
    pub(super) fn get(&self, key: &Key) -> Option<&Change> {
        self.changes.get(key)
    }

    /// The last number that a name was given.
    pub(super) fn number(&self, base: &Key) -> Option<u64> {
        self.numbers.get(base).copied()
    }

    pub(super) fn place(&self, page: &PageId) -> Option<PagePlace> {
        self.places.get(page).copied()
    }

    /// The number of new pages directly below a page.
    pub(super) fn children(&self, parent: Option<&PageId>) -> u64 {
        self.children.get(&parent.cloned()).copied().unwrap_or_default()
    }

    /// The number of new records of a class.
    pub(super) fn records(&self, class: &'static str) -> u64 {
        self.records.get(class).copied().unwrap_or_default()
    }

    /// The rank of the last of the new pages below a page.
    pub(super) fn last_child(&self, parent: Option<&PageId>) -> Option<Rank> {
        let (from, to) = keys::children(parent).below();
        let (key, _) = self.changes.range(from..to).next_back()?;
        segments(key).get(2)?.parse().ok()
    }

    /// The changes of a range of keys.
    pub(super) fn range(&self, (from, to): (Key, Key)) -> impl Iterator<Item = (&Key, Option<&Bytes>)> {
        self.changes.range(from..to).map(|(key, change)| (key, change.as_ref()))
    }
}
