//! Tests of the database stores: the conformance suite, database-specific features, and comparisons between the stores.

#[cfg(feature = "sqlite")]
mod differential;
#[cfg(feature = "sqlite")]
mod idempotency;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod views;
