//! PostgreSQL transactions: conflicts, hot keys and counters.

use std::{sync::Arc, time::Duration};

use docs_core::store::{
    FeedItem, Key, Mode, Op, Scan, Store, StoreError, Value, all_keys,
    conformance::{Plain, Workload},
};
use docs_sqlstore::{Options, PostgresStore};

use super::{begin, commit, create, int, now, ops, put};

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_produce_a_serializable_history() {
    let postgres = postgres!();
    let store: Arc<dyn Store> = Arc::new(postgres.fresh().await);
    for seed in 1..=3 {
        let workload = Workload { seed, transactions: 2_000, tasks: 8, lists: 4 + seed };
        let history = workload.record(&store).await;
        assert_eq!(history.committed.len(), 2_000);
        assert_eq!(history.check(), Ok(()));
        let lists: Vec<Op> =
            history.lists.keys().map(|list| Op::Delete(format!("cf!{list:020}").into())).collect();
        for lists in lists.chunks(1_000) {
            let txn = store.begin(Mode::Write, &[]).await.expect("the server is there");
            txn.commit(ops(lists.to_vec())).await.expect("nobody else is there");
        }
    }
}

#[tokio::test]
async fn predicate_locks_never_cover_a_whole_table() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let rows = |class: &str| (0..900).map(|n| format!("{class}!{n:04}")).collect::<Vec<_>>();
    let note = Value::Json(br#"{"title":"a","n":1,"tags":[]}"#.to_vec().into());
    commit(&store, rows("note").iter().map(|k| Op::Put(k.as_str().into(), note.clone())).collect())
        .await
        .unwrap();
    commit(&store, rows("cf").iter().map(|k| put(k, 1)).collect()).await.unwrap();
    commit(&store, rows("ctr").iter().map(|k| Op::Add(k.as_str().into(), 1)).collect()).await.unwrap();
    let txn = begin(&store, Mode::Write).await;
    for class in ["note", "cf", "ctr"] {
        for rev in [false, true] {
            let (from, to) = (format!("{class}!0100").into(), format!("{class}!0800").into());
            let found = txn.scan(&[Scan { from, to, rev, limit: 5 }]).await.expect("reading is fine");
            assert_eq!(found[0].len(), 5);
        }
        let keys: Vec<Key> = ["0000", "0450", "0899", "none"].map(|k| format!("{class}!{k}").into()).to_vec();
        assert_eq!(txn.get(&keys).await.expect("reading is fine").iter().flatten().count(), 3);
    }
    let sql = "SELECT count(*) FILTER (WHERE locktype = 'relation'), count(*) FROM pg_locks \
               WHERE mode = 'SIReadLock' AND relation IN \
               (SELECT oid FROM pg_class WHERE relnamespace = $1::text::regnamespace)";
    let row = postgres.admin().await.query_one(sql, &[&postgres.schema()]).await.expect("it can be asked");
    let (tables, all) = (row.get::<_, i64>(0), row.get::<_, i64>(1));
    assert_eq!(tables, 0);
    assert!((20..120).contains(&all), "{all} locks");
}

