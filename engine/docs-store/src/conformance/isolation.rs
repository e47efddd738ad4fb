//! Isolation: committed write transactions are serializable, and every transaction reads a single snapshot.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    super::{Batch, Key, Mode, Op, Scan, Store, StoreResult, Txn},
    Factory,
    history::Workload,
    kit::{
        Attempts, Note, Plain, Rng, ScanEntries, commit, create, delete, get_int, join, json, key, keys, ops,
        put, read, read_all, scan_prefix, spawn_each, unit, write,
    },
    script::{CompletedTxn, Model, Script, TxnReads, apply, assert_serial, read_model, run},
};

/// Commits by other transactions do not affect the reads of an open transaction.
pub async fn snapshot_stable_during_txn(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 1), unit("cf!b"), unit("cf!d")]).await;
    let mut attempts = Attempts::default();
    loop {
        let result = reads_the_same(&*store).await;
        if let Some(result) = attempts.settle(result).await {
            return result.expect("reading succeeds");
        }
    }
}

async fn reads_the_same(store: &dyn Store) -> StoreResult<()> {
    let txn = store.begin(Mode::Read, &[]).await?;
    let look_again =
        async |txn: &dyn Txn| read(txn, &keys(&["num!a", "num!new"]), &[scan_prefix("cf")]).await;
    let first = look_again(&*txn).await?;
    for n in 2..8 {
        write(store, vec![put("num!a", n), put("num!new", n), delete("cf!b"), unit(format!("cf!c{n}"))])
            .await;
        assert_eq!(look_again(&*txn).await?, first);
        write(store, vec![delete("num!a"), unit("cf!b")]).await;
        assert_eq!(look_again(&*txn).await?, first);
    }
    drop(txn);
    write(store, vec![delete("num!new"), unit("cf!b"), put("num!a", 1)]).await;
    txn_commit_read(store).await
}

/// Commits a read transaction with an empty batch.
async fn txn_commit_read(store: &dyn Store) -> StoreResult<()> {
    store.begin(Mode::Read, &[]).await?.commit(Batch::default()).await
}

/// A transaction sees every commit that was acknowledged before it began, whichever task made it.
pub async fn begin_sees_acknowledged_commits(factory: &dyn Factory) {
    let store = factory.store().await;
    for n in 1..=200 {
        let writer = store.clone();
        tokio::spawn(async move { write(&*writer, vec![put("num!a", n)]).await })
            .await
            .expect("the write succeeds");
        let reader = store.clone();
        let seen =
            tokio::spawn(async move { get_int(&*reader, "num!a").await }).await.expect("the read succeeds");
        assert_eq!(seen, n);
        let script = Script::get(&["num!a"], |_| Vec::new());
        assert_eq!(run(&*store, &script, &[], 1).await.seen.int(0), n);
    }
}

/// The writes of a transaction are invisible until it commits, and never visible if it fails.
pub async fn no_dirty_read(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 0), put("num!b", 0), unit("cf!taken")]).await;
    let done = Arc::new(AtomicBool::new(false));
    let readers = spawn_each(&store, 2, |store, _| {
        let done = done.clone();
        async move {
            while !done.load(Ordering::SeqCst) {
                let (found, _) = read_all(&*store, &keys(&["num!a", "num!b"]), &[]).await;
                assert_eq!(found[0], found[1], "a partial commit was visible");
                assert!(Plain::int(found[0].as_ref()) >= 0, "a failed commit was visible");
                tokio::task::yield_now().await;
            }
        }
    });
    for n in 1..300 {
        let failing = vec![put("num!a", -n), put("num!b", -n), create("cf!taken")];
        assert!(commit(&*store, ops(failing)).await.is_err());
        write(&*store, vec![put("num!a", n), put("num!b", n)]).await;
        tokio::task::yield_now().await;
    }
    done.store(true, Ordering::SeqCst);
    join(readers).await;
}

/// If two transactions increment the same number, both increments count or one transaction fails.
pub async fn no_lost_update(factory: &dyn Factory) {
    let store = factory.store().await;
    let bump = || Script::get(&["num!a"], |seen| vec![put("num!a", seen.int(0) + 1)]);
    assert_serial(&store, vec![put("num!a", 5)], &[bump(), bump()]).await;
    assert_serial(&store, vec![], &[bump(), bump(), bump()]).await;
}

