//! The change feed across transactions and processes.

use std::time::Duration;

use docs_core::store::{Batch, FeedPos, Mode, Store};
use docs_sqlstore::PostgresStore;

use super::{Postgres, begin, item, now, put};

/// Longer than any test.
const LONG: Duration = Duration::from_secs(3_600);

async fn tell(store: &PostgresStore, key: &str) {
    let batch = Batch { ops: vec![put("num!told", 1)], feed: vec![item(1, key)] };
    begin(store, Mode::Write).await.commit(batch).await.expect("no conflict");
}

async fn told(store: &PostgresStore, after: Option<&FeedPos>) -> Vec<(FeedPos, String)> {
    let items = store.changes(1, after.cloned(), 100).await.expect("the server is there");
    items.into_iter().map(|(pos, key)| (pos, key.to_string())).collect()
}

fn keys(items: &[(FeedPos, String)]) -> Vec<&str> {
    items.iter().map(|(_, key)| key.as_str()).collect()
}

async fn execute(postgres: &Postgres, sql: &str) {
    let sql = sql.replace("$schema", &postgres.schema());
    postgres.admin().await.batch_execute(&sql).await.expect("the tables are there");
}

#[tokio::test]
async fn two_stores_on_one_schema_see_each_others_commits_and_feeds() {
    let postgres = postgres!();
    let here = postgres.fresh().await;
    let there = postgres.open(&postgres.schema()).await.expect("the store can be opened");
    let mut at = None;
    for n in 0..6 {
        let (writer, reader) = if n % 2 == 0 { (&here, &there) } else { (&there, &here) };
        let waiting = tokio::spawn({
            let (reader, at) = (reader.clone(), at.clone());
            async move { reader.changed(1, at, LONG).await }
        });
        tokio::task::yield_now().await;
        let batch = Batch { ops: vec![put("num!a", n)], feed: vec![item(1, &format!("{n}"))] };
        begin(writer, Mode::Write).await.commit(batch).await.expect("no conflict");
        assert_eq!(now(reader, "num!a").await, n);
        assert_eq!(waiting.await.expect("the wait does not panic"), Ok(true));
        let items = told(reader, at.as_ref()).await;
        assert_eq!(keys(&items), [format!("{n}")]);
        at = items.into_iter().next_back().map(|(pos, _)| pos);
    }
}

#[tokio::test]
async fn feed_item_waits_for_earlier_writes_and_none_is_skipped() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    tell(&store, "first").await;
    let first = told(&store, None).await;
    // A transaction that starts to write before the next one, but publishes its item later.
    let slow = postgres.admin().await;
    let schema = postgres.schema();
    slow.batch_execute(&format!("BEGIN; INSERT INTO {schema}.ix (k) VALUES ('cf!slow')"))
        .await
        .expect("it can");
    tell(&store, "third").await;
    assert_eq!(store.changed(1, Some(first[0].0.clone()), Duration::ZERO).await, Ok(false));
    let reading = tokio::spawn({
        let (store, first) = (store.clone(), first[0].0.clone());
        async move { told(&store, Some(&first)).await }
    });
    let waiting = tokio::spawn({
        let (store, first) = (store.clone(), first[0].0.clone());
        async move { store.changed(1, Some(first), LONG).await }
    });
    let insert = format!("INSERT INTO {schema}.feed (topic, era, seq, k) VALUES (1, 0, 1, 'second')");
    slow.batch_execute(&insert).await.expect("it can");
    assert!(!reading.is_finished() && !waiting.is_finished());
    slow.batch_execute("COMMIT").await.expect("it can");
    assert_eq!(keys(&reading.await.expect("reading does not panic")), ["second", "third"]);
    assert_eq!(waiting.await.expect("waiting does not panic"), Ok(true));
    assert_eq!(keys(&told(&store, None).await), ["first", "second", "third"]);
}

#[tokio::test]
async fn feed_orders_items_by_numeric_transaction_id() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    let values = [9, 10, 99, 100].map(|n| format!("(1, 0, '{n}', {n}, '{n}')")).join(", ");
    execute(&postgres, &format!("INSERT INTO $schema.feed (topic, era, xid, seq, k) VALUES {values}")).await;
    let all = told(&store, None).await;
    assert_eq!(keys(&all), ["9", "10", "99", "100"]);
    assert_eq!(keys(&told(&store, Some(&all[1].0)).await), ["99", "100"]);
    store.trim(1, &all[1].0).await.expect("the server is there");
    assert_eq!(keys(&told(&store, None).await), ["99", "100"]);
}

#[tokio::test]
async fn feed_continues_after_transaction_ids_restart() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    tell(&store, "old").await;
    // Simulates a copy from a cluster with higher transaction ids: the item has a transaction id from the future.
    execute(&postgres, "UPDATE $schema.feed SET xid = '900000000000'").await;
    let copied = postgres.open(&postgres.schema()).await.expect("the store can be opened");
    let old = told(&copied, None).await;
    assert_eq!(keys(&old), ["old"]);
    tell(&copied, "new").await;
    assert_eq!(keys(&told(&copied, Some(&old[0].0)).await), ["new"]);
    let again = postgres.open(&postgres.schema()).await.expect("the store can be opened");
    tell(&again, "newer").await;
    assert_eq!(keys(&told(&again, None).await), ["old", "new", "newer"]);
}

#[tokio::test]
async fn new_items_of_a_copy_follow_trimmed_positions() {
    let postgres = postgres!();
    let store = postgres.fresh().await;
    tell(&store, "old").await;
    let old = told(&store, None).await;
    store.trim(1, &old[0].0).await.expect("the server is there");
    execute(&postgres, "UPDATE $schema.feed_era SET upto = '900000000000'").await;
    let copied = postgres.open(&postgres.schema()).await.expect("the store can be opened");
    tell(&copied, "new").await;
    let far: FeedPos = FeedPos("1.0.900000000000.1".into());
    assert_eq!(keys(&told(&copied, Some(&far)).await), ["new"]);
}
