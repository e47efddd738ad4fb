//! A canonical, ordered Merkle map from text keys to JSON, stored as immutable objects.
//!
//! The entries, in key order, are split into leaves; the leaves, identified by their hashes, are the entries of the
//! level above, and so on until one node remains: the root. A key starts a new node if the low bits of
//! `blake3(level, key)` are zero (4 bits for leaves, 5 above), so leaves hold 16 entries and inner nodes 32 on
//! average, and **the node boundaries depend on the set of keys alone**. Hence:
//!
//! - equal content has an equal root, independent of its history of edits;
//! - changing a value never moves a boundary; adding or removing a key moves only the boundaries at that key;
//! - two maps differ only in subtrees with different hashes, so the cost of [`diff`] is proportional to the changes.
//!
//! Every function here is pure and works on loaded nodes ([`Nodes`]). A node that is not loaded is reported as
//! [`Fault::Missing`], together with all other nodes that the same pass needs: the caller loads them and calls again.
//! No call needs more passes than the map has levels, plus two for the neighbours of nodes that an [`apply`] empties.
//!
//! # Bytes of a node
//!
//! A node is JSON, so that an operator with only a database shell can follow a revision's root to its pages:
//!
//! ```json
//! {"entries": [["p!q2…", {"title": "Start", "kind": "document"}], ["s!!start", "q2…"], ["k!!m!q2…", null]]}
//! {"level": 1, "children": [["", "<hash>", 17], ["p!r7…", "<hash>", 15]]}
//! ```
//!
//! There is no white space between tokens, and an entry with a key only has the value `null`. Other values are
//! written unchanged. An entry of an inner node is the first key of the child, the hash of the child and the number
//! of entries below it; the leftmost child of every level has the empty key, so that a new first key changes no
//! separator.

mod apply;
mod build;
mod diff;
mod node;
mod read;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;
use docs_store::{Hash, Key};

pub(crate) use self::build::{Leaves, build_above};
pub use self::{
    apply::{Applied, Change, apply},
    build::{Built, build, empty},
    diff::{Difference, diff},
    node::Node,
    read::{Range, count, get, get_many, nth, range, rank},
};

/// A source of loaded nodes.
pub trait Nodes {
    /// Returns the node with a hash, or `None` if it must be loaded first.
    fn node(&self, hash: &Hash) -> Option<Arc<Node>>;
}

/// The reason why a pass over a map ended without a result.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// These nodes must be loaded; then the same call makes progress.
    #[error("{} nodes are not loaded", .0.len())]
    Missing(BTreeSet<Hash>),
    /// A node violates the invariants of a map.
    #[error("a node of the map is damaged: {0}")]
    Corrupt(&'static str),
}

impl Fault {
    fn missing(hash: Hash) -> Self {
        Self::Missing(BTreeSet::from([hash]))
    }
}

/// The result of a pass over a map.
pub type Pass<T> = Result<T, Fault>;

/// A new node of a build or a change.
#[derive(Clone, Debug)]
pub struct Fresh {
    pub hash: Hash,
    pub node: Arc<Node>,
    /// The serialized form to store.
    pub bytes: Bytes,
}

/// A child node: its hash and the number of entries below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Child {
    pub(crate) hash: Hash,
    pub(crate) count: u64,
}

/// The content of an entry: a value at level 0, a child above.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    Value(Bytes),
    Child(Child),
}

pub(crate) type Entry = (Key, Item);

/// Returns `true` if a key starts a new node of a level.
pub(crate) fn is_boundary(level: u8, key: &str) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[level]);
    hasher.update(key.as_bytes());
    let low = hasher.finalize().as_bytes()[0];
    let mask = if level == 0 { 0x0f } else { 0x1f };
    low & mask == 0
}

/// Returns a node after checking its level.
pub(crate) fn load(nodes: &dyn Nodes, hash: &Hash, level: Option<u8>) -> Pass<Arc<Node>> {
    let node = nodes.node(hash).ok_or_else(|| Fault::missing(*hash))?;
    if level.is_some_and(|l| l != node.level()) {
        return Err(Fault::Corrupt("a child is of another level than its parent says"));
    }
    Ok(node)
}
