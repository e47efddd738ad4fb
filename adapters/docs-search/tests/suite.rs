//! The conformance suite for the folder index, and tests of its own behaviour.

use std::{
    fs,
    ops::Deref,
    path::{Path, PathBuf},
};

use docs_memstore::MemSearch;
use docs_model::feed::FeedPos;
use docs_model::hash::Hash;
use docs_model::{OrgId, SpaceId};
use docs_ports::{
    SearchError, SearchIndex,
    search::{
        IndexChange, IndexedSpace, MAX_ADJACENCY_PAGES, PageDocument, Query, Scope, SearchQuery, Section,
    },
};
use docs_search::{OpenError, TantivySearch};
use proptest::prelude::*;
use tempfile::TempDir;

docs_ports::search_suite!(*Kept::new());

/// An index with its temporary folder.
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
        text: Hash::compute(text.as_bytes()),
        sections: vec![Section { anchor: None, heading: None, text: text.to_owned() }],
    }
}

fn put(page: PageDocument) -> IndexChange {
    IndexChange::PutPage(Box::new(page))
}

fn asks(text: &str) -> SearchQuery {
    let scope = Scope::Organization(org());
    SearchQuery { query: Query::parse(text), scope, after: None, limit: 100, tenant: "org".into() }
}

async fn count(index: &impl SearchIndex, text: &str) -> usize {
    index.find_pages(&asks(text)).await.expect("found").len()
}

#[tokio::test]
async fn committed_changes_and_position_persist() {
    let folder = TempDir::new().expect("a folder");
    let note = IndexedSpace {
        space: space("s"),
        organization: org(),
        root: Hash::compute(b"root"),
        generated: None,
    };
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
async fn index_folder_is_locked_while_open() {
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

/// Returns the path of the index files in a folder.
fn files_of(folder: &TempDir) -> PathBuf {
    folder.path().join("fulltext/index")
}

/// Returns the largest file with an extension in an index.
fn file_of(folder: &TempDir, extension: &str) -> PathBuf {
    let files = fs::read_dir(files_of(folder)).expect("files").map(|file| file.expect("a file").path());
    let own = files.filter(|file| file.extension().is_some_and(|own| own == extension));
    own.max_by_key(|file| fs::metadata(file).expect("metadata").len()).expect("a file")
}

fn overwrite(file: &Path, from: usize, with: &[u8]) {
    let mut bytes = fs::read(file).expect("the file");
    bytes[from..from + with.len()].copy_from_slice(with);
    fs::write(file, bytes).expect("damaged");
}

/// Replaces a text in the list of segments.
fn edit_meta(folder: &TempDir, from: &str, to: &str) {
    let file = files_of(folder).join("meta.json");
    let meta = fs::read_to_string(&file).expect("read");
    assert!(meta.contains(from), "{meta}");
    fs::write(file, meta.replace(from, to)).expect("written");
}

#[tokio::test]
async fn damaged_or_incompatible_index_is_recreated_empty() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("other"), "not ours").expect("written");
    fs::create_dir_all(folder.path().join("sqlite")).expect("made");
    let damages: [fn(&TempDir); 10] = [
        |folder| edit_meta(folder, "\"payload\": \"1 1\"", "\"payload\": \"2 1\""),
        |folder| edit_meta(folder, "headings", "heading"),
        |folder| edit_meta(folder, "{", "["),
        |folder| fs::remove_file(files_of(folder).join("meta.json")).expect("removed"),
        |folder| fs::remove_file(file_of(folder, "term")).expect("removed"),
        |folder| fs::write(file_of(folder, "idx"), "x").expect("written"),
        |folder| fs::write(file_of(folder, "store"), "no index ".repeat(1_000)).expect("written"),
        |folder| overwrite(&file_of(folder, "idx"), 10, &[0xff; 10]),
        |folder| overwrite(&file_of(folder, "store"), 20, &[0xff; 20]),
        |folder| overwrite(&file_of(folder, "fast"), 2, &[0xff; 4]),
    ];
    for damage in damages {
        {
            let index = TantivySearch::folder(folder.path()).expect("an index");
            assert_eq!(index.position().await, Ok(None), "it was made anew");
            let changes = vec![put(page("s", "a", "Alpha", "text"))];
            index.apply(changes, Some(FeedPos("1".into()))).await.expect("applied");
        }
        damage(&folder);
    }
    let index = TantivySearch::folder(folder.path()).expect("an index");
    assert_eq!(index.position().await, Ok(None));
    assert_eq!(count(&index, "alpha").await, 0);
    assert!(folder.path().join("other").exists(), "what is not ours stays");
    assert!(folder.path().join("sqlite").exists(), "what is not ours stays");
}

