//! Tests of links and backlinks: recognition, and consistency after all kinds of changes.

use std::collections::BTreeMap;

use docs_model::{ContentRef, FileId, LinkRelation, PageCover, ReusableId};
use proptest::prelude::*;

use super::*;
use crate::link_batches::LinkBatches;

fn file_id(n: usize) -> FileId {
    format!("file{n}").parse().unwrap()
}

fn shared_id(n: usize) -> ReusableId {
    format!("shared{n}").parse().unwrap()
}

fn put_file(n: usize) -> Edit {
    let entry = FileEntry {
        name: format!("{n}.png"),
        content_type: "image/png".into(),
        size: 3,
        dimensions: None,
        blob: Hash::compute(b"png"),
        parts: None,
        git: None,
        clash: JsonText::default(),
    };
    Edit::PutFile { file: file_id(n), entry }
}

fn put_shared(n: usize, text: &str) -> Edit {
    let (title, body) = (Some(format!("Shared {n}")), Some(text.into()));
    Edit::PutReusable {
        reusable: shared_id(n),
        fields: ReusablePatch { title, body, ..ReusablePatch::default() },
    }
}

fn text(n: usize, text: &str) -> Edit {
    Edit::SetBody { page: id(n), body: text.into() }
}

fn start(edits: &[Edit]) -> (Content, Hash) {
    let content = content();
    let root = now(content.empty_root(DOMAIN)).unwrap();
    let root = apply(&content, root, edits);
    (content, root)
}

fn name(source: &LinkSource) -> &str {
    match source {
        LinkSource::Page(id) => id.as_str(),
        LinkSource::Reusable(id) => id.as_str(),
    }
}

/// Formats a link as text: state, source, relation, occurrences, reference.
fn shown(link: &Link) -> String {
    let relation = if link.relation == LinkRelation::DependsOn { "embeds" } else { "links" };
    let reference = serde_json::to_value(&link.reference).unwrap();
    let fields: Vec<String> =
        reference.as_object().unwrap().values().map(|it| it.as_str().unwrap().to_owned()).collect();
    format!("{:?} {} {relation} {} {}", link.standing, name(&link.source), link.times, fields.join(" "))
}

fn all(content: &Content, root: Hash, source: Option<&LinkSource>) -> Vec<Link> {
    let view = content.view(DOMAIN, root);
    let mut out = Vec::new();
    for standing in LinkState::ALL {
        let range = LinkRange { standing, source: source.cloned() };
        out.extend(now(view.links(&range, None, usize::MAX)).unwrap().into_iter().map(|(_, link)| link));
    }
    let counts = now(view.link_counts(source)).unwrap();
    let broken = out.iter().filter(|link| link.standing == LinkState::Broken).count();
    assert_eq!((counts.total, counts.broken), (out.len() as u64, broken as u64));
    out
}

fn broken(content: &Content, root: Hash) -> u64 {
    all(content, root, None).iter().filter(|link| link.standing == LinkState::Broken).count() as u64
}

fn sources(content: &Content, root: Hash, target: &LinkTarget) -> Vec<String> {
    let view = content.view(DOMAIN, root);
    let found = now(view.backlinks(target, None, 100)).unwrap();
    assert_eq!(now(view.backlink_count(target)).unwrap(), found.len() as u64);
    found.iter().map(|(source, _)| name(source).to_owned()).collect()
}

fn links_of_text(markdown: &str) -> Vec<String> {
    let (content, root) = start(&[
        insert(id(1), None, None, "One"),
        insert(id(2), None, None, "Two"),
        put_file(1),
        put_shared(1, "shared"),
        text(1, markdown),
    ]);
    sound(&content, root);
    let mut found: Vec<String> = all(&content, root, None).iter().map(shown).collect();
    found.iter_mut().for_each(|line| *line = line.replacen("page00001 ", "", 1));
    found
}

