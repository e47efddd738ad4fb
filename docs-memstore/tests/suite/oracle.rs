//! A model-based test: the in-memory store behaves like a trivially correct reference implementation.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use docs_memstore::MemStore;
use docs_store::{
    Batch, FeedItem, FeedPos, Key, Mode, Op, Scan, Store, StoreError, StoreResult, Txn, Value,
    conformance::{Model, Note, Plain},
    limits::{check_batch, check_key, check_scan},
};
use proptest::prelude::*;

/// State of the oracle. Snapshots are copies, and the number of each key's last change is never discarded.
#[derive(Clone, Default)]
struct State {
    commits: u64,
    data: Model,
    changed: BTreeMap<Key, u64>,
    feed: Vec<FeedItem>,
}

#[derive(Clone, Default)]
struct Oracle(Arc<Mutex<State>>);

/// A predicate for the keys that a result depends on.
type Inside = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// A transaction of the oracle, with the keys that its reads depend on.
struct OracleTxn {
    oracle: Oracle,
    mode: Mode,
    snapshot: State,
    keys: Vec<Key>,
    ranges: Vec<Inside>,
}

impl Oracle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics while it holds the oracle")
    }

    fn begin(&self, mode: Mode) -> OracleTxn {
        let snapshot = self.state().clone();
        OracleTxn { oracle: self.clone(), mode, snapshot, keys: Vec::new(), ranges: Vec::new() }
    }

    fn changes(&self, topic: u16, skip: usize, max: usize) -> Vec<Key> {
        let state = self.state();
        let of_topic = state.feed.iter().filter(|item| item.topic == topic);
        of_topic.skip(skip).take(max).map(|item| item.key.clone()).collect()
    }
}

impl OracleTxn {
    fn get(&mut self, keys: &[Key]) -> StoreResult<Vec<Option<Plain>>> {
        keys.iter().try_for_each(|key| check_key(key))?;
        self.keys.extend_from_slice(keys);
        Ok(keys.iter().map(|key| self.snapshot.data.get(key).cloned()).collect())
    }

    fn scan(&mut self, scan: &Scan) -> StoreResult<Vec<(Key, Plain)>> {
        check_scan(scan)?;
        let Scan { from, to, rev, limit } = scan.clone();
        let mut page: Vec<(Key, Plain)> = self.snapshot.data.clone().into_iter().collect();
        page.retain(|(key, _)| from <= *key && *key < to);
        if rev {
            page.reverse();
        }
        page.truncate(limit as usize);
        let cut = (page.len() == limit as usize).then(|| page.last().map(|(key, _)| key.clone()));
        self.ranges.push(Box::new(move |key| {
            let inside = *from <= *key && *key < *to;
            inside
                && match &cut {
                    None => true,
                    Some(None) => false,
                    Some(Some(last)) if rev => *key >= **last,
                    Some(Some(last)) => *key <= **last,
                }
        }));
        Ok(page)
    }

