//! [`MemStore`]: the store contract on top of [`MvccState`].

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docs_ports::{Clock, SystemClock};
use docs_store::{
    Batch, FeedPos, Key, Mode, Op, Scan, Store, StoreError, StoreResult, StoreVersion, Txn, Value,
    limits::{check_batch, check_key, check_scan},
};
use parking_lot::{Mutex, RwLock};

use crate::{
    key_locks::{KeyLock, KeyLocks},
    mvcc::{MvccState, ReadSet},
    registry::{MAX_TXN_DELTA, Registry, TxnTicket},
};

/// Maximum number of keys read per acquisition of the lock, so that long reads do not block writers.
const READ_BATCH: usize = 1_000;
/// Number of obsolete versions that a commit collects, in addition to twice the number of its operations.
const COLLECT_BATCH: usize = 64;

/// Representation of stored records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The original values, shared without serialization.
    Live,
    /// JSON: values are encoded and decoded as in a store on disk.
    Json,
}

/// An in-memory [`Store`]. Clones share their content.
///
/// Every key retains the versions that open transactions may read. A commit acquires the write lock, checks that
/// nothing read by its transaction has a newer version, and appends its versions. Calls block only on this lock, except
/// for [`begin`](Store::begin) with hot keys and [`changed`](Store::changed).
///
/// The store is strict in every build: it rejects exceeded limits, NUL, duplicate keys, values that are not JSON, and
/// records under a key of another kind. For this, each commit computes the JSON size of its live values, outside the
/// lock and without storing the JSON. That takes about half a microsecond for a record of 600 bytes: two thirds of the
/// cost of serializing it, and a few percent of a typical commit.
///
/// A transaction that is open for longer than [`MAX_TXN`](docs_store::MAX_TXN) fails with [`StoreError::Conflict`].
///
/// # Example
/// ```
/// use docs_store::{Batch, Mode, Op, Store, Value};
/// use docs_memstore::MemStore;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemStore::new();
/// let ops = vec![Op::Create("u!host!a".into(), Value::Unit)];
/// store.begin(Mode::Write, &[]).await?.commit(Batch { ops, feed: vec![] }).await?;
/// let found = store.begin(Mode::Read, &[]).await?.get(&["u!host!a".into()]).await?;
/// assert!(matches!(found[..], [Some(Value::Unit)]));
/// # Ok::<(), docs_store::StoreError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MemStore(Arc<MemStoreState>);

/// Store statistics, for tests of garbage collection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Number of keys, including deleted ones with retained versions.
    pub keys: usize,
    /// Number of versions of all keys.
    pub versions: usize,
    /// Number of transactions that are neither committed nor dropped.
    pub open: usize,
    /// Number of hot keys that are held or waited for.
    pub key_locks: usize,
    /// Number of feed items.
    pub feed: usize,
}

impl MemStore {
    /// Creates an empty store with live values.
    #[must_use]
    pub fn new() -> Self {
        Self::with_form_and_clock(Form::Live, Arc::new(SystemClock))
    }

    /// Creates an empty store with JSON values.
    #[must_use]
    pub fn new_json() -> Self {
        Self::with_form_and_clock(Form::Json, Arc::new(SystemClock))
    }

    /// Creates an empty store with this clock, which determines when transactions expire.
    #[must_use]
    pub fn with_form_and_clock(form: Form, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(MemStoreState::new(MvccState::default(), form, clock)))
    }

    /// Creates an independent copy of the current content.
    ///
    /// Takes time proportional to the number of keys, because values are shared.
    #[must_use]
    pub fn fork(&self) -> Self {
        let inner = self.0.inner.read().fork();
        Self(Arc::new(MemStoreState::new(inner, self.0.form, self.0.clock.clone())))
    }

    /// Returns the current statistics.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (keys, versions) = self.0.inner.read().size();
        Stats {
            keys,
            versions,
            open: self.0.registry.lock().len(),
            key_locks: self.0.key_locks.len(),
            feed: self.0.inner.read().feed.len(),
        }
    }
}

impl Default for MemStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemStore").field("form", &self.0.form).field("stats", &self.stats()).finish()
    }
}

#[async_trait]
impl Store for MemStore {
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        let locks = match mode {
            Mode::Read => Vec::new(),
            // Take the snapshot after locking, so that it includes the commits of previous lock holders.
            Mode::Write => self.0.lock_keys(hot).await,
        };
        let (ticket, end) = self.0.enter();
        Ok(Box::new(MemTxn { shared: self.0.clone(), mode, ticket, end, reads: Mutex::default(), locks }))
    }

    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        Ok(Some(StoreVersion::new(self.0.newest.load(Ordering::Acquire).into())))
    }

    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        self.0.inner.read().feed.items_after(topic, after.as_ref(), max)
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        let (seen, mut last) = self.0.inner.write().feed.watch(topic, after.as_ref())?;
        if *last.borrow_and_update() > seen {
            return Ok(true);
        }
        // `self` keeps the topic alive, so `Ok` means that the number has grown.
        Ok(tokio::time::timeout(wait, last.wait_for(|last| *last > seen)).await.is_ok())
    }

    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        self.0.inner.write().feed.trim(topic, upto)
    }
}