/// Texts and the links that they contain.
const TEXTS: &[(&str, &[&str])] = &[
    ("[a](/pages/page00002)", &["Inside links 1 page page00002"]),
    ("[a](/pages/page00002#top) [b](/pages/page00002#top)", &["Anchor links 2 anchor top page00002"]),
    ("[a](#here)", &["Anchor links 1 anchor here"]),
    ("[a](/pages/page00001)", &["Inside links 1 page page00001"]),
    ("[a](/pages/page00009)", &["Broken links 1 page page00009"]),
    ("[a](/files/file1) ![b](/files/file1)", &["Inside embeds 1 file file1", "Inside links 1 file file1"]),
    ("![a][p]\n\n[p]: /files/file1", &["Inside embeds 1 file file1"]),
    (
        "<img src=\"/files/file1\"><a href=\"/files/file2\">x</a>",
        &["Broken links 1 file file2", "Inside embeds 1 file file1"],
    ),
    (
        "<picture><source srcset=\"/files/file1 1x, /files/file2 2x\"></picture>",
        &["Broken embeds 1 file file2", "Inside embeds 1 file file1"],
    ),
    ("{% file src=\"/files/file1\" %}", &["Inside embeds 1 file file1"]),
    ("{% include \"/reusable-content/shared1\" %}", &["Inside embeds 1 reusable-content shared1"]),
    (
        "{% content-ref url=\"/pages/page00002\" %}\n[/pages/page00002](/pages/page00002)\n{% endcontent-ref %}",
        &["Inside links 2 page page00002"],
    ),
    ("{% embed url=\"https://x.example\" %}", &["Web embeds 1 url https://x.example"]),
    (
        "[a](https://x.example) [b](mailto:a@x.example) [c](//x.example)",
        &[
            "Web links 1 url //x.example",
            "Web links 1 url https://x.example",
            "Web links 1 url mailto:a@x.example",
        ],
    ),
    ("{% openapi-operation spec=\"pets\" path=\"/p\" method=\"get\" %}", &["Outside embeds 1 openapi pets"]),
    (
        "[@](/users/u1 \"mention\") [s](/spaces/s1) [p](/spaces/s1/pages/p1#x)",
        &["Outside links 1 space s1", "Outside links 1 anchor x p1 s1", "Outside links 1 user u1"],
    ),
    (
        "[a](../gone.md) [b](/broken/pages/p) [c](/pages/a/b)",
        &[
            "Broken links 1 url ../gone.md",
            "Broken links 1 url /broken/pages/p",
            "Broken links 1 url /pages/a/b",
        ],
    ),
    ("`[a](/pages/page00002)` [b]() [c](#) ![d](data:image/png;base64,AA)", &[]),
];

#[test]
fn references_of_a_text_are_its_links_and_embeds() {
    for (markdown, expected) in TEXTS {
        let mut found = links_of_text(markdown);
        found.sort();
        let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
        // Sort the words of a line, because their order is that of the reference's fields.
        let sorted = |line: &String| {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            words.sort();
            words
        };
        expected.sort();
        let (mut a, mut b): (Vec<_>, Vec<_>) =
            (found.iter().map(sorted).collect(), expected.iter().map(sorted).collect());
        a.sort();
        b.sort();
        assert_eq!(a, b, "{markdown}: {found:?}");
    }
}

#[test]
fn covers_targets_and_sources_of_computed_pages_are_links() {
    let picture = |file| Some(ContentRef::File { file: file_id(file) });
    let cover = PageCover { reference: picture(1), reference_dark: picture(2), y_pos: 0.0 };
    let covered = PagePatch { cover: Some(Some(cover)), ..PagePatch::from_title("Covered") };
    let target = Some(ContentRef::Page { page: id(1), space: None });
    let link = PagePatch { target: Some(target), ..PagePatch::from_title("Link") };
    let computed = serde_json::json!({
        "type": "builtin:openapi",
        "dependencies": { "spec": { "ref": { "kind": "openapi", "spec": "pets" } }, "other": { "ref": 5 } }
    });
    let computed = PagePatch { computed: Some(Some(computed.into())), ..PagePatch::from_title("Computed") };
    let new = |n, kind, fields| Edit::InsertPage(Box::new(NewPage::new(id(n), kind, fields)));
    let edits = [
        put_file(1),
        new(1, PageKind::Document, covered),
        new(2, PageKind::Link, link),
        new(3, PageKind::Computed, computed),
    ];
    let (content, root) = start(&edits);
    sound(&content, root);
    let found: Vec<String> = all(&content, root, None).iter().map(shown).collect();
    assert_eq!(
        found,
        [
            "Broken page00001 embeds 1 file2 file",
            "Inside page00001 embeds 1 file1 file",
            "Inside page00002 links 1 page page00001",
            "Outside page00003 embeds 1 openapi pets",
        ]
    );
}

