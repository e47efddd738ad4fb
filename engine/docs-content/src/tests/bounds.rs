//! Tests of the page tree limits for all kinds of changes, and of large batches of edits.

use docs_model::{
    MAX_PAGE_LEVELS, MAX_PATH_BYTES, MAX_RECORD_BYTES, MAX_REUSABLES, MAX_SIBLINGS, MAX_SPACE_FILES,
    MAX_SPACE_PAGES,
};

use super::*;

fn refused(result: ContentResult<EditOutcome>) -> (usize, &'static str, String) {
    match result {
        Err(ContentError::Invalid { index, field, message }) => (index, field, message),
        other => panic!("refused, but {other:?}"),
    }
}

fn empty(content: &Content) -> Hash {
    now(content.empty_root(DOMAIN)).unwrap()
}

/// Returns edits that insert a chain of pages, each a child of the previous one.
fn chain(first: usize, levels: usize, title: &str) -> Vec<Edit> {
    (0..levels).map(|n| insert(id(first + n), (n > 0).then(|| id(first + n - 1)), None, title)).collect()
}

fn move_into(page: usize, into: Option<usize>) -> Edit {
    Edit::MovePage { page: id(page), into: Some(into.map(id)), at: None }
}

#[test]
fn many_inserts_write_the_nodes_of_the_result_once() {
    let content = content();
    let root = empty(&content);
    let edits: Vec<Edit> = (0..5_000).map(|n| insert(id(n), None, None, "a")).collect();
    let edited = now(content.edit(DOMAIN, root, time(0), &edits)).unwrap();
    let tree = now(content.view(DOMAIN, edited.root).tree()).unwrap();
    let slugs: Vec<&str> = tree.pages().iter().map(|page| page.entry.slug.as_str()).collect();
    assert_eq!((slugs[0], slugs[1], slugs[4_999]), ("a", "a-2", "a-5000"));
    // Three entries per page in leaves of 16, and the nodes above them.
    assert!(edited.cost.nodes_written < 3 * 5_000 / 16 * 5 / 4, "{} nodes", edited.cost.nodes_written);
    sound(&content, edited.root);
}

#[test]
fn edits_at_once_make_what_edits_one_by_one_make() {
    let content = content();
    let start = empty(&content);
    let file = |name: &str| FileEntry {
        name: name.into(),
        content_type: "image/png".into(),
        size: 3,
        dimensions: None,
        blob: Hash::compute(b"png"),
        parts: None,
        git: None,
        clash: JsonText::default(),
    };
    let put =
        |n: usize, name: &str| Edit::PutFile { file: format!("f{n}").parse().unwrap(), entry: file(name) };
    let rename = |n: usize, slug: &str| Edit::UpdatePage {
        page: id(n),
        fields: Box::new(PagePatch { slug: Some(slug.into()), ..PagePatch::default() }),
    };
    let edits = [
        insert(id(1), None, None, "a"),
        insert(id(2), None, None, "a"),
        insert(id(3), Some(id(2)), None, "a"),
        put(1, "x.png"),
        put(2, "x.png"),
        put(1, "y.png"),
        put(3, "x.png"),
        rename(2, "a-much-longer-slug"),
        insert(id(4), None, None, "a"),
        insert(id(5), None, Some(0), "a"),
        insert(id(6), None, None, "a"),
        Edit::SetBody { page: id(6), body: "[x](/pages/page00003) text\n".into() },
        move_into(3, Some(5)),
        Edit::DeleteFile { file: "f2".parse().unwrap() },
        put(4, "x.png"),
        Edit::DeletePage { page: id(2) },
        insert(id(7), Some(id(5)), None, "a"),
        insert(id(2), Some(id(7)), None, "again"),
    ];
    let together = apply(&content, start, &edits);
    let one_by_one = edits.iter().fold(start, |root, edit| apply(&content, root, std::slice::from_ref(edit)));
    assert_eq!(outline(&content, together), outline(&content, one_by_one));
    assert_eq!(together, one_by_one);
    sound(&content, together);
}

