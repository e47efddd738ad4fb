//! The tests of the stores in a database: the conformance suite over each, what is special to it, and all of them
//! against each other.

#[cfg(feature = "sqlite")]
mod differential;
#[cfg(feature = "sqlite")]
mod idempotency;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod views;
