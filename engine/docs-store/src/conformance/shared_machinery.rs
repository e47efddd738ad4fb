//! Tests of the code that all stores share, run on each store: indexes, cursors and the rejection of NUL.

use std::{collections::BTreeSet, sync::Arc};

use docs_model::{
    BoundedText, Icon, SpaceId, Url, UserId,
    error::{ErrorKind, Result},
};

use super::{
    super::{
        Batch, IndexDrift, Indexed as _, KeyBuf, ListIdentity, ListSpec, Lister, MAX_BATCH_OPS, MAX_SCAN,
        MAX_SCANNED, Mode, Op, Page, PageRequest, RecordKind, Scan, Store, StoreError, StoreFailure,
        StoreResult, Tx, Value,
        key::{last_segment, segments},
        seal_cursor, verify_kinds,
    },
    Factory,
    kit::{
        Attempts, Note, Rng, add, changes, commit, create, delete, get, is_transient, item, join, json, key,
        ops, scan, scan_prefix, spawn_each, unit, write,
    },
};

/// After any sequence of creations, replacements and deletions, including by concurrent tasks, the stored rows equal
/// those derived from the records. Deviations are detected.
pub async fn index_rows_match_recompute(factory: &dyn Factory) {
    let store = factory.store().await;
    let done: u32 = join(spawn_each(&store, 3, edit_notes)).await.into_iter().sum();
    assert!(done > 30, "only {done} of 180 edits were possible");
    assert_eq!(drift(&*store).await, IndexDrift::default());
    let notes = scan(&*store, scan_prefix("note")).await;
    assert!(!notes.is_empty());
    // One deviation of each type: a missing row, a stray row, a row with a different value, a wrong counter.
    let lone = Note { tags: vec![Some("lone".to_owned())], n: 1_000, ..Note::new("lone") };
    edit(&*store, |tx| drop(tx.create(lone.clone()))).await.expect("its title and its tag are unused");
    let (gone, wrong) = (lone.rows()[0].key().clone(), key("cf!tag!lone"));
    let spoil = vec![
        Op::Delete(gone.clone()),
        Op::Put(wrong.clone(), json(&"someone else")),
        unit("cf!stray"),
        add("ctr!astray", 4),
    ];
    write(&*store, spoil).await;
    let mut found = drift(&*store).await;
    found.missing.sort();
    let expected = IndexDrift {
        missing: vec![gone, wrong],
        stray: vec![key("cf!stray")],
        counters: vec![(key("ctr!astray"), 4, 0)],
    };
    assert_eq!(found, expected);
}

/// Paging through a list returns every untouched row exactly once and no row twice while other rows, including that of
/// the cursor, are added and deleted.
pub async fn cursor_no_dup_no_skip_under_churn(factory: &dyn Factory) {
    let store = factory.store().await;
    for seed in 0..6 {
        let mut rng = Rng::new(seed + 1);
        let spec = ListSpec { rev: seed % 2 == 1, ..spec(&format!("churn{seed}")) };
        let row = |n: u64| spec.prefix.clone().number(n).key();
        let rows: BTreeSet<u64> = (0..60).filter(|_| rng.next_below(3) > 0).collect();
        write(&*store, rows.iter().map(|n| unit(row(*n))).collect()).await;
        let keep = |n: u64| !n.is_multiple_of(seed + 2);
        let (mut touched, mut seen) = (BTreeSet::new(), Vec::new());
        let mut request = PageRequest { page: None, limit: Some(1 + u32::try_from(seed).unwrap_or(0)) };
        loop {
            let (page, _) = page(&*store, &spec, &request, keep).await.expect("a cursor of this list");
            assert!(page.items.len() <= 1 + usize::try_from(seed).unwrap_or(0));
            let anchor = page.items.last().copied();
            seen.extend(page.items);
            let Some(next) = page.next else { break };
            request.page = Some(next);
            let churned: BTreeSet<u64> =
                [rng.next_below(60), rng.next_below(60)].into_iter().chain(anchor).collect();
            let op = |n: &u64| if rng.next_below(2) == 0 { unit(row(*n)) } else { delete(row(*n)) };
            write(&*store, churned.iter().map(op).collect()).await;
            // The last row of the page was returned before it was touched.
            touched.extend(churned.into_iter().filter(|n| !seen.contains(n)));
        }
        let mut expected: Vec<u64> = rows.into_iter().filter(|n| keep(*n) && !touched.contains(n)).collect();
        if spec.rev {
            expected.reverse();
        }
        let shown: Vec<u64> = seen.iter().copied().filter(|n| !touched.contains(n)).collect();
        assert_eq!(shown, expected, "seed {seed}");
        assert_eq!(
            seen.iter().collect::<BTreeSet<_>>().len(),
            seen.len(),
            "seed {seed}: a row was shown twice"
        );
    }
}

