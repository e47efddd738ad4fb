//! Atomicity of batches.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use super::{
    super::{Batch, Mode, Op, Store, StoreError, StoreResult, Value},
    Factory,
    kit::{
        Note, Plain, add, changes, commit, create, delete, distinct, get, get_int, item, json, key, keys,
        names, ops, poll_times, put, read_all, scan, scan_prefix, spawn_each, unit, write,
    },
    script::{Script, interleave, state},
};

/// A transaction that conflicts applies nothing of its batch.
pub async fn all_or_nothing_on_conflict(factory: &dyn Factory) {
    let store = factory.store().await;
    let script = |n: i64| {
        Script::get(&["num!read"], move |seen| {
            let mine = format!("cf!{n}");
            vec![put("num!read", seen.int(0) + n), unit(mine), add("ctr!c", n), create(format!("cf!new{n}"))]
        })
    };
    for round in 0..20 {
        let before = state(&*store).await;
        let outcomes = interleave(&store, &[script(2 * round + 1), script(2 * round + 2)]).await;
        let won = |n: i64| outcomes[usize::from(n % 2 == 0)].is_ok();
        let after = state(&*store).await;
        let count: i64 = [2 * round + 1, 2 * round + 2].into_iter().filter(|n| won(*n)).sum();
        for n in [2 * round + 1, 2 * round + 2] {
            for written in [format!("cf!{n}"), format!("cf!new{n}")] {
                assert_eq!(after.contains_key(&*written), won(n), "{written}: {outcomes:?}");
            }
        }
        for sum in ["num!read", "ctr!c"] {
            assert_eq!(Plain::int(after.get(sum)) - Plain::int(before.get(sum)), count, "{sum}");
        }
    }
}

/// A `Create` of an existing key fails its whole batch.
pub async fn all_or_nothing_on_exists(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![unit("cf!taken"), put("num!a", 1), unit("cf!stays")]).await;
    let before = state(&*store).await;
    let changes_to_lose =
        vec![put("num!a", 2), add("ctr!a", 1), delete("cf!stays"), create("cf!taken"), create("cf!b")];
    let batch = Batch { ops: changes_to_lose, feed: vec![item("cf!b")] };
    assert_eq!(commit(&*store, batch).await, Err(StoreError::Exists(key("cf!taken"))));
    assert_eq!(state(&*store).await, before);
    assert!(changes(&*store, None, 10).await.is_empty());
}

/// A commit with a failing operation never returns success, regardless of the position of the operation in the batch.
pub async fn pipelined_failure_is_not_success(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![create("cf!taken")]).await;
    for at in [0, 1, 50, 99, 100] {
        let mut changes: Vec<Op> = (0..100).map(|n| one_of_each_class(at, n)).collect();
        changes.insert(at, create("cf!taken"));
        assert_eq!(commit(&*store, ops(changes)).await, Err(StoreError::Exists(key("cf!taken"))), "at {at}");
        assert_eq!(state(&*store).await.len(), 1);
    }
}

/// A dropped transaction changes nothing and blocks no other transaction.
pub async fn drop_rolls_back(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 1)]).await;
    for n in 0..100 {
        if let Ok(txn) = store.begin(Mode::Write, &keys(&["num!a"])).await {
            let _ = txn.get(&keys(&["num!a"])).await;
            drop(txn);
        }
        write(&*store, vec![put("num!a", n)]).await;
    }
    assert_eq!(get_int(&*store, "num!a").await, 99);
}

/// Dropping a scan and its transaction before the scan completes releases all resources.
pub async fn drop_mid_scan_releases_everything(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, (0..500).map(|n| unit(format!("cf!{n:03}"))).collect()).await;
    for round in 0..100 {
        for mode in [Mode::Read, Mode::Write] {
            if let Ok(txn) = store.begin(mode, &[]).await {
                let scans = [scan_prefix("cf"), scan_prefix("cf")];
                poll_times(&mut txn.scan(&scans), round % 4).await;
            }
        }
        write(&*store, vec![unit("cf!000"), put("num!round", i64::from(round))]).await;
    }
    assert_eq!(get_int(&*store, "num!round").await, 99);
}

/// If the future of a commit is dropped, the batch is applied as a whole or not at all.
pub async fn cancelled_future_rolls_back(factory: &dyn Factory) {
    let store = factory.store().await;
    for n in 1..=100_u32 {
        if let Ok(txn) = store.begin(Mode::Write, &[]).await {
            let answer = poll_times(&mut txn.commit(pair(n)), n % 5).await;
            let applied = pairs(&*store).await.contains(&n);
            assert!(!matches!(answer, Some(Ok(())) if !applied), "an acknowledged commit is missing");
        }
    }
    write(&*store, vec![unit("cf!goes on")]).await;
    pairs(&*store).await;
}

/// After reopening, the store contains all acknowledged changes and no others.
pub async fn survives_reopen(factory: &dyn Factory) {
    let store = factory.store().await;
    for n in 0..20 {
        let note = Op::Put(key(format!("note!{n:02}")), Value::Live(Arc::new(Note::new("kept"))));
        let changes = vec![note, put(format!("num!{n:02}"), n), add("ctr!a", n), unit("cf!a")];
        let feed = vec![item(format!("cf!{n:02}"))];
        commit(&*store, Batch { ops: changes, feed }).await.expect("the changes succeed");
    }
    write(&*store, vec![delete("num!00"), delete("note!19")]).await;
    let (before, fed) = (state(&*store).await, distinct(changes(&*store, None, 100).await));
    let store = factory.reopen(store).await;
    assert_eq!(state(&*store).await, before);
    assert_eq!(distinct(changes(&*store, None, 100).await), fed);
    write(&*store, vec![add("ctr!a", 1), create("num!00")]).await;
    assert_eq!(get_int(&*store, "ctr!a").await, 191);
}

