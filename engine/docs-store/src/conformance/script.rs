//! Transactions as data: their reads, and a function from reads to writes, so that the suite can run them in any order.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{error::Elapsed, timeout},
};

use super::{
    super::{Batch, Key, Mode, Op, Scan, Store, StoreError, StoreResult, Value},
    kit::{Attempts, Plain, ScanEntries, read, read_all, scan_prefix},
};

/// Maximum time that a transaction may block on another one before the suite lets the other continue.
///
/// With a store that never blocks, the suite never waits this long.
const GRACE: Duration = Duration::from_millis(200);

/// The content of a store in comparable form.
pub type Model = BTreeMap<Key, Plain>;

/// The results of a transaction's reads.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TxnReads {
    /// The keys, in request order.
    pub keys: Vec<Option<Plain>>,
    /// The ranges, in request order.
    pub scans: Vec<ScanEntries>,
}

impl TxnReads {
    /// Returns the value of the `n`-th key as an integer, or 0 if it is missing.
    #[must_use]
    pub fn int(&self, n: usize) -> i64 {
        Plain::int(self.keys[n].as_ref())
    }
}

/// A transaction that reads keys and ranges and commits the batch that a pure function computes from them.
#[derive(Clone)]
pub struct Script {
    /// The keys to read.
    pub keys: Vec<Key>,
    /// The ranges to read.
    pub scans: Vec<Scan>,
    /// Computes the batch to commit.
    pub then: Arc<dyn Fn(&TxnReads) -> Batch + Send + Sync>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("keys", &self.keys).field("scans", &self.scans).finish_non_exhaustive()
    }
}

impl Script {
    /// Creates a transaction that reads keys.
    pub fn get(keys: &[&str], then: impl Fn(&TxnReads) -> Vec<Op> + Send + Sync + 'static) -> Self {
        let keys = keys.iter().map(|key| Key::from(*key)).collect();
        Self {
            keys,
            scans: Vec::new(),
            then: Arc::new(move |seen| Batch { ops: then(seen), feed: Vec::new() }),
        }
    }

    /// Creates a transaction that reads a range.
    pub fn scan(scan: Scan, then: impl Fn(&TxnReads) -> Vec<Op> + Send + Sync + 'static) -> Self {
        Self { scans: vec![scan], ..Self::get(&[], then) }
    }
}

/// A completed transaction: its reads and its batch.
#[derive(Clone, Debug)]
pub(super) struct CompletedTxn {
    pub(super) seen: TxnReads,
    pub(super) batch: Batch,
    pub(super) attempts: u32,
}

/// Runs a transaction until it succeeds. From attempt `hot_from` on, it passes the hot keys.
pub(super) async fn run(store: &dyn Store, script: &Script, hot: &[Key], hot_from: u32) -> CompletedTxn {
    let mut attempts = Attempts::default();
    loop {
        let hot = if attempts.made + 1 >= hot_from { hot } else { &[] };
        let result = run_once(store, script, hot).await;
        if let Some(result) = attempts.settle(result).await {
            let (seen, batch) = result.expect("the transaction succeeds");
            return CompletedTxn { seen, batch, attempts: attempts.made };
        }
    }
}

async fn run_once(store: &dyn Store, script: &Script, hot: &[Key]) -> StoreResult<(TxnReads, Batch)> {
    let txn = store.begin(Mode::Write, hot).await?;
    let (keys, scans) = read(&*txn, &script.keys, &script.scans).await?;
    let seen = TxnReads { keys, scans };
    let batch = (script.then)(&seen);
    // Yield between the reads and the commit, even if the store never blocks.
    tokio::task::yield_now().await;
    txn.commit(batch.clone()).await?;
    Ok((seen, batch))
}

/// The outcome of an interleaved transaction: its reads and its batch, or its error.
pub(super) type TxnOutcome = StoreResult<(TxnReads, Batch)>;

/// Lets all transactions begin and read, one after another, and then lets them commit, one after another.
///
/// Each transaction runs in its own task. If the store blocks a transaction until an earlier one ends, the earlier one
/// continues first.
pub(super) async fn interleave(store: &Arc<dyn Store>, scripts: &[Script]) -> Vec<TxnOutcome> {
    let mut sides: Vec<(oneshot::Sender<()>, JoinHandle<TxnOutcome>)> = Vec::new();
    for script in scripts {
        let (has_read, read) = oneshot::channel();
        let (go, may_commit) = oneshot::channel();
        let side = run_side(store.clone(), script.clone(), has_read, may_commit);
        sides.push((go, tokio::spawn(side)));
        wait(read).await;
    }
    let mut outcomes = Vec::new();
    let mut late = Vec::new();
    for (go, mut task) in sides {
        // The receiver is gone if the task has already failed.
        let _ = go.send(());
        match timeout(GRACE, &mut task).await {
            Ok(outcome) => outcomes.push(Some(outcome.expect("a side does not fail"))),
            Err(Elapsed { .. }) => {
                late.push((outcomes.len(), task));
                outcomes.push(None);
            }
        }
    }
    for (n, task) in late {
        outcomes[n] = Some(task.await.expect("a side does not fail"));
    }
    outcomes.into_iter().flatten().collect()
}

