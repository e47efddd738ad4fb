//! Tests of edits, imports and reads.

use std::collections::HashSet;

use docs_model::{GitBlob, PageId, ReusableId};
use proptest::prelude::*;

use super::*;

/// Returns content with the pages `one`, its child `three`, and `two`.
pub(super) fn three() -> (Content, Hash) {
    let content = content();
    let root = now(content.empty_root(DOMAIN)).unwrap();
    let edits = [
        insert(id(1), None, None, "One"),
        insert(id(2), None, None, "Two"),
        insert(id(3), Some(id(1)), None, "Three"),
    ];
    let root = apply(&content, root, &edits);
    (content, root)
}

fn refusal(content: &Content, root: Hash, edits: &[Edit]) -> (usize, &'static str) {
    match now(content.edit(DOMAIN, root, time(0), edits)) {
        Err(ContentError::Invalid { index, field, .. }) => (index, field),
        other => panic!("refused, but {other:?}"),
    }
}

#[test]
fn pages_are_inserted_at_the_given_position() {
    let (content, root) = three();
    assert_eq!(outline(&content, root), "page00001 one\n  page00003 three\npage00002 two\n");
    let root =
        apply(&content, root, &[insert(id(4), None, Some(1), "Four"), insert(id(5), None, Some(0), "Five")]);
    assert_eq!(
        outline(&content, root),
        "page00005 five\npage00001 one\n  page00003 three\npage00004 four\npage00002 two\n"
    );
    sound(&content, root);
}

#[test]
fn path_lookup_is_case_insensitive() {
    let (content, root) = three();
    let view = content.view(DOMAIN, root);
    assert_eq!(now(view.find("/ONE/Three/")).unwrap().unwrap().0, id(3));
    assert_eq!(now(view.path_of(&id(3))).unwrap().as_deref(), Some("one/three"));
    assert!(now(view.find("one/two")).unwrap().is_none());
    assert!(now(view.find("")).unwrap().is_none());
}

#[test]
fn a_sibling_with_the_same_slug_gets_a_number() {
    let (content, mut root) = three();
    for n in 10..30 {
        root = apply(&content, root, &[insert(id(n), None, None, "One")]);
    }
    let view = content.view(DOMAIN, root);
    assert_eq!(now(view.page(&id(10))).unwrap().unwrap().slug, "one-2");
    assert_eq!(now(view.page(&id(29))).unwrap().unwrap().slug, "one-21");
    // The slug is free under another parent.
    let root = apply(&content, root, &[insert(id(40), Some(id(2)), None, "One")]);
    assert_eq!(now(content.view(DOMAIN, root).page(&id(40))).unwrap().unwrap().slug, "one");
    sound(&content, root);
}

#[test]
fn title_and_slug_are_independent() {
    let (content, root) = three();
    let titled = Edit::UpdatePage { page: id(1), fields: Box::new(PagePatch::from_title("Uno")) };
    let root = apply(&content, root, &[titled]);
    let page = now(content.view(DOMAIN, root).page(&id(1))).unwrap().unwrap();
    assert_eq!((page.title.as_str(), page.slug.as_str()), ("Uno", "one"));
    let slugged = PagePatch { slug: Some("First Page".into()), ..PagePatch::default() };
    let root = apply(&content, root, &[Edit::UpdatePage { page: id(1), fields: Box::new(slugged) }]);
    let page = now(content.view(DOMAIN, root).page(&id(1))).unwrap().unwrap();
    assert_eq!((page.title.as_str(), page.slug.as_str()), ("Uno", "first-page"));
    sound(&content, root);
}

#[test]
fn no_op_edit_preserves_the_root() {
    let (content, root) = three();
    let same = [
        Edit::UpdatePage { page: id(1), fields: Box::new(PagePatch::from_title("One")) },
        Edit::SetBody { page: id(1), body: NewBody::Empty },
        Edit::MovePage { page: id(1), into: None, at: None },
    ];
    let edited = now(content.edit(DOMAIN, root, time(9), &same)).unwrap();
    assert_eq!((edited.root, edited.pages.len()), (root, 0));
}

