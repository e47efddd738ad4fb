//! The contract a storage engine implements: [`Store`] and [`Txn`].

use std::{any::Any, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::feed::FeedPos;

/// A key: 1 to [`MAX_KEY`] bytes of UTF-8 without NUL, ordered by its bytes.
pub type Key = Arc<str>;

/// Longest key in bytes that every store accepts.
pub const MAX_KEY: usize = 1024;
/// Largest value in bytes of JSON that every store accepts; larger content goes to [`Objects`](super::Objects).
pub const MAX_VALUE: usize = 256 * 1024;
/// Most operations in one [`Batch`] that every store accepts.
pub const MAX_BATCH_OPS: usize = 2_000;
/// Most bytes (keys and values as JSON) in one [`Batch`] that every store accepts.
pub const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Most entries one [`Scan`] returns.
pub const MAX_SCAN: u32 = 1_000;
/// How long a transaction may stay open before a store may end it.
pub const MAX_TXN: Duration = Duration::from_secs(5);

/// What a store call answers.
pub type StoreResult<T> = std::result::Result<T, StoreError>;

/// A typed value as it lives in memory.
///
/// Implemented for every [`Entity`](super::Entity); a store that keeps bytes calls [`Record::to_json`], a store
/// that keeps live values keeps the `Arc`.
pub trait Record: Any + Send + Sync {
    /// The kind of the record: the first segment of its key, for example `spc`.
    fn kind(&self) -> &'static str;
    /// The record as JSON, the form in which stores that keep bytes hold it.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] when the record has no JSON form (a map with keys that are not text).
    fn to_json(&self) -> StoreResult<Bytes>;
    /// How many bytes [`to_json`](Record::to_json) gives, found without keeping them.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] as for `to_json`, and when a text of the record contains NUL.
    fn json_size(&self) -> StoreResult<usize>;
    /// The record as a value that can be downcast to its type.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// What a key holds.
#[derive(Clone)]
pub enum Value {
    /// A typed record, shared without serialisation.
    Live(Arc<dyn Record>),
    /// A record as JSON.
    Json(Bytes),
    /// A counter or a dense number.
    Int(i64),
    /// Only the key matters.
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

/// A range read: the keys `from <= key < to`, ascending, or descending when `rev`, at most `limit` of them.
#[derive(Clone, Debug)]
pub struct Scan {
    /// First key of the range (included).
    pub from: Key,
    /// End of the range (excluded).
    pub to: Key,
    /// Descending order: the entries nearest to `to` come first.
    pub rev: bool,
    /// Most entries to return, 0 to [`MAX_SCAN`]; a larger number is [`StoreError::Misuse`].
    pub limit: u32,
}

/// What a transaction is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Reads one consistent snapshot; its commit must be empty and never conflicts.
    Read,
    /// Reads and writes; committed write transactions are serializable, phantoms included.
    Write,
}

/// One change of a [`Batch`].
#[derive(Clone, Debug)]
pub enum Op {
    /// Sets the key, whatever it held.
    Put(Key, Value),
    /// Sets a key that must not exist; a live key fails the whole commit with [`StoreError::Exists`].
    Create(Key, Value),
    /// Removes the key; a missing key is fine.
    Delete(Key),
    /// Adds to a counter, which starts at 0: a key of the class `ctr`, which nothing else sets. Never conflicts with
    /// another `Add`.
    Add(Key, i64),
}

impl Op {
    /// The key the operation touches.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Put(key, _) | Self::Create(key, _) | Self::Delete(key) | Self::Add(key, _) => key,
        }
    }
}

/// Everything a transaction changes: applied whole or not at all. A key appears at most once in `ops`.
#[derive(Clone, Default, Debug)]
pub struct Batch {
    /// The changes.
    pub ops: Vec<Op>,
    /// What the change feed tells of this commit.
    pub feed: Vec<FeedItem>,
}

impl Batch {
    /// Tells whether committing the batch would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.feed.is_empty()
    }
}

/// One entry of the change feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedItem {
    /// The topic, see [`topic`](super::topic).
    pub topic: u16,
    /// What changed.
    pub key: Key,
}

