//! Specific behavior of the in-memory store.

use std::{sync::Arc, time::Duration};

use docs_memstore::{Form, ManualClock, MemObjects, MemStore, Stats};
use docs_store::{Batch, FeedItem, FeedPos, Key, MAX_TXN, Mode, Op, Scan, Store, StoreError, Txn, Value};

fn put(key: &str, n: i64) -> Op {
    Op::Put(key.into(), Value::Int(n))
}

async fn begin(store: &MemStore, mode: Mode) -> Box<dyn Txn> {
    store.begin(mode, &[]).await.expect("memory is there")
}

async fn commit(store: &MemStore, ops: Vec<Op>) -> Result<(), StoreError> {
    begin(store, Mode::Write).await.commit(Batch { ops, feed: vec![] }).await
}

async fn int(txn: &dyn Txn, key: &str) -> Option<i64> {
    match txn.get(&[Key::from(key)]).await.expect("the transaction is open").remove(0) {
        Some(Value::Int(n)) => Some(n),
        other => other.map(|value| panic!("{value:?} where a number was put")),
    }
}

fn range(from: &str, to: &str, limit: u32) -> Scan {
    Scan { from: from.into(), to: to.into(), rev: false, limit }
}

fn with_clock() -> (MemStore, ManualClock) {
    let clock = ManualClock::default();
    (MemStore::with_form_and_clock(Form::Live, Arc::new(clock.clone())), clock)
}

#[tokio::test]
async fn limited_scan_depends_only_on_keys_up_to_the_limit() {
    let (store, _) = with_clock();
    commit(&store, ["b", "d", "f"].map(|key| put(key, 0)).to_vec()).await.expect("no conflict");
    for (rev, free, bound) in
        [(false, ["e", "f"], ["a", "c", "b", "d"]), (true, ["a", "b"], ["e", "g", "d", "f"])]
    {
        let cut = async |change: &str| {
            let txn = begin(&store, Mode::Write).await;
            let scan = Scan { rev, ..range("a", "z", 2) };
            assert_eq!(txn.scan(&[scan]).await.expect("reading is fine")[0].len(), 2);
            let fork = store.fork();
            commit(&store, vec![put(change, 1)]).await.expect("nothing was read");
            let result = txn.commit(Batch { ops: vec![put("zz", 1)], feed: vec![] }).await;
            // Restore the key, so that each case starts with the same three keys.
            let was =
                begin(&fork, Mode::Read).await.get(&[Key::from(change)]).await.expect("reading is fine");
            let undo = if was[0].is_some() { put(change, 0) } else { Op::Delete(change.into()) };
            commit(&store, vec![undo]).await.expect("nothing was read");
            result
        };
        for change in free {
            assert_eq!(cut(change).await, Ok(()), "{change}, rev {rev}");
        }
        for change in bound {
            assert_eq!(cut(change).await, Err(StoreError::Conflict), "{change}, rev {rev}");
        }
    }
}

#[tokio::test]
async fn empty_scans_create_no_dependency() {
    let (store, _) = with_clock();
    let txn = begin(&store, Mode::Write).await;
    txn.scan(&[range("a", "z", 0), range("z", "a", 9), range("b", "b", 9)]).await.expect("reading is fine");
    commit(&store, vec![put("b", 1)]).await.expect("nothing was read");
    assert_eq!(txn.commit(Batch { ops: vec![put("c", 1)], feed: vec![] }).await, Ok(()));
}

#[tokio::test]
async fn counter_overflow_returns_misuse() {
    let (store, _) = with_clock();
    commit(&store, vec![Op::Add("ctr!max".into(), i64::MAX)]).await.expect("no conflict");
    let refused = commit(&store, vec![put("beside", 1), Op::Add("ctr!max".into(), 1)]).await;
    assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
    assert_eq!(int(&*begin(&store, Mode::Read).await, "beside").await, None);
}

#[tokio::test]
async fn store_version_changes_only_with_writes() {
    let (store, clock) = with_clock();
    let mut before = None;
    for n in 0..20 {
        commit(&store, vec![put("a", n)]).await.expect("no conflict");
        let version = store.version().await.expect("memory is there");
        assert!(version.is_some() && version != before, "{n}");
        for _ in 0..3 {
            int(&*begin(&store, Mode::Read).await, "a").await;
            drop(begin(&store, Mode::Write).await);
            clock.advance(Duration::from_secs(60));
            assert_eq!(store.version().await, Ok(version), "{n}");
        }
        before = version;
    }
}

