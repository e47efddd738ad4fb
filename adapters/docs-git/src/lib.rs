//! Reads and writes Git repositories for the documentation platform.
//!
//! * [`GitClient`] fetches from https, http and git URLs, and from file URLs where the operator allows it, and pushes
//!   to all of them but git. It connects to no address that its [`Outbound`] does not allow.
//! * [`FolderCheckout`] is a folder on a disk, [`EmbeddedCheckout`] a list of files in the program; both look like a
//!   commit.
//! * [`LocalRemote`] gives checkouts URLs of their own, in front of another remote.
//!
//! No error and no line in a log holds the user name or the password of a URL.

mod address;
mod advertisement;
mod cache;
mod checkout;
mod client;
mod clone;
mod daemon;
mod disk;
mod folder;
mod limits;
mod line;
mod listing;
mod local;
mod meter;
mod objects;
mod packet;
mod push;
mod redact;
mod scan;
mod scratch;
mod transport;
mod web;

pub use client::GitClient;
pub use docs_web::{Outbound, Resolve, SystemResolver};
pub use folder::{EmbeddedCheckout, FolderCheckout};
pub use limits::Limits;
pub use local::LocalRemote;
