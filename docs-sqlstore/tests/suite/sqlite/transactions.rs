//! Transactions: queueing, and abandoned, dropped or cancelled transactions.

use std::{
    any::Any,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use docs_core::store::{
    Batch, FeedItem, FeedPos, Key, MAX_TXN, Mode, Op, Record, Scan, Store, StoreError, StoreResult, Txn,
    Value,
};
use docs_sqlstore::{Durability, SqliteStore};
use futures_util::FutureExt as _;
use rusqlite::Connection;

use super::{Sqlite, begin, commit, int, put};

const LATE: Duration = Duration::from_millis(MAX_TXN.as_millis() as u64 + 1);
const SHORT: Duration = Duration::from_millis(50);

fn unavailable<T>(result: StoreResult<T>) -> String {
    match result {
        Err(StoreError::Unavailable(why)) => why,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("a call succeeds that cannot"),
    }
}

/// Polls a future once. Returns `true` if it completed.
fn poll_once<F: Future + Unpin>(future: &mut F) -> bool {
    future.now_or_never().is_some()
}

/// Polls a future once, and asserts that it is pending.
fn park<F: Future + Unpin>(future: &mut F) {
    assert!(!poll_once(future), "a call ends that has to wait");
}

/// Lets all other tasks of a single-threaded runtime run until they wait.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn waiting_writer_aborts_an_expired_transaction() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let forgotten = begin(&store, Mode::Write).await;
    assert_eq!(int(&*forgotten, "num!a").await, None);
    let mut waiting = store.begin(Mode::Write, &[]);
    park(&mut waiting);
    settle().await;
    home.clock.advance(LATE);
    let next = waiting.await.expect("its turn has come");
    let keys = [Key::from("num!a")];
    assert_eq!(forgotten.get(&keys).await.map(drop), Err(StoreError::Conflict));
    let late = Batch { ops: vec![put("num!late", 1)], feed: vec![] };
    assert_eq!(forgotten.commit(late).await, Err(StoreError::Conflict));
    next.commit(Batch { ops: vec![put("num!a", 1)], feed: vec![] }).await.expect("it has time left");
    let reader = begin(&store, Mode::Read).await;
    assert_eq!((int(&*reader, "num!a").await, int(&*reader, "num!late").await), (Some(1), None));
}

#[tokio::test]
async fn expired_transactions_do_not_block_others() {
    let home = Sqlite::new();
    let options = home.options().connections(1).wait(Duration::from_secs(60));
    let store = SqliteStore::open(home.path("a.sqlite"), options).await.expect("the folder is there");
    let (reader, writer) = (begin(&store, Mode::Read).await, begin(&store, Mode::Write).await);
    home.clock.advance(LATE);
    let started = Instant::now();
    commit(&store, vec![put("num!a", 1)]).await.expect("no conflict");
    assert_eq!(int(&*begin(&store, Mode::Read).await, "num!a").await, Some(1));
    assert!(started.elapsed() < Duration::from_secs(30));
    let late = reader.commit(Batch::default()).await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    assert_eq!(writer.commit(Batch::default()).await, Err(StoreError::Conflict));
}

#[tokio::test]
async fn snapshot_is_taken_at_begin_not_at_the_first_read() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let reader = begin(&store, Mode::Read).await;
    commit(&store, vec![put("num!a", 1)]).await.expect("no conflict");
    assert_eq!(int(&*reader, "num!a").await, None);
    assert_eq!(int(&*begin(&store, Mode::Read).await, "num!a").await, Some(1));
}

