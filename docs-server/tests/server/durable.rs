//! The server as a separate process that is killed without warning. Acknowledged writes must survive.
//!
//! Stores: SQLite always, PostgreSQL if `DOCS_TEST_POSTGRES` contains the URL of a server. `DOCS_CRASH_ROUNDS` sets the
//! number of kills per store, 4 by default.

mod crash;
mod load;
mod nodes;
mod outage;
mod proxy;
pub(crate) mod stores;