    fn commit(self, batch: &Batch) -> StoreResult<()> {
        check_batch(self.mode, batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        let mut state = self.oracle.state();
        for (key, at) in &state.changed {
            let read = self.keys.contains(key) || self.ranges.iter().any(|inside| inside(key));
            if read && *at > self.snapshot.commits {
                return Err(StoreError::Conflict);
            }
        }
        let mut next = state.clone();
        next.commits += 1;
        for op in &batch.ops {
            next.apply(op)?;
        }
        next.feed.extend_from_slice(&batch.feed);
        *state = next;
        Ok(())
    }
}

impl State {
    fn apply(&mut self, op: &Op) -> StoreResult<()> {
        let key = op.key().clone();
        let value = match (op, self.data.get(&key)) {
            (Op::Create(..), Some(_)) => return Err(StoreError::Exists(key)),
            (Op::Put(_, value) | Op::Create(_, value), _) => Plain::from(value),
            (Op::Delete(_), None) => return Ok(()),
            (Op::Delete(_), Some(_)) => {
                self.data.remove(&key);
                self.changed.insert(key, self.commits);
                return Ok(());
            }
            (Op::Add(_, by), None) => Plain::Int(*by),
            (Op::Add(_, by), Some(Plain::Int(n))) => Plain::Int(n + by),
            (Op::Add(..), Some(_)) => {
                return Err(StoreError::Misuse("an addition to a value that is not a number"));
            }
        };
        self.data.insert(key.clone(), value);
        self.changed.insert(key, self.commits);
        Ok(())
    }
}

/// A step of a program. Slots hold open transactions.
#[derive(Clone, Debug)]
enum Step {
    Begin(usize, Mode),
    Drop(usize),
    Get(usize, Vec<Key>),
    Scan(usize, Scan),
    Commit(usize, Batch),
    /// Reads a topic after its n-th item.
    Changes(u16, usize, u32),
    /// Replaces both stores by independent copies.
    Fork,
}

const SLOTS: usize = 3;

fn any_key() -> impl Strategy<Value = Key> {
    let name = prop_oneof![Just("a"), Just("b"), Just("b!c"), Just("d"), Just("ä")];
    let class = prop_oneof![6 => Just("cf"), 1 => Just("note"), 1 => Just("num"), 1 => Just("ctr")];
    let usual = (class, name).prop_map(|(class, name)| Key::from(format!("{class}!{name}")));
    prop_oneof![40 => usual, 1 => prop_oneof![Just(""), Just("nul\0")].prop_map(Key::from)]
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Unit),
        (-3_i64..3).prop_map(Value::Int),
        "[a-c\\\\\"]{0,3}".prop_map(|text| Value::Json(serde_json::json!({ "t": text }).to_string().into())),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    let note = any::<bool>().prop_map(|big| Arc::new(Note::new(if big { "big" } else { "small" })));
    prop_oneof![
        3 => (any_key(), any_value()).prop_map(|(key, value)| Op::Put(key, value)),
        3 => (any_key(), any_value()).prop_map(|(key, value)| Op::Create(key, value)),
        1 => note.prop_map(|note| Op::Put("note!a".into(), Value::Live(note))),
        2 => any_key().prop_map(Op::Delete),
        2 => (any_key(), -2_i64..5).prop_map(|(key, by)| Op::Add(key, by)),
    ]
}

fn any_batch() -> impl Strategy<Value = Batch> {
    let feed = (1..3_u16, any_key()).prop_map(|(topic, key)| FeedItem { topic, key });
    let batch = (prop::collection::vec(any_op(), 0..4), prop::collection::vec(feed, 0..3));
    batch.prop_map(|(ops, feed)| Batch { ops, feed })
}