#[tokio::test]
async fn writers_begin_in_arrival_order() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let first = begin(&store, Mode::Write).await;
    let mut writers = Vec::new();
    for n in 1..=20_i64 {
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            let txn = store.begin(Mode::Write, &[]).await?;
            let before = int(&*txn, "num!a").await;
            txn.commit(Batch { ops: vec![put("num!a", n)], feed: vec![] }).await?;
            StoreResult::Ok(before)
        }));
        settle().await;
    }
    first.commit(Batch { ops: vec![put("num!a", 0)], feed: vec![] }).await.expect("no conflict");
    for (n, writer) in (0..).zip(writers) {
        assert_eq!(writer.await.expect("the task ends"), Ok(Some(n)));
    }
}

#[tokio::test]
async fn unpolled_begin_does_not_hold_its_turn_forever() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let first = begin(&store, Mode::Write).await;
    let mut parked = store.begin(Mode::Write, &[]);
    park(&mut parked);
    settle().await;
    let third = tokio::spawn({
        let store = store.clone();
        async move { store.begin(Mode::Write, &[]).await.map(drop) }
    });
    settle().await;
    drop(first);
    // The parked call now gets its turn: it becomes a transaction, which can expire.
    settle().await;
    assert!(!third.is_finished());
    home.clock.advance(LATE);
    assert_eq!(third.await.expect("the task ends"), Ok(()));
    // It may have expired while or after it began, depending on timing.
    match parked.await {
        Ok(txn) => assert_eq!(txn.commit(Batch::default()).await, Err(StoreError::Conflict)),
        ended => drop(unavailable(ended)),
    }
}

#[tokio::test]
async fn connection_wait_ends_at_the_configured_timeout() {
    let home = Sqlite::new();
    let options = home.options().connections(2).wait(SHORT);
    let store = SqliteStore::open(home.path("a.sqlite"), options).await.expect("the folder is there");
    let open = [begin(&store, Mode::Read).await, begin(&store, Mode::Read).await];
    assert!(unavailable(store.begin(Mode::Read, &[]).await).contains("allow more connections"));
    assert!(unavailable(store.changes(1, None, 1).await).contains("allow more connections"));
    let writer = begin(&store, Mode::Write).await;
    assert!(unavailable(store.begin(Mode::Write, &[]).await).contains("try again"));
    drop((open, writer));
    for mode in [Mode::Read, Mode::Write] {
        begin(&store, mode).await;
    }
}

