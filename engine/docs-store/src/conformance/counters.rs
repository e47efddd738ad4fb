//! Unique keys and counters.

use std::sync::Arc;

use super::{
    super::{Op, StoreError, Value},
    Factory,
    kit::{
        Note, Plain, Rng, add, commit, create, delete, get, get_int, join, json, key, ops, put, spawn_each,
        unit, write,
    },
    script::{Script, assert_serial, interleave},
};

/// If several transactions create the same key, exactly one succeeds.
pub async fn create_race_one_winner(factory: &dyn Factory) {
    let store = factory.store().await;
    for round in 0..20 {
        let racers = spawn_each(&store, 8, move |store, n| async move {
            let won = put(format!("num!{round}!{n}"), 1);
            commit(&*store, ops(vec![create(format!("cf!{round}")), won])).await
        });
        let results = join(racers).await;
        let winners = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(winners, 1, "{results:?}");
        let exists = Err(StoreError::Exists(key(format!("cf!{round}"))));
        assert_eq!(results.iter().filter(|result| **result == exists).count(), 7);
        for (n, result) in results.iter().enumerate() {
            assert_eq!(get_int(&*store, &format!("num!{round}!{n}")).await, i64::from(result.is_ok()));
        }
    }
}

/// A deleted key can be created again any number of times.
pub async fn create_after_delete(factory: &dyn Factory) {
    let store = factory.store().await;
    for _ in 0..20 {
        write(&*store, vec![create("cf!a")]).await;
        assert_eq!(commit(&*store, ops(vec![create("cf!a")])).await, Err(StoreError::Exists(key("cf!a"))));
        write(&*store, vec![delete("cf!a")]).await;
    }
    write(&*store, vec![add("ctr!a", 1)]).await;
    write(&*store, vec![delete("ctr!a")]).await;
    write(&*store, vec![add("ctr!a", 3)]).await;
    assert_eq!(get_int(&*store, "ctr!a").await, 3);
}

/// A rejected `Create` reports the existing key.
pub async fn create_names_the_key(factory: &dyn Factory) {
    let store = factory.store().await;
    for taken in ["cf!b", "num!b", "note!ü \"quoted\" (x)=(y)"] {
        let value = match &taken[..3] {
            "num" => Value::Int(1),
            "not" => json(&Note::new("taken")),
            _ => Value::Unit,
        };
        let op = |at: &str, value: &Value| Op::Create(key(at), value.clone());
        write(&*store, vec![op(taken, &value)]).await;
        let batch = ops(vec![create("cf!0"), op(taken, &value), create("cf!z"), unit("cf!y")]);
        assert_eq!(commit(&*store, batch).await, Err(StoreError::Exists(key(taken))));
    }
    // If several keys exist, the first in batch order is reported, even if they are in different tables.
    let json_of = |at: &str| Op::Create(key(at), json(&Note::new("late")));
    let int_of = |at: &str| Op::Create(key(at), Value::Int(2));
    let taken = [create("cf!b"), int_of("num!b"), json_of("note!ü \"quoted\" (x)=(y)")];
    for first in 0..taken.len() {
        let mut batch = taken.to_vec();
        batch.rotate_left(first);
        let named = batch[0].key().clone();
        assert_eq!(commit(&*store, ops(batch)).await, Err(StoreError::Exists(named)));
    }
}

/// A missing counter has the value 0, for positive, negative and zero additions.
pub async fn add_from_nothing(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![add("ctr!up", 3), add("ctr!down", -3), add("ctr!zero", 0)]).await;
    let found = get(&*store, &["ctr!up", "ctr!down", "ctr!zero", "ctr!none"]).await;
    assert_eq!(found, [Some(Plain::Int(3)), Some(Plain::Int(-3)), Some(Plain::Int(0)), None]);
}

