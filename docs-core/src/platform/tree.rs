//! The tree of collections and spaces: what holds in it, and lists that walk it.
//!
//! Collections lie at most [`MAX_DEPTH`](super::access::MAX_DEPTH) deep in each other and never in themselves; each
//! holds a bounded number of things, in the order of their ranks. What is put somewhere reads all that this rests on
//! in its own transaction.

mod moving;
mod parent;
mod room;
mod transfer;
mod walk;

pub use self::walk::Reach;
pub(super) use self::{
    moving::ContentMove,
    parent::{chain, check_depth, check_number, drop_grants, named_parent, require_parent, room_in},
    room::{Gap, make_room},
    transfer::Transfer,
    walk::{Met, Walk, Wanted},
};

/// Most spaces and collections that lie directly in one collection, deleted spaces left out: deleting the collection
/// moves them all in one transaction.
pub(super) const MAX_CHILDREN: u64 = 500;
/// Most spaces and collections that one transaction gives another place: each takes three of its changes.
pub(super) const MAX_MOVED: usize = 600;
