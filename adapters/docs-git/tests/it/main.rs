//! Fetches from real repositories: on disk, over HTTP and over the protocol of the daemon.

mod cache;
mod daemon;
mod disk;
mod fixture;
mod folders;
mod server;
mod web;
