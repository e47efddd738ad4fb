//! Node entries.

use std::ops::AddAssign;

use bytes::Bytes;
use docs_store::{Hash, Key};

/// The number of entries in a part of a map, and the total size of their values in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapSize {
    pub count: u64,
    pub bytes: u64,
}

impl MapSize {
    /// Adds the size of another part. Returns `None` on overflow.
    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        let count = self.count.checked_add(other.count)?;
        Some(Self { count, bytes: self.bytes.checked_add(other.bytes)? })
    }

    /// Returns the size without that of a part.
    pub(crate) const fn saturating_sub(self, part: Self) -> Self {
        let bytes = self.bytes.saturating_sub(part.bytes);
        Self { count: self.count.saturating_sub(part.count), bytes }
    }
}

impl AddAssign for MapSize {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// A child node: its hash, and the size of the map below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Child {
    pub(crate) hash: Hash,
    pub(crate) size: MapSize,
}

/// The content of an entry: a value at level 0, a child at higher levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MapItem {
    Value(Bytes),
    Child(Child),
}

pub(crate) type MapEntry = (Key, MapItem);
