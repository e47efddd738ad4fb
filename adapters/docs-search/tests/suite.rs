//! The index by Tantivy: the conformance suite in memory and in a folder, and what is special to it.

use std::{fs, ops::Deref, path::Path};

use docs_memstore::MemSearch;
use docs_model::{OrgId, SpaceId};
use docs_model::{feed::FeedPos, hash::Hash};
use docs_ports::{
    SearchIndex,
    search::{IndexChange, IndexedSpace, PageDocument, Query, Scope, SearchQuery, Section},
};
use docs_search::{OpenError, TantivySearch};
use proptest::prelude::*;
use tempfile::TempDir;

mod in_memory {
    use docs_search::TantivySearch;

    docs_ports::search_suite!(TantivySearch::in_memory().expect("an index"));
}

mod in_a_folder {
    docs_ports::search_suite!(*super::Kept::new());
}

/// An index in a folder that goes with it.
struct Kept {
    index: TantivySearch,
    _folder: TempDir,
}

impl Kept {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        Self { index: TantivySearch::folder(folder.path()).expect("an index"), _folder: folder }
    }
}

impl Deref for Kept {
    type Target = TantivySearch;
    fn deref(&self) -> &TantivySearch {
        &self.index
    }
}

fn org() -> OrgId {
    "org".parse().expect("an id")
}

fn space(name: &str) -> SpaceId {
    name.parse().expect("an id")
}

fn page(space_name: &str, name: &str, title: &str, text: &str) -> PageDocument {
    PageDocument {
        organization: org(),
        space: space(space_name),
        page: name.parse().expect("an id"),
        title: title.to_owned(),
        description: None,
        text: Hash::of(text.as_bytes()),
        sections: vec![Section { anchor: None, heading: None, text: text.to_owned() }],
    }
}

fn put(page: PageDocument) -> IndexChange {
    IndexChange::PutPage(Box::new(page))
}

fn asks(text: &str) -> SearchQuery {
    let scope = Scope::Organization(org());
    SearchQuery { query: Query::parse(text), scope, after: None, limit: 100 }
}

async fn count(index: &impl SearchIndex, text: &str) -> usize {
    index.find_pages(&asks(text)).await.expect("found").len()
}

#[tokio::test]
async fn a_folder_keeps_what_was_committed_with_its_position() {
    let folder = TempDir::new().expect("a folder");
    let note = IndexedSpace { space: space("s"), organization: org(), root: Hash::of(b"root") };
    let at = FeedPos("12 \"quoted\"".into());
    {
        let index = TantivySearch::folder(folder.path()).expect("an index");
        let changes = vec![put(page("s", "a", "Alpha", "")), IndexChange::PutSpace(note.clone())];
        index.apply(changes, Some(at.clone())).await.expect("applied");
    }
    let index = TantivySearch::folder(folder.path()).expect("an index");
    assert_eq!(index.position().await, Ok(Some(at)));
    assert_eq!(index.indexed(&[space("s")]).await, Ok(vec![Some(note)]));
    assert_eq!(count(&index, "alpha").await, 1);
}

#[tokio::test]
async fn a_folder_is_of_one_process_at_a_time() {
    let folder = TempDir::new().expect("a folder");
    let index = TantivySearch::folder(folder.path()).expect("an index");
    let again = TantivySearch::folder(folder.path());
    assert!(matches!(again, Err(OpenError::InUse { .. })), "{again:?}");
    drop(index);
    TantivySearch::folder(folder.path()).expect("it is free again");
    let file = folder.path().join("file");
    fs::write(&file, "text").expect("written");
    assert!(matches!(TantivySearch::folder(&file), Err(OpenError::Folder { .. })));
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_is_made_anew() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("other"), "not ours").expect("written");
    for damage in [
        |text: &str| text.replace("\\\"form\\\":2", "\\\"form\\\":1"),
        |text: &str| text.replace("headings", "heading"),
        |_: &str| "{".to_owned(),
    ] {
        {
            let index = TantivySearch::folder(folder.path()).expect("an index");
            assert_eq!(index.position().await, Ok(None), "it was made anew");
            index
                .apply(vec![put(page("s", "a", "Alpha", ""))], Some(FeedPos("1".into())))
                .await
                .expect("applied");
        }
        let meta = folder.path().join("tantivy/meta.json");
        let text = fs::read_to_string(&meta).expect("its description");
        let damaged = damage(&text);
        assert_ne!(text, damaged);
        fs::write(&meta, damaged).expect("damaged");
    }
    let index = TantivySearch::folder(folder.path()).expect("an index");
    assert_eq!(count(&index, "alpha").await, 0);
    assert!(folder.path().join("other").exists(), "what is not ours stays");
}

