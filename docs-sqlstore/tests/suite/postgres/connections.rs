//! Broken, exhausted and abandoned connections.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use docs_core::store::{Batch, Key, Mode, Op, Scan, Store, StoreError, Value};
use docs_sqlstore::{Options, PostgresStore};
use futures_util::FutureExt as _;

use super::{
    Postgres, begin, commit, create, int, now, ops,
    proxy::{Mood, Proxy},
    put,
};

/// Polls a future up to `times` times. Returns its output if it completes.
async fn poll_times<F: Future + Send>(future: F, times: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Some(output) = future.as_mut().now_or_never() {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

async fn open(postgres: &Postgres, options: Options) -> PostgresStore {
    let schema = postgres.new_schema().await;
    PostgresStore::open(&postgres.url(&schema), options).await.expect("the store can be opened")
}

/// Returns a store that connects through a proxy, a store with a direct connection, and the proxy.
async fn with_proxy(postgres: &Postgres) -> (PostgresStore, PostgresStore, Proxy) {
    let straight = postgres.fresh().await;
    let proxy = Proxy::new(&postgres.server).await;
    let url = proxy.url(&postgres.schema());
    let through = PostgresStore::open(&url, postgres.options()).await.expect("the store can be opened");
    (through, straight, proxy)
}

fn is_unavailable<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Unavailable(_)))
}

#[tokio::test]
async fn killed_connection_between_reads_is_unavailable() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    commit(&store, vec![put("num!a", 7)]).await.expect("no conflict");
    for mode in [Mode::Read, Mode::Write] {
        let txn = begin(&store, mode).await;
        assert_eq!(int(&*txn, "num!a").await, Ok(7));
        postgres.kill().await;
        for _ in 0..2 {
            let read = int(&*txn, "num!a").await;
            assert!(is_unavailable(&read), "{read:?}");
        }
        drop(txn);
        assert_eq!(now(&store, "num!a").await, 7);
    }
}

#[tokio::test]
async fn killed_connection_before_commit_applies_nothing() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    for n in 0..10 {
        let txn = begin(&store, Mode::Write).await;
        int(&*txn, "num!a").await.expect("reading is fine");
        postgres.kill().await;
        let result = txn.commit(ops(vec![put("num!a", n + 1), create("cf!a")])).await;
        assert!(matches!(result, Err(StoreError::Unavailable(_) | StoreError::Unknown(_))), "{result:?}");
        assert_eq!(now(&store, "num!a").await, 0);
    }
}

#[tokio::test]
async fn server_restart_fails_at_most_once_per_connection() {
    const CONNECTIONS: usize = 4;
    let postgres = postgres!();
    let store = open(&postgres, Options::new().connections(CONNECTIONS)).await;
    for n in 1..=5 {
        let mut all = Vec::new();
        for _ in 0..CONNECTIONS {
            all.push(begin(&store, Mode::Read).await);
        }
        for txn in &all {
            assert_eq!(int(&**txn, "num!a").await, Ok(n - 1));
        }
        drop(all);
        postgres.kill().await;
        let mut failures = 0;
        while commit(&store, vec![put("num!a", n)]).await.is_err() {
            failures += 1;
        }
        assert!(failures <= CONNECTIONS, "{failures} failures");
    }
}

/// Success means that a commit was applied completely, failure that nothing was applied. An unknown outcome may be
/// either.
#[tokio::test(flavor = "multi_thread")]
async fn killed_commits_are_atomic_and_reported_correctly() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let done = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|w| {
            let (store, done) = (store.clone(), done.clone());
            tokio::spawn(async move {
                let mut outcomes = Vec::new();
                while !done.load(Ordering::SeqCst) {
                    let n = outcomes.len();
                    let pair =
                        vec![create(&format!("cf!{w}!{n}")), Op::Add(format!("ctr!{w}!{n}").into(), 1)];
                    outcomes.push(commit(&store, pair).await);
                }
                outcomes
            })
        })
        .collect();
    for _ in 0..15 {
        postgres.kill().await;
    }
    done.store(true, Ordering::SeqCst);
    let mut unknown = 0;
    for (w, writer) in writers.into_iter().enumerate() {
        for (n, outcome) in writer.await.expect("a writer does not fail").into_iter().enumerate() {
            let keys = [format!("cf!{w}!{n}"), format!("ctr!{w}!{n}")].map(Key::from);
            let found = begin(&store, Mode::Read).await.get(&keys).await.expect("reading is fine");
            let there = found[0].is_some();
            assert_eq!(there, found[1].is_some(), "half a commit is there");
            match outcome {
                Ok(()) => assert!(there, "an acknowledged commit is gone"),
                Err(StoreError::Unknown(_)) => unknown += 1,
                Err(StoreError::Unavailable(_)) => assert!(!there, "a commit that was not applied is there"),
                Err(other) => panic!("{other}"),
            }
        }
    }
    println!("{unknown} commits of unknown outcome");
}

