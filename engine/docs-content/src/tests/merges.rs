//! Tests of diffs and merges: examples and general laws.

use std::collections::{BTreeSet, HashSet};

use docs_model::PageId;
use proptest::prelude::*;

use super::{edits::any_edit, *};

fn text_edit(n: usize, text: &str) -> Edit {
    Edit::SetBody { page: id(n), body: text.into() }
}

fn titled(n: usize, title: &str) -> Edit {
    Edit::UpdatePage { page: id(n), fields: Box::new(PagePatch::from_title(title)) }
}

fn moved(n: usize, into: Option<usize>, at: Option<usize>) -> Edit {
    Edit::MovePage { page: id(n), into: Some(into.map(id)), at }
}

/// Returns content with two top-level pages and a child of the first, each with a text of three lines.
fn base() -> (Content, Hash) {
    let content = content();
    let empty = now(content.empty_root(DOMAIN)).unwrap();
    let mut edits = vec![
        insert(id(1), None, None, "One"),
        insert(id(2), None, None, "Two"),
        insert(id(3), Some(id(1)), None, "Three"),
    ];
    edits.extend((1..4).map(|n| text_edit(n, "first\nsecond\nthird\n")));
    let root = apply(&content, empty, &edits);
    (content, root)
}

fn merge(content: &Content, base: Hash, main: Hash, request: Hash) -> ContentMerge {
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
    sound(content, merged.root);
    merged
}

/// Merges the results of two lists of edits of the [`base`] content.
fn merged(main: &[Edit], request: &[Edit]) -> (Content, ContentMerge) {
    let (content, base) = base();
    let (main, request) = (apply(&content, base, main), apply(&content, base, request));
    let merged = merge(&content, base, main, request);
    (content, merged)
}

fn conflicts(merged: &ContentMerge) -> Vec<(String, Conflict)> {
    let subject = |subject: &Subject| match subject {
        Subject::Page(id) => id.to_string(),
        Subject::File(id) => id.to_string(),
        Subject::Reusable(id) => id.to_string(),
        Subject::Variable(name) => name.clone(),
    };
    merged.conflicts.iter().map(|note| (subject(&note.subject), note.conflict.clone())).collect()
}

fn page(content: &Content, root: Hash, n: usize) -> PageEntry {
    now(content.view(DOMAIN, root).page(&id(n))).unwrap().unwrap()
}

fn text(content: &Content, root: Hash, n: usize, rendering: Rendering) -> String {
    let body = page(content, root, n).body;
    now(content.body_text(DOMAIN, &body, rendering)).unwrap().to_string()
}

#[test]
fn different_fields_and_lines_of_a_page_merge_cleanly() {
    let main = [titled(1, "Uno"), text_edit(1, "FIRST\nsecond\nthird\n")];
    let slugged = PagePatch { slug: Some("uno".into()), hidden: Some(true), ..PagePatch::default() };
    let request = [
        Edit::UpdatePage { page: id(1), fields: Box::new(slugged) },
        text_edit(1, "first\nsecond\nTHIRD\n"),
        moved(1, None, Some(1)),
    ];
    let (content, merged) = merged(&main, &request);
    assert_eq!(merged.conflicts, []);
    let entry = page(&content, merged.root, 1);
    assert_eq!((entry.title.as_str(), entry.slug.as_str(), entry.hidden), ("Uno", "uno", true));
    assert_eq!(text(&content, merged.root, 1, Rendering::Request), "FIRST\nsecond\nTHIRD\n");
    assert!(outline(&content, merged.root).starts_with("page00002"));
}

#[test]
fn field_conflict_keeps_request_value_and_stores_all_sides() {
    let (content, merged) = merged(&[titled(1, "Main")], &[titled(1, "Request")]);
    assert_eq!(conflicts(&merged), [(id(1).to_string(), Conflict::Field { field: "title".into() })]);
    assert_eq!(merged.conflicted, 1);
    let entry = page(&content, merged.root, 1);
    assert_eq!(entry.title, "Request");
    let clash = &entry.clash.value()["title"];
    assert_eq!(
        (&clash.other, &clash.base, &clash.request),
        (&"Main".into(), &"One".into(), &"Request".into())
    );
    assert_eq!(now(content.view(DOMAIN, merged.root).conflicted(None, 10)).unwrap(), [id(1)]);
    let decided = apply(&content, merged.root, &[titled(1, "Both")]);
    assert!(page(&content, decided, 1).clash.is_default());
    assert_eq!(now(content.view(DOMAIN, decided).counts()).unwrap().conflicted, 0);
    sound(&content, decided);
}

