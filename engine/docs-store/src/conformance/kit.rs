//! Test utilities: comparable values, and store calls with retries after transient failures.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::super::{
    Batch, Entity, FeedItem, FeedPos, Indexed, Key, KeyBuf, Mode, Op, Owner, Row, Scan, Store, StoreError,
    StoreResult, Txn, Value,
};

/// Maximum duration of the attempts of a call that fails transiently.
///
/// Their number is not limited, because a commit that waits for a slow disk makes hundreds of attempts of others fail.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
/// The topic that the suite writes to.
pub(super) const TOPIC: u16 = 1;

/// The record type of the suite.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Note {
    pub title: String,
    pub n: i64,
    /// A nested value.
    pub tags: Vec<Option<String>>,
}

impl Entity for Note {
    const KIND: &'static str = "note";
}

impl Indexed for Note {
    const INDEXES: &'static [&'static str] = &["cf", "ctr"];

    /// The title is the id.
    fn key(&self) -> Key {
        KeyBuf::new(Self::KIND).part(&self.title).key()
    }

    /// An index by number that covers the tags, a unique value per tag, and a counter per remainder.
    fn rows(&self) -> Vec<Row> {
        let number = KeyBuf::new("cf").part("n").number(self.n.unsigned_abs());
        let mut rows = vec![
            Row::Index(number.part(&self.title).key(), json(&self.tags)),
            Row::Count(KeyBuf::new("ctr").part("notes").number(self.n.unsigned_abs() % 3).key()),
        ];
        let unique =
            |tag: &String| Row::Unique(KeyBuf::new("cf").part("tag").part(tag).key(), json(&self.title));
        rows.extend(self.tags.iter().flatten().map(unique));
        rows
    }

    fn owner(&self) -> Owner {
        Owner::NoOrganization
    }
}

impl Note {
    /// Creates a note with this title.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), n: -7, tags: vec![None, Some("ä\"\\\n😀".to_owned())] }
    }
}

/// A value in a comparable form: a live record equals its JSON.
#[derive(Clone, PartialEq, Debug)]
pub enum Plain {
    /// A record or other JSON.
    Json(serde_json::Value),
    Int(i64),
    /// No value.
    Unit,
}

impl From<&Value> for Plain {
    /// # Panics
    /// If the value is not JSON, so that the store returned data that was never written.
    fn from(value: &Value) -> Self {
        let parse = |json: &[u8]| serde_json::from_slice(json).expect("a store gives JSON");
        match value {
            Value::Live(record) => {
                Self::Json(parse(&record.to_json().expect("a stored record has a JSON form")))
            }
            Value::Json(json) => Self::Json(parse(json)),
            Value::Int(n) => Self::Int(*n),
            Value::Unit => Self::Unit,
        }
    }
}

impl Plain {
    /// Returns the integer, or 0 for any other value.
    #[must_use]
    pub fn int(value: Option<&Self>) -> i64 {
        if let Some(Self::Int(n)) = value { *n } else { 0 }
    }
}

/// A pseudorandom number generator, reproducible from its seed.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number less than `end`, which must not be 0.
    pub(super) fn next_below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

pub(super) fn key(text: impl AsRef<str>) -> Key {
    Key::from(text.as_ref())
}

pub(super) fn keys(texts: &[&str]) -> Vec<Key> {
    texts.iter().map(|text| Key::from(*text)).collect()
}

pub(super) fn json<T: Serialize>(value: &T) -> Value {
    Value::Json(serde_json::to_vec(value).expect("the values of the suite have a JSON form").into())
}

pub(super) fn put(at: impl AsRef<str>, n: i64) -> Op {
    Op::Put(key(at), Value::Int(n))
}

pub(super) fn unit(at: impl AsRef<str>) -> Op {
    Op::Put(key(at), Value::Unit)
}

pub(super) fn create(at: impl AsRef<str>) -> Op {
    Op::Create(key(at), Value::Unit)
}

pub(super) fn delete(at: impl AsRef<str>) -> Op {
    Op::Delete(key(at))
}

pub(super) fn add(at: impl AsRef<str>, by: i64) -> Op {
    Op::Add(key(at), by)
}

pub(super) fn item(at: impl AsRef<str>) -> FeedItem {
    FeedItem { topic: TOPIC, key: key(at) }
}

/// Creates a batch without feed items.
pub(super) fn ops(ops: Vec<Op>) -> Batch {
    Batch { ops, feed: Vec::new() }
}

/// Returns an ascending scan of all keys under a prefix.
pub(super) fn scan_prefix(prefix: &str) -> Scan {
    KeyBuf::new(prefix).scan(1_000)
}

/// Returns the keys of a page of entries.
pub(super) fn names(page: &[(Key, Plain)]) -> Vec<&str> {
    page.iter().map(|(key, _)| &**key).collect()
}

/// Returns `true` for a transient failure: nothing was applied, and a retry may succeed.
pub(super) fn is_transient(error: &StoreError) -> bool {
    matches!(error, StoreError::Conflict | StoreError::Unavailable(_))
}

/// The attempts of a call that fails transiently.
///
/// # Panics
/// After [`RETRY_TIMEOUT`], because a store must not fail forever.
#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) made: u32,
    began: Instant,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { made: 0, began: Instant::now() }
    }
}