async fn run_side(
    store: Arc<dyn Store>,
    script: Script,
    has_read: oneshot::Sender<()>,
    may_commit: oneshot::Receiver<()>,
) -> TxnOutcome {
    let txn = store.begin(Mode::Write, &[]).await?;
    let (keys, scans) = read(&*txn, &script.keys, &script.scans).await?;
    let seen = TxnReads { keys, scans };
    let batch = (script.then)(&seen);
    // Sending fails only if the interleaving has already continued without this task.
    let _ = has_read.send(());
    let _ = may_commit.await;
    txn.commit(batch.clone()).await?;
    Ok((seen, batch))
}

/// Waits until the task has read, or has failed, or the grace period has passed.
async fn wait(read: oneshot::Receiver<()>) {
    let _ = timeout(GRACE, read).await;
}

/// Interleaves transactions and asserts that the committed ones are serializable: in some serial order, each has the
/// same reads and writes.
///
/// Each round starts from the content of `prepare`. Rounds are repeated until a transaction commits; the outcomes of
/// the last round are returned.
///
/// # Panics
/// If no order explains the outcomes, if a transaction fails for a reason other than a conflict, or if no transaction
/// ever commits.
pub(super) async fn assert_serial(
    store: &Arc<dyn Store>,
    prepare: Vec<Op>,
    scripts: &[Script],
) -> Vec<TxnOutcome> {
    for _ in 0..100 {
        clear(&**store).await;
        super::kit::write(&**store, prepare.clone()).await;
        let before = state(&**store).await;
        let outcomes = interleave(store, scripts).await;
        let after = state(&**store).await;
        for outcome in &outcomes {
            assert!(
                !matches!(outcome, Err(e) if !is_expected_failure(e)),
                "an unexpected failure: {outcome:?}"
            );
        }
        let committed: Vec<usize> = (0..scripts.len()).filter(|n| outcomes[*n].is_ok()).collect();
        let mut orders = permutations(&committed).into_iter();
        assert!(
            orders.any(|order| explains(&order, &before, scripts, &outcomes, &after)),
            "no order of {committed:?} explains {outcomes:?}: {before:?} became {after:?}"
        );
        if !committed.is_empty() {
            return outcomes;
        }
    }
    panic!("no transaction ever commits");
}

/// Returns `true` for failures that interleaving may cause.
fn is_expected_failure(error: &StoreError) -> bool {
    super::kit::is_transient(error) || matches!(error, StoreError::Exists(_))
}

fn explains(
    order: &[usize],
    before: &Model,
    scripts: &[Script],
    outcomes: &[TxnOutcome],
    after: &Model,
) -> bool {
    let mut model = before.clone();
    for n in order {
        let Ok((seen, batch)) = &outcomes[*n] else { return false };
        if read_model(&model, &scripts[*n]) != *seen || apply(&mut model, batch).is_err() {
            return false;
        }
    }
    model == *after
}

/// Returns the reads of a transaction in a model.
pub(super) fn read_model(model: &Model, script: &Script) -> TxnReads {
    let page = |scan: &Scan| -> ScanEntries {
        let inside = model.iter().filter(|(key, _)| scan.from <= **key && **key < scan.to);
        let entry = |(key, value): (&Key, &Plain)| (key.clone(), value.clone());
        let limit = scan.limit as usize;
        if scan.rev {
            inside.rev().take(limit).map(entry).collect()
        } else {
            inside.take(limit).map(entry).collect()
        }
    };
    TxnReads {
        keys: script.keys.iter().map(|key| model.get(key).cloned()).collect(),
        scans: script.scans.iter().map(page).collect(),
    }
}

/// Applies a batch to a model. On failure, the model may be partially changed.
pub(super) fn apply(model: &mut Model, batch: &Batch) -> StoreResult<()> {
    for op in &batch.ops {
        match op {
            Op::Create(key, _) if model.contains_key(key) => return Err(StoreError::Exists(key.clone())),
            Op::Put(key, value) | Op::Create(key, value) => {
                model.insert(key.clone(), value.into());
            }
            Op::Delete(key) => {
                model.remove(key);
            }
            Op::Add(key, by) => {
                let sum = Plain::int(model.get(key)) + by;
                model.insert(key.clone(), (&Value::Int(sum)).into());
            }
        }
    }
    Ok(())
}

/// Reads all entries written by the suite in one snapshot.
pub(super) async fn state(store: &dyn Store) -> Model {
    let classes = ["cf", "ctr", "note", "num"].map(scan_prefix);
    read_all(store, &[], &classes).await.1.into_iter().flatten().collect()
}

async fn clear(store: &dyn Store) {
    let keys: Vec<Key> = state(store).await.into_keys().collect();
    super::kit::write(store, keys.into_iter().map(Op::Delete).collect()).await;
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    let Some((first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let insert = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    permutations(rest).into_iter().flat_map(insert).collect()
}
