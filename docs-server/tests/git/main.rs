//! The server with real repositories behind a host of Git: what is edited on either side arrives at the other, and a
//! server that is killed in the middle leaves neither by half.
//!
//! The host needs the `git` program; without it, a line says that nothing was run.

mod crash;
mod host;
mod repository;
mod transcript;

#[allow(dead_code, reason = "the tests of durability use the rest")]
#[path = "../durable/client.rs"]
mod client;
#[allow(dead_code, reason = "the tests of durability use the rest")]
#[path = "../durable/process.rs"]
mod process;