// Restoring a page results in exactly the previous root.
#[test]
fn deleting_a_page_breaks_links_to_it_and_restoring_fixes_them() {
    let (content, base) = start(&[
        insert(id(1), None, None, "One"),
        insert(id(2), None, None, "Two"),
        insert(id(3), None, None, "Three"),
        text(2, "[a](/pages/page00001) [b](/pages/page00001#top) [c](/pages/page00003)"),
        put_shared(1, "[a](/pages/page00001)"),
        text(1, "[myself](/pages/page00001) {% include \"/reusable-content/shared1\" %}"),
    ]);
    let one = LinkTarget::Page(id(1));
    assert_eq!(broken(&content, base), 0);
    assert_eq!(sources(&content, base, &one), ["page00002", "shared1"], "a page is no backlink of itself");
    let gone = apply(&content, base, &[Edit::DeletePage { page: id(1) }]);
    sound(&content, gone);
    assert_eq!(broken(&content, gone), 3);
    assert_eq!(sources(&content, gone, &one), ["page00002", "shared1"]);
    assert_eq!(sources(&content, gone, &LinkTarget::Reusable(shared_id(1))), [""; 0]);
    let back = apply(&content, gone, &[Edit::RevertPage { page: id(1), to: base }]);
    assert_eq!(back, base, "links heal");
    let unlinked =
        apply(&content, gone, &[text(2, "nothing"), Edit::DeleteReusable { reusable: shared_id(1) }]);
    sound(&content, unlinked);
    assert_eq!((all(&content, unlinked, None).len(), sources(&content, unlinked, &one).len()), (0, 0));
}

#[test]
fn deleting_a_file_breaks_links_and_restoring_fixes_them() {
    let (content, base) =
        start(&[put_file(1), insert(id(1), None, None, "One"), text(1, "![a](/files/file1)")]);
    let gone = apply(&content, base, &[Edit::DeleteFile { file: file_id(1) }]);
    assert_eq!((broken(&content, base), broken(&content, gone)), (0, 1));
    assert_eq!(apply(&content, gone, &[put_file(1)]), base);
}

#[test]
fn deleting_a_page_breaks_links_to_its_anchors() {
    let (content, base) = start(&[
        insert(id(1), None, None, "One"),
        insert(id(2), None, None, "Two"),
        text(1, "[two](/pages/page00002#x) [own](#y)\n"),
    ]);
    let states = |root| all(&content, root, None).iter().map(|link| link.standing).collect::<Vec<_>>();
    let gone = apply(&content, base, &[Edit::DeletePage { page: id(2) }]);
    assert_eq!(states(base), [LinkState::Anchor; 2]);
    assert_eq!(states(gone), [LinkState::Broken, LinkState::Anchor]);
    let back = apply(&content, gone, &[insert(id(2), None, None, "Two")]);
    assert_eq!(states(back), [LinkState::Anchor; 2]);
    sound(&content, back);
}

