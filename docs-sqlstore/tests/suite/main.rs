//! The tests of the stores in a database: the conformance suite over each, and what is special to it.

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod views;