#[test]
fn move_position_excludes_the_moved_page() {
    let (content, root) = three();
    let root = apply(&content, root, &[insert(id(4), None, None, "Four")]);
    let to = |at| [Edit::MovePage { page: id(1), into: None, at: Some(at) }];
    let order = |root| outline(&content, root).replace("page0000", "").replace('\n', ",");
    assert_eq!(order(apply(&content, root, &to(0))), "1 one,  3 three,2 two,4 four,");
    assert_eq!(order(apply(&content, root, &to(1))), "2 two,1 one,  3 three,4 four,");
    assert_eq!(order(apply(&content, root, &to(2))), "2 two,4 four,1 one,  3 three,");
    assert_eq!(order(apply(&content, root, &to(99))), "2 two,4 four,1 one,  3 three,");
    let below = [Edit::MovePage { page: id(1), into: Some(Some(id(4))), at: None }];
    assert_eq!(order(apply(&content, root, &below)), "2 two,4 four,  1 one,    3 three,");
}

#[test]
fn invalid_moves_are_rejected() {
    let (content, root) = three();
    let new = |n, kind, fields| NewPage::new(id(n), kind, fields);
    let group = Edit::InsertPage(Box::new(new(7, PageKind::Group, PagePatch::from_title("Group"))));
    let target = Some(docs_model::ContentRef::Url { url: "https://example.com".into() });
    let link = new(8, PageKind::Link, PagePatch { target: Some(target), ..PagePatch::from_title("Link") });
    let link = Edit::InsertPage(Box::new(NewPage { parent: Some(id(7)), ..link }));
    let root = apply(&content, root, &[group.clone(), link]);
    sound(&content, root);
    let into = |page, parent| Edit::MovePage { page, into: Some(Some(parent)), at: None };
    for edit in
        [into(id(1), id(1)), into(id(1), id(3)), into(id(7), id(1)), into(id(1), id(8)), into(id(1), id(99))]
    {
        let before = insert(id(50), None, None, "Fine");
        assert_eq!(refusal(&content, root, &[before, edit]), (1, "into"));
    }
    assert_eq!(refusal(&content, root, &[into(id(98), id(1))]), (0, "page"));
    assert_eq!(refusal(&content, root, &[group]), (0, "page"));
}

#[test]
fn refusals_name_the_field() {
    let (content, root) = three();
    let update = |fields| [Edit::UpdatePage { page: id(1), fields: Box::new(fields) }];
    let patch = PagePatch::default;
    let text = |n: usize| docs_model::VariableValue::Text("x".repeat(n));
    assert_eq!(refusal(&content, root, &update(PagePatch::from_title(" "))), (0, "title"));
    assert_eq!(
        refusal(&content, root, &update(PagePatch { slug: Some("x".repeat(101)), ..patch() })),
        (0, "slug")
    );
    let both = PagePatch { emoji: Some(Some("🚀".into())), icon: Some(Some("rocket".into())), ..patch() };
    assert_eq!(refusal(&content, root, &update(both)), (0, "icon"));
    for (name, value) in [("1a", text(1)), ("a-b", text(1)), ("a", text(257))] {
        let variables = Some(docs_model::Variables::from([(name.to_owned(), value)]).into());
        assert_eq!(refusal(&content, root, &update(PagePatch { variables, ..patch() })), (0, "variables"));
    }
    let revert = [Edit::RevertPage { page: id(77), to: root }];
    assert_eq!(refusal(&content, root, &revert), (0, "page"));
    assert_eq!(refusal(&content, root, &[Edit::DeleteFile { file: "f".parse().unwrap() }]), (0, "file"));
}

