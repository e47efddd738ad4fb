//! Published sites as visitors read them: outline, addresses, keys and visitors.

pub(super) mod address;
pub(super) mod outline;
pub(super) mod resolve;
pub(super) mod visitors;