#[tokio::test]
async fn locked_folder_of_another_format_is_not_rebuilt() {
    let folder = TempDir::new().expect("a folder");
    let index = TantivySearch::folder(folder.path()).expect("an index");
    index.apply(vec![put(page("s", "a", "Alpha", ""))], Some(FeedPos("1".into()))).await.expect("applied");
    // The format version of a different release.
    edit_meta(&folder, "\"payload\": \"1 1\"", "\"payload\": \"2 1\"");
    let again = TantivySearch::folder(folder.path());
    assert!(matches!(again, Err(OpenError::InUse { .. })), "{again:?}");
    assert!(files_of(&folder).exists());
    assert_eq!(count(&index, "alpha").await, 1);
}

/// Changes the bytes of a file in place. Memory maps of the file see the change.
fn damage_in_place(file: &Path) {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let mut file = fs::OpenOptions::new().write(true).open(file).expect("the file");
    let length = file.metadata().expect("metadata").len();
    file.seek(SeekFrom::Start(0)).expect("at the start");
    file.write_all(&vec![0xff; usize::try_from(length).expect("a size") - 200]).expect("damaged");
}

#[tokio::test]
async fn late_damage_is_reported_until_the_index_is_cleared() {
    let folder = TempDir::new().expect("a folder");
    let text = (0..1_000).map(|n| format!("word{n} ")).collect::<String>();
    let changes = || vec![put(page("s", "a", "Alpha", &text))];
    let at = Some(FeedPos("1".into()));
    let index = TantivySearch::folder(folder.path()).expect("an index");
    index.apply(changes(), at.clone()).await.expect("applied");
    assert_eq!(index.position().await, Ok(at.clone()));
    damage_in_place(&file_of(&folder, "store"));
    let is_damaged = |error: Option<SearchError>| matches!(error, Some(SearchError::Damaged(_)));
    assert!(is_damaged(index.find_pages(&asks("alpha")).await.err()));
    assert!(is_damaged(index.position().await.err()));
    assert!(is_damaged(index.apply(changes(), at.clone()).await.err()));
    index.clear().await.expect("cleared");
    assert_eq!(index.position().await, Ok(None));
    assert_eq!(count(&index, "alpha").await, 0);
    index.apply(changes(), at.clone()).await.expect("applied");
    assert_eq!(count(&index, "alpha").await, 1);
    assert_eq!(index.position().await, Ok(at));
}

#[tokio::test]
async fn deleted_pages_leave_few_files() {
    let folder = TempDir::new().expect("a folder");
    let index = TantivySearch::folder(folder.path()).expect("an index");
    for edit in 0..30 {
        let title = format!("Alpha{} number", " beta".repeat(edit));
        let pages =
            (0..20).map(|n| put(page("s", &format!("p{n}"), &title, &format!("text{n} of edit{edit}"))));
        index.apply(pages.collect(), None).await.expect("applied");
    }
    let removed = |n| IndexChange::DropPage(space("s"), format!("p{n}").parse().expect("an id"));
    index.apply((0..10).map(removed).collect(), None).await.expect("applied");
    assert_eq!(count(&index, "alpha").await, 10);
    index.apply(vec![IndexChange::DropSpace(space("s"))], None).await.expect("applied");
    assert_eq!(count(&index, "alpha").await, 0);
    drop(index);
    let files = fs::read_dir(files_of(&folder)).expect("files").count();
    assert!(files < 100, "merged segments are removed: {files}");
}

#[tokio::test]
async fn batch_is_applied_even_if_its_caller_is_dropped() {
    let index = Kept::new();
    {
        let mut applying =
            Box::pin(index.apply(vec![put(page("s", "a", "Alpha", ""))], Some(FeedPos("1".into()))));
        // The task is queued, and the receiver of its reply is dropped.
        assert!(is_pending(&mut applying).await);
    }
    assert_eq!(index.position().await, Ok(Some(FeedPos("1".into()))));
    assert_eq!(count(&*index, "alpha").await, 1);
}

/// Polls a future once. Returns `true` if it is pending.
async fn is_pending(future: &mut (impl Future + Unpin)) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending()))
        .await
}

/// Fills an index with pages that have a text each.
async fn fill(index: &impl SearchIndex, texts: impl Iterator<Item = String>) {
    let pages = texts.enumerate().map(|(n, text)| put(page("s", &format!("p{n}"), "Title", &text)));
    index.apply(pages.collect(), None).await.expect("applied");
}

#[tokio::test]
async fn words_on_too_many_pages_have_no_adjacency_bonus() {
    for (pages, is_first) in [(MAX_ADJACENCY_PAGES, true), (MAX_ADJACENCY_PAGES + 1, false)] {
        let texts = || (0..pages).map(|n| if n == 7 { "one two" } else { "two one" }.to_owned());
        let (folder, memory) = (Kept::new(), MemSearch::new());
        fill(&*folder, texts()).await;
        fill(&memory, texts()).await;
        for hits in [folder.find_pages(&asks("one two ")).await, memory.find_pages(&asks("one two ")).await] {
            let hits = hits.expect("found");
            assert_eq!(hits[0].rank.score > hits[1].rank.score, is_first, "{pages}");
        }
    }
}