#[test]
fn deleting_a_page_deletes_its_descendants() {
    let (content, root) = three();
    let edited = now(content.edit(DOMAIN, root, time(1), &[Edit::DeletePage { page: id(1) }])).unwrap();
    assert_eq!(edited.pages, [(id(1), PageEffect::Deleted), (id(3), PageEffect::Deleted)]);
    assert_eq!(outline(&content, edited.root), "page00002 two\n");
    sound(&content, edited.root);
}

#[test]
fn batch_reports_each_page_once() {
    let (content, root) = three();
    let edits = [
        Edit::UpdatePage { page: id(2), fields: Box::new(PagePatch::from_title("Zwei")) },
        insert(id(5), None, None, "Five"),
        Edit::SetBody { page: id(5), body: "text".into() },
        insert(id(6), None, None, "Six"),
        Edit::DeletePage { page: id(6) },
        Edit::DeletePage { page: id(2) },
    ];
    let edited = now(content.edit(DOMAIN, root, time(1), &edits)).unwrap();
    assert_eq!(edited.pages, [(id(2), PageEffect::Deleted), (id(5), PageEffect::Created)]);
}

#[test]
fn revert_undoes_edits_moves_deletions_and_insertions() {
    let (content, base) = three();
    let base = apply(&content, base, &[Edit::SetBody { page: id(3), body: "old".into() }]);
    let edits = [
        Edit::SetBody { page: id(3), body: "new".into() },
        Edit::MovePage { page: id(3), into: Some(None), at: Some(0) },
        Edit::DeletePage { page: id(1) },
        insert(id(9), None, None, "One"),
        Edit::MovePage { page: id(2), into: Some(Some(id(9))), at: None },
    ];
    let root = apply(&content, base, &edits);
    let revert = |page| Edit::RevertPage { page, to: base };
    let root = apply(&content, root, &[revert(id(1)), revert(id(3)), revert(id(9))]);
    // The slug of the restored page was in use by the page that was removed afterwards.
    assert_eq!(outline(&content, root), "page00001 one-2\n  page00003 three\npage00002 two\n");
    let body = now(content.view(DOMAIN, root).page(&id(3))).unwrap().unwrap().body;
    assert_eq!(&*now(content.body_text(DOMAIN, &body, Rendering::Request)).unwrap(), "old");
    let root = apply(&content, root, &[revert(id(1))]);
    assert_eq!(outline(&content, root), outline(&content, base));
    sound(&content, root);
}

#[test]
fn reverting_a_deleted_page_restores_its_descendants() {
    let (content, base) = three();
    let root = apply(&content, base, &[Edit::DeletePage { page: id(1) }]);
    let root = apply(&content, root, &[Edit::RevertPage { page: id(1), to: base }]);
    assert_eq!(root, base);
}

#[test]
fn ranks_are_rebalanced_when_they_become_too_long() {
    let (content, mut root) = three();
    for n in 0..400 {
        // Repeated insertion between the same two pages makes the ranks grow until they exceed their maximum length.
        root = apply(&content, root, &[insert(id(100 + n), None, Some(1), "Page")]);
    }
    let tree = now(content.view(DOMAIN, root).tree()).unwrap();
    let order: Vec<&PageId> = tree.children(None).map(|p| &p.id).collect();
    let expected: Vec<PageId> =
        std::iter::once(id(1)).chain((100..500).rev().map(id)).chain([id(2)]).collect();
    assert!(order.into_iter().eq(&expected));
    assert!(tree.pages().iter().all(|p| p.entry.rank.as_str().len() <= MAX_RANK));
    sound(&content, root);
}

