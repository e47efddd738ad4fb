//! Tests of the database stores: the conformance suite, features of each database, and comparisons between the stores.

#[cfg(feature = "sqlite")]
mod differential;
#[cfg(feature = "sqlite")]
mod idempotency;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod views;