#[test]
fn conflicted_body_has_the_links_of_the_request_side() {
    let (content, base) =
        start(&[insert(id(1), None, None, "One"), insert(id(2), None, None, "Two"), text(1, "first\n")]);
    let main = apply(&content, base, &[text(1, "[main](/pages/page00002)\n")]);
    let request = apply(&content, base, &[text(1, "[request](/pages/page00002#x)\n")]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap().root;
    sound(&content, merged);
    let found: Vec<String> = all(&content, merged, None).iter().map(shown).collect();
    assert_eq!(found, ["Anchor page00001 links 1 x anchor page00002"]);
}

#[test]
fn merge_reports_links_to_pages_deleted_by_the_other_side() {
    let (content, base) = start(&[insert(id(1), None, None, "One"), insert(id(2), None, None, "Two")]);
    let main = apply(&content, base, &[Edit::DeletePage { page: id(2) }]);
    let request = apply(&content, base, &[text(1, "[two](/pages/page00002)")]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap().root;
    sound(&content, merged);
    assert_eq!((broken(&content, main), broken(&content, request), broken(&content, merged)), (0, 0, 1));
    let changed = now(content.changed_links(DOMAIN, main, merged, None)).unwrap();
    assert_eq!(changed.len(), 1);
}

#[test]
fn paginated_links_equal_the_full_list() {
    let texts: String =
        (0..30).map(|n| format!("[a](/pages/page{n:05}) [b](https://x.example/{n})\n")).collect();
    let (content, root) = start(&[
        insert(id(1), None, None, "One"),
        insert(id(2), None, None, "Two"),
        text(1, &texts),
        text(2, &texts),
    ]);
    let view = content.view(DOMAIN, root);
    for source in [None, Some(LinkSource::Page(id(2)))] {
        for standing in LinkState::ALL {
            let range = LinkRange { standing, source: source.clone() };
            let whole = now(view.links(&range, None, usize::MAX)).unwrap();
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let some = now(view.links(&range, after.as_deref(), 7)).unwrap();
                let Some((last, _)) = some.last() else { break };
                after = Some(last.clone());
                seen.extend(some);
            }
            assert_eq!(seen, whole);
        }
    }
}

#[test]
fn long_urls_that_differ_at_the_end_are_distinct_links() {
    let long = "ä".repeat(3_000);
    let found = links_of_text(&format!("[a](https://x.example/{long}1) [b](https://x.example/{long}2)"));
    assert_eq!(found.len(), 2);
}

/// Returns a space with many pages that link to each other.
fn woven(count: usize) -> Vec<BuildItem> {
    let mut items = many_pages(count);
    for (n, item) in items.iter_mut().enumerate() {
        let BuildItem::Page(page) = item else { continue };
        let links: String = (1..6)
            .map(|k| format!("[{k}](/pages/{}) [w](https://x.example/{k})\n", id((n * 7 + k) % count)))
            .collect();
        page.body = NewBody::Text(links);
    }
    items
}

#[test]
fn import_indexes_the_same_links_as_edits() {
    let content = content();
    let built = now(content.build(DOMAIN, time(0), woven(100))).unwrap();
    sound(&content, built.root);
    let mut root = now(content.empty_root(DOMAIN)).unwrap();
    for item in woven(100) {
        let BuildItem::Page(page) = item else { continue };
        let new = NewPage::new(page.id, page.kind, page.fields);
        let edit = Edit::InsertPage(Box::new(NewPage { parent: page.parent, body: page.body, ..new }));
        root = apply(&content, root, &[edit]);
    }
    assert_eq!(built.root, root);
    // Building from stored bodies gives the same result.
    let mut stored = woven(100);
    for item in &mut stored {
        let BuildItem::Page(page) = item else { continue };
        page.body = NewBody::Stored(page.body.body());
    }
    assert_eq!(now(content.build(DOMAIN, time(0), stored)).unwrap().root, root);
}

#[test]
fn editing_one_page_writes_only_the_nodes_of_its_links() {
    let objects = Arc::new(MemObjects::new());
    let root = now(cold(&objects).build(DOMAIN, time(0), woven(2_000))).unwrap().root;
    let target = id(1_234);
    let edits = [
        // No links change.
        (Edit::UpdatePage { page: target.clone(), fields: Box::new(PagePatch::from_title("New")) }, 5, 0),
        // Ten links are removed, and one is added.
        (text(1_234, "[new](/pages/page00001)"), 18, 0),
        (Edit::DeletePage { page: target }, 34, 0),
    ];
    for (edit, written, texts) in edits {
        let cost = now(cold(&objects).edit(DOMAIN, root, time(1), std::slice::from_ref(&edit))).unwrap().cost;
        assert!(cost.nodes_written <= written, "{edit:?}: {cost:?}");
        assert!(cost.nodes_loaded <= written + written / 2 + 3, "{edit:?}: {cost:?}");
        assert_eq!(cost.texts_loaded, texts, "{edit:?}");
    }
    let content = cold(&objects);
    let counts = now(content.view(DOMAIN, root).link_counts(None)).unwrap();
    assert_eq!((counts.total, counts.broken), (20_000, 0));
    assert!(content.cost().nodes_loaded <= 24, "{:?}", content.cost());
    let content = cold(&objects);
    let range = LinkRange { standing: LinkState::Inside, source: None };
    assert_eq!(now(content.view(DOMAIN, root).links(&range, None, 50)).unwrap().len(), 50);
    assert!(content.cost().nodes_loaded <= 16, "{:?}", content.cost());
}

fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (0usize..8, proptest::bool::ANY).prop_map(|(n, anchor)| {
            format!("[p](/pages/{}{})", id(n), if anchor { "#a" } else { "" })
        }),
        2 => (0usize..3).prop_map(|n| format!("![f](/files/file{n})")),
        2 => (0usize..3).prop_map(|n| format!("{{% include \"/reusable-content/shared{n}\" %}}")),
        1 => Just("[w](https://x.example) [l](lost.md) [s](/spaces/s1)".to_owned()),
        1 => Just("plain".to_owned()),
    ];
    proptest::collection::vec(line, 0..5).prop_map(|lines| lines.iter().map(|l| format!("{l}\n")).collect())
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let page = || (0usize..8).prop_map(id);
    prop_oneof![
        3 => (page(), proptest::option::of(page())).prop_map(|(page, parent)| insert(page, parent, None, "Page")),
        4 => (page(), any_text()).prop_map(|(page, text)| Edit::SetBody { page, body: NewBody::Text(text) }),
        2 => page().prop_map(|page| Edit::DeletePage { page }),
        1 => page().prop_map(|page| Edit::MovePage { page, into: Some(None), at: Some(0) }),
        1 => (0usize..3).prop_map(put_file),
        1 => (0usize..3).prop_map(|n| Edit::DeleteFile { file: file_id(n) }),
        2 => (0usize..3, any_text()).prop_map(|(n, text)| put_shared(n, &text)),
        1 => (0usize..3).prop_map(|n| Edit::DeleteReusable { reusable: shared_id(n) }),
    ]
}

