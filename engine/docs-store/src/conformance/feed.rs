//! The change feed: complete, in order, at least once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{
    super::{Batch, FeedItem, FeedPos, Key, Store, StoreError, StoreResult},
    Factory,
    kit::{
        Attempts, TOPIC, changes, commit, distinct, get_int, item, join, keys, poll_times, put, spawn_each,
        unit, write,
    },
    script::{Script, run},
};

/// Longer than any test, so a wait of this length ends with an event or the test times out.
const HANG_WAIT: Duration = Duration::from_secs(3_600);

/// Once a commit is acknowledged, its items are in the feed, in order and under their topics.
pub async fn feed_atomic_with_batch(factory: &dyn Factory) {
    let store = factory.store().await;
    for n in 0..10 {
        let feed = vec![
            item(format!("cf!{n}!x")),
            FeedItem { topic: 2, key: "other".into() },
            item(format!("cf!{n}!a")),
        ];
        commit(&*store, Batch { ops: vec![put("num!a", n)], feed }).await.expect("the batch succeeds");
        let fed = distinct(changes(&*store, None, 100).await);
        let last: Vec<&str> = fed.iter().rev().take(2).map(|(_, key)| &**key).collect();
        assert_eq!(last, [format!("cf!{n}!a"), format!("cf!{n}!x")]);
    }
    let feed_only = Batch { ops: vec![], feed: vec![item("cf!alone")] };
    commit(&*store, feed_only).await.expect("a batch may be feed alone");
    assert_eq!(distinct(changes(&*store, None, 100).await).len(), 21);
    assert_eq!(topic_len(&*store, 2).await, 10);
    assert_eq!(topic_len(&*store, 3).await, 0);
}

/// A feed reader misses no item while many tasks write.
pub async fn feed_no_gap_under_concurrency(factory: &dyn Factory) {
    const WRITERS: u32 = 8;
    const COMMITS: u32 = 40;
    let store = factory.store().await;
    let follower = tokio::spawn(follow(store.clone(), (WRITERS * COMMITS * 2) as usize));
    let writers = spawn_each(&store, WRITERS, |store, w| async move {
        for n in 0..COMMITS {
            let feed = vec![item(format!("{w:02}!{n:03}!a")), item(format!("{w:02}!{n:03}!b"))];
            run(&*store, &bump(format!("num!{w}"), feed), &[], 1).await;
        }
    });
    join(writers).await;
    let seen = follower.await.expect("the follower does not fail");
    let mut keys: Vec<&str> = seen.iter().map(|(_, key)| &**key).collect();
    for w in 0..WRITERS {
        let prefix = format!("{w:02}!");
        let of_writer: Vec<&&str> = keys.iter().filter(|key| key.starts_with(&prefix)).collect();
        assert!(of_writer.is_sorted(), "the commits of one writer are out of order");
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), seen.len());
}

/// The items of a key appear in commit order, and only after their commit is readable.
pub async fn feed_per_key_order(factory: &dyn Factory) {
    const KEYS: u32 = 3;
    const COMMITS: u32 = 60;
    let store = factory.store().await;
    let writers = spawn_each(&store, KEYS * 2, |store, w| async move {
        for _ in 0..COMMITS / 2 {
            let counted = format!("num!{}", w % KEYS);
            let feed = vec![item(&counted)];
            run(&*store, &bump(counted, feed), &[], 1).await;
        }
    });
    let mut told: BTreeMap<Key, i64> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut at: Option<FeedPos> = None;
    while told.values().sum::<i64>() < i64::from(KEYS * COMMITS) {
        wait(&*store, at.clone()).await;
        for (pos, key) in changes(&*store, at.as_ref(), 5).await {
            if seen.insert(pos.0.clone()) {
                let count = told.entry(key.clone()).or_default();
                *count += 1;
                let now = get_int(&*store, &key).await;
                assert!(now >= *count, "item {count} of {key} was delivered before its commit: {now}");
            }
            at = Some(pos);
        }
    }
    join(writers).await;
    assert!(told.values().all(|count| *count == i64::from(COMMITS)), "{told:?}");
}