#[test]
fn levels_are_bounded_for_inserts_moves_and_imports() {
    let content = content();
    let root = apply(&content, empty(&content), &chain(0, MAX_PAGE_LEVELS, "a"));
    let below = insert(id(900), Some(id(MAX_PAGE_LEVELS - 1)), None, "a");
    let (_, field, message) = refused(now(content.edit(DOMAIN, root, time(0), &[below])));
    assert_eq!((field, message), ("into", format!("exceeds the limit of {MAX_PAGE_LEVELS} levels of pages")));
    let root = apply(&content, root, &[insert(id(901), None, None, "b")]);
    let (_, field, _) = refused(now(content.edit(DOMAIN, root, time(0), &[move_into(0, Some(901))])));
    assert_eq!(field, "into");
    let root = apply(&content, root, &[move_into(1, Some(901))]);
    sound(&content, root);
    let items = (0..=MAX_PAGE_LEVELS).map(|n| {
        let parent = (n > 0).then(|| id(n - 1));
        BuildItem::Page(Box::new(BuildPage::new(
            id(n),
            parent,
            PageKind::Document,
            PagePatch::from_title("a"),
        )))
    });
    let built = now(content.build(DOMAIN, time(0), items));
    assert!(
        matches!(built, Err(ContentError::Invalid { index: MAX_PAGE_LEVELS, field: "parent", .. })),
        "{built:?}"
    );
}

#[test]
fn merges_of_many_moves_keep_to_the_levels() {
    let content = content();
    let pages: Vec<Edit> = (0..2 * MAX_PAGE_LEVELS).map(|n| insert(id(n), None, None, "a")).collect();
    let base = apply(&content, empty(&content), &pages);
    // One side moves every second page into the previous page, the other side moves the remaining pages.
    let moves = |first: usize| -> Vec<Edit> {
        (first..2 * MAX_PAGE_LEVELS).step_by(2).map(|n| move_into(n, Some(n - 1))).collect()
    };
    let (ours, theirs) = (apply(&content, base, &moves(1)), apply(&content, base, &moves(2)));
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours, theirs }));
    assert!(matches!(merged, Err(ContentError::TooLarge(_))), "{merged:?}");
    let theirs = apply(&content, base, &moves(2)[..MAX_PAGE_LEVELS / 2 - 1]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours, theirs })).unwrap();
    sound(&content, merged.root);
}

#[test]
fn paths_are_bounded_for_inserts_moves_renames_and_reverts() {
    let content = content();
    let long = "x".repeat(100);
    let levels = MAX_PATH_BYTES.div_ceil(101) - 1;
    let root = apply(&content, empty(&content), &chain(0, levels, &long));
    let rest = MAX_PATH_BYTES - (101 * levels - 1) - 1;
    let fits = insert(id(100), Some(id(levels - 1)), None, &"y".repeat(rest));
    let full = apply(&content, root, &[fits]);
    let rename = |slug: &str| Edit::UpdatePage {
        page: id(100),
        fields: Box::new(PagePatch { slug: Some(slug.into()), ..PagePatch::default() }),
    };
    let over = "y".repeat(rest + 1);
    let refusals = [
        (root, vec![insert(id(101), Some(id(levels - 1)), None, &over)]),
        (full, vec![rename(&over)]),
        (full, vec![insert(id(101), None, None, "z"), move_into(0, Some(101))]),
    ];
    for (root, edits) in refusals {
        let (_, field, message) = refused(now(content.edit(DOMAIN, root, time(0), &edits)));
        assert_eq!(field, "slug", "{message}");
        assert!(message.contains(&MAX_PATH_BYTES.to_string()), "{message}");
    }
    // Reverting restores the old slug of the top-level page. Paths below it have since become longer.
    let short = Edit::UpdatePage {
        page: id(0),
        fields: Box::new(PagePatch { slug: Some("s".into()), ..PagePatch::default() }),
    };
    let shortened = apply(&content, full, &[short, rename(&over)]);
    let back = Edit::RevertPage { page: id(0), to: full };
    let (_, field, _) = refused(now(content.edit(DOMAIN, shortened, time(0), &[back])));
    assert_eq!(field, "page");
}

