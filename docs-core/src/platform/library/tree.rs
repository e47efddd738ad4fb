//! The tree of collections and spaces: its invariants, and lists that walk it.
//!
//! Collections are nested at most [`MAX_DEPTH`](crate::platform::access::MAX_DEPTH) deep and without cycles. Each has a
//! limited number of children, ordered by rank. A write reads everything these invariants depend on in its own
//! transaction.

mod moving;
pub(in crate::platform) mod parent;
mod room;
mod transfer;
mod walk;

pub(in crate::platform) use self::{
    moving::ContentMove,
    parent::{chain, check_depth, check_number, drop_grants, named_parent, require_parent, room_in},
    room::{Gap, make_room},
    transfer::Transfer,
    walk::{Met, Walk},
};

/// Maximum number of children of a collection, without deleted spaces. Deleting a collection moves all of them in one
/// transaction.
pub(in crate::platform) const MAX_CHILDREN: u64 = 500;
/// Maximum number of children that one transaction moves. Each takes three of its changes.
pub(in crate::platform) const MAX_MOVED: usize = 600;