#[test]
fn files_reusables_and_variables_are_stored() {
    let (content, root) = three();
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
    let mut edits: Vec<Edit> = (0..30)
        .map(|n| Edit::PutFile { file: format!("f{n:02}").parse().unwrap(), entry: file("a.png") })
        .collect();
    let fields =
        ReusablePatch { title: Some("Shared".into()), body: Some("text".into()), ..ReusablePatch::default() };
    edits.push(Edit::PutReusable { reusable: "r1".parse().unwrap(), fields });
    edits.push(Edit::SetVariables { variables: variables(&[("a", "1"), ("b", "2")]) });
    edits.push(Edit::SetVariables { variables: [("b".to_owned(), None)].into() });
    let root = apply(&content, root, &edits);
    let view = content.view(DOMAIN, root);
    let counts = now(view.counts()).unwrap();
    assert_eq!((counts.pages, counts.files, counts.reusables, counts.variables), (3, 30, 1, 1));
    let first = now(view.files(None, 20)).unwrap();
    let rest = now(view.files(first.last().map(|(id, _)| id), 20)).unwrap();
    assert_eq!((first.len(), rest.len(), rest[0].0.as_str()), (20, 10, "f20"));
    let reusable = now(view.reusable(&"r1".parse().unwrap())).unwrap().unwrap();
    assert_eq!(&*now(view.text(&reusable.body, Rendering::Request)).unwrap(), "text");
    sound(&content, root);
}

#[test]
fn git_locations_are_recorded_without_page_changes() {
    let (content, root) = three();
    let reusable: ReusableId = "r1".parse().unwrap();
    let fields = ReusablePatch { title: Some("Shared".into()), ..ReusablePatch::default() };
    let root = apply(&content, root, &[Edit::PutReusable { reusable: reusable.clone(), fields }]);
    let blob = |path: &str| GitBlob { oid: "1".repeat(40), path: path.to_owned(), executable: false };
    let source = now(content.store_texts(DOMAIN, &["# Three\n"])).unwrap().pop();
    let files: Vec<GitFile> = [
        (GitThing::Page(id(3)), "three.md"),
        (GitThing::Reusable(reusable.clone()), "shared.md"),
        // Missing items are skipped.
        (GitThing::Page(id(9)), "gone.md"),
        (GitThing::File("f1".parse().unwrap()), "gone.png"),
    ]
    .map(|(thing, path)| GitFile { thing, blob: blob(path), source })
    .into();
    let edited = now(content.edit(DOMAIN, root, time(99), &[Edit::SetGit { files: files.clone() }])).unwrap();
    assert!(edited.pages.is_empty(), "no page is another one");
    let (old, new) = (content.view(DOMAIN, root), content.view(DOMAIN, edited.root));
    let page = |view: &View| now(view.page(&id(3))).unwrap().unwrap();
    assert_eq!(page(&new), PageEntry { git: Some(blob("three.md")), source, ..page(&old) });
    let shared = |view: &View| now(view.reusable(&reusable)).unwrap().unwrap();
    assert_eq!(shared(&new), ReusableEntry { git: Some(blob("shared.md")), source, ..shared(&old) });
    assert!(page(&old).differences(&page(&new)).is_empty());
    let again = now(content.edit(DOMAIN, edited.root, time(100), &[Edit::SetGit { files }])).unwrap();
    assert_eq!(again.root, edited.root);
    let mut marked = HashSet::new();
    now(content.mark(DOMAIN, edited.root, &mut marked)).unwrap();
    assert!(source.is_some_and(|source| marked.contains(&source)), "no collector removes it");
    sound(&content, edited.root);
}

#[test]
fn results_of_directives_are_referenced_and_read_in_place() {
    let content = content();
    let stored = r#"{"format":"mdbook","text":{"include a.md":"**A**"},"code":{"include a.md":"a"}}"#;
    let expansions = now(content.store_texts(DOMAIN, &[stored])).unwrap().pop();
    let fields = PagePatch::from_title("Page");
    let mut page = BuildPage::new(id(1), None, PageKind::Document, fields);
    page.body =
        NewBody::Text("{{#include a.md}}\n\n```\n{{#include a.md}}\n{{#include b.md}}\n```\n".to_owned());
    page.expansions = expansions;
    let root = now(content.build(DOMAIN, time(1), vec![BuildItem::Page(Box::new(page))])).unwrap().root;
    let mut marked = HashSet::new();
    now(content.mark(DOMAIN, root, &mut marked)).unwrap();
    assert!(expansions.is_some_and(|expansions| marked.contains(&expansions)), "no collector removes it");
    let body = NewBody::Text("An {{#include a.md}}.\n".to_owned());
    let edit = Edit::SetBody { page: id(1), body };
    let edited = now(content.edit(DOMAIN, root, time(2), &[edit])).unwrap().root;
    for (root, expected) in [(root, "**A**\n\n```\na\n\n```\n"), (edited, "An **A**.\n")] {
        let view = content.view(DOMAIN, root);
        let page = now(view.page(&id(1))).unwrap().unwrap();
        assert_eq!(&*now(view.reader_text(&page.body, page.expansions)).unwrap(), expected);
        sound(&content, root);
    }
}