fn documents(range: std::ops::Range<usize>, parent: Option<usize>) -> Vec<BuildItem> {
    let page =
        |n| BuildPage::new(id(n), parent.map(id), PageKind::Document, PagePatch::from_title(&format!("{n}")));
    range.map(|n| BuildItem::Page(Box::new(page(n)))).collect()
}

#[test]
fn siblings_and_pages_are_bounded_on_every_way() {
    let content = content();
    let mut items = documents(0..MAX_SIBLINGS, None);
    let root = now(content.build(DOMAIN, time(0), items.clone())).unwrap().root;
    let insert_one = |n: usize, parent: Option<usize>| insert(id(n), parent.map(id), None, "a");
    let (_, field, _) = refused(now(content.edit(DOMAIN, root, time(0), &[insert_one(90_000, None)])));
    assert_eq!(field, "into");
    let root = apply(&content, root, &[insert_one(90_000, Some(0))]);
    let (_, field, _) = refused(now(content.edit(DOMAIN, root, time(0), &[move_into(90_000, None)])));
    assert_eq!(field, "into");
    items.extend(documents(MAX_SIBLINGS..2 * MAX_SIBLINGS, Some(1)));
    items.extend(documents(2 * MAX_SIBLINGS..MAX_SPACE_PAGES, Some(2)));
    let base = now(content.build(DOMAIN, time(0), items.clone())).unwrap().root;
    items.extend(documents(MAX_SPACE_PAGES..MAX_SPACE_PAGES + 1, Some(2)));
    let built = now(content.build(DOMAIN, time(0), items));
    assert!(matches!(built, Err(ContentError::Invalid { field: "page", .. })), "{built:?}");
    let (_, field, _) = refused(now(content.edit(DOMAIN, base, time(0), &[insert_one(90_000, Some(2))])));
    assert_eq!(field, "page");
    // Each side has capacity for its own page, but together they exceed the limit.
    let base = apply(&content, base, &[Edit::DeletePage { page: id(MAX_SPACE_PAGES - 1) }]);
    let ours = apply(&content, base, &[insert_one(90_001, Some(2))]);
    let theirs = apply(&content, base, &[insert_one(90_002, Some(2))]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours, theirs }));
    assert!(matches!(merged, Err(ContentError::TooLarge(_))), "{merged:?}");
}

/// Merges versions of a page that conflict with each other, until a merge is rejected. Returns the number of merges.
fn conflicting_merges(version: impl Fn(usize) -> String) -> usize {
    let content = content();
    let set =
        |root, n| apply(&content, root, &[Edit::SetBody { page: id(1), body: NewBody::Text(version(n)) }]);
    let base = set(apply(&content, empty(&content), &[insert(id(1), None, None, "a")]), 0);
    let mut ours = set(base, 1);
    for merges in 0..100 {
        match now(content.merge(DOMAIN, ThreeWay { base, ours, theirs: set(base, merges + 2) })) {
            Ok(merged) => ours = merged.root,
            Err(ContentError::TooLarge(_)) => return merges,
            Err(other) => panic!("{other:?}"),
        }
    }
    panic!("100 conflicting versions were merged");
}

#[test]
fn versions_of_a_conflicting_page_are_bounded() {
    assert_eq!(conflicting_merges(|n| format!("version {n}\n")), 16);
    // Two versions of any size may conflict. Together with their ancestor, three of 900 kB exceed 4 MB.
    assert_eq!(conflicting_merges(|n| format!("{n}{}\n", "x".repeat(900_000))), 1);
    // Three versions of 9,000 lines with two terms of their ancestor have 45,000 lines.
    assert_eq!(conflicting_merges(|n| format!("version {n}\n") + &"x\n".repeat(8_999)), 2);
}

