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
    node::MapNode,
    nodes::{NewNode, Nodes},
    read::{Range, count, get, get_many, nth, range, rank},
};
pub(crate) use self::{
    build::{LeafStream, build_above},
    item::{Child, MapEntry, MapItem},
    nodes::{is_boundary, load},
};