/// If each of two transactions reads a key that the other writes, at most one of them commits.
pub async fn no_write_skew(factory: &dyn Factory) {
    let store = factory.store().await;
    let leave = |mine: &'static str| {
        Script::get(&["num!x", "num!y"], move |seen| {
            if seen.int(0) + seen.int(1) > 1 { vec![put(mine, 0)] } else { Vec::new() }
        })
    };
    assert_serial(&store, vec![put("num!x", 1), put("num!y", 1)], &[leave("num!x"), leave("num!y")]).await;
    assert!(get_int(&*store, "num!x").await + get_int(&*store, "num!y").await >= 1);
}

/// A transaction never reads one key from before a commit and another from after it.
pub async fn no_read_skew(factory: &dyn Factory) {
    let store = factory.store().await;
    for n in 0..50 {
        write(&*store, vec![put("num!x", n), put("num!y", n)]).await;
        let mut attempts = Attempts::default();
        loop {
            let result = skewed_reads(&*store, n).await;
            if let Some(result) = attempts.settle(result).await {
                assert_eq!(result.expect("reading succeeds"), (n, n));
                break;
            }
            write(&*store, vec![put("num!x", n), put("num!y", n)]).await;
        }
    }
}

async fn skewed_reads(store: &dyn Store, n: i64) -> StoreResult<(i64, i64)> {
    let txn = store.begin(Mode::Read, &[]).await?;
    let (x, _) = read(&*txn, &keys(&["num!x"]), &[]).await?;
    write(store, vec![put("num!x", -n - 1), put("num!y", -n - 1)]).await;
    let (y, _) = read(&*txn, &keys(&["num!y"]), &[]).await?;
    Ok((Plain::int(x[0].as_ref()), Plain::int(y[0].as_ref())))
}

/// Creating a key in a range that another transaction has read conflicts with that transaction.
pub async fn phantom_insert_in_scanned_range(factory: &dyn Factory) {
    let store = factory.store().await;
    let count = |mine: &'static str| {
        Script::scan(scan_prefix("cf"), move |seen| {
            vec![
                unit(mine),
                put(format!("num!{}", &mine[3..]), i64::try_from(seen.scans[0].len()).unwrap_or(-1)),
            ]
        })
    };
    let prepare = vec![unit("cf!b"), unit("cf!y")];
    assert_serial(&store, prepare.clone(), &[count("cf!a"), count("cf!z")]).await;
    assert_serial(&store, prepare, &[count("cf!m"), count("cf!n"), count("cf!c")]).await;
}

/// Reading an empty range counts as a read: creating a key in it conflicts.
pub async fn phantom_in_empty_range(factory: &dyn Factory) {
    let store = factory.store().await;
    let claim = |mine: &'static str| {
        Script::scan(
            scan_prefix("cf"),
            move |seen| if seen.scans[0].is_empty() { vec![unit(mine)] } else { vec![] },
        )
    };
    assert_serial(&store, vec![], &[claim("cf!a"), claim("cf!b")]).await;
    let reverse = Script { scans: vec![Scan { rev: true, ..scan_prefix("cf") }], ..claim("cf!c") };
    assert_serial(&store, vec![put("num!beside", 1)], &[claim("cf!a"), reverse]).await;
}

/// Deleting a key in a range that another transaction has read conflicts with that transaction.
pub async fn phantom_delete(factory: &dyn Factory) {
    let store = factory.store().await;
    let leave = |mine: &'static str| {
        Script::scan(
            scan_prefix("cf"),
            move |seen| if seen.scans[0].len() > 1 { vec![delete(mine)] } else { vec![] },
        )
    };
    assert_serial(&store, vec![unit("cf!a"), unit("cf!b")], &[leave("cf!a"), leave("cf!b")]).await;
    assert_serial(
        &store,
        vec![unit("cf!a"), unit("cf!b"), unit("cf!c")],
        &[leave("cf!a"), leave("cf!b"), leave("cf!c")],
    )
    .await;
}

