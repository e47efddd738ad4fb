//! Progress: even under contention, some transaction commits.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{
    super::{MAX_TXN, Mode, StoreError},
    Factory,
    kit::{
        create, get, get_int, item, join, key, keys, ops, put, read_all, scan_prefix, spawn_each, unit, write,
    },
    script::{Script, run},
};

/// Maximum number of attempts at an operation.
const ATTEMPT_CAP: u32 = 10;

/// Writers of different keys rarely conflict: on average, a transaction needs at most two attempts, and exactly one on
/// an idle machine. In a store that tracks dependencies by page, longer transactions conflict more often with writers
/// of neighboring keys.
pub async fn disjoint_writers_mostly_one_attempt(factory: &dyn Factory) {
    let store = factory.store().await;
    for page in 0..10 {
        write(&*store, (0..500).map(|n| unit(format!("cf!{}!old{n}", page * 500 + n))).collect()).await;
    }
    let writers = spawn_each(&store, 8, |store, w| async move {
        let mut attempts = 0;
        for n in 0..50 {
            let own = format!("num!{w}");
            let script = Script::get(&[&own], move |seen| {
                vec![put(format!("num!{w}"), seen.int(0) + 1), create(format!("cf!{}!new{w}", w * 600 + n))]
            });
            attempts += run(&*store, &script, &[], 1).await.attempts;
        }
        attempts
    });
    let attempts: u32 = join(writers).await.into_iter().sum();
    assert!(attempts <= 8 * 50 * 2, "{attempts} attempts for 400 transactions");
}

/// Each of several writers that contend for one key finishes within the maximum number of attempts.
pub async fn hot_key_all_finish_within_attempt_cap(factory: &dyn Factory) {
    let store = factory.store().await;
    for round in 1..=20 {
        let writers = spawn_each(&store, 8, |store, _| async move {
            let bump = Script::get(&["num!hot"], |seen| vec![put("num!hot", seen.int(0) + 1)]);
            run(&*store, &bump, &[key("num!hot")], 3).await.attempts
        });
        let attempts = join(writers).await;
        assert!(attempts.iter().all(|n| *n <= ATTEMPT_CAP), "{attempts:?}");
        assert_eq!(get_int(&*store, "num!hot").await, 8 * round);
    }
}

/// A reader makes progress while a writer commits continuously.
///
/// Benchmarks measure the latency. This test only requires that the reader finishes its scans and that the writer
/// commits meanwhile.
pub async fn reader_latency_under_writer_bounded(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, (0..200).map(|n| unit(format!("cf!{n:03}"))).collect()).await;
    let done = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicU64::new(0));
    let writer = tokio::spawn({
        let (store, done, written) = (store.clone(), done.clone(), written.clone());
        async move {
            let mut n = 0;
            while !done.load(Ordering::SeqCst) {
                n += 1;
                write(&*store, (0..20).map(|i| put(format!("num!{i}"), n)).collect()).await;
                written.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    for _ in 0..500 {
        let (_, pages) = read_all(&*store, &[], &[scan_prefix("cf"), scan_prefix("num")]).await;
        assert_eq!(pages[0].len(), 200);
        assert!(pages[1].windows(2).all(|two| two[0].1 == two[1].1), "a partial commit was visible");
        tokio::task::yield_now().await;
    }
    let before = written.load(Ordering::SeqCst);
    while written.load(Ordering::SeqCst) == before {
        read_all(&*store, &[], &[scan_prefix("cf")]).await;
        tokio::task::yield_now().await;
    }
    done.store(true, Ordering::SeqCst);
    writer.await.expect("the writer does not fail");
}

/// A transaction that exceeds the maximum age fails as conflicting or unavailable, and changes nothing.
pub async fn expired_txn_is_conflict_or_unavailable(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 1)]).await;
    let ended = |result: Result<(), StoreError>| {
        assert!(matches!(result, Err(StoreError::Conflict | StoreError::Unavailable(_))), "{result:?}");
    };
    for mode in [Mode::Read, Mode::Write] {
        let txn = store.begin(mode, &keys(&["num!a"])).await.expect("beginning succeeds");
        txn.get(&keys(&["num!a"])).await.expect("reading succeeds");
        factory.pass(MAX_TXN + std::time::Duration::from_secs(1)).await;
        ended(txn.get(&keys(&["num!a"])).await.map(drop));
        ended(txn.scan(&[scan_prefix("num")]).await.map(drop));
        let mut batch = ops(vec![]);
        if mode == Mode::Write {
            batch.ops.push(unit("cf!late"));
            batch.feed.push(item("cf!late"));
        }
        ended(txn.commit(batch).await);
    }
    assert_eq!(get(&*store, &["cf!late"]).await, [None]);
    write(&*store, vec![put("num!a", 2)]).await;
}