/// Applies the edits that are not rejected. Returns the new root and these edits.
fn applied(content: &Content, mut root: Hash, edits: &[Edit]) -> (Hash, Vec<Edit>) {
    let mut done = Vec::new();
    for edit in edits {
        if let Ok(edited) = now(content.edit(DOMAIN, root, time(0), std::slice::from_ref(edit))) {
            root = edited.root;
            done.push(edit.clone());
        }
    }
    (root, done)
}

/// Computes backlinks from all links.
fn naive_backlinks(links: &[Link]) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for link in links {
        let target = match &link.reference {
            ContentRef::Page { page, space: None } | ContentRef::Anchor { page: Some(page), .. } => {
                page.to_string()
            }
            ContentRef::File { file } => file.to_string(),
            ContentRef::ReusableContent { reusable_content, .. } => reusable_content.to_string(),
            _ => continue,
        };
        let source = name(&link.source).to_owned();
        let known = out.entry(target.clone()).or_default();
        if source != target && !known.contains(&source) {
            known.push(source);
        }
    }
    out.values_mut().for_each(|sources| sources.sort());
    out
}

#[test]
fn batches_of_any_size_derive_the_same_links() {
    let built = now(content().build(DOMAIN, time(0), woven(60))).unwrap().root;
    let small = content().with_link_batches(LinkBatches::SMALLEST);
    assert_eq!(now(small.build(DOMAIN, time(0), woven(60))).unwrap().root, built);
    sound(&small, built);
    let page = |item| match item {
        BuildItem::Page(page) => Edit::InsertPage(Box::new(NewPage {
            parent: page.parent,
            body: page.body,
            ..NewPage::new(page.id, page.kind, page.fields)
        })),
        other => panic!("{other:?}"),
    };
    let edits: Vec<Edit> = woven(60).into_iter().map(page).collect();
    let empty = now(small.empty_root(DOMAIN)).unwrap();
    assert_eq!(apply(&small, empty, &edits), built);
    // Each of the other pages links to the deleted page, some of them by several anchors.
    let linking = |n: usize| format!("[a](/pages/{0}) [b](/pages/{0}#x) [c](/pages/{0}#y{n})", id(7));
    let edits: Vec<Edit> = (8..60).map(|n| text(n, &linking(n))).collect();
    let linked = apply(&small, built, &edits);
    let gone = apply(&small, linked, &[Edit::DeletePage { page: id(7) }]);
    sound(&small, gone);
    assert_eq!(broken(&small, gone) - broken(&small, linked), 52 * 3);
    assert_eq!(apply(&small, gone, &[Edit::RevertPage { page: id(7), to: linked }]), linked);
}

