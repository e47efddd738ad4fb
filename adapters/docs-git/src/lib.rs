//! Git support of the documentation platform.
//!
//! * [`GitClient`] fetches from https and http URLs, and from file URLs if permitted, and pushes to them. It connects
//!   only to addresses that its [`Outbound`] allows.
//! * [`FolderCheckout`] presents a folder on disk as a commit, [`EmbeddedCheckout`] files embedded in the program.
//! * [`LocalRemote`] serves checkouts under their own URLs, in front of another remote.
//!
//! Errors and log lines never contain the user name or the password of a URL.

mod address;
mod advertisement;
mod bridge;
mod cache;
mod cancel;
mod checkout;
mod client;
mod clone;
mod disk;
mod failure;
mod folder;
mod lfs;
mod limits;
mod listing;
mod local;
mod meter;
mod objects;
mod pace;
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
