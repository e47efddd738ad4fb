//! The server runs as a separate process and is killed without warning. Acknowledged writes must survive.
//!
//! The tests run on SQLite, and also on PostgreSQL if `DOCS_TEST_POSTGRES` contains the URL of a server.
//! `DOCS_CRASH_ROUNDS` sets the number of kills per store; the default is 4.

mod crash;
mod load;
mod nodes;
mod outage;
mod proxy;
pub(crate) mod stores;