/// Returns content with caches of a few objects and with batches of a few hundred links.
fn frugal() -> Content {
    let limits = CacheLimits { node_bytes: 1, text_bytes: 1, tree_bytes: 1, document_bytes: 1 };
    let content = Content::with_config(Arc::new(MemObjects::new()), limits, Arc::new(LineMerger));
    let batches =
        LinkBatches { first: 400, links: 400, records: 4, backlink_bytes: 64 << 10, node_bytes: 128 << 10 };
    content.with_link_batches(batches)
}

/// Runs `work` and returns the peak of its memory, without the objects that it stores.
fn working_memory<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let ((done, stored), peak) = docs_hostile::own_peak_of(|| docs_hostile::retained_by(work));
    (done, peak.saturating_sub(stored))
}

#[test]
fn memory_for_links_is_independent_of_their_number() {
    const PAGES: usize = 100;
    let text_of = |links: usize, n: usize| -> String {
        (0..links).map(|k| format!("[a](/pages/{}#a{k}) ", id((n + k) % PAGES))).collect()
    };
    let items = |links| {
        let mut items = many_pages(PAGES);
        for (n, item) in items.iter_mut().enumerate() {
            let BuildItem::Page(page) = item else { continue };
            page.body = NewBody::Text(text_of(links, n));
        }
        items
    };
    let memory = |links: usize| {
        let content = frugal();
        let all = items(links);
        let (built, building) = working_memory(|| now(content.build(DOMAIN, time(0), all)).unwrap().root);
        let edits: Vec<Edit> = (0..PAGES).map(|n| text(n, &text_of(links, n + 1))).collect();
        let (edited, editing) = working_memory(|| apply(&content, built, &edits));
        let gone = [Edit::DeletePage { page: id(1) }];
        let (_, deleting) = working_memory(|| apply(&content, edited, &gone));
        println!("{links}: {building} {editing} {deleting}");
        [building, editing, deleting]
    };
    for (few, many) in memory(20).into_iter().zip(memory(200)) {
        assert!(many < few + (1 << 20), "{few} bytes for few links, {many} bytes for many");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn incremental_link_index_equals_a_full_rebuild(edits in proptest::collection::vec(any_edit(), 0..40)) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let (root, done) = applied(&content, empty, &edits);
        sound(&content, root);
        prop_assert_eq!(apply(&content, empty, &done), root, "one batch makes the same");
        let small = content.clone().with_link_batches(LinkBatches::SMALLEST);
        prop_assert_eq!(apply(&small, empty, &done), root, "small batches make the same");
        let links = all(&content, root, None);
        let expected = naive_backlinks(&links);
        for n in 0..8 {
            let found = sources(&content, root, &LinkTarget::Page(id(n)));
            prop_assert_eq!(found, expected.get(id(n).as_str()).cloned().unwrap_or_default());
        }
        for n in 0..3 {
            let found = sources(&content, root, &LinkTarget::File(file_id(n)));
            prop_assert_eq!(found, expected.get(file_id(n).as_str()).cloned().unwrap_or_default());
        }
    }

    #[test]
    fn merge_keeps_links_valid_and_reports_changed_links(
        base in proptest::collection::vec(any_edit(), 0..25),
        main in proptest::collection::vec(any_edit(), 0..10),
        request in proptest::collection::vec(any_edit(), 0..10),
    ) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let (base, _) = applied(&content, empty, &base);
        let (main, _) = applied(&content, base, &main);
        let (request, _) = applied(&content, base, &request);
        let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
        sound(&content, merged.root);
        let small = content.clone().with_link_batches(LinkBatches::SMALLEST);
        let same = now(small.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
        prop_assert_eq!(same.root, merged.root, "small batches make the same");
        let before = all(&content, main, None);
        let changed = now(content.changed_links(DOMAIN, main, merged.root, None)).unwrap();
        let after = all(&content, merged.root, None);
        let same = |a: &Link, b: &Link| (&a.source, &a.reference, a.relation, a.standing) == (&b.source, &b.reference, b.relation, b.standing);
        let expected = after.iter().filter(|link| !before.iter().any(|old| same(old, link))).count();
        prop_assert_eq!(changed.len(), expected);
    }
}
