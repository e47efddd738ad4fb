//! Transactions as data: what they read and what they make of it, so that the suite can run them in any order.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{error::Elapsed, timeout},
};

use super::{
    super::{Batch, Key, Mode, Op, Scan, Store, StoreError, StoreResult, Value},
    kit::{Attempts, Page, Plain, all, look, read},
};

/// How long the suite lets a call wait for another transaction before it lets that one go on.
///
/// A store that makes nobody wait never costs this time.
const GRACE: Duration = Duration::from_millis(200);

/// What keys hold, in the simplest way.
pub type Model = BTreeMap<Key, Plain>;

/// What a transaction read.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Seen {
    /// The keys, in the order asked.
    pub keys: Vec<Option<Plain>>,
    /// The ranges, in the order asked.
    pub scans: Vec<Page>,
}

impl Seen {
    /// The `n`-th key as a number, 0 if it was missing.
    #[must_use]
    pub fn int(&self, n: usize) -> i64 {
        Plain::int(self.keys[n].as_ref())
    }
}

/// A transaction: it reads keys and ranges, and commits what a pure function makes of them.
#[derive(Clone)]
pub struct Script {
    /// The keys it reads.
    pub keys: Vec<Key>,
    /// The ranges it reads.
    pub scans: Vec<Scan>,
    /// What it then commits.
    pub then: Arc<dyn Fn(&Seen) -> Batch + Send + Sync>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("keys", &self.keys).field("scans", &self.scans).finish_non_exhaustive()
    }
}

impl Script {
    /// A transaction that reads keys.
    pub fn get(keys: &[&str], then: impl Fn(&Seen) -> Vec<Op> + Send + Sync + 'static) -> Self {
        let keys = keys.iter().map(|key| Key::from(*key)).collect();
        Self {
            keys,
            scans: Vec::new(),
            then: Arc::new(move |seen| Batch { ops: then(seen), feed: Vec::new() }),
        }
    }

    /// A transaction that reads a range.
    pub fn scan(scan: Scan, then: impl Fn(&Seen) -> Vec<Op> + Send + Sync + 'static) -> Self {
        Self { scans: vec![scan], ..Self::get(&[], then) }
    }
}

/// A transaction that was run: what it read and what it committed.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) seen: Seen,
    pub(super) batch: Batch,
    pub(super) attempts: u32,
}

/// Runs a transaction until it succeeds; names its hot keys from the `hot_from`-th attempt on.
pub(super) async fn run(store: &dyn Store, script: &Script, hot: &[Key], hot_from: u32) -> Done {
    let mut attempts = Attempts::default();
    loop {
        let hot = if attempts.0 + 1 >= hot_from { hot } else { &[] };
        let result = run_once(store, script, hot).await;
        if let Some(result) = attempts.settle(result).await {
            let (seen, batch) = result.expect("the transaction is fine");
            return Done { seen, batch, attempts: attempts.0 };
        }
    }
}

async fn run_once(store: &dyn Store, script: &Script, hot: &[Key]) -> StoreResult<(Seen, Batch)> {
    let txn = store.begin(Mode::Write, hot).await?;
    let (keys, scans) = read(&*txn, &script.keys, &script.scans).await?;
    let seen = Seen { keys, scans };
    let batch = (script.then)(&seen);
    // Others get a turn between the reads and the commit, also where a store never waits.
    tokio::task::yield_now().await;
    txn.commit(batch.clone()).await?;
    Ok((seen, batch))
}

/// How a transaction of an interleaving ended: what it read and committed, or why it failed.
pub(super) type Outcome = StoreResult<(Seen, Batch)>;

/// Lets all transactions begin and read, one after another, and then commit, one after another.
///
/// Each has a task of its own. Where the store makes one wait for an earlier one, the earlier one goes on first.
pub(super) async fn interleave(store: &Arc<dyn Store>, scripts: &[Script]) -> Vec<Outcome> {
    let mut sides: Vec<(oneshot::Sender<()>, JoinHandle<Outcome>)> = Vec::new();
    for script in scripts {
        let (has_read, read) = oneshot::channel();
        let (go, may_commit) = oneshot::channel();
        let side = side(store.clone(), script.clone(), has_read, may_commit);
        sides.push((go, tokio::spawn(side)));
        wait(read).await;
    }
    let mut outcomes = Vec::new();
    let mut late = Vec::new();
    for (go, mut task) in sides {
        // A side that has failed does not listen any more.
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

async fn side(
    store: Arc<dyn Store>,
    script: Script,
    has_read: oneshot::Sender<()>,
    may_commit: oneshot::Receiver<()>,
) -> Outcome {
    let txn = store.begin(Mode::Write, &[]).await?;
    let (keys, scans) = read(&*txn, &script.keys, &script.scans).await?;
    let seen = Seen { keys, scans };
    let batch = (script.then)(&seen);
    // Both ends live until the interleaving is over, or it has gone on without this side.
    let _ = has_read.send(());
    let _ = may_commit.await;
    txn.commit(batch.clone()).await?;
    Ok((seen, batch))
}

/// Waits until the side has read, has failed, or has waited for too long.
async fn wait(read: oneshot::Receiver<()>) {
    let _ = timeout(GRACE, read).await;
}

/// Interleaves transactions and requires that those which committed could have run one after another: each read
/// what it would have read then, and left what it would have left.
///
/// Runs rounds until one commits, each on what `prepare` puts, and answers how the last one ended.
///
/// # Panics
/// When no order explains what happened, a transaction fails for another reason than a conflict, or none ever commits.
pub(super) async fn assert_serial(
    store: &Arc<dyn Store>,
    prepare: Vec<Op>,
    scripts: &[Script],
) -> Vec<Outcome> {
    for _ in 0..100 {
        clear(&**store).await;
        super::kit::write(&**store, prepare.clone()).await;
        let before = state(&**store).await;
        let outcomes = interleave(store, scripts).await;
        let after = state(&**store).await;
        for outcome in &outcomes {
            assert!(!matches!(outcome, Err(e) if !fair(e)), "an unexpected failure: {outcome:?}");
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

/// Failures that an interleaving may cause.
fn fair(error: &StoreError) -> bool {
    super::kit::passing(error) || matches!(error, StoreError::Exists(_))
}

fn explains(
    order: &[usize],
    before: &Model,
    scripts: &[Script],
    outcomes: &[Outcome],
    after: &Model,
) -> bool {
    let mut model = before.clone();
    for n in order {
        let Ok((seen, batch)) = &outcomes[*n] else { return false };
        if view(&model, &scripts[*n]) != *seen || apply(&mut model, batch).is_err() {
            return false;
        }
    }
    model == *after
}

/// What a transaction reads in a model.
pub(super) fn view(model: &Model, script: &Script) -> Seen {
    let page = |scan: &Scan| -> Page {
        let inside = model.iter().filter(|(key, _)| scan.from <= **key && **key < scan.to);
        let entry = |(key, value): (&Key, &Plain)| (key.clone(), value.clone());
        let limit = scan.limit as usize;
        if scan.rev {
            inside.rev().take(limit).map(entry).collect()
        } else {
            inside.take(limit).map(entry).collect()
        }
    };
    Seen {
        keys: script.keys.iter().map(|key| model.get(key).cloned()).collect(),
        scans: script.scans.iter().map(page).collect(),
    }
}

/// What a batch does to a model; a failing batch may leave it half done.
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

/// All that the suite has written, in one snapshot.
pub(super) async fn state(store: &dyn Store) -> Model {
    let classes = ["cf", "ctr", "note", "num"].map(all);
    look(store, &[], &classes).await.1.into_iter().flatten().collect()
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
