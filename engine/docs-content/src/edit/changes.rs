//! Changes to a map.

use std::collections::{BTreeMap, BTreeSet};

use docs_model::PageId;
use docs_store::Key;

use super::super::{ContentResult, PageEntry, entry::encode, keys, map::ValueChange};

/// Changes to a map. If a key is both put and removed, for example because it is transferred from one page to another,
/// the put applies.
#[derive(Default)]
pub(crate) struct MapChanges {
    put: BTreeMap<Key, bytes::Bytes>,
    removed: BTreeSet<Key>,
}

impl MapChanges {
    pub(crate) fn put(&mut self, key: Key, value: bytes::Bytes) {
        self.put.insert(key, value);
    }

    pub(crate) fn remove(&mut self, key: Key) {
        self.removed.insert(key);
    }

    pub(crate) fn set_page(
        &mut self,
        id: &PageId,
        before: Option<&PageEntry>,
        after: Option<&PageEntry>,
    ) -> ContentResult<()> {
        let old = before.map(|entry| keys::derived_entries(id, entry)).unwrap_or_default();
        let new = after.map(|entry| keys::derived_entries(id, entry)).unwrap_or_default();
        // Unchanged entries are not rewritten, so their nodes need not be loaded.
        for (key, _) in old.iter().filter(|entry| !new.contains(entry)) {
            self.remove(key.clone());
        }
        self.put.extend(new.into_iter().filter(|entry| !old.contains(entry)));
        let key = keys::page(id);
        match after {
            Some(entry) => self.put(key, encode(entry)?),
            None => self.remove(key),
        }
        Ok(())
    }

    pub(crate) fn into_changes(self) -> BTreeMap<Key, ValueChange> {
        let mut out: BTreeMap<Key, ValueChange> = self.removed.into_iter().map(|key| (key, None)).collect();
        out.extend(self.put.into_iter().map(|(key, value)| (key, Some(value))));
        out
    }
}
