//! Basic reads and writes.

use std::sync::Arc;

use super::{
    super::{
        Batch, MAX_BATCH_BYTES, MAX_BATCH_OPS, MAX_KEY, MAX_SCAN, MAX_VALUE, Mode, Op, Scan, Store,
        StoreError, StoreResult, Value, decode,
    },
    Factory,
    kit::{
        Attempts, Note, Plain, add, commit, create, delete, get, item, json, key, keys, names, ops, put,
        read_all, scan, scan_prefix, unit, write,
    },
};

/// A key that was never written reads as `None`.
pub async fn get_missing_is_none(factory: &dyn Factory) {
    let store = factory.store().await;
    assert_eq!(get(&*store, &["cf!a", "note!a", "num!a", "ctr!a"]).await, [None, None, None, None]);
    assert_eq!(get(&*store, &[]).await, []);
}

/// Reading several keys returns their values in request order, including duplicates.
pub async fn get_keeps_request_order_and_duplicates(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 1), put("num!b", 2), add("ctr!c", 3)]).await;
    let found = get(&*store, &["ctr!c", "num!b", "cf!x", "num!a", "num!b", "ctr!c"]).await;
    let int = |n| Some(Plain::Int(n));
    assert_eq!(found, [int(3), int(2), None, int(1), int(2), int(3)]);
}

/// Values of every kind round-trip.
pub async fn put_get_roundtrip_every_kind(factory: &dyn Factory) {
    let store = factory.store().await;
    let note = Note::new("a note");
    let other = serde_json::json!({"a": [1, -2.5, null, true], "ü": {"x": "y"}, "": ""});
    let changes = vec![
        Op::Put(key("note!live"), Value::Live(Arc::new(note.clone()))),
        Op::Put(key("note!json"), json(&note)),
        Op::Put(key("cf!json"), json(&other)),
        Op::Put(key("cf!unit"), Value::Unit),
        put("num!min", i64::MIN),
        put("num!max", i64::MAX),
    ];
    write(&*store, changes).await;
    let found = get(&*store, &["note!live", "note!json", "cf!json", "cf!unit", "num!min", "num!max"]).await;
    let note = Plain::Json(serde_json::to_value(note).expect("a note has a JSON form"));
    let expected =
        [note.clone(), note, Plain::Json(other), Plain::Unit, Plain::Int(i64::MIN), Plain::Int(i64::MAX)];
    assert_eq!(found, expected.map(Some));
}

/// A record that was put live equals the same record put as JSON.
pub async fn value_live_equals_json(factory: &dyn Factory) {
    let store = factory.store().await;
    let note = Note::new("same");
    let live = Op::Put(key("note!live"), Value::Live(Arc::new(note.clone())));
    write(&*store, vec![live, Op::Put(key("note!json"), json(&note))]).await;
    for value in values(&*store, &["note!live", "note!json"]).await {
        let found = decode::<Note>(value.expect("the note was put")).expect("the note reads as one");
        assert_eq!(*found, note);
    }
}

/// A deleted key reads as `None` and is absent from ranges.
pub async fn delete_then_get(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 1), unit("cf!a"), unit("cf!b"), add("ctr!a", 5)]).await;
    write(&*store, vec![delete("num!a"), delete("cf!a"), delete("ctr!a")]).await;
    assert_eq!(
        get(&*store, &["num!a", "cf!a", "ctr!a", "cf!b"]).await,
        [None, None, None, Some(Plain::Unit)]
    );
    assert_eq!(names(&scan(&*store, scan_prefix("cf")).await), ["cf!b"]);
}

/// Deleting a missing key succeeds.
pub async fn delete_missing_ok(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![delete("cf!never"), delete("note!never"), delete("num!never"), delete("ctr!never")])
        .await;
    assert_eq!(get(&*store, &["cf!never"]).await, [None]);
}