#[test]
fn text_conflict_persists_until_saved_without_markers() {
    let main = [text_edit(1, "main\nsecond\nthird\n")];
    let request = [text_edit(1, "request\nsecond\nthird\n")];
    let (content, merged) = merged(&main, &request);
    assert_eq!(conflicts(&merged), [(id(1).to_string(), Conflict::Text)]);
    assert_eq!(text(&content, merged.root, 1, Rendering::Request), "request\nsecond\nthird\n");
    let shown = text(&content, merged.root, 1, Rendering::Markers);
    assert_eq!(
        shown,
        "<<<<<<< current\nmain\n||||||| base\nfirst\n=======\nrequest\n>>>>>>> change request\nsecond\nthird\n"
    );
    // Saving the text with all its markers resolves nothing. Saving it without markers resolves the conflict.
    assert_eq!(apply(&content, merged.root, &[text_edit(1, &shown)]), merged.root);
    let partly = apply(&content, merged.root, &[text_edit(1, &shown.replace("third", "3rd"))]);
    assert!(page(&content, partly, 1).body.is_conflict());
    assert_eq!(text(&content, partly, 1, Rendering::Request), "request\nsecond\n3rd\n");
    let decided = apply(&content, partly, &[text_edit(1, "decided\nsecond\nthird\n")]);
    assert!(!page(&content, decided, 1).is_conflicted());
    let broken = [text_edit(1, "<<<<<<< current\nmain\n")];
    assert!(matches!(
        now(content.edit(DOMAIN, merged.root, time(0), &broken)),
        Err(ContentError::Invalid { index: 0, field: "document", .. })
    ));
}

#[test]
fn conflicts_persist_across_further_merges() {
    let (content, base) = base();
    let main = apply(&content, base, &[text_edit(1, "main\nsecond\nthird\n")]);
    let request = apply(&content, base, &[text_edit(1, "request\nsecond\nthird\n")]);
    // The change request merges main and has a conflict. Main changes, and the request merges it again. There is still
    // a single conflict of three terms, with the latest text of main.
    let pulled = merge(&content, base, main, request);
    let newer = apply(&content, main, &[text_edit(1, "newer\nsecond\nthird\n")]);
    let again = merge(&content, main, newer, pulled.root);
    let body = page(&content, again.root, 1).body;
    assert_eq!(body.terms().len(), 3);
    assert_eq!(text(&content, again.root, 1, Rendering::Request), "request\nsecond\nthird\n");
    assert!(text(&content, again.root, 1, Rendering::Markers).contains("newer"));
    // Main merges the change request with its conflict. Another request, based on the original, resolves the line
    // differently.
    let resolved = apply(&content, again.root, &[text_edit(1, "resolved\nsecond\nthird\n")]);
    let last = merge(&content, newer, newer, resolved);
    assert_eq!((last.root, last.conflicted), (resolved, 0));
    let third = apply(&content, base, &[text_edit(1, "third side\nsecond\nthird\n")]);
    let three = merge(&content, base, again.root, third);
    assert_eq!(page(&content, three.root, 1).body.terms().len(), 5);
    let shown = text(&content, three.root, 1, Rendering::Markers);
    assert!(["newer", "request", "third side"].iter().all(|side| shown.contains(side)), "{shown}");
    assert_eq!(apply(&content, three.root, &[text_edit(1, &shown)]), three.root);
}