#[test]
fn build_gives_the_same_root_as_page_inserts() {
    let content = content();
    let built = now(content.build(DOMAIN, time(0), many_pages(100))).unwrap();
    let mut root = now(content.empty_root(DOMAIN)).unwrap();
    for item in many_pages(100) {
        let BuildItem::Page(page) = item else { continue };
        let new = NewPage::new(page.id, page.kind, page.fields);
        let edit = Edit::InsertPage(Box::new(NewPage { parent: page.parent, body: page.body, ..new }));
        root = apply(&content, root, &[edit]);
    }
    assert_eq!(built.root, root);
}

#[test]
fn build_items_are_validated() {
    let content = content();
    let page = |n, parent, kind| {
        BuildItem::Page(Box::new(BuildPage::new(id(n), parent, kind, PagePatch::from_title("Page"))))
    };
    let refused = |items: Vec<BuildItem>| match now(content.build(DOMAIN, time(0), items)) {
        Err(ContentError::Invalid { index, field, .. }) => (index, field),
        other => panic!("refused, but {other:?}"),
    };
    let document = PageKind::Document;
    assert_eq!(refused(vec![page(1, None, document), page(1, None, document)]), (1, "page"));
    assert_eq!(refused(vec![page(1, Some(id(2)), document), page(2, None, document)]), (0, "parent"));
    assert_eq!(refused(vec![page(1, None, document), page(2, Some(id(1)), PageKind::Group)]), (1, "parent"));
    assert_eq!(refused(vec![page(1, None, PageKind::Link)]), (0, "target"));
}

#[test]
fn editing_one_page_touches_few_nodes() {
    let objects = Arc::new(MemObjects::new());
    let root = now(cold(&objects).build(DOMAIN, time(0), many_pages(20_000))).unwrap().root;
    let edits = [
        (Edit::SetBody { page: id(12_345), body: "new".into() }, 8, 6),
        // The nodes at both ends of the pages have the total size of their records.
        (Edit::UpdatePage { page: id(12_345), fields: Box::new(PagePatch::from_title("New")) }, 10, 6),
        (insert(id(90_000), Some(id(12_320)), Some(3), "New"), 20, 14),
        (Edit::MovePage { page: id(12_345), into: Some(Some(id(40))), at: Some(0) }, 24, 18),
    ];
    for (edit, loaded, written) in edits {
        let cost = now(cold(&objects).edit(DOMAIN, root, time(1), std::slice::from_ref(&edit))).unwrap().cost;
        assert!(cost.nodes_loaded <= loaded && cost.nodes_written <= written, "{edit:?}: {cost:?}");
        assert!(cost.texts_loaded == 0, "{cost:?}");
    }
    let content = cold(&objects);
    now(content.view(DOMAIN, root).find("page-12320/page-12345")).unwrap().unwrap();
    assert!(content.cost().nodes_loaded <= 12, "{:?}", content.cost());
    let content = cold(&objects);
    now(content.view(DOMAIN, root).counts()).unwrap();
    assert!(content.cost().nodes_loaded <= 24, "{:?}", content.cost());
}

