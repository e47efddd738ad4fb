//! The store of the documentation platform in a relational database: [`SqliteStore`] keeps everything in one file,
//! [`PostgresStore`] serves any number of processes.
//!
//! Both pass the same conformance suite as the store in memory, and both keep one table a kind of record with a JSON
//! document a row, so that an administrator can look at the data with the database's own shell. The views `v_space`,
//! `v_page`, `v_member` and `v_site` are made for that.

mod layout;
mod objects;
mod options;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod value;

pub use objects::TableObjects;
pub use options::{CONNECTIONS, Durability, INLINE, OpenError, Options, Sharing, WAIT};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