#[test]
fn edit_wins_over_concurrent_deletion_with_a_conflict() {
    for (main, request) in [
        (vec![Edit::DeletePage { page: id(2) }], vec![text_edit(2, "changed\n")]),
        (vec![text_edit(2, "changed\n")], vec![Edit::DeletePage { page: id(2) }]),
    ] {
        let (content, merged) = merged(&main, &request);
        assert_eq!(conflicts(&merged), [(id(2).to_string(), Conflict::Existence)]);
        assert_eq!(text(&content, merged.root, 2, Rendering::Request), "changed\n");
    }
    let (content, merged) = merged(&[Edit::DeletePage { page: id(2) }], &[titled(1, "Uno")]);
    assert_eq!((merged.conflicts.len(), outline(&content, merged.root).contains("page00002")), (0, false));
}

#[test]
fn page_with_a_deleted_parent_moves_up_with_a_conflict() {
    let request = [insert(id(9), Some(id(3)), None, "Nine")];
    let (content, merged) = merged(&[Edit::DeletePage { page: id(1) }], &request);
    assert_eq!(conflicts(&merged), [(id(9).to_string(), Conflict::ParentGone { parent: id(3) })]);
    assert_eq!(outline(&content, merged.root), "page00009 nine\npage00002 two\n");
}

#[test]
fn moves_that_form_a_cycle_are_undone_on_the_request_side() {
    let (content, merged) = merged(&[moved(1, Some(2), None)], &[moved(2, Some(1), None)]);
    assert_eq!(conflicts(&merged), [(id(2).to_string(), Conflict::Cycle)]);
    assert_eq!(outline(&content, merged.root), "page00002 two\n  page00001 one\n    page00003 three\n");
    assert!(page(&content, merged.root, 2).clash.value().contains_key(clash_field::POSITION));
}

#[test]
fn merge_renumbers_colliding_slugs_of_new_pages() {
    let main = [insert(id(8), None, None, "New")];
    let request = [insert(id(7), None, None, "New"), insert(id(6), None, Some(0), "New-2")];
    let (content, merged) = merged(&main, &request);
    assert_eq!(conflicts(&merged), [(id(7).to_string(), Conflict::SlugTaken { slug: "new".into() })]);
    let view = content.view(DOMAIN, merged.root);
    for (path, n) in [("new", 8), ("new-2", 6), ("new-3", 7)] {
        assert_eq!(now(view.find(path)).unwrap().unwrap().0, id(n), "{path}");
    }
}

#[test]
fn a_swap_of_slugs_is_no_conflict() {
    let slug = |n, slug: &str| Edit::UpdatePage {
        page: id(n),
        fields: Box::new(PagePatch { slug: Some(slug.into()), ..PagePatch::default() }),
    };
    let request = [slug(1, "temporary"), slug(2, "one"), slug(1, "two")];
    let (content, merged) = merged(&[titled(3, "Drei")], &request);
    assert_eq!(merged.conflicts, []);
    assert_eq!(outline(&content, merged.root), "page00001 two\n  page00003 three\npage00002 one\n");
}

#[test]
fn page_variables_merge_by_key() {
    let with = |pairs: &[(&str, &str)]| {
        let variables: docs_model::Variables =
            variables(pairs).into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Edit::UpdatePage {
            page: id(1),
            fields: Box::new(PagePatch { variables: Some(variables.into()), ..PagePatch::default() }),
        }
    };
    let (content, merged) =
        merged(&[with(&[("a", "1"), ("c", "main")])], &[with(&[("b", "2"), ("c", "request")])]);
    assert_eq!(conflicts(&merged), [(id(1).to_string(), Conflict::Field { field: "variables.c".into() })]);
    let entry = page(&content, merged.root, 1);
    let variables = entry.variables.value();
    let found: Vec<&String> = variables.keys().collect();
    assert_eq!(found, ["a", "b", "c"]);
    assert_eq!(serde_json::to_value(&variables["c"]).unwrap(), "request");
    let decided = apply(&content, merged.root, &[with(&[("c", "x")])]);
    assert!(!page(&content, decided, 1).is_conflicted());
}