/// A list rejects cursors of a list with other rows, another order or other filters, and strings that are not cursors.
pub async fn cursor_wrong_list_rejected(factory: &dyn Factory) {
    let store = factory.store().await;
    let here = spec("a");
    let row = |n: u64| unit(here.prefix.clone().number(n).key());
    write(&*store, (0..6).map(row).collect()).await;
    let first = PageRequest { page: None, limit: Some(3) };
    let (page_one, _) = page(&*store, &here, &first, |_| true).await.expect("a first page");
    let token = page_one.next.expect("there are six rows");
    let at = |token: &str| PageRequest { page: Some(token.to_owned()), limit: Some(3) };
    let (page_two, _) = page(&*store, &here, &at(&token), |_| true).await.expect("a second page");
    assert_eq!(page_two, Page { items: vec![3, 4, 5], next: None, count: None });
    let others = [
        spec("b"),
        ListSpec { prefix: KeyBuf::new("cf"), ..here.clone() },
        ListSpec { rev: true, ..here.clone() },
        ListSpec { identity: here.identity.clone().filter("status", Some("open")), ..here.clone() },
        ListSpec { identity: ListIdentity::new("others"), ..here.clone() },
    ];
    for other in &others {
        assert_invalid(page(&*store, other, &at(&token), |_| true).await);
    }
    let flipped = |at: usize| {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).expect("ASCII stays ASCII")
    };
    for at_byte in 0..token.len() - 1 {
        assert_invalid(page(&*store, &here, &at(&flipped(at_byte)), |_| true).await);
    }
    for wrong in ["", "x", "ä", "AAAA", &token[1..], &format!("{token}A"), &"A".repeat(100_000)] {
        assert_invalid(page(&*store, &here, &at(wrong), |_| true).await);
    }
}

/// A page whose filter drops almost all rows reads a bounded number of rows, is short, and has a `next` cursor.
pub async fn residual_scan_bounded(factory: &dyn Factory) {
    let store = factory.store().await;
    let spec = spec("residual");
    let count = 2 * MAX_SCANNED as u64 + 500;
    let rows: Vec<Op> = (0..count).map(|n| unit(spec.prefix.clone().number(n).key())).collect();
    for part in rows.chunks(MAX_BATCH_OPS) {
        write(&*store, part.to_vec()).await;
    }
    for rev in [false, true] {
        let spec = ListSpec { rev, ..spec.clone() };
        let wanted = if rev { 0 } else { count - 1 };
        let mut request = PageRequest { page: None, limit: Some(250) };
        let (mut found, mut pages) = (Vec::new(), 0);
        loop {
            let (page, scanned) = page(&*store, &spec, &request, |n| n == wanted).await.expect("a page");
            assert!(scanned < MAX_SCANNED + MAX_SCAN as usize, "{scanned} rows were read for a page");
            found.extend(page.items);
            pages += 1;
            let Some(next) = page.next else { break };
            request.page = Some(next);
        }
        assert_eq!(found, [wanted]);
        assert!((2..=3).contains(&pages), "{pages} pages");
    }
}