#[tokio::test]
async fn scan_over_several_key_classes_is_in_key_order() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let note = Op::Put("note!m".into(), Value::Json(br#"{"title":"m","n":1,"tags":[]}"#.to_vec().into()));
    let changes =
        vec![put("a", 1), put("num!a", 2), create("cf!a"), note, Op::Add("ctr!a".into(), 5), create("z")];
    commit(&store, changes).await.expect("no conflict");
    let sorted = ["a", "cf!a", "ctr!a", "note!m", "num!a", "z"];
    let txn = begin(&store, Mode::Write).await;
    for (from, to, rev, limit) in [
        ("", "~", false, 100),
        ("", "~", true, 100),
        ("b", "z", false, 3),
        ("b", "z", true, 3),
        ("", "~", true, 1),
    ] {
        let mut expected: Vec<&str> = sorted.into_iter().filter(|k| (from..to).contains(k)).collect();
        if rev {
            expected.reverse();
        }
        expected.truncate(limit as usize);
        let scan = Scan { from: from.into(), to: to.into(), rev, limit };
        let found = txn.scan(&[scan]).await.expect("reading is fine").remove(0);
        assert_eq!(found.iter().map(|(key, _)| &**key).collect::<Vec<_>>(), expected);
        let counter = found.iter().find(|(key, _)| &**key == "ctr!a").map(|(_, value)| Plain::from(value));
        assert!(counter.is_none_or(|n| n == Plain::Int(5)));
    }
}

/// The second create succeeds if the other transaction rolls back, and fails if it commits.
#[tokio::test]
async fn create_waits_for_a_concurrent_create_of_the_same_key() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let schema = postgres.schema();
    for (end, there) in [("ROLLBACK", false), ("COMMIT", true)] {
        let ahead = postgres.admin().await;
        let insert =
            format!("BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO {schema}.ix VALUES ('cf!{end}')");
        ahead.batch_execute(&insert).await.expect("nobody is ahead");
        let key = format!("cf!{end}");
        let creating = tokio::spawn({
            let (store, key) = (store.clone(), key.clone());
            async move { commit(&store, vec![create("cf!before"), create(&key), create("cf!zz")]).await }
        });
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'transactionid'";
        let admin = postgres.admin().await;
        while admin.query_one(waiting, &[&schema]).await.expect("it can be asked").get::<_, i64>(0) == 0 {
            assert!(!creating.is_finished());
        }
        ahead.batch_execute(end).await.expect("it can end");
        let expected = if there { Err(StoreError::Exists(key.as_str().into())) } else { Ok(()) };
        assert_eq!(creating.await.expect("a commit does not panic"), expected);
        if !there {
            commit(&store, vec![Op::Delete("cf!before".into()), Op::Delete("cf!zz".into())]).await.unwrap();
        }
    }
}

#[tokio::test]
async fn hot_key_transactions_run_one_at_a_time() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let hot = [Key::from("num!a"), Key::from("num!b")];
    let first = store.begin(Mode::Write, &hot[..1]).await.expect("nobody is ahead");
    assert_eq!(int(&*first, "num!a").await, Ok(0));
    let second = tokio::spawn({
        let (store, hot) = (store.clone(), hot.clone());
        async move {
            let txn = store.begin(Mode::Write, &hot).await?;
            let n = int(&*txn, "num!a").await?;
            txn.commit(ops(vec![put("num!a", n + 1)])).await
        }
    });
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'advisory'";
    let admin = postgres.admin().await;
    while admin.query_one(waiting, &[&postgres.schema()]).await.unwrap().get::<_, i64>(0) == 0 {
        assert!(!second.is_finished());
    }
    // Readers and transactions with other hot keys do not wait.
    store.begin(Mode::Read, &hot).await.expect("readers do not wait");
    store.begin(Mode::Write, &["num!c".into()]).await.expect("nobody is ahead");
    first.commit(ops(vec![put("num!a", 1)])).await.expect("the other waits");
    assert_eq!(second.await.expect("the task ends"), Ok(()));
    assert_eq!(now(&store, "num!a").await, 2);
}

#[tokio::test]
async fn all_keys_transaction_commits_despite_concurrent_writers() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let before = store.begin(Mode::Write, &[]).await.expect("a connection");
    assert_eq!(int(&*before, "num!a").await, Ok(0));
    let alone = store.begin(Mode::Write, &[all_keys()]).await.expect("nobody is committing");
    assert_eq!(int(&*alone, "num!a").await, Ok(0));
    assert_eq!(int(&*store.begin(Mode::Read, &[]).await.expect("readers do not wait"), "num!a").await, Ok(0));
    // These transactions read and change the same key, so each would make the other fail.
    let after = store.begin(Mode::Write, &[]).await.expect("a connection");
    assert_eq!(int(&*after, "num!a").await, Ok(0));
    let others = [before, after].map(|txn| tokio::spawn(txn.commit(ops(vec![put("num!a", 7)]))));
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'relation'";
    let admin = postgres.admin().await;
    while admin.query_one(waiting, &[&postgres.schema()]).await.unwrap().get::<_, i64>(0) < 2 {
        assert!(others.iter().all(|other| !other.is_finished()), "they wait");
    }
    alone.commit(ops(vec![put("num!a", 1)])).await.expect("nobody was in the way");
    for other in others {
        assert_eq!(other.await.expect("the task ends"), Err(StoreError::Conflict));
    }
    assert_eq!(now(&store, "num!a").await, 1);
}