/// Counters accept only additions and deletion, and other keys accept no additions. Violations are misuse and change
/// nothing.
pub async fn only_counters_are_added_to(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![add("ctr!a", 3), put("num!a", 3), unit("cf!a")]).await;
    for wrong in
        [put("ctr!a", 1), put("ctr!b", 1), create("ctr!b"), add("num!a", 1), add("cf!a", 1), add("cf!b", 1)]
    {
        let refused = commit(&*store, ops(vec![unit("cf!beside"), wrong])).await;
        assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
    }
    let found = get(&*store, &["ctr!a", "ctr!b", "num!a", "cf!a", "cf!b", "cf!beside"]).await;
    assert_eq!(found, [Some(Plain::Int(3)), None, Some(Plain::Int(3)), Some(Plain::Unit), None, None]);
}

/// Transactions that add to the same counter do not conflict.
pub async fn adds_commute_without_conflict(factory: &dyn Factory) {
    let store = factory.store().await;
    for round in 1..=20 {
        let by = |n| Script::get(&[], move |_| vec![add("ctr!a", n)]);
        let outcomes = interleave(&store, &[by(1), by(2), by(4)]).await;
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(get_int(&*store, "ctr!a").await, 7 * round);
    }
}

/// A transaction that begins after an addition reads the new sum.
pub async fn add_then_read_in_new_txn(factory: &dyn Factory) {
    let store = factory.store().await;
    let mut sum = 0;
    for n in [5, -2, 0, 40, -100, 1_000_000_007] {
        write(&*store, vec![add("ctr!a", n)]).await;
        sum += n;
        assert_eq!(get_int(&*store, "ctr!a").await, sum);
    }
}

/// A transaction that reads a counter depends on it: a concurrent addition conflicts like any other write.
pub async fn read_counter_then_write_conflicts_with_add(factory: &dyn Factory) {
    let store = factory.store().await;
    let copy = Script::get(&["ctr!a"], |seen| vec![put("num!copy", seen.int(0))]);
    let count = Script::get(&["num!copy"], |seen| vec![add("ctr!a", 10 + seen.int(0))]);
    assert_serial(&store, vec![add("ctr!a", 1)], &[copy.clone(), count.clone()]).await;
    assert_serial(&store, vec![], &[count, copy]).await;
}

/// A counter is exact after many concurrent tasks have added to it in batches that also contain other changes, even if
/// some batches failed.
pub async fn counter_exact_after_storm(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![create("cf!taken")]).await;
    let storm = spawn_each(&store, 8, |store, task| async move {
        let mut rng = Rng::new(u64::from(task) + 7);
        let mut added = [0; 3];
        for n in 0..60 {
            let (which, by) =
                (usize::try_from(rng.next_below(3)).unwrap_or(0), rng.next_below(100).cast_signed() - 50);
            let mut changes = vec![add(format!("ctr!{which}"), by), unit(format!("cf!{task}!{n}"))];
            if rng.next_below(4) == 0 {
                changes.push(create("cf!taken"));
            }
            if commit(&*store, ops(changes)).await.is_ok() {
                added[which] += by;
            }
        }
        added
    });
    let added = join(storm).await;
    for which in 0..3 {
        let expected: i64 = added.iter().map(|sums| sums[which]).sum();
        assert_eq!(get_int(&*store, &format!("ctr!{which}")).await, expected);
    }
}

/// The value of a counter does not depend on how many additions it sums up, even during further additions.
pub async fn fold_preserves_sum(factory: &dyn Factory) {
    let store = factory.store().await;
    let store: Arc<_> = store;
    let adders = spawn_each(&store, 4, |store, _| async move {
        for _ in 0..150 {
            write(&*store, vec![add("ctr!a", 3)]).await;
            write(&*store, vec![add("ctr!a", -2)]).await;
        }
    });
    let mut last = 0;
    while !adders.iter().all(tokio::task::JoinHandle::is_finished) {
        let now = get_int(&*store, "ctr!a").await;
        assert!(now >= last - 8 && now <= 600 + 12, "{now} after {last}");
        last = now;
        tokio::task::yield_now().await;
    }
    join(adders).await;
    for _ in 0..3 {
        assert_eq!(get_int(&*store, "ctr!a").await, 600);
        write(&*store, vec![add("ctr!a", 0), add("ctr!other", 1)]).await;
    }
    let page = super::kit::scan(&*store, super::kit::scan_prefix("ctr")).await;
    assert_eq!(super::kit::names(&page), ["ctr!a", "ctr!other"]);
}