/// Keys are ordered bytewise, whatever their script.
pub async fn key_order_is_byte_order(factory: &dyn Factory) {
    let store = factory.store().await;
    let parts = [
        "\u{1}", "!", "\"", "#", "-", "A", "Z", "a", "a!b", "a\"b", "aa", "z", "ß", "ä", "я", "日",
        "\u{ffff}", "😀",
    ];
    let mut sorted: Vec<String> = parts.map(|part| format!("cf!{part}")).to_vec();
    write(&*store, sorted.iter().rev().map(unit).collect()).await;
    sorted.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    let whole = Scan { from: key("cf!"), to: key("cf!\u{10ffff}"), rev: false, limit: 1_000 };
    let page = scan(&*store, whole).await;
    assert_eq!(names(&page), sorted);
    let middle = Scan { from: key("cf!Z"), to: key("cf!ä"), rev: false, limit: 1_000 };
    assert!(names(&scan(&*store, middle).await).iter().all(|key| ("cf!Z".."cf!ä").contains(key)));
}

/// A range includes its lower bound and excludes its upper bound.
pub async fn scan_half_open(factory: &dyn Factory) {
    let store = with_letters(factory).await;
    assert_eq!(names(&scan(&*store, range("cf!b", "cf!d")).await), ["cf!b", "cf!c"]);
    assert_eq!(names(&scan(&*store, range("cf!b!", "cf!d!")).await), ["cf!c", "cf!d"]);
    assert_eq!(names(&scan(&*store, range("", "cf!b")).await), ["cf!a"]);
}

/// A reverse scan returns the same range in descending order.
pub async fn scan_reverse(factory: &dyn Factory) {
    let store = with_letters(factory).await;
    let rev = |limit| Scan { rev: true, limit, ..range("cf!b", "cf!e") };
    assert_eq!(names(&scan(&*store, rev(1_000)).await), ["cf!d", "cf!c", "cf!b"]);
    assert_eq!(names(&scan(&*store, rev(2)).await), ["cf!d", "cf!c"]);
}

/// A scan returns at most `limit` entries. A limit of 0 returns none; the maximum is 1,000.
pub async fn scan_limit_zero_one_thousand(factory: &dyn Factory) {
    let store = factory.store().await;
    let all_keys: Vec<String> = (0..1_005).map(|n| format!("cf!{n:05}")).collect();
    write(&*store, all_keys.iter().map(unit).collect()).await;
    for (limit, count) in [(0, 0), (1, 1), (999, 999), (1_000, 1_000)] {
        let page = scan(&*store, Scan { limit, ..scan_prefix("cf") }).await;
        assert_eq!(names(&page), all_keys[..count]);
        let page = scan(&*store, Scan { limit, rev: true, ..scan_prefix("cf") }).await;
        assert!(names(&page).iter().eq(all_keys.iter().rev().take(count)));
    }
    let mut attempts = Attempts::default();
    let refused = loop {
        let result = scan_with_limit(&*store, MAX_SCAN + 1).await;
        if let Some(result) = attempts.settle(result).await {
            break result;
        }
    };
    assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
}

/// A range without keys, or with reversed bounds, is empty.
pub async fn scan_empty_range(factory: &dyn Factory) {
    let store = with_letters(factory).await;
    for (from, to) in [("cf!b", "cf!b"), ("cf!d", "cf!b"), ("cf!f", "cf!g"), ("cf!b!", "cf!b!x")] {
        for rev in [false, true] {
            assert!(scan(&*store, Scan { rev, ..range(from, to) }).await.is_empty(), "{from} to {to}");
        }
    }
}

