//! Fetches from and pushes to real repositories, on disk and over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod cache;
mod disk;
mod fixture;
mod folders;
mod hostile;
mod large_objects;
mod push;
mod push_alike;
mod push_disk;
mod push_faults;
mod resolve;
mod server;
mod web;