#[tokio::test]
async fn the_last_word_of_a_phrase_matches_a_bounded_number_of_words() {
    let index = Kept::new();
    fill(&*index, (0..1_010).map(|n| format!("one word{n:04}"))).await;
    let query = SearchQuery { limit: 2_000, ..asks("one_word") };
    assert_eq!(index.find_pages(&query).await.expect("found").len(), 1_000);
}

#[derive(Clone, Debug)]
enum Step {
    Put { space: usize, page: usize, organization: usize, title: String, texts: Vec<String> },
    Drop(usize, usize),
    DropSpace(usize),
    Commit,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || "([a-c]{1,2}|aB|install(ed|ing)?|configuration|全文検索|検索)( ([a-c]{1,2}|instal|confguration|検索)){0,3}";
    let texts = prop::collection::vec(text(), 0..4);
    let put = (0..3_usize, 0..6_usize, 0..5_usize, text(), texts).prop_map(
        |(space, page, organization, title, texts)| Step::Put { space, page, organization, title, texts },
    );
    let step = prop_oneof![
        6 => put,
        2 => (0..3_usize, 0..6_usize).prop_map(|(s, p)| Step::Drop(s, p)),
        1 => (0..3_usize).prop_map(Step::DropSpace),
        2 => Just(Step::Commit),
    ];
    prop::collection::vec(step, 1..25)
}

fn queries() -> impl Strategy<Value = Vec<String>> {
    let query = prop_oneof![
        "[a-c]{1,2}( [a-c]{1,2})?",
        "\"[a-c]{1,2} [a-c]{1,2}\"",
        Just("install".to_owned()),
        Just("installs ".to_owned()),
        Just("insta".to_owned()),
        Just("b_c".to_owned()),
        Just("instal a".to_owned()),
        Just("confguration".to_owned()),
        Just("confguration ".to_owned()),
        Just("\"a b\"".to_owned()),
        Just("検索".to_owned()),
        Just("全".to_owned()),
    ];
    prop::collection::vec(query, 1..6)
}

/// Returns the page of a step. The first string is the description. Each further string is a section, and all sections
/// except the first have a heading.
fn page_of(step: &Step) -> Option<PageDocument> {
    let Step::Put { space, page: name, organization, title, texts } = step else { return None };
    let section = |(at, text): (usize, &String)| Section {
        anchor: (at > 0).then(|| format!("part-{at}")),
        heading: (at > 0).then(|| text.split(' ').next().unwrap_or_default().to_owned()),
        text: text.clone(),
    };
    let named = if *organization == 0 { "other" } else { "org" };
    Some(PageDocument {
        organization: named.parse().expect("an id"),
        description: texts.first().cloned(),
        text: Hash::compute(format!("{texts:?}").as_bytes()),
        sections: texts.iter().skip(1).enumerate().map(section).collect(),
        ..page(&format!("s{space}"), &format!("p{name}"), title, "")
    })
}

async fn compare(steps: Vec<Step>, queries: Vec<String>) {
    let (ours, model) = (Kept::new(), MemSearch::new());
    let mut batch = Vec::new();
    let named = |n: usize| space(&format!("s{n}"));
    for step in steps.into_iter().chain([Step::Commit]) {
        batch.extend(page_of(&step).map(put));
        match step {
            Step::Put { .. } => {}
            Step::Drop(s, p) => {
                batch.push(IndexChange::DropPage(named(s), format!("p{p}").parse().expect("an id")));
            }
            Step::DropSpace(s) => batch.push(IndexChange::DropSpace(named(s))),
            Step::Commit => {
                let batch = std::mem::take(&mut batch);
                ours.apply(batch.clone(), None).await.expect("applied");
                model.apply(batch, None).await.expect("applied");
            }
        }
    }
    for s in 0..3 {
        assert_eq!(ours.documents(&named(s)).await, model.documents(&named(s)).await);
    }
    let spaces = Scope::Spaces([named(0), named(2)].into());
    let but = Scope::OrganizationBut(org(), [named(1)].into());
    for query in queries {
        let query = asks(&query);
        for scope in [query.scope.clone(), spaces.clone(), but.clone()] {
            let query = SearchQuery { scope, ..query.clone() };
            assert_eq!(ours.find_pages(&query).await, model.find_pages(&query).await, "{query:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn results_match_the_in_memory_index(steps in steps(), queries in queries()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(compare(steps, queries));
    }
}
