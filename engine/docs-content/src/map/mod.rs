//! A canonical, ordered Merkle map: text keys to JSON, kept as immutable objects.
//!
//! The entries, in key order, are cut into leaves; the leaves, named by their hashes, are the entries of the level
//! above, and so on until one node is left: the root. A key starts a new node when the low bits of
//! `blake3(level, key)` are zero (4 bits for leaves, 5 above), so leaves hold 16 entries and inner nodes 32 on
//! average, and **where nodes are cut depends on the set of keys alone**. Hence:
//!
//! - equal content has an equal root, by whatever edits it came about;
//! - changing a value never moves a cut; adding or removing a key moves only the cuts at that key;
//! - two maps differ only below the nodes whose hashes differ, so [`diff`] costs what changed.
//!
//! Every function here is pure and works on nodes that were loaded before ([`Nodes`]). A node that is not there is
//! reported as [`Fault::Missing`], together with all others the same pass could tell it needs: the caller loads them
//! and calls again. No call needs more passes than the map has levels, plus two for the neighbours of what an
//! [`apply`] empties.
//!
//! # Bytes of a node
//!
//! A node is JSON, so that whoever has nothing but the database's own shell can still walk from a revision's root to
//! its pages:
//!
//! ```json
//! {"entries": [["p!q2…", {"title": "Start", "kind": "document"}], ["s!!start", "q2…"], ["k!!m!q2…", null]]}
//! {"level": 1, "children": [["", "<hash>", 17], ["p!r7…", "<hash>", 15]]}
//! ```
//!
//! It is written without white space, an entry that is nothing but its key with `null`. A value is written as it was
//! given. In an inner node the key is the one its child starts with, followed by the child's hash and the number of
//! entries below it; the leftmost child of every level has the empty key, so that a new first key changes no separator.

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

/// Nodes that are at hand.
pub trait Nodes {
    /// The node of this name, or `None` when it must be loaded first.
    fn node(&self, hash: &Hash) -> Option<Arc<Node>>;
}

/// Why a pass over a map ended without an answer.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// These nodes are needed first; then the same call makes progress.
    #[error("{} nodes are not loaded", .0.len())]
    Missing(BTreeSet<Hash>),
    /// A node is not what a map can contain.
    #[error("a node of the map is damaged: {0}")]
    Corrupt(&'static str),
}

impl Fault {
    fn missing(hash: Hash) -> Self {
        Self::Missing(BTreeSet::from([hash]))
    }
}

/// What a pass over a map answers.
pub type Pass<T> = Result<T, Fault>;

/// A node made by a build or a change: its name, its content, its bytes.
#[derive(Clone, Debug)]
pub struct Fresh {
    /// The name.
    pub hash: Hash,
    /// The content.
    pub node: Arc<Node>,
    /// The bytes to store.
    pub bytes: Bytes,
}

/// A node below another: its name and how many entries it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Child {
    pub(crate) hash: Hash,
    pub(crate) count: u64,
}

/// What an entry of a node holds: at level 0 a value, above a child.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    Value(Bytes),
    Child(Child),
}

pub(crate) type Entry = (Key, Item);

/// Tells whether a key starts a new node of a level.
pub(crate) fn is_boundary(level: u8, key: &str) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[level]);
    hasher.update(key.as_bytes());
    let low = hasher.finalize().as_bytes()[0];
    let mask = if level == 0 { 0x0f } else { 0x1f };
    low & mask == 0
}

/// Finds a node and checks its level.
pub(crate) fn load(nodes: &dyn Nodes, hash: &Hash, level: Option<u8>) -> Pass<Arc<Node>> {
    let node = nodes.node(hash).ok_or_else(|| Fault::missing(*hash))?;
    if level.is_some_and(|l| l != node.level()) {
        return Err(Fault::Corrupt("a child is of another level than its parent says"));
    }
    Ok(node)
}