#[test]
fn files_reusables_and_variables_merge_too() {
    let file = |name: &str, bytes: &[u8]| FileEntry {
        name: name.into(),
        content_type: "image/png".into(),
        size: bytes.len() as u64,
        dimensions: None,
        blob: Hash::compute(bytes),
        parts: None,
        git: None,
        clash: JsonText::default(),
    };
    let put = |n: &str, entry| Edit::PutFile { file: n.parse().unwrap(), entry };
    let (content, base) = base();
    let reusable = |text: &str| Edit::PutReusable {
        reusable: "r".parse().unwrap(),
        fields: ReusablePatch {
            title: Some("R".into()),
            body: Some(text.into()),
            ..ReusablePatch::default()
        },
    };
    let set = |pairs: &[(&str, &str)]| Edit::SetVariables { variables: variables(pairs) };
    let base = apply(&content, base, &[put("f", file("a", b"1")), reusable("a\nb\nc\n"), set(&[("v", "1")])]);
    let main = [put("f", file("main", b"1")), reusable("A\nb\nc\n"), set(&[("v", "2"), ("w", "1")])];
    let request = [put("f", file("a", b"22")), reusable("a\nb\nC\n"), set(&[("v", "3"), ("x", "1")])];
    let (main, request) = (apply(&content, base, &main), apply(&content, base, &request));
    let merged = merge(&content, base, main, request);
    assert_eq!(conflicts(&merged), [("v".to_owned(), Conflict::Field { field: "value".into() })]);
    let view = content.view(DOMAIN, merged.root);
    let entry = now(view.file(&"f".parse().unwrap())).unwrap().unwrap();
    assert_eq!((entry.name.as_str(), entry.size, entry.blob), ("main", 2, Hash::compute(b"22")));
    let entry = now(view.reusable(&"r".parse().unwrap())).unwrap().unwrap();
    assert_eq!(&*now(view.text(&entry.body, Rendering::Request)).unwrap(), "A\nb\nC\n");
    let found: Vec<String> = now(view.variables()).unwrap().into_keys().collect();
    assert_eq!(found, ["v", "w", "x"]);
}

