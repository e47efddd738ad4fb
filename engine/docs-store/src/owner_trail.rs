//! The owners of the records that an audited transaction reads or changes.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use super::{Key, Owner};

/// The owners of the records that a transaction reads or changes.
#[derive(Debug, Default)]
pub(super) struct OwnerTrail {
    /// Owners of the records read or written, cached so that they need not be read again before the commit.
    known: Mutex<HashMap<Key, Owner>>,
    /// Owners of the changed records.
    pub(super) changed: BTreeSet<Owner>,
}

impl OwnerTrail {
    pub(super) fn record_read(&self, key: Key, owner: Owner) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, owner);
    }

    pub(super) fn record_write(&mut self, key: Key, owner: Owner) {
        self.record_read(key, owner.clone());
        self.changed.insert(owner);
    }

    pub(super) fn owner(&self, key: &Key) -> Option<Owner> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}