/// A scan that reached its limit depends on the range that it returned, but need not depend on anything beyond it.
///
/// A store may reject more than necessary, so the test requires only that the result is serializable and that some
/// transaction commits.
pub async fn limit_cut_scan_depends_on_prefix_only(factory: &dyn Factory) {
    let store = factory.store().await;
    let prepare = || vec![unit("cf!b"), unit("cf!d"), unit("cf!f")];
    for rev in [false, true] {
        let first_two = move || Scan { limit: 2, rev, ..scan_prefix("cf") };
        let note = |name: &'static str| {
            Script::scan(first_two(), move |seen| {
                let found: Vec<&str> = seen.scans[0].iter().map(|(key, _)| &**key).collect();
                vec![Op::Put(key(name), json(&Note::new(&found.join(" "))))]
            })
        };
        let noticing = |change: Op| {
            Script::get(&["note!0"], move |seen| {
                vec![change.clone(), put("num!saw", i64::from(seen.keys[0].is_some()))]
            })
        };
        let inserts = ["cf!a", "cf!c", "cf!e", "cf!g"].map(unit);
        for change in inserts.into_iter().chain(["cf!b", "cf!d", "cf!f"].map(delete)) {
            let (reader, writer) = (note("note!0"), noticing(change));
            assert_serial(&store, prepare(), &[reader.clone(), writer.clone()]).await;
            assert_serial(&store, prepare(), &[writer, reader]).await;
        }
    }
}

/// Reading a missing key counts as a read: writing the key conflicts.
pub async fn absent_key_read_conflicts(factory: &dyn Factory) {
    let store = factory.store().await;
    let claim =
        |mine: &'static str| {
            Script::get(&["cf!a", "cf!b"], move |seen| {
                if seen.keys == [None, None] { vec![unit(mine)] } else { Vec::new() }
            })
        };
    assert_serial(&store, vec![], &[claim("cf!a"), claim("cf!b")]).await;
    let create_mine = |mine: &'static str| {
        Script::get(&["cf!a", "cf!b"], move |seen| {
            if seen.keys == [None, None] { vec![create(mine)] } else { Vec::new() }
        })
    };
    assert_serial(&store, vec![], &[create_mine("cf!a"), create_mine("cf!b")]).await;
}

/// A read transaction never conflicts with concurrent writes.
pub async fn read_mode_never_conflicts(factory: &dyn Factory) {
    let store = factory.store().await;
    let done = Arc::new(AtomicBool::new(false));
    let writers = spawn_each(&store, 2, |store, w| {
        let done = done.clone();
        async move {
            let mut n = 0;
            while !done.load(Ordering::SeqCst) {
                n += 1;
                let at = format!("cf!{w}!{}", n % 50);
                let change = if n % 3 == 0 { delete(at) } else { unit(at) };
                write(&*store, vec![change, put(format!("num!{w}"), n)]).await;
                tokio::task::yield_now().await;
            }
        }
    });
    for _ in 0..200 {
        let txn = store.begin(Mode::Read, &keys(&["num!0"])).await.expect("beginning succeeds");
        for _ in 0..3 {
            read(&*txn, &keys(&["num!0", "num!1"]), &[scan_prefix("cf"), scan_prefix("num")])
                .await
                .expect("reading succeeds");
            tokio::task::yield_now().await;
        }
        txn.commit(Batch::default()).await.expect("an empty commit succeeds");
    }
    done.store(true, Ordering::SeqCst);
    join(writers).await;
}

/// If each of three transactions reads a key that the next one writes, they do not all commit.
pub async fn three_txn_cycle(factory: &dyn Factory) {
    let store = factory.store().await;
    let step = |from: &'static str, to: &'static str| {
        Script::get(&[from], move |seen| vec![put(to, seen.int(0) + 1)])
    };
    let cycle = [step("num!x", "num!y"), step("num!y", "num!z"), step("num!z", "num!x")];
    assert_serial(&store, vec![put("num!x", 10), put("num!y", 20), put("num!z", 30)], &cycle).await;
    assert_serial(&store, vec![], &cycle).await;
}

/// Concurrent transactions that read and append to lists produce a serializable history.
pub async fn list_append_serializable(factory: &dyn Factory) {
    let store = factory.store().await;
    let workload = Workload { transactions: 2_000, ..Workload::default() };
    let history = workload.record(&store).await;
    assert_eq!(history.committed.len(), 2_000);
    assert_eq!(history.check(), Ok(()));
}

