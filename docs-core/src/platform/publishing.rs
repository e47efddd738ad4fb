//! Published sites as visitors see them: outline, URLs, keys and visitors.

pub(super) mod address;
pub(super) mod keys;
pub(super) mod mentions;
pub(super) mod outline;
pub(super) mod page_search;
pub(super) mod placement;
pub(super) mod previews;
pub(super) mod resolve;
pub(super) mod share_links;
pub(super) mod visitors;