#[tokio::test]
async fn a_folder_whose_words_are_gone_or_cut_off_is_made_anew() {
    let folder = TempDir::new().expect("a folder");
    for damage in [|file: &Path| fs::remove_file(file), |file: &Path| fs::write(file, "x")] {
        {
            let index = TantivySearch::folder(folder.path()).expect("an index");
            assert_eq!(index.position().await, Ok(None), "it is new");
            let changes = vec![put(page("s", "a", "Alpha", "text"))];
            index.apply(changes, Some(FeedPos("1".into()))).await.expect("applied");
        }
        for entry in fs::read_dir(folder.path().join("tantivy")).expect("a folder") {
            let file = entry.expect("a file").path();
            if file.extension().is_some_and(|end| end == "term" || end == "store") {
                damage(&file).expect("damaged");
            }
        }
    }
    let index = TantivySearch::folder(folder.path()).expect("an index");
    assert_eq!(index.position().await, Ok(None));
    assert_eq!(count(&index, "alpha").await, 0);
}

#[tokio::test]
async fn a_folder_that_another_process_uses_is_not_taken_from_it() {
    let folder = TempDir::new().expect("a folder");
    let index = TantivySearch::folder(folder.path()).expect("an index");
    index.apply(vec![put(page("s", "a", "Alpha", ""))], Some(FeedPos("1".into()))).await.expect("applied");
    // As a program of another version would find it.
    let meta = folder.path().join("tantivy/meta.json");
    let text = fs::read_to_string(&meta).expect("its description");
    fs::write(&meta, text.replace("\\\"form\\\":2", "\\\"form\\\":1")).expect("changed");
    let again = TantivySearch::folder(folder.path());
    assert!(matches!(again, Err(OpenError::InUse { .. })), "{again:?}");
    assert!(meta.exists());
    assert_eq!(count(&index, "alpha").await, 1);
}

#[tokio::test]
async fn a_batch_whose_caller_left_is_there_before_the_next_position() {
    let index = TantivySearch::in_memory().expect("an index");
    {
        let mut applying =
            Box::pin(index.apply(vec![put(page("s", "a", "Alpha", ""))], Some(FeedPos("1".into()))));
        // It is on its way to the thread, and nobody waits for it.
        assert!(is_pending(&mut applying).await);
    }
    assert_eq!(index.position().await, Ok(Some(FeedPos("1".into()))));
    assert_eq!(count(&index, "alpha").await, 1);
}

/// Tells whether a future is still pending after a look at it.
async fn is_pending(future: &mut (impl Future + Unpin)) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending()))
        .await
}

#[derive(Clone, Debug)]
enum Step {
    Put(usize, usize, String, String),
    Drop(usize, usize),
    DropSpace(usize),
    Commit,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || "([a-c]{1,2}|install(ed|ing)?|configuration|全文検索|検索)( ([a-c]{1,2}|instal|confguration|検索)){0,3}";
    let step = prop_oneof![
        6 => (0..3_usize, 0..6_usize, text(), text()).prop_map(|(s, p, title, text)| Step::Put(s, p, title, text)),
        2 => (0..3_usize, 0..6_usize).prop_map(|(s, p)| Step::Drop(s, p)),
        1 => (0..3_usize).prop_map(Step::DropSpace),
        2 => Just(Step::Commit),
    ];
    prop::collection::vec(step, 1..25)
}

fn queries() -> impl Strategy<Value = Vec<String>> {
    let query = prop_oneof![
        "[a-c]{1,2}( [a-c]{1,2})?",
        Just("install".to_owned()),
        Just("instal a".to_owned()),
        Just("confguration".to_owned()),
        Just("\"a b\"".to_owned()),
        Just("検索".to_owned()),
        Just("全".to_owned()),
    ];
    prop::collection::vec(query, 1..6)
}

async fn compare(steps: Vec<Step>, queries: Vec<String>) {
    let (ours, model) = (TantivySearch::in_memory().expect("an index"), MemSearch::new());
    let mut batch = Vec::new();
    let named = |n: usize| format!("s{n}");
    for step in steps.into_iter().chain([Step::Commit]) {
        match step {
            Step::Put(s, p, title, text) => batch.push(put(page(&named(s), &format!("p{p}"), &title, &text))),
            Step::Drop(s, p) => {
                let page = format!("p{p}").parse().expect("an id");
                batch.push(IndexChange::DropPage(space(&named(s)), page));
            }
            Step::DropSpace(s) => batch.push(IndexChange::DropSpace(space(&named(s)))),
            Step::Commit => {
                let batch = std::mem::take(&mut batch);
                ours.apply(batch.clone(), None).await.expect("applied");
                model.apply(batch, None).await.expect("applied");
            }
        }
    }
    for s in 0..3 {
        let space = space(&named(s));
        assert_eq!(ours.documents(&space).await, model.documents(&space).await);
    }
    for query in queries {
        let query = asks(&query);
        assert_eq!(ours.find_pages(&query).await, model.find_pages(&query).await, "{query:?}");
        assert_eq!(ours.find_spaces(&query, 2).await, model.find_spaces(&query, 2).await, "{query:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn it_finds_what_the_index_in_memory_finds(steps in steps(), queries in queries()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(compare(steps, queries));
    }
}