#[test]
fn files_and_reusable_contents_are_bounded() {
    let content = content();
    let entry = FileEntry {
        name: "a.png".into(),
        content_type: "image/png".into(),
        size: 3,
        dimensions: None,
        blob: Hash::compute(b"png"),
        parts: None,
        git: None,
        clash: JsonText::default(),
    };
    let file = |n: usize| BuildItem::File(format!("f{n:05}").parse().unwrap(), entry.clone());
    let fields = ReusablePatch { title: Some("a".into()), ..ReusablePatch::default() };
    let reusable = |n: usize| BuildItem::Reusable(format!("r{n:05}").parse().unwrap(), fields.clone());
    let items = (0..MAX_SPACE_FILES).map(file).chain((0..MAX_REUSABLES).map(reusable));
    let root = now(content.build(DOMAIN, time(0), items.collect::<Vec<_>>())).unwrap().root;
    let put = Edit::PutFile { file: "new".parse().unwrap(), entry: entry.clone() };
    assert_eq!(refused(now(content.edit(DOMAIN, root, time(0), &[put]))).1, "file");
    let put = Edit::PutReusable { reusable: "new".parse().unwrap(), fields: fields.clone() };
    assert_eq!(refused(now(content.edit(DOMAIN, root, time(0), &[put]))).1, "reusable");
    let again = Edit::PutReusable { reusable: "r00000".parse().unwrap(), fields: fields.clone() };
    apply(&content, root, &[again]);
    let built = now(content.build(DOMAIN, time(0), (0..=MAX_SPACE_FILES).map(file).collect::<Vec<_>>()));
    assert!(matches!(built, Err(ContentError::Invalid { field: "file", .. })), "{built:?}");
}

#[test]
fn fields_of_all_pages_are_bounded_on_every_way() {
    let content = content();
    let front = |bytes: usize| {
        let extra = BTreeMap::from([("x".to_owned(), serde_json::Value::from("a".repeat(bytes)))]);
        PagePatch { extra: Some(JsonText::new(&extra)), ..PagePatch::from_title("a") }
    };
    let of_pages = 32 << 10;
    let page = |n: usize| BuildPage::new(id(n), None, PageKind::Document, front(of_pages));
    let fit = MAX_RECORD_BYTES as usize / (of_pages + 400);
    let build = |pages: usize| {
        let items = (0..pages).map(|n| BuildItem::Page(Box::new(page(n))));
        now(content.build(DOMAIN, time(0), items.collect::<Vec<_>>()))
    };
    let too_large = build(MAX_RECORD_BYTES as usize / of_pages + 1);
    assert!(matches!(too_large, Err(ContentError::Invalid { field: "fields", .. })), "{too_large:?}");
    let root = build(fit).unwrap().root;
    let new = |n: usize, bytes: usize| {
        Edit::InsertPage(Box::new(NewPage::new(id(n), PageKind::Document, front(bytes))))
    };
    let grown: Vec<Edit> = (0..20).map(|n| new(fit + n, of_pages)).collect();
    let (index, field, message) = refused(now(content.edit(DOMAIN, root, time(0), &grown)));
    assert_eq!((index, field), (19, "fields"));
    assert!(message.contains("32 MiB"), "{message}");
    let update = |n: usize| Edit::UpdatePage { page: id(n), fields: Box::new(front(3 * of_pages)) };
    let grown: Vec<Edit> = (0..10).map(update).collect();
    assert_eq!(refused(now(content.edit(DOMAIN, root, time(0), &grown))).1, "fields");
    // Merges are checked on completion. Content that does not grow is never rejected.
    let halves = [0, 10].map(|from| (0..8).map(|n| new(fit + from + n, of_pages)).collect::<Vec<_>>());
    let [ours, theirs] = halves.map(|edits| apply(&content, root, &edits));
    let merged = now(content.merge(DOMAIN, ThreeWay { base: root, ours, theirs }));
    assert!(matches!(merged, Err(ContentError::TooLarge(_))), "{merged:?}");
    apply(&content, ours, &[Edit::DeletePage { page: id(0) }]);
}
