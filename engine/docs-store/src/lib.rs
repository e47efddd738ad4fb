//! Where everything is kept: the contract of a store, and the machinery above it that every store shares.
//!
//! A storage engine implements [`Store`], [`Txn`] and [`Objects`]; all else (typed records, indexes, retries,
//! cursors, jobs) is written once, here.

mod api;
mod audit;
mod blobs;
mod cursor;
mod failure;
pub mod grams;
mod indexed;
pub mod jobs;
pub mod key;
pub mod limits;
mod meeting;
mod objects;
mod record;
mod registry;
mod run;
mod tx;

pub use api::*;
pub use audit::{AuditRecord, Logged, MAX_AUDITED, Owner};
pub use blobs::Blobs;
pub use cursor::{
    Batches, DEFAULT_LIMIT, ListSpec, Lister, MAX_LIMIT, MAX_SCANNED, Page, PageRequest, checked_limit,
    id_of, ids_of, open as open_cursor, open_row as open_row_cursor, seal as seal_cursor,
    wrong as wrong_cursor,
};
pub use docs_model::{
    feed::FeedPos,
    hash::{Hash, NotAHash, fingerprint as cursor_fingerprint},
};
pub use failure::StoreFailure;
pub use indexed::{Indexed, Kind, Row};
pub use key::KeyBuf;
pub use meeting::{Meeting, Met};
pub use objects::Objects;
pub use record::{Entity, decode};
pub use registry::{Drift, verify_kinds};
pub use run::{
    Answers, DEADLINE, MAX_ATTEMPTS, Operation, RECEIPTS, RECOVERY, Receipt, WriteContext, Written, run,
    run_and_show,
};
pub use tx::Tx;

#[cfg(feature = "conformance")]
pub mod conformance;

/// Topics of the change feed.
pub mod topic {
    /// A head of content moved: the key is `space` or `space!change request`.
    pub const HEAD: u16 = 1;
    /// A job was enqueued or rescheduled: the key is the job's.
    pub const JOBS: u16 = 2;
}