/// Blocks one direction of the proxy during a commit, and then breaks the connection.
///
/// With `reads`, the transaction has read before; otherwise it takes a single round trip. Returns the stored number,
/// which shows whether the commit was applied.
async fn cut_off(postgres: &Postgres, mood: Mood, reads: bool) -> i64 {
    let (store, straight, proxy) = with_proxy(postgres).await;
    // Statements are prepared before the failure.
    for n in 0..2 {
        let txn = begin(&store, Mode::Write).await;
        assert_eq!(int(&*txn, "num!a").await, Ok(0));
        txn.commit(ops(vec![put("num!b", n)])).await.expect("no conflict");
    }
    let txn = begin(&store, Mode::Write).await;
    if reads {
        int(&*txn, "num!a").await.expect("reading is fine");
    }
    proxy.set(mood);
    let committing = tokio::spawn(txn.commit(ops(vec![put("num!a", 1)])));
    if mood == Mood::Mute {
        while now(&straight, "num!a").await == 0 {}
    } else {
        // Data sent before these replies has arrived.
        for _ in 0..20 {
            now(&straight, "num!a").await;
        }
    }
    assert!(!committing.is_finished());
    proxy.set(Mood::Down);
    let result = committing.await.expect("a commit does not panic");
    assert!(matches!(result, Err(StoreError::Unknown(_))), "reads {reads}: {result:?}");
    now(&straight, "num!a").await
}

#[tokio::test]
async fn lost_commit_response_is_unknown_but_applied() {
    let postgres = postgres!();
    for reads in [true, false] {
        assert_eq!(cut_off(&postgres, Mood::Mute, reads).await, 1);
    }
}

#[tokio::test]
async fn lost_commit_request_is_unknown_and_not_applied() {
    let postgres = postgres!();
    for reads in [true, false] {
        assert_eq!(cut_off(&postgres, Mood::Deaf, reads).await, 0);
    }
}

#[tokio::test]
async fn store_recovers_after_a_server_outage() {
    let postgres = postgres!();
    let (store, _, proxy) = with_proxy(&postgres).await;
    for n in 1..=3 {
        commit(&store, vec![put("num!a", n)]).await.expect("the server is there");
        let txn = begin(&store, Mode::Read).await;
        assert_eq!(int(&*txn, "num!a").await, Ok(n));
        proxy.set(Mood::Down);
        assert!(is_unavailable(&int(&*txn, "num!a").await));
        for _ in 0..3 {
            let read = async { int(&*store.begin(Mode::Read, &[]).await?, "num!a").await }.await;
            assert!(is_unavailable(&read), "{read:?}");
            assert!(is_unavailable(&commit(&store, vec![put("num!a", 0)]).await));
            assert!(is_unavailable(&store.changes(1, None, 1).await));
        }
        proxy.set(Mood::Open);
        assert_eq!(now(&store, "num!a").await, n);
    }
}

#[tokio::test]
async fn exhausted_pool_returns_unavailable_after_the_timeout() {
    let postgres = postgres!();
    // Long enough to establish a connection, and short enough for a test.
    let wait = Duration::from_secs(1);
    let store = open(&postgres, Options::new().connections(2).wait(wait)).await;
    let open = [begin(&store, Mode::Read).await, begin(&store, Mode::Write).await];
    for txn in &open {
        assert_eq!(int(&**txn, "num!a").await, Ok(0));
    }
    let started = Instant::now();
    let refused = store.begin(Mode::Read, &[]).await.map(drop);
    assert!(started.elapsed() >= wait);
    assert!(matches!(&refused, Err(StoreError::Unavailable(why)) if why.contains("2 of 2")), "{refused:?}");
    assert!(is_unavailable(&store.changes(1, None, 1).await));
    drop(open);
    commit(&store, vec![put("num!a", 1)]).await.expect("the connections are free again");
    let all = [begin(&store, Mode::Read).await, begin(&store, Mode::Write).await];
    assert_eq!(int(&*all[0], "num!a").await, Ok(1));
    assert_eq!(int(&*all[1], "num!a").await, Ok(1));
}

