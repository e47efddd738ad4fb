//! A canonical, ordered Merkle map from text keys to JSON values, stored as immutable objects.
//!
//! The entries, in key order, are split into leaves. The leaves, identified by their hashes, are the entries of the
//! next level, and so on until a single node remains: the root. A key starts a new node if the low bits of
//! `blake3(level, key)` are zero (4 bits for leaves, 5 above). On average, leaves have 16 entries and inner nodes 32.
//! **The node boundaries depend only on the set of keys.** Therefore:
//!
//! - equal content has an equal root, independent of the edits that led to it;
//! - changing a value never moves a boundary, and adding or removing a key only affects boundaries at that key;
//! - two maps differ only in subtrees with different hashes, so the cost of [`diff`] is proportional to the
//!   differences.
//!
//! All functions here are pure and work on loaded nodes ([`Nodes`]). If a node is not loaded, a call returns
//! [`Fault::Missing`] with all nodes that it can already tell it needs. The caller loads them and repeats the call. At
//! most as many calls are needed as the map has levels, plus two for the neighbours of nodes that an [`apply`] empties.
//!
//! # Node format
//!
//! A node is JSON, so that an operator who only has a database shell can follow the root of a revision to its pages:
//!
//! ```json
//! {"entries": [["p!q2…", {"title": "Start", "kind": "document"}], ["s!!start", "q2…"], ["k!!m!q2…", null]]}
//! {"level": 1, "children": [["", "<hash>", 17, 7201], ["p!r7…", "<hash>", 15, 6530]]}
//! ```
//!
//! There is no whitespace between tokens. The value of an entry without a value is `null`; other values are stored
//! unchanged. An entry of an inner node consists of the child's first key, its hash, and the number of map entries
//! below it with the total size of their values in bytes. Stores of earlier versions lack the size, which then counts
//! as 0. The leftmost child of every level has the empty key, so that a new first key does not change a separator.

mod apply;
mod build;
mod diff;
mod fault;
mod item;
mod node;
mod nodes;
mod read;
#[cfg(test)]
mod tests;

pub use self::{
    apply::{MapUpdate, ValueChange, apply},
    build::{BuiltMap, build, empty},
    diff::{Difference, diff},
    fault::{Fault, MapResult},
    item::MapSize,
    node::MapNode,
    nodes::{NewNode, Nodes},
    read::{Range, count, get, get_many, nth, range, rank, size},
};
pub(crate) use self::{
    build::{LeafStream, build_above},
    item::{Child, MapEntry, MapItem},
    nodes::{is_boundary, load},
};
