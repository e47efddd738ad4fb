//! The tree of collections and spaces: its invariants, and paged lists in tree order.
//!
//! Collections are nested at most [`MAX_COLLECTION_DEPTH`](crate::platform::access::MAX_COLLECTION_DEPTH) levels deep,
//! without cycles. Each has a limited number of children, ordered by rank. A write reads everything that these
//! invariants depend on in its own transaction.

mod moving;
pub(in crate::platform) mod parent;
mod ranks;
mod transfer;
mod walk;

pub(in crate::platform) use self::{
    moving::ContentMove,
    parent::{
        chain, check_capacity, check_depth, drop_grants, require_parent, resolve_named_parent, resolve_parent,
    },
    ranks::{InsertionPoint, allocate_ranks},
    transfer::Transfer,
    walk::{TreeRow, TreeWalk},
};

/// Maximum number of children per collection, excluding deleted spaces. Deleting a collection moves all of them in one
/// transaction.
pub(in crate::platform) const MAX_CHILDREN: u64 = 500;
/// Maximum number of children moved per transaction. Each requires three changes.
pub(in crate::platform) const MAX_MOVED: usize = 600;