#[tokio::test]
async fn abandoned_calls_leave_no_open_transaction_or_lock() {
    let postgres = postgres!();
    let store = open(&postgres, Options::new().connections(1)).await;
    let hot = [Key::from("num!a"), Key::from("num!b")];
    let scan = Scan { from: "cf!".into(), to: "cf\"".into(), rev: false, limit: 1_000 };
    commit(&store, (0..300).map(|n| create(&format!("cf!old{n}"))).collect()).await.expect("no conflict");
    for round in 0..120_u32 {
        let hot = if round % 2 == 0 { &hot[..] } else { &[] };
        let mode = if round % 3 == 0 { Mode::Read } else { Mode::Write };
        // Abandoned before or during begin, read or commit.
        let times = round / 4 % 6;
        if let Some(txn) = poll_times(store.begin(mode, hot), 1 + times * 20).await {
            let txn = txn.expect("a connection is free");
            match round % 4 {
                0 => drop(txn),
                1 => drop(poll_times(txn.scan(&[scan.clone(), scan.clone()]), times).await),
                2 => drop(poll_times(txn.get(&[Key::from("num!a")]), times).await),
                _ if mode == Mode::Write => {
                    let changes =
                        ops(vec![create("cf!left"), create("cf!old7"), create(&format!("cf!{round}"))]);
                    drop(poll_times(txn.commit(changes), times).await);
                }
                _ => drop(txn.commit(Batch::default()).await),
            }
        }
        // The only connection reads the latest value, and its commit is applied.
        commit(&store, vec![put("num!round", i64::from(round))]).await.expect("nobody holds anything");
        assert_eq!(now(&store, "num!round").await, i64::from(round));
    }
    let found = begin(&store, Mode::Read).await.get(&["cf!left".into()]).await.expect("reading is fine");
    assert!(found[0].is_none());
    let left = "SELECT count(*) FILTER (WHERE state = 'idle in transaction'), \
                (SELECT count(*) FROM pg_locks AS l WHERE l.locktype = 'advisory' AND l.pid = ANY(array_agg(a.pid))) \
                FROM pg_stat_activity AS a WHERE application_name = $1";
    let row = postgres.admin().await.query_one(left, &[&postgres.schema()]).await.expect("it can be asked");
    let locks = "the only lock is the one that shows that the store is in use";
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (0, 1), "{locks}");
}

#[test]
fn transaction_can_be_dropped_without_a_runtime() {
    let postgres = postgres!();
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let first = runtime();
    let (store, txn) = first.block_on(async {
        let store = postgres.fresh().await;
        commit(&store, vec![put("num!a", 1)]).await.expect("no conflict");
        let txn = store.begin(Mode::Write, &["num!a".into()]).await.expect("the server is there");
        assert_eq!(int(&*txn, "num!a").await, Ok(1));
        (store, txn)
    });
    drop(txn);
    first.block_on(async {
        commit(&store, vec![put("num!a", 2)]).await.expect("no conflict");
        assert_eq!(now(&store, "num!a").await, 2);
    });
    let txn = first.block_on(begin(&store, Mode::Read));
    // The connection ends with its runtime. The store opens new ones when it is used again.
    drop(first);
    drop(txn);
    runtime().block_on(async { assert_eq!(now(&store, "num!a").await, 2) });
}

#[tokio::test]
async fn unstorable_values_return_misuse() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    // A lone surrogate is syntactically valid JSON, but not valid text.
    let half = Op::Put("cf!a".into(), Value::Json(br#""\ud800""#.to_vec().into()));
    for refused in [
        vec![put("num!a", 1), half],
        vec![put("num!a", 1), put("ctr!a", 1)],
        vec![put("num!a", 1), create("ctr!a")],
        vec![put("num!a", 1), Op::Add("num!b".into(), 1)],
        vec![put("num!a", 1), put("note!a", 1)],
    ] {
        let result = commit(&store, refused).await;
        assert!(matches!(result, Err(StoreError::Misuse(_))), "{result:?}");
    }
    assert_eq!(now(&store, "num!a").await, 0);
}
