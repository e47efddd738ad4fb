//! The conformance suite: tests of the [`SearchIndex`] contract that every index must pass.
//!
//! A crate that implements an index generates the tests with one line:
//!
//! ```text
//! docs_ports::search_suite!(MyIndex::new());
//! ```
//!
//! The crate needs tokio with `macros` among its dev-dependencies. The argument creates an empty index.

use std::collections::BTreeSet;

use docs_model::{OrgId, PageId, SpaceId, feed::FeedPos, hash::Hash};

use super::{
    Field, IndexChange, IndexedSpace, MAX_EXCERPTS, PageDocument, PageHit, Query, Rank, Scope, SearchIndex,
    SearchQuery, Section,
};

/// Generates a test of each requirement of the [conformance suite](crate::search::conformance).
#[macro_export]
macro_rules! search_suite {
    ($index:expr) => {
        $crate::search_suite! { $index;
            a_batch_and_its_position_are_one,
            a_page_is_replaced_and_removed,
            a_phrase_stands_in_one_place,
            a_space_is_removed_whole,
            a_page_with_typos_comes_after_all_others,
            adjacent_words_of_a_query_rank_higher,
            names_in_code_are_found_whole_and_by_part,
            title_outranks_heading_and_heading_outranks_text,
            an_inflection_is_found_after_the_word,
            one_typo_matches_from_four_letters_and_two_from_eight,
            case_and_diacritics_do_not_matter,
            clearing_forgets_everything,
            every_word_has_to_be_somewhere_on_the_page,
            hits_show_where_the_query_is_met_and_of_which_text,
            only_what_is_in_scope_is_found,
            pages_come_in_the_same_order_whole_and_in_parts,
            scores_do_not_depend_on_what_else_was_indexed,
            scripts_without_spaces_are_found,
            strange_queries_find_nothing_and_break_nothing,
            the_last_word_may_be_a_beginning,
            what_is_noted_of_spaces_is_listed,
        }
    };
    ($index:expr; $($name:ident,)*) => {$(
        #[tokio::test]
        async fn $name() {
            $crate::search::conformance::$name(&$index).await;
        }
    )*};
}

fn org(name: &str) -> OrgId {
    name.parse().expect("an id")
}

fn space(name: &str) -> SpaceId {
    name.parse().expect("an id")
}

/// Creates a page from a title and its sections as pairs of heading and text.
fn page(at: (&str, &str), title: &str, sections: &[(&str, &str)]) -> PageDocument {
    let section = |(heading, text): &(&str, &str)| Section {
        anchor: (!heading.is_empty()).then(|| heading.to_lowercase()),
        heading: (!heading.is_empty()).then(|| (*heading).to_owned()),
        text: (*text).to_owned(),
    };
    PageDocument {
        organization: org("org"),
        space: space(at.0),
        page: at.1.parse().expect("an id"),
        title: title.to_owned(),
        description: None,
        text: Hash::compute(format!("{sections:?}").as_bytes()),
        sections: sections.iter().map(section).collect(),
    }
}

async fn put(index: &impl SearchIndex, pages: Vec<PageDocument>) {
    let changes = pages.into_iter().map(|page| IndexChange::PutPage(Box::new(page))).collect();
    index.apply(changes, None).await.expect("applied");
}

fn asks(text: &str) -> SearchQuery {
    let scope = Scope::Organization(org("org"));
    SearchQuery { query: Query::parse(text), scope, after: None, limit: 100, tenant: "org".into() }
}

async fn hits(index: &impl SearchIndex, text: &str) -> Vec<PageHit> {
    index.find_pages(&asks(text)).await.expect("found")
}

/// Returns the pages that match a query, in order.
async fn found(index: &impl SearchIndex, text: &str) -> Vec<String> {
    hits(index, text).await.iter().map(|hit| hit.page.to_string()).collect()
}

