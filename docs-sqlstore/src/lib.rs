//! Relational database stores for the documentation platform.
//!
//! [`SqliteStore`] uses one file; [`PostgresStore`] is shared by any number of processes. Both pass the same
//! conformance suite as the in-memory store. Both have one table per record kind, with one JSON document per row, so
//! that an administrator can inspect the data in the database shell. The views `v_space`, `v_page`, `v_member` and
//! `v_site` are intended for that.

mod layout;
mod objects;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod value;

pub use objects::TableObjects;
pub use options::{
    DEFAULT_BEGIN_WAIT, DEFAULT_CONNECTIONS, Durability, INLINE_BYTES, OpenError, Options, SharingMode,
};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
