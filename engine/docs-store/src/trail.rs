//! The owners of the records that an audited transaction touches.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use super::{Key, Owner};

/// The owners of the records that a transaction touches.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Owners of the records read or written, cached so that they are not read again at commit.
    known: Mutex<HashMap<Key, Owner>>,
    /// Owners of the changed records.
    pub(super) changed: BTreeSet<Owner>,
}

impl Trail {
    pub(super) fn saw(&self, key: Key, owner: Owner) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, owner);
    }

    pub(super) fn wrote(&mut self, key: Key, owner: Owner) {
        self.saw(key, owner.clone());
        self.changed.insert(owner);
    }

    pub(super) fn known(&self, key: &Key) -> Option<Owner> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}
