//! Persistence: the storage engine contract, and the code on top that all engines share.
//!
//! A storage engine implements [`Store`], [`Txn`] and [`Objects`]. Typed records, indexes, retries, cursors and jobs
//! are implemented once, in this crate.

mod api;
mod audit;
mod blobs;
mod failure;
pub mod grams;
mod indexed;
pub mod intersection;
pub mod jobs;
pub mod key;
pub mod limits;
mod list_identity;
mod objects;
mod observer;
mod owner_trail;
mod pagination;
mod rebuild;
mod receipt;
mod record;
mod registry;
mod run;
mod tx;

pub use api::*;
pub use audit::{AuditRecord, MAX_AUDITED};
pub use blobs::{Blob, Blobs};
pub use docs_model::{
    feed::FeedPos,
    hash::{Hash, NotAHash},
};
pub use failure::StoreFailure;
pub use indexed::{Indexed, Owner, RecordKind, Row};
pub use intersection::Intersection;
pub use key::KeyBuf;
pub use list_identity::{CursorFingerprint, ListIdentity};
pub use objects::{MAX_PUT, Objects, OrphanPage};
pub use observer::{AttemptOutcome, Observer};
pub use pagination::{
    Batches, DEFAULT_LIMIT, ListSpec, Lister, MAX_LIMIT, MAX_SCANNED, Page, PageRequest, RowCursors,
    checked_limit, id_of, ids_of, open_cursor, open_row_cursor, seal_cursor, wrong_cursor,
};
pub use rebuild::{EnsureLayout, Rebuild, RebuildStep, StartPermission, StoreLayout};
pub use receipt::{AuditMode, RECEIPTS, Receipt};
pub use record::{Entity, decode};
pub use registry::{IndexDrift, verify_kinds};
pub use run::{
    Answers, MAX_ATTEMPTS, Operation, PendingWrite, RECOVERY_DEADLINE, RETRY_DEADLINE, WriteContext, run,
    run_and_show,
};
pub use tx::Tx;

#[cfg(feature = "conformance")]
pub mod conformance;

/// Topics of the change feed.
pub mod topic {
    /// The head of a content history changed. The key is `space` or `space!change request`.
    pub const HEAD: u16 = 1;
    /// A job was enqueued or rescheduled. The key is the key of the job.
    pub const JOBS: u16 = 2;
}