#[test]
fn diff_reports_created_deleted_edited_pages_and_variables() {
    let (content, base) = base();
    let edits = [
        insert(id(5), None, Some(0), "Five"),
        titled(2, "Zwei"),
        text_edit(2, "changed\n"),
        Edit::DeletePage { page: id(1) },
        insert(id(6), Some(id(2)), None, "Six"),
        Edit::SetVariables { variables: variables(&[("v", "1")]) },
    ];
    let root = apply(&content, base, &edits);
    let changes = changes(&content, base, root);
    let told: Vec<String> = changes
        .iter()
        .map(|change| match change {
            RevisionChange::PageCreated(page) => format!("+ {}", page.path.as_deref().unwrap()),
            RevisionChange::PageDeleted(page) => format!("- {}", page.path.as_deref().unwrap()),
            RevisionChange::PageEdited { page, attributes, .. } => format!("~ {} {attributes:?}", page.id),
            RevisionChange::PageMoved { page, .. } => format!("> {}", page.id),
            RevisionChange::VariablesEdited(names) => format!("v {:?}", names.keys()),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        ["+ five", "- one", "- one/three", "~ page00002 [Title, Body]", "+ two/six", "v [\"v\"]"]
    );
    assert_eq!(super::changes(&content, root, root), []);
}

#[test]
fn merge_and_diff_of_a_large_space_touch_few_nodes() {
    let objects = Arc::new(MemObjects::new());
    let base = now(cold(&objects).build(DOMAIN, time(0), many_pages(20_000))).unwrap().root;
    let main = apply(&cold(&objects), base, &[text_edit(777, "main\n")]);
    let request = apply(&cold(&objects), base, &[text_edit(15_555, "request\n"), text_edit(3, "request\n")]);
    let merged = now(cold(&objects).merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
    assert_eq!(merged.conflicts, []);
    assert!(merged.cost.nodes_loaded <= 50 && merged.cost.nodes_written <= 12, "{:?}", merged.cost);
    // Both pages of the change request have the same text. It is read to derive their links.
    assert_eq!(merged.cost.texts_loaded, 1);
    let content = cold(&objects);
    assert_eq!(changes(&content, base, merged.root).len(), 3);
    assert!(content.cost().nodes_loaded <= 40, "{:?}", content.cost());
}

#[test]
fn mark_finds_every_object_reachable_from_a_root() {
    let (content, base) = base();
    let root = apply(&content, base, &[text_edit(1, "new\n"), insert(id(4), None, None, "Four")]);
    let mut marked = HashSet::new();
    now(content.mark(DOMAIN, root, &mut marked)).unwrap();
    let memory = Arc::new(MemObjects::new());
    let objects: Vec<_> = {
        let shared = content.objects_for_test();
        marked
            .iter()
            .map(|hash| (*hash, now(shared.get(DOMAIN, &[*hash])).unwrap()[0].clone().unwrap()))
            .collect()
    };
    now(memory.put(DOMAIN, &objects)).unwrap();
    let copy = cold(&memory);
    assert_eq!(outline(&copy, root), outline(&content, root));
    assert_eq!(text(&copy, root, 1, Rendering::Request), "new\n");
    sound(&copy, root);
}

/// Applies random edits, skipping invalid ones.
pub(super) fn random(content: &Content, mut root: Hash, edits: &[Edit]) -> Hash {
    for edit in edits {
        if let Ok(edited) = now(content.edit(DOMAIN, root, time(0), std::slice::from_ref(edit))) {
            root = edited.root;
        }
    }
    root
}

fn pages(content: &Content, root: Hash) -> BTreeMap<PageId, PageEntry> {
    let tree = now(content.view(DOMAIN, root).tree()).unwrap();
    tree.pages().iter().map(|page| (page.id.clone(), page.entry.clone())).collect()
}

/// Returns the lines of all terms of a page's text.
fn lines(content: &Content, entry: &PageEntry) -> BTreeSet<String> {
    let text = now(content.body_text(DOMAIN, &entry.body, Rendering::Markers)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Random edits of all kinds, including groups and links.
pub(super) fn program() -> impl Strategy<Value = Vec<Edit>> {
    let page = || (0usize..14).prop_map(id);
    let group = page().prop_map(|page| {
        Edit::InsertPage(Box::new(NewPage::new(page, PageKind::Group, PagePatch::from_title("One"))))
    });
    let link = (page(), proptest::option::of(page())).prop_map(|(page, parent)| {
        let target = Some(docs_model::ContentRef::Page { page: id(0), space: None });
        let new = NewPage::new(
            page,
            PageKind::Link,
            PagePatch { target: Some(target), ..PagePatch::from_title("Link") },
        );
        Edit::InsertPage(Box::new(NewPage { parent, ..new }))
    });
    let variable = ("[a-c]", proptest::option::of(0u8..3)).prop_map(|(name, value)| {
        let value = value.map(|n: u8| docs_model::VariableValue::Number(n.into()));
        Edit::SetVariables { variables: [(name, value)].into() }
    });
    let shared = ("[a-b]", "([a-c]\n){0,4}").prop_map(|(name, text)| Edit::PutReusable {
        reusable: name.parse().unwrap(),
        fields: ReusablePatch {
            title: Some(name),
            body: Some(NewBody::Text(text)),
            ..ReusablePatch::default()
        },
    });
    let edit = prop_oneof![12 => any_edit(), 1 => group, 2 => link, 1 => variable, 1 => shared];
    proptest::collection::vec(edit, 0..18)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn merge_with_an_unchanged_or_equal_side_yields_the_other(start in program(), edits in program()) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let base = random(&content, empty, &start);
        let changed = random(&content, base, &edits);
        for (main, request) in [(base, changed), (changed, base), (changed, changed)] {
            let merged = merge(&content, base, main, request);
            prop_assert_eq!(merged.root, changed);
            prop_assert_eq!(merged.conflicts, []);
        }
    }

    #[test]
    fn merge_is_valid_and_loses_no_pages_or_lines(start in program(), one in program(), two in program()) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let base = random(&content, empty, &start);
        let (main, request) = (random(&content, base, &one), random(&content, base, &two));
        // `merge` also checks that the result is valid.
        let merged = merge(&content, base, main, request);
        if merged.conflicts.is_empty() {
            // Without conflicts, the merge is symmetric.
            let exchanged = now(content.merge(DOMAIN, ThreeWay { base, ours: request, theirs: main })).unwrap();
            prop_assert_eq!(exchanged.root, merged.root);
        }
        let [b, m, r, result] = [base, main, request, merged.root].map(|root| pages(&content, root));
        let told = |entry: &PageEntry| PageEntry { rank: Rank::nth(0), updated_at: None, ..entry.clone() };
        for id in m.keys().chain(r.keys()) {
            let unchanged = |side: &BTreeMap<PageId, PageEntry>| {
                b.get(id).map(told) == side.get(id).map(told)
            };
            // A page that exists on both sides, or that a side added or changed, must exist in the result.
            if (m.contains_key(id) && r.contains_key(id)) || !unchanged(&m) && !unchanged(&r) || !b.contains_key(id) {
                prop_assert!(result.contains_key(id), "{} is lost", id);
            }
        }
        for (id, entry) in &result {
            let sides = [m.get(id), r.get(id)];
            // A line written by one side must be in the result, unless the other side removed it.
            let before = b.get(id).map(|entry| lines(&content, entry)).unwrap_or_default();
            let after = lines(&content, entry);
            for side in sides.into_iter().flatten() {
                for line in lines(&content, side).difference(&before) {
                    prop_assert!(after.contains(line), "{} of {} is lost", line, id);
                }
            }
        }
        let conflicted = result.values().filter(|entry| entry.is_conflicted()).count();
        prop_assert_eq!(merged.conflicted, conflicted as u64);
        prop_assert!(merged.conflicted == 0 || !merged.conflicts.is_empty());
    }

    #[test]
    fn edits_of_different_pages_merge_without_conflict(one in "([a-d]\n){1,6}", two in "([a-d]\n){1,6}") {
        let (content, merged) = merged(
            &[text_edit(1, &one), titled(2, "Main")],
            &[text_edit(3, &two), insert(id(9), Some(id(2)), None, "Nine")],
        );
        prop_assert_eq!(&merged.conflicts, &[]);
        prop_assert_eq!(text(&content, merged.root, 1, Rendering::Request), one);
        prop_assert_eq!(text(&content, merged.root, 3, Rendering::Request), two);
    }

    #[test]
    fn merge_after_pulling_main_is_a_fast_forward(start in program(), one in program(), two in program()) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let base = random(&content, empty, &start);
        let (main, request) = (random(&content, base, &one), random(&content, base, &two));
        let pulled = merge(&content, base, main, request).root;
        // The change request contains main, so merging it results in the request's content.
        prop_assert_eq!(merge(&content, main, main, pulled).root, pulled);
    }

    #[test]
    fn reverting_any_page_keeps_the_content_sound(start in program(), edits in program(), page in 0usize..14) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let base = random(&content, empty, &start);
        let after = random(&content, base, &edits);
        let revert = Edit::RevertPage { page: id(page), to: base };
        let reverted = random(&content, after, &[revert]);
        sound(&content, reverted);
        let (then, now) = (pages(&content, base), pages(&content, reverted));
        prop_assert_eq!(then.contains_key(&id(page)), now.contains_key(&id(page)));
        if let (Some(then), Some(now)) = (then.get(&id(page)), now.get(&id(page))) {
            prop_assert_eq!((&then.title, &then.body), (&now.title, &now.body));
        }
        // No page of the base is lost.
        let before = pages(&content, after);
        prop_assert!(before.keys().filter(|id| then.contains_key(*id)).all(|id| now.contains_key(id)));
    }

    #[test]
    fn diff_reports_exactly_the_changed_pages(start in program(), edits in program()) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let base = random(&content, empty, &start);
        let after = random(&content, base, &edits);
        let told: BTreeSet<PageId> = changes(&content, base, after)
            .into_iter()
            .filter_map(|change| match change {
                RevisionChange::PageCreated(page)
                | RevisionChange::PageDeleted(page)
                | RevisionChange::PageEdited { page, .. }
                | RevisionChange::PageMoved { page, .. } => Some(page.id),
                _ => None,
            })
            .collect();
        let (a, b) = (pages(&content, base), pages(&content, after));
        let plain = |entry: &PageEntry| PageEntry { updated_at: None, created_at: None, ..entry.clone() };
        let expected: BTreeSet<PageId> = a
            .keys()
            .chain(b.keys())
            .filter(|id| a.get(*id).map(plain) != b.get(*id).map(plain))
            .cloned()
            .collect();
        prop_assert_eq!(told, expected);
    }
}