/// Several scans in one call return their results in request order, from one snapshot.
pub async fn many_scans_one_snapshot(factory: &dyn Factory) {
    let store = factory.store().await;
    write(&*store, vec![put("num!a", 0), put("num!b", 0), unit("cf!a"), unit("cf!b")]).await;
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for n in 1..=200 {
                write(&*store, vec![put("num!a", n), put("num!b", n)]).await;
                tokio::task::yield_now().await;
            }
        }
    });
    while !writer.is_finished() {
        let scans =
            [range("num!b", "num!c"), range("cf!b", "cf!z"), range("num!a", "num!b"), range("cf!a", "cf!b")];
        let (_, pages) = read_all(&*store, &[], &scans).await;
        assert_eq!(pages[0][0].1, pages[2][0].1, "two halves of one commit");
        assert_eq!((names(&pages[1]), names(&pages[3])), (vec!["cf!b"], vec!["cf!a"]));
        tokio::task::yield_now().await;
    }
    writer.await.expect("the writer does not fail");
}

/// The largest key and the largest value are accepted, both live and as JSON. One byte more is too large.
pub async fn key_and_value_limits(factory: &dyn Factory) {
    let store = factory.store().await;
    let long = |n: usize| format!("cf!{}", "k".repeat(n - 3));
    write(&*store, vec![unit(long(MAX_KEY))]).await;
    assert_eq!(get(&*store, &[&long(MAX_KEY)]).await, [Some(Plain::Unit)]);
    let after = Scan { from: super::super::key::successor(&long(MAX_KEY)), ..scan_prefix("cf") };
    assert!(scan(&*store, after).await.is_empty());
    let overhead = json_size(&Note::new(""));
    for form in [live_value as fn(&Note) -> Value, json::<Note>] {
        let fits = Note::new(&"v".repeat(MAX_VALUE - overhead));
        write(&*store, vec![Op::Put(key("note!big"), form(&fits))]).await;
        let over = Note::new(&"v".repeat(MAX_VALUE - overhead + 1));
        for op in [Op::Put(key("note!new"), form(&over)), Op::Create(key("note!new"), form(&over))] {
            assert_too_large(&commit(&*store, ops(vec![unit("cf!beside"), op])).await);
        }
        assert_eq!(get(&*store, &["note!new", "cf!beside"]).await, [None, None]);
    }
    for op in [unit(long(MAX_KEY + 1)), delete(long(MAX_KEY + 1)), create(long(MAX_KEY + 1))] {
        assert_too_large(&commit(&*store, ops(vec![op])).await);
    }
    let feed = vec![item(long(MAX_KEY + 1))];
    assert_too_large(&commit(&*store, Batch { ops: vec![], feed }).await);
    assert!(matches!(commit(&*store, ops(vec![unit("")])).await, Err(StoreError::Misuse(_))));
}

/// A batch of 2,000 operations and a batch of 4 MiB are accepted. One operation or one byte more is too large.
pub async fn batch_limit(factory: &dyn Factory) {
    let store = factory.store().await;
    let many = |n: usize| (0..n).map(|n| unit(format!("cf!{n:05}"))).collect::<Vec<_>>();
    write(&*store, many(MAX_BATCH_OPS)).await;
    assert_too_large(&commit(&*store, ops(many(MAX_BATCH_OPS + 1))).await);
    let overhead = json_size(&Note::new(""));
    for form in [live_value as fn(&Note) -> Value, json::<Note>] {
        // 16 values fill the batch up to the size of their keys. The last value is shorter by that size.
        let bytes = |last: usize| {
            let note = |n| {
                let size = if n < 15 { MAX_VALUE } else { last };
                let note = Note::new(&"v".repeat(size - overhead));
                Op::Put(key(format!("note!{n:02}")), form(&note))
            };
            ops((0..16).map(note).collect())
        };
        let room = MAX_BATCH_BYTES - 15 * MAX_VALUE - 16 * "note!00".len();
        commit(&*store, bytes(room)).await.expect("the batch is as large as may be");
        assert_too_large(&commit(&*store, bytes(room + 1)).await);
    }
}

/// A batch that writes a key twice is misuse for every combination of operations, and changes nothing.
pub async fn duplicate_key_in_batch_is_misuse(factory: &dyn Factory) {
    let store = factory.store().await;
    let twice = [
        vec![unit("cf!a"), unit("cf!a")],
        vec![create("cf!a"), delete("cf!a")],
        vec![add("ctr!a", 1), unit("cf!b"), add("ctr!a", 1)],
    ];
    for changes in twice {
        assert_misuse(&commit(&*store, ops(changes)).await);
    }
    assert_eq!(get(&*store, &["cf!a", "cf!b", "ctr!a"]).await, [None, None, None]);
}