/// A crash during commits preserves all acknowledged ones and applies each other commit as a whole or not at all.
pub async fn kill_during_commit_is_all_or_nothing(factory: &dyn Factory) {
    const WRITERS: u32 = 4;
    let mut store = factory.store().await;
    for crash in 0..5_u32 {
        let acknowledged: Arc<Vec<AtomicI64>> = Arc::new((0..WRITERS).map(|_| AtomicI64::new(-1)).collect());
        let writers = spawn_each(&store, WRITERS, |store, w| {
            let acknowledged = acknowledged.clone();
            async move {
                for n in 0..10_000 {
                    let id = (crash * WRITERS + w) * 10_000 + n;
                    if commit(&*store, pair(id)).await.is_ok() {
                        acknowledged[w as usize].store(i64::from(n), Ordering::SeqCst);
                    }
                    tokio::task::yield_now().await;
                }
            }
        });
        while acknowledged.iter().map(|n| n.load(Ordering::SeqCst)).max() < Some(20) {
            tokio::task::yield_now().await;
        }
        writers.iter().for_each(tokio::task::JoinHandle::abort);
        let promised: Vec<i64> = acknowledged.iter().map(|n| n.load(Ordering::SeqCst)).collect();
        store = factory.reopen(store).await;
        let found = pairs(&*store).await;
        for (w, last) in promised.into_iter().enumerate() {
            let first = (crash * WRITERS + u32::try_from(w).expect("few writers")) * 10_000;
            for n in 0..=last {
                let id = first + u32::try_from(n).expect("not below 0");
                assert!(found.contains(&id), "the acknowledged commit {id} is missing");
            }
        }
        for writer in writers {
            assert!(writer.await.is_err_and(|end| end.is_cancelled()), "a writer failed");
        }
    }
}

/// Returns a batch that writes the same number to keys of four classes.
fn pair(n: u32) -> Batch {
    let changes = vec![
        create(format!("cf!{n:09}")),
        put(format!("num!{n:09}"), i64::from(n)),
        Op::Put(key(format!("note!{n:09}")), json(&Note::new("a partial pair is visible"))),
        add(format!("ctr!{n:09}"), 1),
    ];
    ops(changes)
}

/// Returns the numbers of all batches from [`pair`] in the store, and asserts that each is complete.
async fn pairs(store: &dyn Store) -> std::collections::BTreeSet<u32> {
    let mut found = std::collections::BTreeSet::new();
    let mut from = 0;
    loop {
        let classes = ["cf", "num", "note", "ctr"];
        let scans = classes.map(|class| super::super::Scan {
            from: key(format!("{class}!{from:09}")),
            to: key(format!("{class}!:")),
            rev: false,
            limit: 1_000,
        });
        let (_, pages) = read_all(store, &[], &scans).await;
        let numbers = pages.iter().map(|page| {
            let number = |name: &str| name.split_once('!').map(|(_, n)| n.parse::<u32>().expect("a number"));
            names(page).into_iter().filter_map(number).collect::<Vec<u32>>()
        });
        let numbers: Vec<Vec<u32>> = numbers.collect();
        assert!(numbers.windows(2).all(|two| two[0] == two[1]), "a partial batch is visible");
        found.extend(&numbers[0]);
        match numbers[0].last() {
            Some(last) if numbers[0].len() == 1_000 => from = last + 1,
            _ => return found,
        }
    }
}

fn one_of_each_class(at: usize, n: usize) -> Op {
    let name = |class: &str| format!("{class}!{at}!{n}");
    match n % 4 {
        0 => create(name("cf")),
        1 => put(name("num"), 1),
        2 => Op::Put(key(name("note")), json(&Note::new("one of many"))),
        _ => add(name("ctr"), 1),
    }
}

/// A failed transaction publishes no feed items.
pub async fn aborted_txn_leaves_no_feed(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![create("cf!taken")]).await;
    let refused = |ops| Batch { ops, feed: vec![item("cf!refused")] };
    let results: [StoreResult<()>; 3] = [
        commit(&*store, refused(vec![create("cf!taken")])).await,
        commit(&*store, refused(vec![unit("cf!a"), unit("cf!a")])).await,
        commit(&*store, refused(vec![unit("cf!\0")])).await,
    ];
    assert!(results.iter().all(Result::is_err), "{results:?}");
    let feeding = |n: u32| Script {
        then: Arc::new(move |_| Batch {
            ops: vec![put("num!a", i64::from(n))],
            feed: vec![item(format!("cf!{n}"))],
        }),
        ..Script::get(&["num!a"], |_| Vec::new())
    };
    let outcomes = interleave(&store, &[feeding(0), feeding(1)]).await;
    let fed = changes(&*store, None, 10).await;
    for (n, outcome) in outcomes.iter().enumerate() {
        assert_eq!(fed.iter().any(|(_, key)| **key == format!("cf!{n}")), outcome.is_ok(), "{outcome:?}");
    }
    assert!(!fed.iter().any(|(_, key)| &**key == "cf!refused"));
    assert_eq!(get(&*store, &["cf!a"]).await, [None]);
    assert_eq!(names(&scan(&*store, scan_prefix("cf")).await), ["cf!taken"]);
}
