//! Intersections of index ranges: the common items of several lists, from any position and in both directions.

use std::collections::BTreeSet;

use docs_core::{
    model::ListOrder,
    store::{Batch, Intersection, KeyBuf, Mode, Op, Store, Tx, Value, intersection},
};
use docs_memstore::MemStore;
use proptest::{prelude::*, sample::select};

use crate::support::block_on;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn intersection_works_from_any_position_in_both_directions(
        lists in prop::collection::vec(prop::collection::btree_set(0_u32..400, 0..300), 1..5),
        start in prop::option::of(0_u32..400),
        order in select(vec![ListOrder::Asc, ListOrder::Desc]),
        budget in select(vec![1_usize, 70, 10_000]),
    ) {
        block_on(meet(&lists, start, order, budget));
    }
}

fn position(n: u32) -> String {
    format!("{n:05}")
}

async fn meet(lists: &[BTreeSet<u32>], start: Option<u32>, order: ListOrder, budget: usize) {
    let is_descending = order == ListOrder::Desc;
    let store = MemStore::new();
    let prefix = |n: usize| KeyBuf::new("cf.meet").number(n as u64);
    for (n, list) in lists.iter().enumerate() {
        let ops = list.iter().map(|at| Op::Put(prefix(n).part(&position(*at)).key(), Value::Unit)).collect();
        let txn = store.begin(Mode::Write, &[]).await.expect("begins");
        txn.commit(Batch { ops, feed: Vec::new() }).await.expect("commits");
    }
    let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("begins"));
    let prefixes: Vec<_> = (0..lists.len()).map(prefix).collect();
    let mut after = start.map(position);
    let mut found = Vec::new();
    'walk: loop {
        let mut intersection = Intersection::new(&prefixes, order, after.as_deref(), budget);
        loop {
            match intersection.next(&tx).await.expect("reads") {
                intersection::IntersectionStep::Hit(at) => found.push(at),
                intersection::IntersectionStep::End => break 'walk,
                intersection::IntersectionStep::OutOfBudget(passed) => {
                    assert_ne!(passed, after, "a walk that is tired has come further");
                    after = passed;
                    break;
                }
            }
        }
    }
    let is_behind =
        |at: &u32| start.is_none_or(|start| if is_descending { *at < start } else { *at > start });
    let mut expected: Vec<String> = lists[0]
        .iter()
        .filter(|at| is_behind(at) && lists.iter().all(|list| list.contains(at)))
        .map(|at| position(*at))
        .collect();
    if is_descending {
        expected.reverse();
    }
    assert_eq!(found, expected);
}