/// NUL is rejected in all input: in types of the data model, in keys, ranges and values of every form, in the feed, and
/// in cursors. None of the input is stored.
pub async fn nul_refused_everywhere(factory: &dyn Factory) {
    nul_in_the_model();
    let store = factory.store().await;
    let nul_key = || key("cf!a\0b");
    assert_misuse(&attempt(|| async { reader(&*store).await?.get(&[key("cf!a"), nul_key()]).await }).await);
    for (from, to) in [("cf!\0", "cf\""), ("cf!", "cf!\0")] {
        let scans = [Scan { from: key(from), to: key(to), rev: false, limit: 1 }];
        assert_misuse(&attempt(|| async { reader(&*store).await?.scan(&scans).await }).await);
    }
    let nul = Note::new("a\0b");
    let nested = Note { tags: vec![None, Some("\0".to_owned())], ..Note::new("a") };
    let named = serde_json::json!({"a": [{"b\0": 1}]});
    let refused = [
        Op::Put(nul_key(), Value::Unit),
        create("cf!\0"),
        delete("cf!\0"),
        add("ctr!\0", 1),
        Op::Put(key("note!a"), Value::Live(Arc::new(nul.clone()))),
        Op::Create(key("note!a"), Value::Live(Arc::new(nested.clone()))),
        Op::Put(key("note!a"), json(&nested)),
        Op::Create(key("cf!a"), json(&named)),
    ];
    for op in refused {
        let result = commit(&*store, ops(vec![unit("cf!beside"), op.clone()])).await;
        assert!(matches!(result, Err(StoreError::Misuse(_))), "{op:?}: {result:?}");
    }
    let feed = vec![item("cf!beside"), item("cf!\0")];
    assert_misuse(&commit(&*store, Batch { ops: vec![unit("cf!beside")], feed }).await);
    for note in [nul, nested] {
        assert_misuse(&edit(&*store, |tx| drop(tx.create(note.clone()))).await);
    }
    let spec = spec("nul");
    let token = seal_cursor("a\0", spec.fingerprint());
    assert_invalid(page(&*store, &spec, &PageRequest { page: Some(token), limit: None }, |_| true).await);
    assert_eq!(get(&*store, &["cf!beside", "note!a", "cf!a"]).await, [None, None, None]);
    assert!(changes(&*store, None, 10).await.is_empty());
}

fn nul_in_the_model() {
    let json = |text: &str| serde_json::to_string(text).expect("text has a JSON form");
    assert!(BoundedText::<0, 9>::new("a\0").is_err() && "a\0".parse::<BoundedText<1, 9>>().is_err());
    assert!(Icon::new("a\0").is_err() && Url::new("https://example.com/\0").is_err());
    assert!("a\0".parse::<UserId>().is_err() && "\0".parse::<SpaceId>().is_err());
    assert!(serde_json::from_str::<BoundedText<0, 9>>(&json("a\0")).is_err());
    assert!(serde_json::from_str::<Url>(&json("https://example.com/\0")).is_err());
    assert!(serde_json::from_str::<SpaceId>(&json("a\0")).is_err());
    assert_eq!(BoundedText::<0, 9>::from_truncated("a\0b").as_deref(), Some("ab"));
}

/// Runs 60 edits of notes that share titles and tags with those of other tasks. Returns the number of successful edits.
async fn edit_notes(store: Arc<dyn Store>, task: u32) -> u32 {
    let mut rng = Rng::new(u64::from(task) + 100);
    let mut done = 0;
    for _ in 0..60 {
        let [what, title, other, n, tag] = [5, 12, 12, 40, 40].map(|end| rng.next_below(end));
        let mut tags: BTreeSet<u64> = [tag, rng.next_below(200)].into();
        tags.retain(|tag| *tag < 100);
        let note = Note {
            title: format!("title {title}"),
            n: i64::try_from(n).unwrap_or(0) - 20,
            tags: tags.iter().map(|tag| Some(format!("tag {tag}"))).collect(),
        };
        let heir = format!("title {other}");
        let result = attempt(|| edit_note(&*store, what, &note, &heir)).await;
        match result {
            Ok(possible) => done += u32::from(possible),
            // Another note has the tag, or a concurrent task has taken the title.
            Err(StoreError::Exists(_)) => {}
            Err(error) => panic!("an edit failed: {error}"),
        }
    }
    done
}

