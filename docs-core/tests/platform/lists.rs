//! Cursors: no duplicates, no omissions, and no reuse for another list.

use std::{collections::BTreeSet, sync::Arc};

use docs_core::{
    ErrorKind,
    store::{
        Batch, KeyBuf, ListIdentity, ListSpec, Lister, MAX_SCANNED, Mode, Op, Page, PageRequest, Store, Tx,
        Value, key::last_segment,
    },
};
use docs_memstore::MemStore;
use proptest::prelude::*;

use crate::support::{Refused, block_on};

fn prefix() -> KeyBuf {
    KeyBuf::new("cf.list").part("a")
}

async fn put(store: &dyn Store, rows: impl Iterator<Item = (u64, bool)>) {
    let ops = rows.map(|(n, there)| {
        let key = prefix().number(n).key();
        if there { Op::Put(key, Value::Unit) } else { Op::Delete(key) }
    });
    let batch = Batch { ops: ops.collect(), feed: Vec::new() };
    store.begin(Mode::Write, &[]).await.expect("begins").commit(batch).await.expect("commits");
}

/// Reads a page of the numbers that satisfy a filter.
async fn page(
    store: &dyn Store,
    spec: ListSpec,
    request: &PageRequest,
    keep: impl Fn(u64) -> bool,
) -> docs_core::Result<Page<u64>> {
    let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("begins"));
    let mut list = Lister::new(spec, request)?;
    while let Some(rows) = list.rows(&tx).await? {
        for (row, _) in &rows {
            let n: u64 = last_segment(row).parse().expect("a number");
            if !list.offer(row, Some(n).filter(|n| keep(*n))) {
                break;
            }
        }
    }
    list.finish(&tx, None).await
}

fn spec(rev: bool) -> ListSpec {
    ListSpec { rev, ..ListSpec::new("rows", prefix()) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn pagination_under_churn_yields_untouched_rows_once(
        rows in prop::collection::btree_set(0_u64..60, 0..40),
        churn in prop::collection::vec((0_u64..60, any::<bool>()), 0..20),
        limit in 1_u32..7,
        rev in any::<bool>(),
        modulo in 1_u64..4,
    ) {
        block_on(async {
            let store: Arc<dyn Store> = Arc::new(MemStore::new());
            put(&*store, rows.iter().map(|n| (*n, true))).await;
            let touched: BTreeSet<u64> = churn.iter().map(|(n, _)| *n).collect();
            let mut changes = churn.chunks(2);
            let mut seen = Vec::new();
            let mut request = PageRequest { page: None, limit: Some(limit) };
            loop {
                let page = page(&*store, spec(rev), &request, |n| n % modulo == 0).await.expect("a page");
                prop_assert!(page.items.len() <= limit as usize);
                seen.extend(page.items);
                let Some(next) = page.next else { break };
                request.page = Some(next);
                // Concurrent writes between two pages may delete even the item at the cursor.
                for change in changes.next().unwrap_or_default() {
                    put(&*store, std::iter::once(*change)).await;
                }
            }
            let mut expected: Vec<u64> =
                rows.iter().copied().filter(|n| n % modulo == 0 && !touched.contains(n)).collect();
            if rev {
                expected.reverse();
            }
            let untouched: Vec<u64> = seen.iter().copied().filter(|n| !touched.contains(n)).collect();
            prop_assert_eq!(untouched, expected);
            let unique: BTreeSet<u64> = seen.iter().copied().collect();
            prop_assert_eq!(unique.len(), seen.len(), "nothing is shown twice");
            Ok(())
        })?;
    }

    #[test]
    fn malformed_cursor_is_rejected_without_a_panic(token in ".{0,80}") {
        block_on(async {
            let store: Arc<dyn Store> = Arc::new(MemStore::new());
            let request = PageRequest { page: Some(token), limit: None };
            let error = page(&*store, spec(false), &request, |_| true).await.refused(ErrorKind::Invalid);
            prop_assert!(error.message().starts_with("page: "));
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn the_last_page_has_no_next_even_when_it_is_full() {
    let store: Arc<dyn Store> = Arc::new(MemStore::new());
    put(&*store, (0..6).map(|n| (n, true))).await;
    let first = page(&*store, spec(false), &PageRequest { page: None, limit: Some(3) }, |_| true)
        .await
        .expect("a page");
    let second =
        page(&*store, spec(false), &PageRequest { page: first.next, limit: Some(3) }, |_| true).await;
    assert_eq!(second.expect("a page"), Page { items: vec![3, 4, 5], next: None, count: None });
}

#[tokio::test]
async fn a_cursor_of_another_list_order_or_filter_is_refused() {
    let store: Arc<dyn Store> = Arc::new(MemStore::new());
    put(&*store, (0..6).map(|n| (n, true))).await;
    let next = page(&*store, spec(false), &PageRequest { page: None, limit: Some(3) }, |_| true)
        .await
        .expect("a page")
        .next;
    let request = PageRequest { page: next, limit: Some(3) };
    let other_list = ListSpec { prefix: KeyBuf::new("cf.list").part("b"), ..spec(false) };
    let other_filter =
        ListSpec { identity: ListIdentity::new("rows").filter("status", Some("open")), ..spec(false) };
    for other in [other_list, other_filter, spec(true)] {
        let error = page(&*store, other, &request, |_| true).await.refused(ErrorKind::Invalid);
        assert_eq!(error.field(), Some("page"));
    }
}

#[tokio::test]
async fn selective_filter_reads_a_bounded_number_of_rows() {
    let store: Arc<dyn Store> = Arc::new(MemStore::new());
    let rows = MAX_SCANNED as u64 * 3;
    for start in (0..rows).step_by(2_000) {
        put(&*store, (start..(start + 2_000).min(rows)).map(|n| (n, true))).await;
    }
    let only_last = |n| n == rows - 1;
    let mut request = PageRequest { page: None, limit: Some(1) };
    let mut pages = 0;
    let found = loop {
        let page = page(&*store, spec(false), &request, only_last).await.expect("a page");
        pages += 1;
        if !page.items.is_empty() {
            break page.items;
        }
        request.page = Some(page.next.expect("a short page has a next"));
    };
    assert_eq!(found, [rows - 1]);
    assert!((2..=6).contains(&pages), "{pages} pages");
}
