//! Where everything is kept: the contract of a store, and the machinery above it that every store shares.
//!
//! A storage engine implements [`Store`], [`Txn`] and [`Objects`]; all else (typed records, indexes, retries,
//! cursors, jobs) is written once, here.

mod api;
pub mod key;
pub mod limits;
mod objects;
mod record;

pub use api::*;
pub use key::KeyBuf;
pub use objects::{Hash, NotAHash, Objects};
pub use record::{Entity, decode};

#[cfg(feature = "conformance")]
pub mod conformance;

/// Topics of the change feed.
pub mod topic {
    /// A head of content moved: the key is `space` or `space!change request`.
    pub const HEAD: u16 = 1;
    /// A job was enqueued or rescheduled: the key is the job's.
    pub const JOBS: u16 = 2;
}