/// The feed can be resumed from any position that it returned, with pages of any size.
pub async fn feed_resume_from_any_pos(factory: &dyn Factory) {
    let store = factory.store().await;
    for n in 0..30 {
        let feed = (0..n % 3 + 1).map(|i| item(format!("cf!{n}!{i}"))).collect();
        commit(&*store, Batch { ops: vec![unit(format!("cf!{n}"))], feed })
            .await
            .expect("the batch succeeds");
    }
    let whole = distinct(changes(&*store, None, 1_000).await);
    assert_eq!(whole.len(), 60);
    for (n, (pos, _)) in whole.iter().enumerate() {
        assert_eq!(distinct(changes(&*store, Some(pos), 1_000).await), whole[n + 1..]);
        let next = changes(&*store, Some(pos), 1).await;
        assert_eq!(next.first(), whole.get(n + 1));
        assert!(next.len() <= 1 && changes(&*store, Some(pos), 0).await.is_empty());
    }
    for size in [1, 2, 7] {
        let (mut at, mut pages) = (None, Vec::new());
        loop {
            let page = changes(&*store, at.as_ref(), size).await;
            assert!(page.len() <= size as usize);
            let Some((last, _)) = page.last() else { break };
            at = Some(last.clone());
            pages.extend(page);
            assert!(pages.len() <= 20 * whole.len(), "the feed does not end");
        }
        assert_eq!(distinct(pages), whole);
    }
}

/// A waiter wakes if and only if its topic receives an item, and does not wait if there already is one.
pub async fn feed_changed_wakes(factory: &dyn Factory) {
    let store = factory.store().await;
    assert!(!changed(&*store, TOPIC, None, Duration::ZERO).await);
    let mut at = None;
    for n in 0..20 {
        let mut waiting = store.changed(TOPIC, at.clone(), HANG_WAIT);
        let early = poll_times(&mut waiting, 3).await;
        assert!(!matches!(early, Some(Ok(_))), "woke up without an item");
        write(&*store, vec![put("num!a", n)]).await;
        let other = Batch { ops: vec![], feed: vec![FeedItem { topic: 2, key: "other".into() }] };
        commit(&*store, other).await.expect("the batch succeeds");
        let early = if early.is_none() { poll_times(&mut waiting, 3).await } else { early };
        assert!(!matches!(early, Some(Ok(_))), "woke up for another topic");
        commit(&*store, Batch { ops: vec![], feed: vec![item("cf!a")] }).await.expect("the batch succeeds");
        if early.is_none() {
            let woken = waiting.await;
            assert!(!matches!(woken, Ok(false)), "the wait ended before the item");
        }
        assert!(changed(&*store, TOPIC, at.clone(), HANG_WAIT).await);
        at = changes(&*store, at.as_ref(), 10).await.pop().map(|(pos, _)| pos);
        assert!(at.is_some());
    }
    assert!(!changed(&*store, TOPIC, at, Duration::ZERO).await);
}

/// Trimming a topic deletes the items up to a position, and no others.
pub async fn feed_trim_keeps_newer(factory: &dyn Factory) {
    let store = factory.store().await;
    let feed_some = async |from: u32| {
        for n in from..from + 10 {
            let feed = vec![item(format!("{n:02}")), FeedItem { topic: 2, key: "other".into() }];
            commit(&*store, Batch { ops: vec![], feed }).await.expect("the batch succeeds");
        }
    };
    feed_some(0).await;
    let whole = distinct(changes(&*store, None, 100).await);
    for n in [3, 3, 0, 6] {
        trim(&*store, &whole[n].0).await;
        let kept = whole.len() - 1 - n.max(3);
        assert_eq!(distinct(changes(&*store, None, 100).await), whole[whole.len() - kept..]);
        // A trimmed position is still valid to resume from.
        assert_eq!(distinct(changes(&*store, Some(&whole[0].0), 100).await).len(), kept);
        assert_eq!(distinct(changes(&*store, Some(&whole[8].0), 100).await), whole[9..]);
    }
    let last = &whole[9].0;
    trim(&*store, last).await;
    assert!(changes(&*store, None, 100).await.is_empty());
    assert!(!changed(&*store, TOPIC, Some(whole[0].0.clone()), Duration::ZERO).await);
    assert_eq!(topic_len(&*store, 2).await, 10);
    feed_some(10).await;
    let newer = distinct(changes(&*store, Some(last), 100).await);
    assert_eq!(newer.first().map(|(_, key)| &**key), Some("10"));
    assert_eq!(distinct(changes(&*store, None, 100).await), newer);
}

