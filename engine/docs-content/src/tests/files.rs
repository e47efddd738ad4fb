//! Tests of file names in edits, imports and merges.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use docs_model::FileId;
use proptest::prelude::*;

use super::*;
use crate::{ThreeWay, is_numbered, parts_list};

fn file_id(n: usize) -> FileId {
    format!("file{n}").parse().unwrap()
}

fn entry(name: &str) -> FileEntry {
    FileEntry {
        name: name.to_owned(),
        content_type: "text/plain".into(),
        size: 1,
        dimensions: None,
        blob: Hash::compute(b"1"),
        parts: None,
        git: None,
        clash: JsonText::default(),
    }
}

fn put(n: usize, name: &str) -> Edit {
    Edit::PutFile { file: file_id(n), entry: entry(name) }
}

fn names(content: &Content, root: Hash) -> Vec<String> {
    let files = now(content.view(DOMAIN, root).files(None, usize::MAX)).unwrap();
    files.into_iter().map(|(_, entry)| entry.name).collect()
}

fn empty(content: &Content) -> Hash {
    now(content.empty_root(DOMAIN)).unwrap()
}

#[test]
fn duplicate_file_names_get_a_number_suffix() {
    let content = content();
    let root = apply(&content, empty(&content), &[put(0, "a.png"), put(1, "a.png"), put(2, "a.png")]);
    assert_eq!(names(&content, root), ["a.png", "a (1).png", "a (2).png"]);
    // A file keeps its own name, and a name that becomes free is used again.
    let root = apply(&content, root, &[put(1, "a (1).png"), Edit::DeleteFile { file: file_id(0) }]);
    let root = apply(&content, root, &[put(3, "a.png"), put(4, "a.png")]);
    assert_eq!(names(&content, root), ["a (1).png", "a (2).png", "a.png", "a (3).png"]);
    let root = apply(&content, root, &[put(2, "b.png"), put(5, "a (2).png")]);
    assert_eq!(names(&content, root), ["a (1).png", "b.png", "a.png", "a (3).png", "a (2).png"]);
    sound(&content, root);
}

#[test]
fn import_numbers_duplicate_names_in_input_order() {
    let content = content();
    let items = (0..3).map(|n| BuildItem::File(file_id(n), entry("a.png")));
    let built = now(content.build(DOMAIN, time(0), items)).unwrap();
    assert_eq!(names(&content, built.root), ["a.png", "a (1).png", "a (2).png"]);
    sound(&content, built.root);
}

#[test]
fn numbering_one_of_many_files_touches_few_nodes() {
    let objects = Arc::new(MemObjects::new());
    let items = (0..5_000).map(|n| BuildItem::File(file_id(n), entry(&format!("{}.png", n % 2_500))));
    let root = now(cold(&objects).build(DOMAIN, time(0), items)).unwrap().root;
    let cost = now(cold(&objects).edit(DOMAIN, root, time(0), &[put(9_999, "7.png")])).unwrap().cost;
    assert!(cost.nodes_loaded < 30 && cost.nodes_written < 20, "{cost:?}");
}

#[test]
fn merge_keeps_duplicate_file_names_of_both_sides() {
    let content = content();
    let base = apply(&content, empty(&content), &[put(0, "a.png")]);
    let main = apply(&content, base, &[put(1, "b.png"), put(0, "c.png")]);
    let request = apply(&content, base, &[put(2, "b.png")]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
    assert!(merged.is_clean(), "names of files are for people; nothing finds a file by its name");
    assert_eq!(names(&content, merged.root), ["c.png", "b.png", "b.png"]);
    sound(&content, merged.root);
    let root = apply(&content, merged.root, &[put(3, "b.png"), put(4, "a.png")]);
    assert_eq!(names(&content, root)[3..], ["b (1).png".to_owned(), "a.png".to_owned()]);
    sound(&content, root);
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let name = proptest::sample::select(vec!["a.x", "b.x", "a (1).x", "a (2).x", "c"]);
    prop_oneof![
        4 => (0usize..8, name).prop_map(|(n, name)| put(n, name)),
        1 => (0usize..8).prop_map(|n| Edit::DeleteFile { file: file_id(n) }),
    ]
}

/// Returns the root after applying the edits, skipping rejected ones.
fn applied(content: &Content, root: Hash, edits: &[Edit]) -> Hash {
    edits.iter().fold(root, |root, edit| {
        now(content.edit(DOMAIN, root, time(0), std::slice::from_ref(edit)))
            .map_or(root, |edited| edited.root)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn edits_keep_file_names_unique(edits in proptest::collection::vec(any_edit(), 0..40)) {
        let content = content();
        let mut root = empty(&content);
        for edit in &edits {
            root = applied(&content, root, std::slice::from_ref(edit));
            if let Edit::PutFile { file, entry } = edit {
                let given = now(content.view(DOMAIN, root).file(file)).unwrap().unwrap().name;
                prop_assert!(is_numbered(&given, &entry.name), "{} for {}", given, entry.name);
            }
            let names = names(&content, root);
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        }
        sound(&content, root);
    }

    #[test]
    fn merges_of_file_edits_keep_the_content_valid(
        first in proptest::collection::vec(any_edit(), 0..12),
        main in proptest::collection::vec(any_edit(), 0..12),
        request in proptest::collection::vec(any_edit(), 0..12),
    ) {
        let content = content();
        let base = applied(&content, empty(&content), &first);
        let (main, request) = (applied(&content, base, &main), applied(&content, base, &request));
        for (ours, theirs) in [(main, request), (request, main)] {
            let merged = now(content.merge(DOMAIN, ThreeWay { base, ours, theirs })).unwrap();
            sound(&content, merged.root);
        }
    }
}

#[test]
fn mark_includes_file_parts_and_fails_without_part_list() {
    let content = content();
    let parts: Vec<Bytes> = (0u8..3).map(|n| vec![n; 9].into()).collect();
    let names: Vec<Hash> = parts.iter().map(|part| Hash::compute(part)).collect();
    let list = parts_list(&names);
    let all = || names.iter().copied().zip(parts.iter().cloned());
    let stored: Vec<_> = all().chain([(Hash::compute(&list), list.clone())]).collect();
    let whole = Hash::compute(&parts.concat());
    let file = FileEntry { blob: whole, parts: Some(Hash::compute(&list)), ..entry("film.mp4") };
    let root = apply(&content, empty(&content), &[Edit::PutFile { file: file_id(0), entry: file }]);
    let mut marked = HashSet::new();
    let lost = now(content.mark(DOMAIN, root, &mut marked)).expect_err("the list is not there");
    assert!(matches!(lost, ContentError::NotFound(_)), "{lost:?}");
    now(content.objects_for_test().put(DOMAIN, &stored)).unwrap();
    marked.clear();
    now(content.mark(DOMAIN, root, &mut marked)).unwrap();
    assert!(stored.iter().all(|(name, _)| marked.contains(name)), "the list and all parts");
    assert!(!marked.contains(&whole), "what all bytes are called is no object");
    sound(&content, root);
}