fn any_scan() -> impl Strategy<Value = Scan> {
    let end = || prop_oneof![2 => any_key(), 1 => Just(Key::from("")), 1 => Just(Key::from("z"))];
    let limit = prop_oneof![10 => 0..4_u32, 2 => Just(1_000), 1 => Just(1_001)];
    (end(), end(), 0..8, any::<bool>(), limit).prop_map(|(a, b, swap, rev, limit)| {
        let [from, to] = if (a <= b) == (swap > 0) { [a, b] } else { [b, a] };
        Scan { from, to, rev, limit }
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    let slot = || 0..SLOTS;
    prop_oneof![
        6 => (slot(), prop_oneof![1 => Just(Mode::Read), 4 => Just(Mode::Write)]).prop_map(|(s, m)| Step::Begin(s, m)),
        1 => slot().prop_map(Step::Drop),
        4 => (slot(), prop::collection::vec(any_key(), 0..4)).prop_map(|(slot, keys)| Step::Get(slot, keys)),
        4 => (slot(), any_scan()).prop_map(|(slot, scan)| Step::Scan(slot, scan)),
        8 => (slot(), any_batch()).prop_map(|(slot, batch)| Step::Commit(slot, batch)),
        2 => (1..4_u16, 0..6_usize, 0..6_u32).prop_map(|(topic, skip, max)| Step::Changes(topic, skip, max)),
        1 => Just(Step::Fork),
    ]
}

/// The two stores to compare.
struct Pair {
    store: MemStore,
    oracle: Oracle,
    open: [Option<(Box<dyn Txn>, OracleTxn)>; SLOTS],
}

impl Pair {
    fn new(store: MemStore) -> Self {
        Self { store, oracle: Oracle::default(), open: Default::default() }
    }

    async fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Begin(slot, mode) => {
                let txn = self.store.begin(mode, &[]).await.expect("memory is there");
                self.open[slot] = Some((txn, self.oracle.begin(mode)));
            }
            Step::Drop(slot) => self.open[slot] = None,
            Step::Get(slot, keys) => {
                let Some((txn, oracle)) = &mut self.open[slot] else { return Ok(()) };
                let found = txn.get(&keys).await.map(|found| {
                    found.iter().map(|value| value.as_ref().map(Plain::from)).collect::<Vec<_>>()
                });
                prop_assert_eq!(found, oracle.get(&keys));
            }
            Step::Scan(slot, scan) => {
                let Some((txn, oracle)) = &mut self.open[slot] else { return Ok(()) };
                prop_assert_eq!(page(&**txn, &scan).await, oracle.scan(&scan));
            }
            Step::Commit(slot, batch) => {
                let Some((txn, oracle)) = self.open[slot].take() else { return Ok(()) };
                prop_assert_eq!(txn.commit(batch.clone()).await, oracle.commit(&batch));
            }
            Step::Changes(topic, skip, max) => self.changes(topic, skip, max).await?,
            Step::Fork => {
                self.store = self.store.fork();
                let state = self.oracle.state().clone();
                self.oracle = Oracle(Arc::new(Mutex::new(state)));
            }
        }
        Ok(())
    }

    async fn changes(&self, topic: u16, skip: usize, max: u32) -> Result<(), TestCaseError> {
        let whole = self.store.changes(topic, None, 10_000).await.expect("no position is needed");
        let after: Option<FeedPos> =
            skip.checked_sub(1).and_then(|n| whole.get(n)).map(|(pos, _)| pos.clone());
        let skip = if after.is_some() { skip } else { 0 };
        let items = self.store.changes(topic, after, max).await.expect("the position was given");
        let keys: Vec<Key> = items.into_iter().map(|(_, key)| key).collect();
        prop_assert_eq!(keys, self.oracle.changes(topic, skip, max as usize));
        Ok(())
    }

    async fn same_in_the_end(&self) -> Result<(), TestCaseError> {
        let txn = self.store.begin(Mode::Read, &[]).await.expect("memory is there");
        let all = Scan { from: "".into(), to: "\u{10ffff}".into(), rev: false, limit: 1_000 };
        let expected: Vec<(Key, Plain)> = self.oracle.state().data.clone().into_iter().collect();
        prop_assert_eq!(page(&*txn, &all).await, Ok(expected));
        Ok(())
    }
}

async fn page(txn: &dyn Txn, scan: &Scan) -> StoreResult<Vec<(Key, Plain)>> {
    let page = txn.scan(std::slice::from_ref(scan)).await?.remove(0);
    Ok(page.iter().map(|(key, value)| (key.clone(), value.into())).collect())
}

fn run(store: MemStore, program: Vec<Step>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime needs nothing");
    runtime.block_on(async {
        let mut pair = Pair::new(store);
        for step in program {
            pair.step(step).await?;
        }
        pair.same_in_the_end().await
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn memstore_equals_oracle_on_random_programs(program in prop::collection::vec(any_step(), 1..80)) {
        run(MemStore::new(), program)?;
    }

    #[test]
    fn json_memstore_equals_oracle_on_random_programs(program in prop::collection::vec(any_step(), 1..80)) {
        run(MemStore::new_json(), program)?;
    }
}