#[test]
fn missing_object_is_an_error() {
    let content = content();
    let root = Hash::compute(b"nothing");
    assert_eq!(now(content.view(DOMAIN, root).page(&id(1))), Err(ContentError::NotFound(root)));
    let (content, root) = three();
    assert!(matches!(now(content.view("another domain", root).page(&id(1))), Err(ContentError::NotFound(_))));
}

/// A simple reference implementation: a list of (id, parent) pairs where siblings are in order.
#[derive(Default, Clone)]
struct Naive {
    children: Vec<(PageId, Option<PageId>)>,
}

impl Naive {
    fn siblings(&self, parent: Option<&PageId>) -> Vec<PageId> {
        self.children.iter().filter(|(_, p)| p.as_ref() == parent).map(|(id, _)| id.clone()).collect()
    }

    fn put(&mut self, page: PageId, parent: Option<PageId>, at: Option<usize>) {
        let siblings = self.siblings(parent.as_ref());
        let at = at.unwrap_or(usize::MAX).min(siblings.len());
        let position = match siblings.get(at) {
            Some(next) => self.children.iter().position(|(id, _)| id == next).unwrap(),
            None => self.children.len(),
        };
        self.children.insert(position, (page, parent));
    }

    fn parent(&self, page: &PageId) -> Option<Option<PageId>> {
        self.children.iter().find(|(id, _)| id == page).map(|(_, p)| p.clone())
    }

    fn is_below(&self, page: &PageId, top: &PageId) -> bool {
        let mut at = Some(page.clone());
        while let Some(page) = at {
            if page == *top {
                return true;
            }
            at = self.parent(&page).flatten();
        }
        false
    }

    fn outline(&self, parent: Option<&PageId>, depth: usize, out: &mut String) {
        for page in self.siblings(parent) {
            out.push_str(&format!("{}{page}\n", "  ".repeat(depth)));
            self.outline(Some(&page), depth + 1, out);
        }
    }

    /// Applies the edit. Returns `false` if the edit must be rejected.
    fn apply(&mut self, edit: &Edit) -> bool {
        match edit {
            Edit::InsertPage(new) => {
                let NewPage { id: page, parent, at, .. } = &**new;
                let fits = self.parent(page).is_none()
                    && parent.as_ref().is_none_or(|parent| self.parent(parent).is_some());
                if fits {
                    self.put(page.clone(), parent.clone(), *at);
                }
                fits
            }
            Edit::DeletePage { page } => {
                let fits = self.parent(page).is_some();
                let before = self.clone();
                self.children.retain(|(id, _)| !before.is_below(id, page));
                fits
            }
            Edit::MovePage { page, into, at } => {
                let Some(old) = self.parent(page) else { return false };
                let parent = into.clone().unwrap_or_else(|| old.clone());
                if parent != old
                    && parent.as_ref().is_some_and(|p| self.parent(p).is_none() || self.is_below(p, page))
                {
                    return false;
                }
                if parent != old || at.is_some() {
                    self.children.retain(|(id, _)| id != page);
                    self.put(page.clone(), parent, *at);
                }
                true
            }
            _ => true,
        }
    }
}

