//! The base of the platform: actors, ports, transactions, idempotent requests and addresses.

pub(super) mod emoji;
pub(super) mod idempotency;
pub mod metrics;
pub mod own_paths;
pub(super) mod precondition;
pub(super) mod secret;
pub(super) mod site_hosts;
pub(super) mod token_user;
pub(super) mod urls;