#[tokio::test]
async fn wait_for_all_keys_times_out_with_a_conflict() {
    let postgres = postgres!();
    let schema = postgres.new_schema().await;
    let options = Options::new().wait(Duration::from_secs(1));
    let store = PostgresStore::open(&postgres.url(&schema), options).await.expect("the store can be opened");
    let forgotten = store.begin(Mode::Write, &[all_keys()]).await.expect("nobody is committing");
    // The transaction gets neither the key lock nor the table lock. This is a conflict, and is retried.
    let second = store.begin(Mode::Write, &[all_keys()]).await;
    assert_eq!(second.map(drop), Err(StoreError::Conflict));
    drop(forgotten);
    store.begin(Mode::Write, &[all_keys()]).await.expect("it is free");
}

#[tokio::test]
async fn hot_key_wait_times_out_and_proceeds_without_the_lock() {
    let postgres = postgres!();
    let schema = postgres.new_schema().await;
    let options = Options::new().wait(Duration::from_secs(1));
    let store = PostgresStore::open(&postgres.url(&schema), options).await.expect("the store can be opened");
    let hot = [Key::from("num!a"), Key::from("num!b")];
    let forgotten = store.begin(Mode::Write, &hot[1..]).await.expect("nobody is ahead");
    let txn = store.begin(Mode::Write, &hot).await.expect("it goes on without the key");
    assert_eq!(int(&*txn, "num!a").await, Ok(0));
    txn.commit(ops(vec![put("num!a", 1)])).await.expect("no conflict");
    drop(forgotten);
    assert_eq!(now(&store, "num!a").await, 1);
}

async fn rows_of(postgres: &super::Postgres, counter: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {}.ctr WHERE k = $1", postgres.schema());
    postgres.admin().await.query_one(&sql, &[&counter]).await.expect("it can be asked").get(0)
}

#[tokio::test]
async fn counter_rows_are_folded_automatically_and_on_request() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    for _ in 0..600 {
        commit(&store, vec![Op::Add("ctr!a".into(), 2)]).await.expect("additions do not conflict");
    }
    assert_eq!(now(&store, "ctr!a").await, 1_200);
    let rows = rows_of(&postgres, "ctr!a").await;
    assert!(rows < 400, "{rows} rows");
    store.fold(&["ctr!a".into(), "ctr!none".into()]).await.expect("the server is there");
    assert!(rows_of(&postgres, "ctr!a").await <= 32);
    assert_eq!(now(&store, "ctr!a").await, 1_200);
}

/// Creates a store with a counter of several rows, and enough other rows that the folded row is on another page.
async fn with_counter(postgres: &super::Postgres, rows: u32) -> PostgresStore {
    let store = postgres.fresh().await;
    let sql = format!(
        "INSERT INTO {0}.ctr (k, n) SELECT 'ctr!m', 1 FROM generate_series(1, {rows}); \
         INSERT INTO {0}.ctr (k, n) SELECT 'ctr!' || n, 1 FROM generate_series(1, 5000) AS n; \
         INSERT INTO {0}.ix (k) SELECT 'cf!' || n FROM generate_series(1, 5000) AS n",
        postgres.schema()
    );
    postgres.admin().await.batch_execute(&sql).await.expect("the tables are there");
    store
}