/// A read transaction must commit an empty batch: a change or a feed item is misuse.
pub async fn write_in_read_mode_is_misuse(factory: &dyn Factory) {
    let store = factory.store().await;
    let batches =
        [ops(vec![unit("cf!a")]), ops(vec![delete("cf!a")]), Batch { ops: vec![], feed: vec![item("cf!a")] }];
    for batch in batches {
        assert_misuse(&commit_in_read_mode(&*store, batch).await);
    }
    assert_eq!(commit_in_read_mode(&*store, Batch::default()).await, Ok(()));
    assert_eq!(get(&*store, &["cf!a"]).await, [None]);
    assert!(super::kit::changes(&*store, None, 10).await.is_empty());
}

/// NUL in a key or in a string of a value is misuse.
pub async fn nul_is_misuse(factory: &dyn Factory) {
    let store = factory.store().await;
    let nul = Note::new("a\0b");
    for changes in [
        vec![unit("cf!a\0")],
        vec![delete("cf!\0")],
        vec![unit("cf!beside"), Op::Put(key("note!a"), live_value(&nul))],
        vec![unit("cf!beside"), Op::Create(key("note!a"), json(&nul))],
    ] {
        assert_misuse(&commit(&*store, ops(changes)).await);
    }
    assert_misuse(&commit(&*store, Batch { ops: vec![], feed: vec![item("a\0")] }).await);
    assert_eq!(get(&*store, &["cf!beside", "note!a"]).await, [None, None]);
    // Text that merely looks like an escaped NUL is accepted.
    write(&*store, vec![Op::Put(key("note!a"), live_value(&Note::new("\\u0000")))]).await;
}

fn range(from: &str, to: &str) -> Scan {
    Scan { from: key(from), to: key(to), rev: false, limit: 1_000 }
}

async fn with_letters(factory: &dyn Factory) -> Arc<dyn Store> {
    let store = factory.store().await;
    write(&*store, ["cf!c", "cf!a", "cf!e", "cf!b", "cf!d"].map(unit).to_vec()).await;
    store
}

fn live_value(note: &Note) -> Value {
    Value::Live(Arc::new(note.clone()))
}

fn json_size(note: &Note) -> usize {
    serde_json::to_vec(note).expect("a note has a JSON form").len()
}

fn assert_too_large(result: &StoreResult<()>) {
    assert!(matches!(result, Err(StoreError::TooLarge(_))), "{result:?}");
}

fn assert_misuse(result: &StoreResult<()>) {
    assert!(matches!(result, Err(StoreError::Misuse(_))), "{result:?}");
}

async fn values(store: &dyn Store, texts: &[&str]) -> Vec<Option<Value>> {
    let mut attempts = Attempts::default();
    loop {
        let result = match store.begin(Mode::Read, &[]).await {
            Ok(txn) => txn.get(&keys(texts)).await,
            Err(error) => Err(error),
        };
        if let Some(result) = attempts.settle(result).await {
            return result.expect("reading succeeds");
        }
    }
}

async fn scan_with_limit(store: &dyn Store, limit: u32) -> StoreResult<()> {
    store.begin(Mode::Read, &[]).await?.scan(&[Scan { limit, ..scan_prefix("cf") }]).await.map(drop)
}

async fn commit_in_read_mode(store: &dyn Store, batch: Batch) -> StoreResult<()> {
    let mut attempts = Attempts::default();
    loop {
        let result = match store.begin(Mode::Read, &[]).await {
            Ok(txn) => txn.commit(batch.clone()).await,
            Err(error) => Err(error),
        };
        if let Some(result) = attempts.settle(result).await {
            return result;
        }
    }
}
