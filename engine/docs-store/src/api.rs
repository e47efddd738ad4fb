//! The storage engine contract: [`Store`] and [`Txn`].

use std::{any::Any, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::feed::FeedPos;

/// A key: 1 to [`MAX_KEY`] (1,024) bytes of UTF-8 without NUL, ordered bytewise.
pub type Key = Arc<str>;

/// Maximum length of a key in bytes. Every store must accept keys of this length.
pub const MAX_KEY: usize = 1024;
/// Maximum size of a value in bytes of JSON. Larger content is stored in [`Objects`](super::Objects).
pub const MAX_VALUE: usize = 256 * 1024;
/// Maximum number of operations in a [`Batch`].
pub const MAX_BATCH_OPS: usize = 2_000;
/// Maximum size of a [`Batch`] in bytes: its keys, and its values as JSON.
pub const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of entries that a [`Scan`] returns.
pub const MAX_SCAN: u32 = 1_000;
/// Maximum age of a transaction. A store may abort older transactions.
pub const MAX_TXN: Duration = Duration::from_secs(5);

/// The result of a store call.
pub type StoreResult<T> = std::result::Result<T, StoreError>;

/// A typed record in memory.
///
/// Implemented for every [`Entity`](super::Entity). A store that persists bytes calls [`Record::to_json`]; an in-memory
/// store can keep the `Arc`.
pub trait Record: Any + Send + Sync {
    /// The kind of the record: the first segment of its key, for example `spc`.
    fn kind(&self) -> &'static str;
    /// Serializes the record to JSON, the format of stores that persist bytes.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] when the record cannot be represented as JSON (a map with non-string keys).
    fn to_json(&self) -> StoreResult<Bytes>;
    /// Returns the length of [`to_json`](Record::to_json) in bytes without allocating the JSON.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] as for `to_json`, and when a string in the record contains NUL.
    fn json_size(&self) -> StoreResult<usize>;
    /// Converts the record to a value that can be downcast to its concrete type.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// The value of a key.
#[derive(Clone)]
pub enum Value {
    /// A typed record, shared without serialization.
    Live(Arc<dyn Record>),
    /// A record as JSON.
    Json(Bytes),
    /// A counter or a sequence number.
    Int(i64),
    /// No value: only the presence of the key matters.
    Unit,
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live(record) => {
                let json = record.to_json().unwrap_or_default();
                write!(f, "Live({} {})", record.kind(), String::from_utf8_lossy(&json))
            }
            Self::Json(bytes) => write!(f, "Json({})", String::from_utf8_lossy(bytes)),
            Self::Int(n) => write!(f, "Int({n})"),
            Self::Unit => f.write_str("Unit"),
        }
    }
}

/// A range read of keys in `from <= key < to`. Returns at most `limit` entries, in ascending order or, if `rev` is set,
/// in descending order.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Start of the range, inclusive.
    pub from: Key,
    /// End of the range, exclusive.
    pub to: Key,
    /// Descending order: the entries closest to `to` come first.
    pub rev: bool,
    /// Maximum number of entries to return, at most [`MAX_SCAN`] (1,000). A greater limit is [`StoreError::Misuse`].
    pub limit: u32,
}

/// The access mode of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Reads a consistent snapshot. The committed batch must be empty; the commit never conflicts.
    Read,
    /// Reads and writes. Committed write transactions are serializable, including phantoms.
    Write,
}

/// A write operation of a [`Batch`].
#[derive(Clone, Debug)]
pub enum Op {
    /// Sets the key, overwriting any previous value.
    Put(Key, Value),
    /// Sets a key that must not exist. If it exists, the whole commit fails with [`StoreError::Exists`].
    Create(Key, Value),
    /// Deletes the key. Succeeds if the key does not exist.
    Delete(Key),
    /// Adds to a counter, whose initial value is 0. Counters are the keys of the class `ctr`; only this operation and
    /// deletion may change them. Two `Add`s never conflict.
    Add(Key, i64),
}

impl Op {
    /// Returns the key that the operation writes.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Put(key, _) | Self::Create(key, _) | Self::Delete(key) | Self::Add(key, _) => key,
        }
    }
}

/// The writes of a transaction, applied atomically. `ops` contains each key at most once.
#[derive(Clone, Default, Debug)]
pub struct Batch {
    pub ops: Vec<Op>,
    /// The change feed items that the commit publishes.
    pub feed: Vec<FeedItem>,
}

impl Batch {
    /// Returns `true` if committing the batch would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.feed.is_empty()
    }
}

/// An item of the change feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedItem {
    /// The topic, see [`topic`](super::topic).
    pub topic: u16,
    /// The key of the changed item.
    pub key: Key,
}