/// Creates, replaces or deletes a note, or transfers its tags to another note. Returns `true` if this was possible.
async fn edit_note(store: &dyn Store, what: u64, note: &Note, heir: &str) -> StoreResult<bool> {
    let mut tx = Tx::new(store.begin(Mode::Write, &[]).await?);
    let old = tx.get::<Note>(&note.key()).await?;
    match (what, old) {
        (0..=2, None) => drop(tx.create(note.clone())),
        (0..=2, Some(old)) => drop(tx.put(&*old, note.clone())?),
        (3, Some(old)) => tx.delete(&*old),
        (4, Some(old)) => {
            tx.delete(&*old);
            tx.create(Note { title: heir.to_owned(), ..Note::clone(&old) });
        }
        _ => return Ok(false),
    }
    tx.commit().await.map(|()| true)
}

async fn drift(store: &dyn Store) -> IndexDrift {
    let kinds = [RecordKind::of::<Note>()];
    attempt(|| verify_kinds(store, &kinds)).await.expect("the records are read")
}

/// Edits records in a single transaction, with retries.
async fn edit(store: &dyn Store, change: impl Fn(&mut Tx) + Send + Sync) -> StoreResult<()> {
    attempt(|| async {
        let mut tx = Tx::new(store.begin(Mode::Write, &[]).await?);
        change(&mut tx);
        tx.commit().await
    })
    .await
}

/// Runs a call, with retries.
async fn attempt<T, F>(call: impl Fn() -> F + Send + Sync) -> StoreResult<T>
where
    T: Send,
    F: Future<Output = StoreResult<T>> + Send,
{
    let mut attempts = Attempts::default();
    loop {
        if let Some(result) = attempts.settle(call().await).await {
            return result;
        }
    }
}

async fn reader(store: &dyn Store) -> StoreResult<Box<dyn super::super::Txn>> {
    store.begin(Mode::Read, &[]).await
}

fn spec(list: &str) -> ListSpec {
    ListSpec::new("rows", KeyBuf::new("cf").part(list))
}

/// Reads a page of the numbers that pass a filter. Also returns the number of rows read for it. Retries after failures.
async fn page(
    store: &dyn Store,
    spec: &ListSpec,
    request: &PageRequest,
    keep: impl Fn(u64) -> bool + Send + Sync,
) -> Result<(Page<u64>, usize)> {
    let mut attempts = Attempts::default();
    loop {
        let result = page_once(store, spec, request, &keep).await;
        let failure =
            result.as_ref().err().and_then(StoreFailure::store).filter(|error| is_transient(error)).cloned();
        if attempts.settle(failure.map_or(Ok(()), Err)).await.is_some() {
            return result;
        }
    }
}

async fn page_once(
    store: &dyn Store,
    spec: &ListSpec,
    request: &PageRequest,
    keep: &(impl Fn(u64) -> bool + Send + Sync),
) -> Result<(Page<u64>, usize)> {
    let tx = Tx::new(store.begin(Mode::Read, &[]).await?);
    let mut list = Lister::new(spec.clone(), request)?;
    let mut scanned = 0;
    while let Some(rows) = list.rows(&tx).await? {
        scanned += rows.len();
        for (row, _) in &rows {
            assert_eq!(segments(row).len(), 3, "{row} is a row of no list");
            let n = last_segment(row).parse().expect("rows end in numbers");
            if !list.offer(row, Some(n).filter(|n| keep(*n))) {
                break;
            }
        }
    }
    Ok((list.finish(&tx, None).await?, scanned))
}

fn assert_misuse<T: std::fmt::Debug>(result: &StoreResult<T>) {
    assert!(matches!(result, Err(StoreError::Misuse(_))), "{result:?}");
}

fn assert_invalid(result: Result<(Page<u64>, usize)>) {
    let kind = result.expect_err("a cursor of another list").kind();
    assert_eq!(kind, ErrorKind::Invalid);
}
