//! Published sites as visitors read them: outline, addresses, keys and visitors.

pub(super) mod address;
pub(super) mod keys;
pub(super) mod outline;
pub(super) mod placement;
pub(super) mod resolve;
pub(super) mod share_links;
pub(super) mod visitors;
