//! The kernel of the platform: actors, ports, transactions, idempotent requests and URLs.

pub(super) mod actor;
pub(super) mod answer_memory;
pub(super) mod audit_log;
pub(super) mod compression;
pub(super) mod content_version;
pub(super) mod emoji;
pub(super) mod idempotency;
pub(super) mod import_memory;
pub(super) mod json_answer;
pub(super) mod memory;
pub mod metrics;
pub mod own_paths;
pub(super) mod platform;
pub(super) mod ports;
pub(super) mod precondition;
pub(super) mod request;
pub(super) mod secret;
pub(super) mod site_hosts;
pub(super) mod tenant;
pub(super) mod tenant_owners;
pub(super) mod tenant_queue;
pub(super) mod token_user;
pub(super) mod urls;
pub(super) mod worker_turns;
pub(super) mod write;
pub(super) mod write_window;