/// Transfers between accounts preserve the total, which every snapshot shows.
pub async fn bank_total_constant(factory: &dyn Factory) {
    const ACCOUNTS: u64 = 8;
    const TOTAL: i64 = 800;
    let store = factory.store().await;
    write(&*store, (0..ACCOUNTS).map(|n| put(format!("num!{n}"), 100)).collect()).await;
    let sum = |page: &ScanEntries| page.iter().map(|(_, value)| Plain::int(Some(value))).sum::<i64>();
    let done = Arc::new(AtomicBool::new(false));
    let auditor = tokio::spawn({
        let (store, done) = (store.clone(), done.clone());
        async move {
            while !done.load(Ordering::SeqCst) {
                let (_, pages) = read_all(&*store, &[], &[scan_prefix("num")]).await;
                assert_eq!(sum(&pages[0]), TOTAL);
                tokio::task::yield_now().await;
            }
        }
    });
    let tellers = spawn_each(&store, 4, |store, teller| async move {
        let mut rng = Rng::new(u64::from(teller));
        for _ in 0..100 {
            let (from, by) = (rng.next_below(ACCOUNTS), 1 + rng.next_below(60));
            let to = (from + 1 + rng.next_below(ACCOUNTS - 1)) % ACCOUNTS;
            run(&*store, &transfer(&format!("num!{from}"), &format!("num!{to}"), by.cast_signed()), &[], 1)
                .await;
        }
    });
    join(tellers).await;
    done.store(true, Ordering::SeqCst);
    auditor.await.expect("every snapshot has the same total");
    assert_eq!(sum(&super::kit::scan(&*store, scan_prefix("num")).await), TOTAL);
}

/// Transfers an amount if the balance is sufficient.
fn transfer(from: &str, to: &str, by: i64) -> Script {
    let (source, target) = (from.to_owned(), to.to_owned());
    Script::get(&[from, to], move |seen| {
        if seen.int(0) < by {
            return Vec::new();
        }
        vec![put(&source, seen.int(0) - by), put(&target, seen.int(1) + by)]
    })
}

/// If every transaction also draws a sequence number, its reads and effects equal those of a serial run in the order of
/// the numbers.
pub async fn commit_order_replay(factory: &dyn Factory) {
    let store = factory.store().await;
    let runners = spawn_each(&store, 6, |store, runner| async move {
        let mut rng = Rng::new(u64::from(runner) + 99);
        let mut done: Vec<(Script, CompletedTxn)> = Vec::new();
        for n in 0..60 {
            let script = any_transaction(&mut rng, &format!("{runner}!{n}"));
            let hot = [key("num!order")];
            let result = run(&*store, &script, &hot, 2).await;
            done.push((script, result));
        }
        done
    });
    let mut done: BTreeMap<i64, (Script, CompletedTxn)> = BTreeMap::new();
    for (script, result) in join(runners).await.into_iter().flatten() {
        let number = result.seen.int(0);
        assert!(done.insert(number, (script, result)).is_none(), "the number {number} was drawn twice");
    }
    let mut model = Model::new();
    for (number, (script, result)) in &done {
        assert_eq!(read_model(&model, script), result.seen, "transaction {number} read something else");
        apply(&mut model, &result.batch).expect("the transaction was committed");
    }
    assert_eq!(super::script::state(&*store).await, model);
}

/// Returns a transaction that draws a sequence number, reads some keys and a range, and writes values derived from
/// them.
fn any_transaction(rng: &mut Rng, name: &str) -> Script {
    let mut any = |class: &str| key(format!("{class}!{}", rng.next_below(12)));
    let (read, written, gone, counter) = (any("num"), any("note"), any("cf"), any("ctr"));
    let (from, to) = (any("cf"), any("cf"));
    let scan =
        Scan { from, to, rev: rng.next_below(2) == 0, limit: u32::try_from(rng.next_below(5)).unwrap_or(0) };
    let created = format!("cf!{name}");
    let then = move |seen: &TxnReads| {
        let note = Note::new(&format!("{:?} {:?}", seen.keys, seen.scans));
        let mut changes = vec![
            put("num!order", seen.int(0) + 1),
            Op::Put(written.clone(), json(&note)),
            create(&created),
            Op::Add(counter.clone(), 1 + seen.int(1)),
        ];
        if seen.scans[0].len().is_multiple_of(2) {
            changes.push(Op::Put(gone.clone(), super::super::Value::Unit));
        } else {
            changes.push(Op::Delete(gone.clone()));
        }
        ops(changes)
    };
    let keys: Vec<Key> = vec![key("num!order"), read];
    Script { keys, scans: vec![scan], then: Arc::new(then) }
}