impl Attempts {
    /// Returns the result of an attempt if it is final, or `None` if the call should be retried.
    ///
    /// Always yields first, so that other tasks run and a test that loops forever is detected as hanging.
    pub(super) async fn settle<T>(&mut self, result: StoreResult<T>) -> Option<StoreResult<T>> {
        self.made += 1;
        tokio::task::yield_now().await;
        match result {
            Err(error) if is_transient(&error) => {
                assert!(
                    self.began.elapsed() < RETRY_TIMEOUT,
                    "no success in {} attempts: {error}",
                    self.made
                );
                None
            }
            result => Some(result),
        }
    }
}

/// Commits a batch in a transaction that reads nothing, with retries.
pub(super) async fn commit(store: &dyn Store, batch: Batch) -> StoreResult<()> {
    let mut attempts = Attempts::default();
    loop {
        let result = match store.begin(Mode::Write, &[]).await {
            Ok(txn) => txn.commit(batch.clone()).await,
            Err(error) => Err(error),
        };
        if let Some(result) = attempts.settle(result).await {
            return result;
        }
    }
}

/// Commits changes that must succeed.
pub(super) async fn write(store: &dyn Store, changes: Vec<Op>) {
    commit(store, ops(changes)).await.expect("the changes succeed");
}

/// Reads keys and ranges in a single read transaction, with retries.
pub(super) async fn read_all(
    store: &dyn Store,
    keys: &[Key],
    scans: &[Scan],
) -> (Vec<Option<Plain>>, Vec<ScanEntries>) {
    let mut attempts = Attempts::default();
    loop {
        let result = look_once(store, keys, scans).await;
        if let Some(result) = attempts.settle(result).await {
            return result.expect("reading succeeds");
        }
    }
}

/// The entries that a scan returned.
pub(super) type ScanEntries = Vec<(Key, Plain)>;

/// Reads keys and ranges in an existing transaction.
pub(super) async fn read(
    txn: &dyn Txn,
    keys: &[Key],
    scans: &[Scan],
) -> StoreResult<(Vec<Option<Plain>>, Vec<ScanEntries>)> {
    let found = txn.get(keys).await?;
    assert_eq!(found.len(), keys.len(), "a result for each key");
    let pages = if scans.is_empty() { Vec::new() } else { txn.scan(scans).await? };
    assert_eq!(pages.len(), scans.len(), "a page for each scan");
    let plain =
        |page: &Vec<(Key, Value)>| page.iter().map(|(key, value)| (key.clone(), value.into())).collect();
    Ok((
        found.iter().map(|value| value.as_ref().map(Plain::from)).collect(),
        pages.iter().map(plain).collect(),
    ))
}

async fn look_once(
    store: &dyn Store,
    keys: &[Key],
    scans: &[Scan],
) -> StoreResult<(Vec<Option<Plain>>, Vec<ScanEntries>)> {
    let txn = store.begin(Mode::Read, &[]).await?;
    read(&*txn, keys, scans).await
}

pub(super) async fn get(store: &dyn Store, texts: &[&str]) -> Vec<Option<Plain>> {
    read_all(store, &keys(texts), &[]).await.0
}

pub(super) async fn get_int(store: &dyn Store, at: &str) -> i64 {
    Plain::int(get(store, &[at]).await[0].as_ref())
}

pub(super) async fn scan(store: &dyn Store, scan: Scan) -> ScanEntries {
    read_all(store, &[], &[scan]).await.1.remove(0)
}

/// Reads the feed after a position, with retries.
pub(super) async fn changes(store: &dyn Store, after: Option<&FeedPos>, max: u32) -> Vec<(FeedPos, Key)> {
    let mut attempts = Attempts::default();
    loop {
        let result = store.changes(TOPIC, after.cloned(), max).await;
        if let Some(result) = attempts.settle(result).await {
            return result.expect("an issued position is accepted");
        }
    }
}

/// Removes items with duplicate positions, because delivery is at least once.
pub(super) fn distinct(items: Vec<(FeedPos, Key)>) -> Vec<(FeedPos, Key)> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|(pos, _)| seen.insert(pos.0.clone())).collect()
}

/// Joins tasks. A panic in a task fails the test.
pub(super) async fn join<T: Send>(tasks: Vec<tokio::task::JoinHandle<T>>) -> Vec<T> {
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(task.await.expect("a task of the test failed"));
    }
    results
}

/// Spawns `count` tasks that share a store.
pub(super) fn spawn_each<T, F>(
    store: &Arc<dyn Store>,
    count: u32,
    task: impl Fn(Arc<dyn Store>, u32) -> F,
) -> Vec<tokio::task::JoinHandle<T>>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    (0..count).map(|n| tokio::spawn(task(store.clone(), n))).collect()
}

/// Polls a future up to `times` times and returns its output if it completes.
pub(super) async fn poll_times<F: Future + Unpin + Send>(future: &mut F, times: u32) -> Option<F::Output>
where
    F::Output: Send + fmt::Debug,
{
    for _ in 0..times {
        let mut polled = None;
        std::future::poll_fn(|cx| {
            polled = Some(std::pin::Pin::new(&mut *future).poll(cx));
            std::task::Poll::Ready(())
        })
        .await;
        if let Some(std::task::Poll::Ready(output)) = polled {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}