/// State shared by clones. Lock order: `inner`, then `registry`.
struct MemStoreState {
    inner: RwLock<MvccState>,
    /// The newest snapshot. Set to `inner.seq` when a commit is complete, so that `begin` need not lock `inner`.
    newest: AtomicU64,
    registry: Mutex<Registry>,
    key_locks: KeyLocks,
    form: Form,
    clock: Arc<dyn Clock>,
}

impl MemStoreState {
    fn new(inner: MvccState, form: Form, clock: Arc<dyn Clock>) -> Self {
        let newest = AtomicU64::new(inner.seq());
        Self {
            inner: RwLock::new(inner),
            newest,
            registry: Mutex::default(),
            key_locks: KeyLocks::default(),
            form,
            clock,
        }
    }

    /// Locks hot keys. The locks are advisory: after the maximum age of a transaction, the caller continues without
    /// them, because the holder must have been leaked.
    async fn lock_keys(&self, hot: &[Key]) -> Vec<KeyLock> {
        if hot.is_empty() {
            return Vec::new();
        }
        let late = self.clock.now().checked_add_signed(MAX_TXN_DELTA).unwrap_or(DateTime::<Utc>::MAX_UTC);
        tokio::select! {
            biased;
            locks = self.key_locks.lock_all(hot) => locks,
            () = self.clock.wait_until(late) => Vec::new(),
        }
    }

    fn enter(&self) -> (TxnTicket, DateTime<Utc>) {
        let now = self.clock.now();
        let mut registry = self.registry.lock();
        // Read while the registry is locked, so that no concurrently computed floor exceeds this snapshot.
        registry.enter(self.newest.load(Ordering::Acquire), now)
    }

    fn commit(&self, snapshot: u64, reads: &ReadSet, batch: Batch) -> StoreResult<()> {
        let budget = COLLECT_BATCH + 2 * batch.ops.len();
        let now = self.clock.now();
        let mut inner = self.inner.write();
        let before = inner.seq();
        let seq = inner.commit(snapshot, reads, batch)?;
        // The floor never exceeds the snapshot that a concurrent `begin` would return, which is still the previous one.
        let floor = self.registry.lock().floor(before, now);
        inner.collect(floor, budget);
        self.newest.store(seq, Ordering::Release);
        Ok(())
    }
}

/// A transaction. Invariant: it is registered until dropped, so that its snapshot remains readable until it expires.
struct MemTxn {
    shared: Arc<MemStoreState>,
    mode: Mode,
    ticket: TxnTicket,
    end: DateTime<Utc>,
    reads: Mutex<ReadSet>,
    /// Held until the transaction has ended.
    locks: Vec<KeyLock>,
}

impl MemTxn {
    fn check_time(&self) -> StoreResult<()> {
        if self.shared.clock.now() > self.end { Err(StoreError::Conflict) } else { Ok(()) }
    }
}

#[async_trait]
impl Txn for MemTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        self.check_time()?;
        keys.iter().try_for_each(|key| check_key(key))?;
        let mut found = Vec::with_capacity(keys.len());
        for page in keys.chunks(READ_BATCH) {
            found.append(&mut self.shared.inner.read().get(page, self.ticket.snapshot)?);
        }
        if self.mode == Mode::Write {
            self.reads.lock().keys(keys);
        }
        Ok(found)
    }

    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        self.check_time()?;
        scans.iter().try_for_each(check_scan)?;
        let mut pages = Vec::with_capacity(scans.len());
        for scan in scans {
            pages.push(self.shared.inner.read().scan(scan, self.ticket.snapshot)?);
        }
        if self.mode == Mode::Write {
            let mut reads = self.reads.lock();
            scans.iter().zip(&pages).for_each(|(scan, page)| reads.range(scan, page));
        }
        Ok(pages)
    }

    async fn commit(self: Box<Self>, mut batch: Batch) -> StoreResult<()> {
        check_batch(self.mode, &batch)?;
        self.check_time()?;
        if batch.is_empty() {
            return Ok(());
        }
        if self.shared.form == Form::Json {
            batch.ops.iter_mut().try_for_each(encode)?;
        }
        self.shared.commit(self.ticket.snapshot, &self.reads.lock(), batch)
    }
}

impl Drop for MemTxn {
    fn drop(&mut self) {
        self.shared.registry.lock().leave(self.ticket);
        // Released only after the transaction has ended.
        self.locks.clear();
    }
}

/// Converts a live value to JSON.
fn encode(op: &mut Op) -> StoreResult<()> {
    if let Op::Put(_, value) | Op::Create(_, value) = op
        && let Value::Live(record) = value
    {
        *value = Value::Json(record.to_json()?);
    }
    Ok(())
}