/// Trimmed items do not wake waiters, including a waiter that has waited before.
pub async fn feed_trimmed_items_are_no_news(factory: &dyn Factory) {
    let store = factory.store().await;
    let feed = async |n: u32| {
        let batch = Batch { ops: vec![], feed: vec![item(format!("cf!{n}"))] };
        commit(&*store, batch).await.expect("the batch succeeds");
    };
    feed(0).await;
    let seen = changes(&*store, None, 10).await.pop().map(|(pos, _)| pos);
    assert!(!changed(&*store, TOPIC, seen.clone(), Duration::ZERO).await);
    feed(1).await;
    let newer = changes(&*store, seen.as_ref(), 10).await.pop().expect("an item").0;
    trim(&*store, &newer).await;
    assert!(!changed(&*store, TOPIC, seen.clone(), Duration::from_millis(50)).await);
    let waiting = tokio::spawn({
        let (store, seen) = (store.clone(), seen.clone());
        async move { changed(&*store, TOPIC, seen, HANG_WAIT).await }
    });
    feed(2).await;
    assert!(waiting.await.expect("the wait ends"), "woke up for the next item");
}

/// A position that the store did not return is misuse.
pub async fn feed_foreign_position_is_misuse(factory: &dyn Factory) {
    let store = factory.store().await;
    commit(&*store, Batch { ops: vec![], feed: vec![item("cf!a")] }).await.expect("the batch succeeds");
    let misused =
        |result: StoreResult<()>| assert!(matches!(result, Err(StoreError::Misuse(_))), "{result:?}");
    for text in ["", "not a position", "\0"] {
        let foreign = FeedPos(text.into());
        let mut attempts = Attempts::default();
        loop {
            let result = store.changes(TOPIC, Some(foreign.clone()), 1).await.map(drop);
            if let Some(result) = attempts.settle(result).await {
                break misused(result);
            }
        }
        loop {
            let result = store.changed(TOPIC, Some(foreign.clone()), HANG_WAIT).await.map(drop);
            if let Some(result) = attempts.settle(result).await {
                break misused(result);
            }
        }
        loop {
            let result = store.trim(TOPIC, &foreign).await;
            if let Some(result) = attempts.settle(result).await {
                break misused(result);
            }
        }
    }
    assert_eq!(distinct(changes(&*store, None, 10).await).len(), 1);
}

/// Returns a transaction that increments the number stored under a key and publishes feed items.
fn bump(at: String, feed: Vec<FeedItem>) -> Script {
    Script {
        keys: keys(&[&at]),
        scans: Vec::new(),
        then: Arc::new(move |seen| Batch { ops: vec![put(&at, seen.int(0) + 1)], feed: feed.clone() }),
    }
}

/// Reads the feed until it has returned `count` items.
async fn follow(store: Arc<dyn Store>, count: usize) -> Vec<(FeedPos, Key)> {
    let (mut seen, mut at) = (Vec::new(), None);
    while seen.len() < count {
        wait(&*store, at.clone()).await;
        seen.extend(changes(&*store, at.as_ref(), 7).await);
        seen = distinct(seen);
        let last = seen.last().map(|(pos, _)| pos.clone());
        assert!(last != at, "an item after the position was not delivered");
        at = last;
    }
    seen
}

async fn wait(store: &dyn Store, at: Option<FeedPos>) {
    assert!(changed(store, TOPIC, at, HANG_WAIT).await, "the wait ended without an item");
}

async fn changed(store: &dyn Store, topic: u16, at: Option<FeedPos>, wait: Duration) -> bool {
    let mut attempts = Attempts::default();
    loop {
        let result = store.changed(topic, at.clone(), wait).await;
        if let Some(result) = attempts.settle(result).await {
            return result.expect("an issued position is accepted");
        }
    }
}

async fn trim(store: &dyn Store, upto: &FeedPos) {
    let mut attempts = Attempts::default();
    loop {
        let result = store.trim(TOPIC, upto).await;
        if let Some(result) = attempts.settle(result).await {
            return result.expect("an issued position is accepted");
        }
    }
}

async fn topic_len(store: &dyn Store, topic: u16) -> usize {
    let mut attempts = Attempts::default();
    loop {
        let result = store.changes(topic, None, 1_000).await;
        if let Some(result) = attempts.settle(result).await {
            return distinct(result.expect("no position is required")).len();
        }
    }
}