/// Returns the pages that match a query, in any order.
async fn found_all(index: &impl SearchIndex, text: &str) -> BTreeSet<String> {
    found(index, text).await.into_iter().collect()
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// The position is stored with its batch, and is unchanged by a batch without one.
pub async fn a_batch_and_its_position_are_one(index: &impl SearchIndex) {
    assert_eq!(index.position().await, Ok(None));
    let at = FeedPos("7".into());
    let change = IndexChange::PutPage(Box::new(page(("s", "a"), "Alpha", &[])));
    index.apply(vec![change], Some(at.clone())).await.expect("applied");
    assert_eq!(index.position().await, Ok(Some(at.clone())));
    assert_eq!(found(index, "alpha").await, ["a"]);
    put(index, vec![page(("s", "b"), "Alpha", &[])]).await;
    assert_eq!(index.position().await, Ok(Some(at)));
    // Changes within a batch are applied in order.
    let (one, other) = (page(("s", "a"), "Beta", &[]), page(("s", "a"), "Gamma", &[]));
    let drop = IndexChange::DropPage(one.space.clone(), one.page.clone());
    let changes = vec![IndexChange::PutPage(Box::new(one)), drop, IndexChange::PutPage(Box::new(other))];
    index.apply(changes, Some(FeedPos("8".into()))).await.expect("applied");
    assert_eq!((found(index, "beta").await.len(), found(index, "gamma").await.len()), (0, 1));
    assert_eq!(index.position().await, Ok(Some(FeedPos("8".into()))));
}

/// Searches only return the latest version of a page, and no removed page.
pub async fn a_page_is_replaced_and_removed(index: &impl SearchIndex) {
    put(index, vec![page(("s", "a"), "Old", &[("", "former words")]), page(("t", "a"), "Old", &[])]).await;
    put(index, vec![page(("s", "a"), "New", &[("", "latter words")])]).await;
    assert_eq!(found(index, "former").await.len(), 0);
    assert_eq!(found(index, "latter").await, ["a"]);
    assert_eq!(hits(index, "old").await.len(), 1, "the page with the same id in another space is unchanged");
    let documents = index.documents(&space("s")).await.expect("documents");
    assert_eq!(documents, [page(("s", "a"), "New", &[("", "latter words")])]);
    let drop = |page: &str| IndexChange::DropPage(space("s"), page.parse().expect("an id"));
    index.apply(vec![drop("a"), drop("never")], None).await.expect("applied");
    assert_eq!(found(index, "words").await.len(), 0);
    assert_eq!(found(index, "old").await, ["a"]);
}

/// A quoted phrase only matches consecutive words within one title or section.
pub async fn a_phrase_stands_in_one_place(index: &impl SearchIndex) {
    let pages = vec![
        page(("s", "a"), "Requests", &[("", "A change request is reviewed.")]),
        page(("s", "b"), "Requests", &[("", "You request a change.")]),
        page(("s", "c"), "Change", &[("Requests", "They change"), ("", "request by request")]),
    ];
    put(index, pages).await;
    assert_eq!(found(index, "\"change request\"").await, ["a"]);
    assert_eq!(found_all(index, "change request").await, names(["a", "b", "c"]));
    assert_eq!(found(index, "\"change request\" reviewed").await, ["a"]);
    assert_eq!(found(index, "\"chang request\"").await.len(), 0, "no typos in a phrase");
}

/// A removed space has no hits and no metadata.
pub async fn a_space_is_removed_whole(index: &impl SearchIndex) {
    put(index, (0..30).map(|n| page(("s", &format!("p{n}")), "Page", &[])).collect()).await;
    put(index, vec![page(("t", "p0"), "Page", &[])]).await;
    let note = |name| IndexedSpace {
        space: space(name),
        organization: org("org"),
        root: Hash::compute(b"root"),
        generated: None,
    };
    let notes = vec![IndexChange::PutSpace(note("s")), IndexChange::PutSpace(note("t"))];
    index.apply(notes, None).await.expect("applied");
    index.apply(vec![IndexChange::DropSpace(space("s"))], None).await.expect("applied");
    assert_eq!(hits(index, "page").await.len(), 1);
    assert_eq!(index.indexed(&[space("s"), space("t")]).await, Ok(vec![None, Some(note("t"))]));
    assert_eq!(index.documents(&space("s")).await, Ok(Vec::new()));
    // A page that the same batch adds afterwards remains.
    let back = IndexChange::PutPage(Box::new(page(("t", "p1"), "Page", &[])));
    index.apply(vec![IndexChange::DropSpace(space("t")), back], None).await.expect("applied");
    assert_eq!(found(index, "page").await, ["p1"]);
}

/// A word in the title scores highest, followed by headings, the description and the text.
pub async fn title_outranks_heading_and_heading_outranks_text(index: &impl SearchIndex) {
    let described = PageDocument {
        description: Some("How webhooks work".to_owned()),
        ..page(("s", "description"), "Hooks", &[])
    };
    let pages = vec![
        page(("s", "text"), "One", &[("Two", "webhooks, webhooks, and webhooks")]),
        page(("s", "heading"), "One", &[("Webhooks", "three")]),
        page(("s", "title"), "All about webhooks", &[("Two", "three")]),
        page(("s", "whole"), "Webhooks", &[("Two", "three")]),
        page(("s", "typo"), "Webbooks", &[]),
        described,
    ];
    put(index, pages).await;
    assert_eq!(found(index, "webhooks").await, ["whole", "title", "heading", "description", "text", "typo"]);
    put(index, vec![page(("s", "often"), "One", &[("", &"webhooks ".repeat(40))])]).await;
    let order = found(index, "webhooks").await;
    assert_eq!(order[4..6], ["often".to_owned(), "text".to_owned()], "more occurrences rank higher");
}

/// A page that contains every word of a query is before each page that contains one of them only with a typo.
pub async fn a_page_with_typos_comes_after_all_others(index: &impl SearchIndex) {
    let pages = vec![
        page(("s", "typo"), "Configure a deploymint", &[("Configure", "configure, configure")]),
        page(("s", "text"), "One", &[("", "deployments that teams configured")]),
        page(("s", "whole"), "Configure a deployment", &[]),
    ];
    put(index, pages).await;
    assert_eq!(found(index, "configure deployment ").await, ["whole", "text", "typo"]);
    let first = SearchQuery { limit: 2, ..asks("configure deployment ") };
    let first = index.find_pages(&first).await.expect("found");
    assert_eq!(first.len(), 2);
    let second = SearchQuery { after: first.last().map(|hit| hit.rank), ..asks("configure deployment ") };
    let second = index.find_pages(&second).await.expect("found");
    assert_eq!(second.iter().map(|hit| hit.page.as_str()).collect::<Vec<_>>(), ["typo"]);
}

/// Consecutive words of a query score higher where they are adjacent.
pub async fn adjacent_words_of_a_query_rank_higher(index: &impl SearchIndex) {
    let pages = vec![
        page(("s", "apart"), "One", &[("", "merge the change, then request it")]),
        page(("s", "near"), "One", &[("", "then it is merged: change requests")]),
        page(("s", "other"), "One", &[("", "merge a request for a change")]),
    ];
    put(index, pages).await;
    let order = found(index, "change request ").await;
    assert_eq!((order.len(), order[0].as_str()), (3, "near"));
}

/// A name such as `snake_case`, `camelCase` or `a::b` is found by its whole text and by its parts. The whole word is
/// before a part.
pub async fn names_in_code_are_found_whole_and_by_part(index: &impl SearchIndex) {
    let pages = vec![
        page(("s", "snake"), "One", &[("", "Set max_pred_locks to 5.")]),
        page(("s", "camel"), "Two", &[("", "Call useState in v1.2 of the hook.")]),
        page(("s", "path"), "Three", &[("", "Use std::collections for it.")]),
        page(("s", "words"), "Four", &[("", "the state of a pred and 2 locks of v1")]),
    ];
    put(index, pages).await;
    for (query, expected) in [
        ("max_pred_locks", &["snake"][..]),
        ("max_pred_lo", &["snake"]),
        ("pred_locks", &["snake"]),
        ("useState", &["camel"]),
        ("usestate", &["camel"]),
        ("useSt", &["camel"]),
        ("states ", &["words", "camel"]),
        ("state", &["words", "camel"]),
        ("v1.2", &["camel"]),
        ("std::collections", &["path"]),
        ("collections", &["path"]),
    ] {
        assert_eq!(found(index, query).await, expected, "{query}");
    }
}

/// Words of at least four letters may have one typo, words of at least eight letters two.
pub async fn one_typo_matches_from_four_letters_and_two_from_eight(index: &impl SearchIndex) {
    let text = "cats live under configuration of deployments in version v1.20";
    put(index, vec![page(("s", "a"), "Title", &[("", text)])]).await;
    for (query, is_found) in [
        ("lvie under", true),
        ("liive under", true),
        ("luve under", true),
        ("evil under", false),
        ("cot under", false),
        ("deploiment under", true),
        ("configruaton under", true),
        ("cnfigruaton under", false),
        ("v1 21 under", false),
        ("vesrion under", true),
    ] {
        assert_eq!(found(index, query).await.len(), usize::from(is_found), "{query}");
    }
}

/// A word finds its inflections, after the pages with the word itself. A phrase is literal.
pub async fn an_inflection_is_found_after_the_word(index: &impl SearchIndex) {
    put(
        index,
        vec![
            page(("s", "a"), "One", &[("", "repositories and policies")]),
            page(("s", "b"), "Two", &[("", "a repository with a policy")]),
            page(("s", "c"), "Three", &[("", "a repose")]),
        ],
    )
    .await;
    assert_eq!(found(index, "repository policy ").await, ["b", "a"]);
    assert_eq!(found(index, "repositories").await, ["a", "b"]);
    assert_eq!(found(index, "\"policies\"").await, ["a"]);
    assert_eq!(found(index, "\"a repositories\"").await.len(), 0);
    let hit = &hits(index, "repository ").await[1];
    assert_eq!(hit.excerpts.len(), 1, "{hit:?}");
}

/// Words are compared without case and diacritics are ignored.
pub async fn case_and_diacritics_do_not_matter(index: &impl SearchIndex) {
    put(index, vec![page(("s", "a"), "Über die Straße", &[("Crème Brûlée", "ΟΔΟΣ Привет")])]).await;
    for query in ["uber", "ÜBER", "strasse", "creme brulee", "cre\u{300}me", "οδός", "привет"] {
        assert_eq!(found(index, query).await, ["a"], "{query}");
    }
}

/// A cleared index is equal to an empty one.
pub async fn clearing_forgets_everything(index: &impl SearchIndex) {
    let note = IndexedSpace {
        space: space("s"),
        organization: org("org"),
        root: Hash::compute(b"root"),
        generated: None,
    };
    let changes =
        vec![IndexChange::PutPage(Box::new(page(("s", "a"), "Alpha", &[]))), IndexChange::PutSpace(note)];
    index.apply(changes, Some(FeedPos("1".into()))).await.expect("applied");
    index.clear().await.expect("cleared");
    assert_eq!(found(index, "alpha").await.len(), 0);
    assert_eq!(index.position().await, Ok(None));
    assert_eq!(index.spaces(None, 10).await, Ok(Vec::new()));
    put(index, vec![page(("s", "b"), "Alpha", &[])]).await;
    assert_eq!(found(index, "alpha").await, ["b"]);
}

/// The words may be in different fields. A page that lacks one of them does not match.
pub async fn every_word_has_to_be_somewhere_on_the_page(index: &impl SearchIndex) {
    let pages = vec![
        page(("s", "a"), "Install", &[("Linux", "with a package")]),
        page(("s", "b"), "Install", &[("Windows", "with a package")]),
    ];
    put(index, pages).await;
    assert_eq!(found(index, "install linux package").await, ["a"]);
    assert_eq!(found_all(index, "package install").await, names(["a", "b"]));
    assert_eq!(found(index, "install linux windows").await.len(), 0);
}

/// A hit contains excerpts of the latest text of the page, and the hash of that text.
pub async fn hits_show_where_the_query_is_met_and_of_which_text(index: &impl SearchIndex) {
    let sections: Vec<(String, &str)> = (0..20).map(|n| (format!("Part {n}"), "says needle here")).collect();
    let sections: Vec<(&str, &str)> =
        sections.iter().map(|(heading, text)| (heading.as_str(), *text)).collect();
    let (old, new) = (page(("s", "a"), "Title", &[("", "old needle")]), page(("s", "a"), "Title", &sections));
    for page in [old, new] {
        put(index, vec![page.clone()]).await;
        let asked = asks("needle");
        let pages = index.find_pages(&asked).await.expect("found");
        let [hit] = pages.as_slice() else { panic!("one page matches: {pages:?}") };
        assert_eq!(*hit, PageHit::new(hit.rank, &asked.query, &page));
        assert_eq!((hit.text, hit.excerpts.len()), (page.text, page.sections.len().min(MAX_EXCERPTS)));
    }
}

/// Scopes: an organization, an organization except some spaces, or a set of spaces.
pub async fn only_what_is_in_scope_is_found(index: &impl SearchIndex) {
    let other = PageDocument { organization: org("other"), ..page(("x", "x"), "Page", &[]) };
    let pages = vec![page(("s", "a"), "Page", &[]), page(("t", "b"), "Page", &[]), other];
    put(index, pages).await;
    assert_eq!(found_all(index, "page").await, names(["a", "b"]));
    for (spaces, expected) in [
        (vec![], names([])),
        (vec!["t"], names(["b"])),
        (vec!["s", "x"], names(["a", "x"])),
        (vec!["unknown"], names([])),
    ] {
        let scope = Scope::Spaces(spaces.into_iter().map(space).collect());
        let hits = index.find_pages(&SearchQuery { scope, ..asks("page") }).await.expect("found");
        assert_eq!(hits.iter().map(|hit| hit.page.to_string()).collect::<BTreeSet<_>>(), expected);
    }
    for (but, expected) in [
        (vec![], names(["a", "b"])),
        (vec!["t", "x"], names(["a"])),
        (vec!["s", "t"], names([])),
        (vec!["unknown"], names(["a", "b"])),
    ] {
        let scope = Scope::OrganizationBut(org("org"), but.into_iter().map(space).collect());
        let hits = index.find_pages(&SearchQuery { scope, ..asks("page") }).await.expect("found");
        assert_eq!(hits.iter().map(|hit| hit.page.to_string()).collect::<BTreeSet<_>>(), expected);
    }
}

/// Paging returns the same order as a single request, for any page size.
pub async fn pages_come_in_the_same_order_whole_and_in_parts(index: &impl SearchIndex) {
    for n in 0..40 {
        let title = ["Page", "A page of words", "Pages", "Text"][n % 4];
        put(index, vec![page(("s", &format!("p{n}")), title, &[("", "a page")])]).await;
    }
    let whole = hits(index, "page").await;
    assert_eq!(whole.len(), 40);
    assert!(whole.is_sorted_by(|a, b| a.rank < b.rank), "the order follows the ranks");
    for limit in [1, 7, 40] {
        let (mut parts, mut after) = (Vec::new(), None);
        loop {
            let query = SearchQuery { after, limit, ..asks("page") };
            let part = index.find_pages(&query).await.expect("found");
            let Some(last) = part.last() else { break };
            assert!(part.len() <= limit);
            after = Some(last.rank);
            parts.extend(part);
        }
        assert_eq!(parts, whole, "{limit}");
    }
    assert_eq!(index.find_pages(&SearchQuery { limit: 0, ..asks("page") }).await, Ok(Vec::new()));
}

/// A page has the same rank in another index with a different history.
pub async fn scores_do_not_depend_on_what_else_was_indexed(index: &impl SearchIndex) {
    let ours =
        page(("s", "a"), "Git sync", &[("Set up", "Git sync keeps a space and a repository in sync.")]);
    put(index, vec![ours.clone()]).await;
    let queries = ["git", "sync git", "\"git sync\"", "spac", "repositroy"];
    let mut before: Vec<Rank> = Vec::new();
    for query in queries {
        before.extend(hits(index, query).await.first().map(|hit| hit.rank));
    }
    assert_eq!(before.len(), queries.len());
    for n in 0..25 {
        put(index, vec![page(("s", &format!("p{n}")), "Git", &[("Sync", "git sync space repository")])])
            .await;
        put(index, vec![ours.clone()]).await;
    }
    for (query, rank) in queries.into_iter().zip(before) {
        let now = hits(index, query).await.into_iter().find(|hit| hit.page == ours.page);
        assert_eq!(now.map(|hit| hit.rank), Some(rank), "{query}");
    }
    let words = ours.tokens(Field::Title).count();
    assert_eq!(words, 2, "the suite and the index tokenize alike");
}

/// Text in scripts without spaces is matched by any substring.
pub async fn scripts_without_spaces_are_found(index: &impl SearchIndex) {
    let pages = vec![
        page(("s", "ja"), "全文検索エンジン", &[("設定", "東京都の検索について説明します。")]),
        page(("s", "zh"), "安装指南", &[("", "请先安装软件，然后重启。")]),
        page(("s", "ko"), "설치 안내", &[("", "먼저 프로그램을 설치하세요.")]),
        page(("s", "th"), "การติดตั้ง", &[("", "ติดตั้งโปรแกรมก่อน")]),
        page(("s", "mix"), "API検索v2", &[]),
    ];
    put(index, pages).await;
    for (query, expected) in [
        ("検索エンジン", names(["ja"])),
        ("検索", names(["ja", "mix"])),
        ("検", names(["ja", "mix"])),
        ("京都", names(["ja"])),
        ("都", names(["ja"])),
        ("索検", names([])),
        ("安装", names(["zh"])),
        ("安装 重启", names(["zh"])),
        ("装软", names(["zh"])),
        ("프로그램", names(["ko"])),
        ("설치", names(["ko"])),
        ("ติดตั้ง", names(["th"])),
        ("ｴﾝｼﾞﾝ", names(["ja"])),
        ("api", names(["mix"])),
        ("\"api検索\"", names(["mix"])),
    ] {
        assert_eq!(found_all(index, query).await, expected, "{query}");
    }
}

/// Every query returns a result.
pub async fn strange_queries_find_nothing_and_break_nothing(index: &impl SearchIndex) {
    put(index, vec![page(("s", "a"), "Title", &[("", "and or not in to")])]).await;
    let long = "x".repeat(512);
    let many = (0..128).map(|n| format!("w{n} ")).collect::<String>();
    let stars = "*".repeat(512);
    for query in ["", " ", "\"", "\"\"", "***", "?", "\\", "^$", "\u{0}", "(", &stars, &long, &many] {
        assert_eq!(found(index, query).await.len(), 0, "{query}");
    }
    // Punctuation is ignored, and operators of other query languages are plain words.
    for query in ["AND OR NOT", "title:and", "and*", "+and -or", "[in TO not]", "\"and or\" not"] {
        assert_eq!(found(index, query).await, ["a"], "{query}");
    }
    assert_eq!(found(index, "and~2").await.len(), 0, "the page says no 2");
}

/// The last word matches as a prefix, as in search-as-you-type.
pub async fn the_last_word_may_be_a_beginning(index: &impl SearchIndex) {
    put(index, vec![page(("s", "a"), "Configuration", &[("", "of the server")])]).await;
    for (query, is_found) in [
        ("conf", true),
        ("c", true),
        ("server conf", true),
        ("conf server", false),
        ("onfig", false),
        ("configurations", true),
    ] {
        assert_eq!(found(index, query).await.len(), usize::from(is_found), "{query}");
    }
}

/// Spaces with metadata are listed in order of their ids, in pages.
pub async fn what_is_noted_of_spaces_is_listed(index: &impl SearchIndex) {
    let note = |name: &str, root: &[u8]| {
        IndexChange::PutSpace(IndexedSpace {
            space: space(name),
            organization: org("org"),
            root: Hash::compute(root),
            generated: None,
        })
    };
    for name in ["c", "a", "e", "b", "d"] {
        index.apply(vec![note(name, b"one")], None).await.expect("applied");
    }
    index.apply(vec![note("c", b"two"), IndexChange::DropSpace(space("d"))], None).await.expect("applied");
    let (mut all, mut after): (Vec<SpaceId>, Option<SpaceId>) = (Vec::new(), None);
    loop {
        let part = index.spaces(after.as_ref(), 2).await.expect("listed");
        if part.is_empty() {
            break;
        }
        after = part.last().cloned();
        all.extend(part);
    }
    assert_eq!(all.iter().map(SpaceId::as_str).collect::<Vec<_>>(), ["a", "b", "c", "e"]);
    let noted = index.indexed(&[space("c"), space("d")]).await.expect("noted");
    assert_eq!(noted[0].as_ref().map(|noted| noted.root), Some(Hash::compute(b"two")));
    assert_eq!(noted[1], None);
    let no_page: Vec<PageId> = Vec::new();
    let pages = index.documents(&space("a")).await.expect("documents");
    assert_eq!(pages.into_iter().map(|page| page.page).collect::<Vec<_>>(), no_page);
}
