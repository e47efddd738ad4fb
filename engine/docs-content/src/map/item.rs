//! Node entries.

use bytes::Bytes;
use docs_store::{Hash, Key};

/// A child node: its hash and the number of map entries below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Child {
    pub(crate) hash: Hash,
    pub(crate) count: u64,
}

/// The content of an entry: a value at level 0, a child at higher levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MapItem {
    Value(Bytes),
    Child(Child),
}

pub(crate) type MapEntry = (Key, MapItem);