/// The error of a store call.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoreError {
    /// A concurrent transaction conflicts. Nothing was applied; the operation can be retried.
    #[error("the transaction conflicts with another one")]
    Conflict,
    /// The key of a `Create` exists. Nothing was applied.
    #[error("the key `{0}` already exists")]
    Exists(Key),
    /// The connection was lost after the commit was sent. The batch may or may not have been applied.
    #[error("the outcome of the commit is unknown: {0}")]
    Unknown(String),
    /// The store is unavailable. Nothing was applied; the call can be retried later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A key, value or batch exceeds the limits of this module. Nothing was applied.
    #[error("too large for the store: {0}")]
    TooLarge(&'static str),
    /// The caller violated the contract. Nothing was applied.
    #[error("the store was misused: {0}")]
    Misuse(&'static str),
    /// Stored data was damaged: it differs from the data written.
    #[error("stored data is damaged: {0}")]
    Corrupt(String),
}

/// An opaque version of the content of a store; see [`Store::version`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StoreVersion(u128);

impl StoreVersion {
    /// Creates a version from a number chosen by the store. Versions are not ordered.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number)
    }
}

/// Returns the hot key that stands for all keys. A transaction passes it after repeated conflicts to make the store
/// delay other commits until it has committed; see [`Store::begin`].
#[must_use]
pub fn all_keys() -> Key {
    Key::from("everything")
}

/// A transactional, ordered key-value store with a change feed.
///
/// # Contract
///
/// The conformance suite tests each of these guarantees.
///
/// - **Snapshot.** All reads of a [`Txn`] see one snapshot, which includes every commit that was acknowledged before
///   [`begin`](Store::begin). A transaction does not see its own writes, because they exist only in its batch.
/// - **Isolation.** Committed [`Mode::Write`] transactions are serializable. Reads of absent keys and empty ranges
///   count as reads. A scan that reached its limit depends only on the range that it returned. A [`Mode::Read`]
///   transaction never conflicts.
/// - **Blocking.** A store may block a second write transaction in `begin`, so a task must not hold two of them.
/// - **Atomicity.** [`commit`](Txn::commit) applies the whole batch or nothing, with the durability that the store
///   promises. `Create` and `Add` do not make the transaction depend on the keys that they write, except that `Create`
///   requires its key to be absent.
/// - **Limits.** Keys, values and batches up to the constants of this module are accepted; larger ones are rejected
///   with [`StoreError::TooLarge`]. A NUL character in a key or in a string of a value is [`StoreError::Misuse`].
/// - **Feed.** The items of a commit appear if and only if the batch was applied. They appear in commit order for each
///   key, and never before a position that was already returned. Delivery is at least once.
/// - **Version.** If two calls of [`version`](Store::version) return the same version, all transactions that begin
///   between them, or immediately after the second, read the same content. A version reflects every change by any
///   client that was acknowledged before the call. The version does not change while nothing is written, but a store
///   that shares its server, for example with other databases, may change it when these are written to.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Begins a transaction on a snapshot of the current content.
    ///
    /// `hot` lists keys known to be contended. It is a hint: a store may serialize transactions that share a hot key,
    /// delay all other commits for [`all_keys`], or ignore it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the store cannot be reached or has no free connection.
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>>;

    /// Returns the version of the current content, for callers that cache reads: if two versions of a store are equal,
    /// so is the content. The cost is at most that of reading a key. Returns `None` if the store does not support
    /// versions or currently cannot determine one.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the store cannot be reached or has no free connection.
    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        Ok(None)
    }

    /// Returns up to `max` items of a topic after the given position, or from the oldest retained item if `after` is
    /// `None`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; [`StoreError::Misuse`] for a position that this store did not return.
    async fn changes(&self, topic: u16, after: Option<FeedPos>, max: u32)
    -> StoreResult<Vec<(FeedPos, Key)>>;

    /// Waits at most `wait` for the topic to have an item after the given position. Returns `true` if there is one.
    ///
    /// # Errors
    /// See [`changes`](Store::changes).
    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool>;

    /// Deletes the items of a topic up to and including a position.
    ///
    /// # Errors
    /// See [`changes`](Store::changes).
    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()>;
}

/// A transaction. Dropping it rolls it back.
///
/// Reads take `&self`, so that a caller can issue several concurrently.
#[async_trait]
pub trait Txn: Send + Sync {
    /// Reads keys and returns their values in request order, including duplicates.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], or [`StoreError::Conflict`] if the store detects a conflict early.
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>>;

    /// Reads ranges and returns their entries in request order.
    ///
    /// # Errors
    /// See [`get`](Txn::get); [`StoreError::Misuse`] for a limit greater than [`MAX_SCAN`].
    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>>;

    /// Applies the batch and ends the transaction.
    ///
    /// # Errors
    /// Any [`StoreError`]. Except after [`StoreError::Unknown`], the batch was not applied.
    ///
    /// # Cancel safety
    /// If the future is dropped, the batch is applied as a whole or not at all.
    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()>;
}