#[tokio::test]
async fn counter_read_before_folding_still_causes_conflicts() {
    let postgres = postgres!();
    for deletes in [false, true] {
        let change = if deletes { Op::Delete("ctr!m".into()) } else { Op::Add("ctr!m".into(), 1) };
        // One transaction reads the counter and writes a number; the other reads the number and changes the counter.
        let store = with_counter(&postgres, 40).await;
        let (reader, changer) = (begin(&store, Mode::Write).await, begin(&store, Mode::Write).await);
        assert_eq!(int(&*reader, "ctr!m").await, Ok(40));
        store.fold(&["ctr!m".into()]).await.expect("the server is there");
        assert_eq!(rows_of(&postgres, "ctr!m").await, 1);
        assert_eq!(int(&*changer, "num!y").await, Ok(0));
        let changed = changer.commit(ops(vec![change.clone()])).await;
        let read = reader.commit(ops(vec![put("num!y", 40)])).await;
        assert!(changed.is_err() || read.is_err(), "deletes {deletes}: both went first");
        // The same, but the counter is read afterwards, from an older snapshot.
        let store = with_counter(&postgres, 40).await;
        let (reader, changer) = (begin(&store, Mode::Write).await, begin(&store, Mode::Write).await);
        assert_eq!(int(&*reader, "num!x").await, Ok(0));
        store.fold(&["ctr!m".into()]).await.expect("the server is there");
        assert_eq!(int(&*changer, "num!y").await, Ok(0));
        let changed = changer.commit(ops(vec![change])).await;
        let read = async {
            assert_eq!(int(&*reader, "ctr!m").await?, 40);
            reader.commit(ops(vec![put("num!y", 40)])).await
        };
        let read = read.await;
        assert!(changed.is_err() || read.is_err(), "deletes {deletes}: both went first");
    }
}

#[tokio::test]
async fn counter_deletion_and_folding_retain_later_increments() {
    let postgres = postgres!();
    // Too few rows to be folded in the background, which can conflict with a deletion.
    let store = with_counter(&postgres, 20).await;
    let deleter = begin(&store, Mode::Write).await;
    assert_eq!(int(&*deleter, "num!x").await, Ok(0));
    commit(&store, vec![Op::Add("ctr!m".into(), 7)]).await.expect("no conflict");
    deleter.commit(ops(vec![Op::Delete("ctr!m".into())])).await.expect("additions make nobody fail");
    // Deleted first, then incremented.
    assert_eq!(now(&store, "ctr!m").await, 7);
    commit(&store, vec![Op::Delete("ctr!m".into())]).await.expect("no conflict");
    assert!(begin(&store, Mode::Read).await.get(&["ctr!m".into()]).await.unwrap()[0].is_none());
    store.fold(&["ctr!m".into()]).await.expect("the server is there");
    assert!(begin(&store, Mode::Read).await.get(&["ctr!m".into()]).await.unwrap()[0].is_none());
}

#[tokio::test]
async fn empty_commit_reports_an_earlier_failed_read() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    // A failed read aborts the transaction in the database. The empty commit must report that.
    let txn = begin(&store, Mode::Write).await;
    assert_eq!(int(&*txn, "num!a").await, Ok(0));
    let admin = postgres.admin().await;
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
    let lock = format!("BEGIN; LOCK TABLE {}.r_note", postgres.schema());
    admin.batch_execute(&lock).await.expect("the table is there");
    let reading = tokio::spawn(async move {
        let read = txn.get(&["note!a".into()]).await.map(drop);
        (txn, read)
    });
    let other = postgres.admin().await;
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    while other.query_one(waiting, &[&postgres.schema()]).await.unwrap().get::<_, i64>(0) == 0 {}
    other.query(cancel, &[&postgres.schema()]).await.expect("it can be cancelled");
    let (txn, read) = reading.await.expect("reading does not panic");
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    assert_eq!(txn.commit(ops(vec![])).await, Err(StoreError::Conflict));
    admin.batch_execute("ROLLBACK").await.expect("it can end");
    let feed = vec![FeedItem { topic: 1, key: "a".into() }];
    let txn = begin(&store, Mode::Write).await;
    txn.commit(docs_core::store::Batch { ops: vec![], feed }).await.expect("the connection is fine");
}