/// Writers wait for the lock for the configured time. Readers do not wait.
#[tokio::test]
async fn database_locked_by_another_program_is_unavailable() {
    let home = Sqlite::new();
    let options = home.options().wait(SHORT);
    let store = SqliteStore::open(home.path("a.sqlite"), options).await.expect("the folder is there");
    let other = Connection::open(store.path()).expect("the database can be opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
    for _ in 0..3 {
        assert!(unavailable(store.begin(Mode::Write, &[]).await).contains("another program"));
        let pos = Err(StoreError::Misuse("the position is not from this topic of this store"));
        assert_eq!(store.trim(1, &FeedPos("1.1".into())).await, pos);
        assert_eq!(int(&*begin(&store, Mode::Read).await, "num!a").await, None);
    }
    other.execute_batch("ROLLBACK").expect("the transaction is open");
    commit(&store, vec![put("num!a", 1)]).await.expect("no conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_store_instances_share_a_file() {
    let home = Sqlite::new();
    let (here, there) = (home.open("a.sqlite").await, home.open("a.sqlite").await);
    let writers = [here.clone(), there.clone()].map(|store| {
        tokio::spawn(async move {
            for _ in 0..100 {
                let txn = store.begin(Mode::Write, &[]).await.expect("the other one is quick");
                let n = int(&*txn, "num!a").await.unwrap_or(0);
                let batch = Batch { ops: vec![put("num!a", n + 1)], feed: vec![] };
                txn.commit(batch).await.expect("writers wait for each other");
            }
        })
    });
    for writer in writers {
        writer.await.expect("the writer does not fail");
    }
    assert_eq!(int(&*begin(&here, Mode::Read).await, "num!a").await, Some(200));
    // A feed reader waiting in one process is notified of a commit by the other.
    let mut waiting = here.changed(7, None, Duration::from_secs(3_600));
    park(&mut waiting);
    let feed = vec![FeedItem { topic: 7, key: "a".into() }];
    begin(&there, Mode::Write).await.commit(Batch { ops: vec![], feed }).await.expect("no conflict");
    assert_eq!(waiting.await, Ok(true));
}

#[test]
fn transaction_can_outlive_its_runtime() {
    let home = Sqlite::new();
    let runtime = || {
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("threads can be started")
    };
    let first = runtime();
    let store = first.block_on(home.open("a.sqlite"));
    let open = first.block_on(async { [begin(&store, Mode::Read).await, begin(&store, Mode::Write).await] });
    // One call is running, and another one is waiting.
    let keys = [Key::from("num!a")];
    let (mut reading, mut waiting) = (open[0].get(&keys), store.begin(Mode::Write, &[]));
    first.block_on(async {
        poll_once(&mut reading);
        park(&mut waiting);
    });
    first.shutdown_background();
    drop((reading, waiting));
    drop(open);
    runtime().block_on(async {
        commit(&store, vec![put("num!a", 1)]).await.expect("the permit came back");
        assert_eq!(int(&*begin(&store, Mode::Read).await, "num!a").await, Some(1));
    });
    // The last clone is dropped outside a runtime.
    let path = store.path();
    drop(store);
    assert!(!path.with_file_name("a.sqlite-wal").exists());
}

#[test]
fn calls_on_a_stopped_runtime_return_unavailable() {
    let home = Sqlite::new();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("threads can start");
    let store = runtime.block_on(home.open("a.sqlite"));
    let mut asked = store.begin(Mode::Write, &[]);
    runtime.block_on(async { park(&mut asked) });
    runtime.shutdown_background();
    let other =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("threads can start");
    assert!(unavailable(other.block_on(asked)).contains("shutting down"));
    assert!(other.block_on(commit(&store, vec![put("num!a", 1)])).is_ok());
}

/// A record whose serialization panics.
struct Panics;

impl Record for Panics {
    fn kind(&self) -> &'static str {
        "note"
    }

    fn to_json(&self) -> StoreResult<Bytes> {
        panic!("on purpose")
    }

    fn json_size(&self) -> StoreResult<usize> {
        Ok(1)
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

#[tokio::test]
async fn panic_during_commit_propagates_and_rolls_back() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    for _ in 0..3 {
        let txn = begin(&store, Mode::Write).await;
        let ops = vec![put("num!a", 1), Op::Put("note!a".into(), Value::Live(Arc::new(Panics)))];
        let ended = tokio::spawn(txn.commit(Batch { ops, feed: vec![] })).await;
        assert!(ended.expect_err("the panic goes on").is_panic());
    }
    assert_eq!(int(&*begin(&store, Mode::Read).await, "num!a").await, None);
    commit(&store, vec![put("num!a", 2)]).await.expect("no conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_commit_completes_or_never_starts() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let mut begun =
        begin(&store, Mode::Write).await.commit(Batch { ops: vec![put("num!a", 1)], feed: vec![] });
    poll_once(&mut begun);
    drop(begun);
    // The next transaction waits for the commit.
    assert_eq!(int(&*begin(&store, Mode::Write).await, "num!a").await, Some(1));
    drop(begin(&store, Mode::Write).await.commit(Batch { ops: vec![put("num!a", 2)], feed: vec![] }));
    assert_eq!(int(&*begin(&store, Mode::Write).await, "num!a").await, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn transaction_supports_concurrent_reads() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    commit(&store, (0..500).map(|n| put(&format!("num!{n:03}"), n)).collect()).await.expect("no conflict");
    for mode in [Mode::Read, Mode::Write] {
        let txn: Arc<dyn Txn> = begin(&store, mode).await.into();
        let reads: Vec<_> = (0..20)
            .map(|n| {
                let txn = Arc::clone(&txn);
                tokio::spawn(async move { int(&*txn, &format!("num!{n:03}")).await })
            })
            .collect();
        for (n, read) in (0..).zip(reads) {
            assert_eq!(read.await.expect("reading is fine"), Some(n));
        }
    }
}

#[tokio::test]
async fn scan_over_several_key_classes_is_in_key_order() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let json = |text: &str| Value::Json(Bytes::copy_from_slice(text.as_bytes()));
    let ops = vec![
        put("num!a", 1),
        Op::Put("note!b".into(), json("{}")),
        Op::Put("note.x!a".into(), Value::Unit),
        Op::Put("spc!a".into(), json("{}")),
        Op::Add("ctr!a".into(), 3),
        Op::Put("zz".into(), json("null")),
    ];
    commit(&store, ops).await.expect("no conflict");
    let all = ["ctr!a", "note!b", "note.x!a", "num!a", "spc!a", "zz"];
    for (limit, rev) in [(9, false), (3, false), (9, true), (4, true)] {
        let scan = Scan { from: "".into(), to: "zzz".into(), rev, limit };
        let page = begin(&store, Mode::Read).await.scan(&[scan]).await.expect("reading is fine").remove(0);
        let mut expected = all.to_vec();
        if rev {
            expected.reverse();
        }
        expected.truncate(limit as usize);
        assert_eq!(page.iter().map(|(key, _)| &**key).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn unstorable_values_return_misuse() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    commit(&store, vec![Op::Add("ctr!max".into(), i64::MAX)]).await.expect("no conflict");
    for wrong in [put("note!a", 1), Op::Create("note!a".into(), Value::Unit), Op::Add("ctr!max".into(), 1)] {
        let refused = commit(&store, vec![put("num!beside", 1), wrong.clone()]).await;
        assert!(matches!(refused, Err(StoreError::Misuse(_))), "{wrong:?}: {refused:?}");
    }
    let reader = begin(&store, Mode::Read).await;
    assert_eq!(int(&*reader, "num!beside").await, None);
}

#[tokio::test]
async fn trim_removes_all_items_up_to_the_position() {
    let home = Sqlite::new();
    let options = home.options().durability(Durability::Normal);
    let store = SqliteStore::open(home.path("a.sqlite"), options).await.expect("the folder is there");
    for _ in 0..6 {
        let feed = (0..2_000).map(|n| FeedItem { topic: 1, key: format!("k{n}").into() }).collect();
        begin(&store, Mode::Write).await.commit(Batch { ops: vec![], feed }).await.expect("no conflict");
    }
    let last = store.changes(1, Some(FeedPos("1.11999".into())), 9).await.expect("it was given").remove(0).0;
    assert_eq!(&*last.0, "1.12000");
    store.trim(1, &FeedPos("1.11998".into())).await.expect("it was given");
    assert_eq!(store.changes(1, None, 9).await.expect("none is needed").len(), 2);
    for wrong in ["1.0", "1.12001", "2.1", "01.1", "1.+1", "1.1 ", "1", ".1", "1."] {
        let taken = store.changes(1, Some(FeedPos(wrong.into())), 9).await;
        assert!(matches!(taken, Err(StoreError::Misuse(_))), "{wrong}: {taken:?}");
    }
}

#[tokio::test]
async fn store_version_changes_only_with_writes() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let other = home.open("a.sqlite").await;
    let mut before = None;
    for n in 0..20 {
        commit(if n % 2 == 0 { &store } else { &other }, vec![put("num!a", n)]).await.expect("no conflict");
        let version = store.version().await.expect("the database is there");
        assert!(version.is_some() && version != before, "{n}");
        for _ in 0..3 {
            int(&*begin(&store, Mode::Read).await, "num!a").await;
            drop(begin(&other, Mode::Write).await);
            assert_eq!(store.version().await, Ok(version), "{n}");
        }
        before = version;
    }
}