#[tokio::test]
async fn unreachable_versions_are_garbage_collected() {
    let (store, _) = with_clock();
    commit(&store, vec![put("a", 0), put("b", 0)]).await.expect("no conflict");
    let reader = begin(&store, Mode::Read).await;
    for n in 1..=500 {
        commit(&store, vec![put("a", n), put(&format!("c{n}"), n)]).await.expect("no conflict");
        commit(&store, vec![Op::Delete(format!("c{n}").into()), Op::Delete("b".into())])
            .await
            .expect("no conflict");
    }
    assert_eq!((int(&*reader, "a").await, int(&*reader, "b").await), (Some(0), Some(0)));
    assert_eq!(reader.scan(&[range("a", "z", 9)]).await.expect("reading is fine")[0].len(), 2);
    assert!(store.stats().versions > 1_000);
    drop(reader);
    for _ in 0..50 {
        commit(&store, vec![put("z", 1)]).await.expect("no conflict");
    }
    // The last commit made one more version obsolete, which the next commit would collect.
    let stats = store.stats();
    assert_eq!((stats.keys, stats.open), (2, 0));
    assert!(stats.versions <= 3, "{stats:?}");
}

#[tokio::test]
async fn expired_transaction_does_not_retain_old_versions() {
    let (store, clock) = with_clock();
    commit(&store, vec![put("a", 0)]).await.expect("no conflict");
    let forgotten = begin(&store, Mode::Read).await;
    clock.advance(MAX_TXN);
    for n in 1..100 {
        commit(&store, vec![put("a", n)]).await.expect("no conflict");
    }
    assert_eq!(int(&*forgotten, "a").await, Some(0));
    assert_eq!(store.stats().versions, 100);
    clock.advance(Duration::from_millis(1));
    commit(&store, vec![put("a", 100)]).await.expect("no conflict");
    commit(&store, vec![put("a", 101)]).await.expect("no conflict");
    assert!(store.stats().versions < 10, "{:?}", store.stats());
    // The transaction remains expired after the clock is set back, because its snapshot has been collected.
    clock.set(docs_ports::Clock::now(&clock) - chrono::TimeDelta::days(1));
    assert_eq!(forgotten.get(&[Key::from("a")]).await.map(drop), Err(StoreError::Conflict));
}

#[tokio::test]
async fn hot_key_transactions_run_one_at_a_time() {
    let (store, _) = with_clock();
    let hot = [Key::from("a")];
    let first = store.begin(Mode::Write, &hot).await.expect("memory is there");
    assert_eq!(int(&*first, "a").await, None);
    let second = tokio::spawn({
        let (store, hot) = (store.clone(), hot.clone());
        async move {
            let txn = store.begin(Mode::Write, &hot).await.expect("memory is there");
            let n = int(&*txn, "a").await.unwrap_or(0);
            txn.commit(Batch { ops: vec![put("a", n + 1)], feed: vec![] }).await
        }
    });
    // A reader and transactions with other hot keys do not wait.
    store.begin(Mode::Read, &hot).await.expect("memory is there");
    store.begin(Mode::Write, &[Key::from("b")]).await.expect("memory is there");
    tokio::task::yield_now().await;
    assert!(!second.is_finished());
    first.commit(Batch { ops: vec![put("a", 1)], feed: vec![] }).await.expect("no conflict");
    assert_eq!(second.await.expect("the task ends"), Ok(()));
    assert_eq!(int(&*begin(&store, Mode::Read).await, "a").await, Some(2));
    assert_eq!(store.stats().key_locks, 0);
}

#[tokio::test]
async fn hot_key_wait_is_limited_to_the_transaction_timeout() {
    let (store, clock) = with_clock();
    let hot = [Key::from("a"), Key::from("b")];
    let forgotten = store.begin(Mode::Write, &hot[1..]).await.expect("memory is there");
    let mut waiting = store.begin(Mode::Write, &hot);
    let polled =
        std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await;
    assert!(polled);
    assert_eq!(store.stats().key_locks, 2);
    clock.advance(MAX_TXN);
    let txn = waiting.await.expect("memory is there");
    assert_eq!(store.stats().key_locks, 1);
    assert_eq!(txn.commit(Batch { ops: vec![put("a", 1)], feed: vec![] }).await, Ok(()));
    drop(forgotten);
    assert_eq!(store.stats().key_locks, 0);
}

