//! Spaces and collections: the tree, permissions and invite links.

pub(super) mod collections;
pub(super) mod follow;
pub(super) mod head;
pub(super) mod invite_links;
pub(super) mod jobs;
pub(super) mod permissions;
pub(super) mod spaces;
pub(super) mod tree;
pub(super) mod views;
