//! The server as a process of its own, killed without warning: what it acknowledged is still there.
//!
//! Stores: SQLite always, PostgreSQL when `DOCS_TEST_POSTGRES` names a server. `DOCS_CRASH_ROUNDS` says how often each
//! is killed.

mod crash;
mod load;
mod nodes;
mod outage;
mod proxy;
pub(crate) mod stores;