pub(super) fn any_edit() -> impl Strategy<Value = Edit> {
    let page = || (0usize..14).prop_map(id);
    let at = || proptest::option::of(0usize..6);
    let title = proptest::sample::select(vec!["One", "Two", "One two", "?"]);
    prop_oneof![
        4 => (page(), proptest::option::of(page()), at(), title)
            .prop_map(|(page, parent, at, title)| insert(page, parent, at, title)),
        3 => (page(), proptest::option::of(proptest::option::of(page())), at())
            .prop_map(|(page, into, at)| Edit::MovePage { page, into, at }),
        1 => page().prop_map(|page| Edit::DeletePage { page }),
        1 => (page(), "[a-c]{1,2}").prop_map(|(page, slug)| Edit::UpdatePage {
            page,
            fields: Box::new(PagePatch { slug: Some(slug), ..PagePatch::default() }),
        }),
        2 => (page(), "(([a-c]|\\[l\\]\\(/pages/page0000[0-9]\\))\n){0,5}").prop_map(|(page, text)| Edit::SetBody { page, body: NewBody::Text(text) }),
        1 => (page(), "[a-c]{1,2}").prop_map(|(page, title)| Edit::UpdatePage {
            page,
            fields: Box::new(PagePatch::from_title(&title)),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn edits_match_a_naive_model(edits in proptest::collection::vec(any_edit(), 0..60)) {
        let content = content();
        let mut root = now(content.empty_root(DOMAIN)).unwrap();
        let mut naive = Naive::default();
        for edit in &edits {
            let known = match edit {
                Edit::UpdatePage { page, .. } | Edit::SetBody { page, .. } => naive.parent(page).is_some(),
                edit => naive.apply(edit),
            };
            match now(content.edit(DOMAIN, root, time(0), std::slice::from_ref(edit))) {
                Ok(edited) => {
                    prop_assert!(known, "{:?}", edit);
                    root = edited.root;
                }
                Err(ContentError::Invalid { .. }) => prop_assert!(!known, "{:?}", edit),
                Err(error) => panic!("{error}"),
            }
        }
        let mut expected = String::new();
        naive.outline(None, 0, &mut expected);
        let found: String = outline(&content, root)
            .lines()
            .map(|line| format!("{}\n", &line[..line.rfind(' ').unwrap()]))
            .collect();
        prop_assert_eq!(found, expected);
        sound(&content, root);
    }

    #[test]
    fn batch_equals_sequential_edits(edits in proptest::collection::vec(any_edit(), 0..20)) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let mut root = empty;
        let mut done = Vec::new();
        for edit in edits {
            if let Ok(edited) = now(content.edit(DOMAIN, root, time(0), std::slice::from_ref(&edit))) {
                root = edited.root;
                done.push(edit);
            }
        }
        prop_assert_eq!(apply(&content, empty, &done), root);
    }
}

#[test]
fn few_pages_are_read_without_the_whole_tree() {
    let objects = Arc::new(MemObjects::new());
    let root = now(cold(&objects).build(DOMAIN, time(0), many_pages(20_000))).unwrap().root;
    let view = cold(&objects).view(DOMAIN, root);
    let children = now(view.children(None)).unwrap();
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let last = after.as_ref().map(|(id, entry): &(PageId, PageEntry)| (&entry.rank, id));
        let batch = now(view.children_after(None, last, 150)).unwrap();
        let Some(last) = batch.last().cloned() else { break };
        after = Some(last);
        listed.extend(batch);
    }
    assert_eq!(listed, children);
    let first = now(view.pages_after(None, 10)).unwrap();
    let next = now(view.pages_after(first.last().map(|(id, _)| id), 10)).unwrap();
    let number = |pages: &[(PageId, PageEntry)]| pages.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
    assert_eq!([number(&first), number(&next)].concat(), (0..20).map(id).collect::<Vec<_>>());

    let ids = [id(12_345), id(90_000), id(40)];
    let content = cold(&objects);
    let view = content.view(DOMAIN, root);
    let lineages = now(view.lineages(&ids)).unwrap();
    assert!(content.cost().nodes_loaded <= 20, "{:?}", content.cost());
    for (id, lineage) in ids.iter().zip(&lineages) {
        let page = now(view.page(id)).unwrap().map(|entry| (id.clone(), entry));
        let expected: Vec<_> = page.into_iter().chain(now(view.ancestors(id)).unwrap()).collect();
        let lineage: Vec<_> = lineage.iter().map(|(id, entry)| (id.clone(), (**entry).clone())).collect();
        assert_eq!(lineage, expected);
    }
    assert!(lineages[0].len() > 1 && lineages[1].is_empty());
    let content = cold(&objects);
    now(content.view(DOMAIN, root).children_after(None, None, 8)).unwrap();
    assert!(content.cost().nodes_loaded <= 20, "{:?}", content.cost());
}