/// Why a store call failed.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another transaction got in between; nothing was applied: run the operation again.
    #[error("the transaction met a conflicting one")]
    Conflict,
    /// A `Create` met a live key; nothing was applied.
    #[error("the key `{0}` exists already")]
    Exists(Key),
    /// The connection broke after the commit was sent: it may or may not be applied.
    #[error("the outcome of the commit is unknown: {0}")]
    Unknown(String),
    /// The store cannot be used now; nothing was applied: try later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A key, a value or a batch over the limits of this module; nothing was applied.
    #[error("too large for the store: {0}")]
    TooLarge(&'static str),
    /// The caller broke the contract; nothing was applied.
    #[error("the store was misused: {0}")]
    Misuse(&'static str),
    /// What was read is not what was written.
    #[error("stored data is damaged: {0}")]
    Corrupt(String),
}

/// Names what a store holds at one moment: see [`Store::version`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StoreVersion(u128);

impl StoreVersion {
    /// A version by a number that is the store's own affair: nothing follows from which of two is larger.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number)
    }
}

/// The hot key that stands for all keys: whoever names it has met conflicts again and again, and asks that nobody else
/// commits until it has. See [`Store::begin`].
#[must_use]
pub fn everything() -> Key {
    Key::from("everything")
}

/// A transactional, ordered key-value store with a change feed.
///
/// # Contract
///
/// Each sentence is a test of the same name in the conformance suite.
///
/// - **Snapshot.** All reads of a [`Txn`] come from one snapshot that includes every commit acknowledged before
///   [`begin`](Store::begin). A transaction does not read its own writes: they exist only in its batch.
/// - **Isolation.** Committed [`Mode::Write`] transactions are serializable; absent keys and empty ranges count as
///   read. A scan cut by its limit depends only on the part it returned. A [`Mode::Read`] transaction never conflicts.
/// - **Waiting.** A store may make a second write transaction wait in `begin`; so no task holds two of them.
/// - **Atomicity.** [`commit`](Txn::commit) applies its whole batch or nothing, and is durable as far as the store
///   promises durability. `Create` and `Add` do not make the transaction depend on the keys they touch, except for
///   the rule of `Create`.
/// - **Limits.** Keys, values and batches up to the constants of this module are accepted, larger ones refused with
///   [`StoreError::TooLarge`]. Neither keys nor strings in values contain NUL: [`StoreError::Misuse`].
/// - **Feed.** All items of a commit appear, never behind a position that was already returned, in commit order for
///   each key, and only if the batch was applied. Delivery is at least once.
/// - **Version.** Where two calls of [`version`](Store::version) answer the same version, all transactions that begin
///   between them read the same, and so does one that begins right after: every change that was acknowledged before a
///   call shows in its answer, whoever made it. While nothing is written it stays, but where a store shares its place
///   with others, such as a server with several databases, what they write may change it, too.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Starts a transaction on a snapshot of now.
    ///
    /// `hot` names keys that are known to be contended. It is advice: a store may serialise transactions that share a
    /// hot key, keep everybody else from committing for the sake of [`everything`], or ignore it.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the store cannot be reached or has no free connection.
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>>;

    /// Names what the store holds now, for who keeps what was read of it: equal versions of one store, equal content.
    /// It costs no more than reading a key. `None` where that cannot be told now, or not at all.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the store cannot be reached or has no free connection.
    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        Ok(None)
    }

    /// Returns up to `max` items of a topic after a position (from the start of what is kept, when `None`).
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; [`StoreError::Misuse`] for a position this store never gave.
    async fn changes(&self, topic: u16, after: Option<FeedPos>, max: u32)
    -> StoreResult<Vec<(FeedPos, Key)>>;

    /// Waits until the topic has an item after the position, at most `wait`; answers whether it has.
    ///
    /// # Errors
    /// As [`changes`](Store::changes).
    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool>;

    /// Forgets the items of a topic up to a position, that one included.
    ///
    /// # Errors
    /// As [`changes`](Store::changes).
    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()>;
}

/// One transaction. Dropping it rolls it back.
///
/// Reads take `&self`, so that a caller may have several under way.
#[async_trait]
pub trait Txn: Send + Sync {
    /// Reads keys; answers in the order asked, duplicates included.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], or [`StoreError::Conflict`] where the store noticed one early.
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>>;

    /// Reads ranges; answers in the order asked.
    ///
    /// # Errors
    /// As [`get`](Txn::get); [`StoreError::Misuse`] for a limit over [`MAX_SCAN`].
    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>>;

    /// Applies the batch and ends the transaction.
    ///
    /// # Errors
    /// Every kind of [`StoreError`]; only after [`StoreError::Unknown`] may the batch have been applied.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the batch applied whole or not at all.
    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()>;
}
