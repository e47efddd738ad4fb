//! Tests of the work and the memory of reads of many pages.

use docs_model::{ExtraFields, Variables};
use serde_json::json;

use super::*;

/// Number of levels above the pages at the end of the chain.
const LEVELS: usize = 31;

/// Builds a chain of pages with `below` pages at its end. Returns the ids of the latter.
fn chain(content: &Content, below: usize) -> (Hash, Vec<PageId>) {
    let page = |n: usize, parent: Option<usize>| {
        let fields = PagePatch::from_title(&format!("Page {n}"));
        BuildItem::Page(Box::new(BuildPage::new(id(n), parent.map(id), PageKind::Document, fields)))
    };
    let levels = (0..LEVELS).map(|n| page(n, n.checked_sub(1)));
    let items: Vec<_> = levels.chain((0..below).map(|n| page(LEVELS + n, Some(LEVELS - 1)))).collect();
    let root = now(content.build(DOMAIN, time(0), items)).unwrap().root;
    (root, (LEVELS..LEVELS + below).map(id).collect())
}

/// Returns the number of lookups of map nodes during `work`.
fn lookups<T>(content: &Content, work: impl FnOnce() -> T) -> (u64, T) {
    let count = || {
        let nodes = content.cache_stats()[0];
        nodes.hits + nodes.misses
    };
    let before = count();
    let result = work();
    (count() - before, result)
}

#[test]
fn ancestors_of_many_pages_are_read_once() {
    let content = content();
    let (root, ids) = chain(&content, 300);
    let view = content.view(DOMAIN, root);
    let (lookups_of_one, lineages) = lookups(&content, || now(view.lineages(&ids[..1])).unwrap());
    assert_eq!(lineages[0].len(), 1 + LEVELS);
    let (lookups_of_all, lineages) = lookups(&content, || now(view.lineages(&ids)).unwrap());
    assert!(lineages.iter().all(|lineage| lineage.len() == 1 + LEVELS));
    let most = lookups_of_one * 300 / 10;
    assert!(lookups_of_all < most, "{lookups_of_all} lookups for 300 pages, {lookups_of_one} for one");
    let (lookups_of_paths, pages) = lookups(&content, || now(view.pages_with_paths(&ids)).unwrap());
    let (_, path) = pages[299].as_ref().unwrap();
    assert_eq!((path.matches('/').count(), path.ends_with("/page-330")), (LEVELS, true), "{path}");
    assert!(
        lookups_of_paths < most,
        "{lookups_of_paths} lookups for 300 paths, {lookups_of_one} for one page"
    );
}

#[test]
fn diff_reads_each_ancestor_once() {
    let content = content();
    let (root, ids) = chain(&content, 300);
    let view = content.view(DOMAIN, root);
    let (lookups_of_one, _) = lookups(&content, || now(view.lineages(&ids[..1])).unwrap());
    let edits: Vec<Edit> =
        ids.iter().map(|page| Edit::SetBody { page: page.clone(), body: "new".into() }).collect();
    let after = apply(&content, root, &edits);
    let (lookups_of_diff, found) = lookups(&content, || changes(&content, root, after));
    assert_eq!(found.len(), 300);
    assert!(
        lookups_of_diff < lookups_of_one * 300 / 10,
        "{lookups_of_diff} lookups, {lookups_of_one} for one page"
    );
}

#[test]
fn diff_skips_created_and_deleted_items() {
    let content = content();
    let (root, ids) = chain(&content, 3);
    let empty = now(content.empty_root(DOMAIN)).unwrap();
    for (before, after) in [(empty, root), (root, empty)] {
        let mut diff = now(content.diff(DOMAIN, before, after)).unwrap();
        assert!(diff.next().is_some());
        assert_eq!(std::iter::from_fn(|| diff.skip_created_or_deleted().then_some(())).count(), LEVELS + 2);
        assert!(diff.next().is_none());
    }
    let move_to_top = Edit::MovePage { page: ids[0].clone(), into: Some(None), at: None };
    let titled = Edit::UpdatePage { page: ids[0].clone(), fields: Box::new(PagePatch::from_title("New")) };
    let after = apply(&content, root, &[move_to_top, titled]);
    let mut diff = now(content.diff(DOMAIN, root, after)).unwrap();
    assert!(!diff.skip_created_or_deleted());
    assert!(matches!(diff.next(), Some(Ok(RevisionChange::PageMoved { .. }))));
    assert!(!diff.skip_created_or_deleted());
    assert!(matches!(diff.next(), Some(Ok(RevisionChange::PageEdited { .. }))));
}

#[test]
fn page_tree_retains_little_more_than_the_records() {
    let content = content();
    let front: ExtraFields = [("x".to_owned(), json!(vec![json!({ "a": 1 }); 600]))].into();
    let variables: Variables =
        (0..600).map(|n| (format!("v{n}"), docs_model::VariableValue::Boolean(true))).collect();
    let page = |n: usize| {
        let fields = PagePatch {
            extra: Some(front.clone().into()),
            variables: Some(variables.clone().into()),
            ..PagePatch::from_title("Page")
        };
        BuildItem::Page(Box::new(BuildPage::new(id(n), None, PageKind::Document, fields)))
    };
    let root = now(content.build(DOMAIN, time(0), (0..200).map(page))).unwrap().root;
    let view = content.view(DOMAIN, root);
    // The nodes are cached before the measurement.
    let records = now(view.pages_after(None, 200)).unwrap();
    let bytes: usize = records.iter().map(|(_, entry)| serde_json::to_vec(entry).unwrap().len()).sum();
    let (tree, used) = docs_hostile::retained_by(|| now(view.tree()).unwrap());
    assert_eq!((tree.len(), records.len()), (200, 200));
    assert!(used < 2 * bytes, "{used} bytes for {bytes} bytes of records");
}