#[tokio::test]
async fn fork_starts_equal_and_diverges_independently() {
    let (store, _) = with_clock();
    let item = |key: &str| FeedItem { topic: 1, key: key.into() };
    let feed = vec![item("a"), item("b")];
    let ops = vec![put("a", 1), put("gone", 1)];
    begin(&store, Mode::Write).await.commit(Batch { ops, feed }).await.expect("no conflict");
    commit(&store, vec![Op::Delete("gone".into())]).await.expect("no conflict");
    let pos = store.changes(1, None, 1).await.expect("no position is needed").remove(0).0;
    let open = begin(&store, Mode::Write).await;
    let fork = store.fork();
    assert_eq!(fork.stats(), Stats { keys: 1, versions: 1, open: 0, key_locks: 0, feed: 2 });
    commit(&fork, vec![put("a", 2), Op::Create("gone".into(), Value::Unit)]).await.expect("no conflict");
    assert_eq!(int(&*open, "a").await, Some(1));
    open.commit(Batch { ops: vec![put("a", 3)], feed: vec![item("c")] })
        .await
        .expect("the fork does not matter");
    assert_eq!(int(&*begin(&fork, Mode::Read).await, "a").await, Some(2));
    let keys = |items: Vec<(_, Key)>| items.into_iter().map(|(_, key)| key.to_string()).collect::<String>();
    assert_eq!(fork.changes(1, Some(pos.clone()), 9).await.map(keys), Ok("b".to_owned()));
    assert_eq!(store.changes(1, Some(pos), 9).await.map(keys), Ok("bc".to_owned()));
}

#[tokio::test]
async fn feed_rejects_positions_it_did_not_issue() {
    let (store, _) = with_clock();
    let feed = |topic| FeedItem { topic, key: "a".into() };
    let txn = begin(&store, Mode::Write).await;
    txn.commit(Batch { ops: vec![], feed: vec![feed(1), feed(2), feed(2)] }).await.expect("no conflict");
    for (topic, pos) in [(1, "1.1"), (2, "2.2")] {
        assert!(store.changes(topic, Some(FeedPos(pos.into())), 9).await.is_ok());
    }
    for pos in ["1.0", "1.2", "2.1", "01.1", "1.01", "1.+1", "1.1 ", "1", ".1", "1."] {
        let taken = store.changes(1, Some(FeedPos(pos.into())), 9).await;
        assert!(matches!(taken, Err(StoreError::Misuse(_))), "{pos}: {taken:?}");
    }
}

#[tokio::test]
async fn json_store_returns_json_and_live_store_returns_values() {
    let note = Arc::new(docs_store::conformance::Note::new("kept"));
    for (store, json) in [(MemStore::new(), false), (MemStore::new_json(), true)] {
        let op = Op::Put("note!a".into(), Value::Live(note.clone()));
        commit(&store, vec![op]).await.expect("no conflict");
        let found =
            begin(&store, Mode::Read).await.get(&[Key::from("note!a")]).await.expect("reading is fine");
        assert_eq!(matches!(found[0], Some(Value::Json(_))), json);
        assert_eq!(matches!(found[0], Some(Value::Live(_))), !json);
    }
}

#[tokio::test]
async fn record_with_a_key_of_another_kind_returns_misuse() {
    let note = Arc::new(docs_store::conformance::Note::new("lost"));
    for key in ["notes!a", "note\"!a", "cf!note"] {
        let refused = commit(&MemStore::new(), vec![Op::Put(key.into(), Value::Live(note.clone()))]).await;
        assert!(matches!(refused, Err(StoreError::Misuse(_))), "{key}: {refused:?}");
    }
}

#[tokio::test]
async fn forked_objects_are_independent() {
    use docs_store::{Hash, Objects};
    let objects = MemObjects::new();
    let (hash, bytes) = (Hash::compute(b"one"), bytes::Bytes::from_static(b"one"));
    objects.put("d", &[(hash, bytes)]).await.expect("the hash fits");
    let fork = objects.fork();
    objects.delete("d", &[hash], Duration::ZERO).await.expect("memory is there");
    assert!(objects.is_empty());
    assert_eq!(fork.len(), 1);
}
