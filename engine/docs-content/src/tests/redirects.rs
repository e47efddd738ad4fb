//! Tests of redirects from previous paths of pages.

use std::collections::{BTreeSet, HashSet};

use docs_model::PageId;
use proptest::prelude::*;

use super::{
    edits::{any_edit, three},
    merges::{program, random},
    *,
};

fn slugged(n: usize, slug: &str) -> Edit {
    Edit::UpdatePage {
        page: id(n),
        fields: Box::new(PagePatch { slug: Some(slug.into()), ..PagePatch::default() }),
    }
}

fn into(n: usize, parent: Option<usize>) -> Edit {
    Edit::MovePage { page: id(n), into: Some(parent.map(id)), at: None }
}

/// Returns content with the pages `one`, its child `three` with the child `four`, and `two`.
fn four() -> (Content, Hash) {
    let (content, root) = three();
    let root = apply(&content, root, &[insert(id(4), Some(id(3)), None, "Four")]);
    (content, root)
}

fn after(content: &Content, mut root: Hash, edits: &[Edit]) -> Hash {
    for (n, edit) in edits.iter().enumerate() {
        let at = time(i64::try_from(n).unwrap() + 1);
        root = now(content.edit(DOMAIN, root, at, std::slice::from_ref(edit))).unwrap().root;
    }
    sound(content, root);
    root
}

fn leads(content: &Content, root: Hash, path: &str) -> Option<PageId> {
    let found = now(content.view(DOMAIN, root).find_moved(path)).unwrap();
    found.map(|found| {
        assert_eq!(now(content.view(DOMAIN, root).page(&found.id)).unwrap(), Some(found.entry));
        found.id
    })
}

/// Returns the number of redirect entries.
fn traces(content: &Content, root: Hash) -> u64 {
    let (from, to) = keys::class(keys::REDIRECT);
    now(content.session(DOMAIN).run(|session| Ok(map::count(session, &root, &from, &to)?))).unwrap()
}

// Paths resolve however often a page has moved.
#[test]
fn one_entry_redirects_a_moved_page_and_its_descendants() {
    let (content, root) = four();
    let root = after(&content, root, &[slugged(1, "uno"), into(1, Some(2))]);
    for path in ["one/three/four", "/ONE/three/Four/", "uno/three/four", "two/uno/three/four"] {
        assert_eq!(leads(&content, root, path), Some(id(4)), "{path}");
    }
    assert_eq!(leads(&content, root, "one"), Some(id(1)));
    for path in ["", "one/four", "one/three/four/five", "three"] {
        assert_eq!(leads(&content, root, path), None, "{path}");
    }
    assert_eq!(traces(&content, root), 2);
    assert!(now(content.view(DOMAIN, root).find("one/three")).unwrap().is_none());
}

// Pages that have been each other's parents make old paths of any length possible.
#[test]
fn cyclic_old_paths_terminate_at_the_step_limit() {
    let (content, root) = four();
    let edits = [
        slugged(1, "s"),
        into(1, Some(2)),
        into(1, None),
        slugged(1, "uno"),
        slugged(2, "s"),
        into(2, Some(1)),
        into(2, None),
    ];
    let root = after(&content, root, &edits);
    let round = |times: usize, end: &str| format!("one/{}{end}", "s/".repeat(times));
    assert_eq!(leads(&content, root, &round(1, "")), Some(id(2)));
    assert_eq!(leads(&content, root, &round(2, "three")), Some(id(3)));
    for times in [2, 3, 100, 5_000] {
        assert_eq!(leads(&content, root, &round(times, "none")), None, "{times}");
    }
}

#[test]
fn current_page_precedes_redirects_and_latest_redirect_wins() {
    let (content, root) = four();
    let root = after(&content, root, &[slugged(3, "3"), insert(id(5), Some(id(1)), None, "Three")]);
    assert_eq!(leads(&content, root, "one/three"), Some(id(5)));
    // Children of the page that was previously at the path are still found.
    assert_eq!(leads(&content, root, "one/three/four"), Some(id(4)));
    let root = now(content.edit(DOMAIN, root, time(9), &[slugged(5, "5")])).unwrap().root;
    assert_eq!(leads(&content, root, "one/three"), Some(id(5)));
    let root = now(content.edit(DOMAIN, root, time(10), &[Edit::DeletePage { page: id(5) }])).unwrap().root;
    assert_eq!(leads(&content, root, "one/three"), Some(id(3)));
    let back = now(content.edit(DOMAIN, root, time(11), &[slugged(3, "three")])).unwrap().root;
    assert_eq!(leads(&content, back, "one/3"), Some(id(3)));
    assert_eq!(leads(&content, back, "one/three"), Some(id(3)));
}

#[test]
fn former_path_below_a_deleted_page_still_resolves() {
    let (content, root) = four();
    let gone = after(&content, root, &[into(4, None), Edit::DeletePage { page: id(1) }]);
    assert_eq!(leads(&content, gone, "one/three/four"), Some(id(4)));
    for path in ["one", "one/three"] {
        assert_eq!(leads(&content, gone, path), None, "{path}");
    }
    // The same applies if another page has taken the path.
    let root = after(&content, gone, &[insert(id(9), None, None, "One")]);
    assert_eq!(leads(&content, root, "one/three/four"), Some(id(4)));
    // A deletion that breaks no old path leaves no entry.
    let (content, root) = four();
    let root = after(&content, root, &[Edit::DeletePage { page: id(1) }]);
    assert_eq!((traces(&content, root), leads(&content, root, "one/three")), (0, None));
}

#[test]
fn edits_that_preserve_paths_record_no_redirect() {
    let (content, root) = four();
    let edits = [
        Edit::UpdatePage { page: id(1), fields: Box::new(PagePatch::from_title("Uno")) },
        Edit::SetBody { page: id(1), body: "text".into() },
        Edit::MovePage { page: id(2), into: None, at: Some(0) },
    ];
    let changed = after(&content, root, &edits);
    assert_eq!(traces(&content, changed), 0);
    let same = [Edit::MovePage { page: id(3), into: Some(Some(id(1))), at: None }, slugged(1, "one")];
    assert_eq!(apply(&content, root, &same), root);
}

#[test]
fn revert_that_moves_a_page_redirects_from_its_old_path() {
    let (content, root) = four();
    let moved = after(&content, root, &[into(3, Some(2))]);
    let back = after(&content, moved, &[Edit::RevertPage { page: id(3), to: root }]);
    assert_eq!(leads(&content, back, "two/three/four"), Some(id(4)));
    assert_eq!(changes(&content, moved, back).len(), 1);
}

#[test]
fn merge_keeps_redirects_for_renames_of_both_sides() {
    let (content, base) = four();
    let main = after(&content, base, &[slugged(1, "main"), insert(id(7), None, None, "Seven")]);
    let request = after(&content, base, &[slugged(3, "request"), slugged(2, "zwei")]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
    sound(&content, merged.root);
    assert_eq!(merged.conflicts, []);
    for path in ["one/three/four", "main/three/four", "one/request/four", "main/request/four"] {
        assert_eq!(leads(&content, merged.root, path), Some(id(4)), "{path}");
    }
    assert_eq!(leads(&content, merged.root, "two"), Some(id(2)));
    // If main is unchanged, the merged change request keeps its redirects.
    let taken = now(content.merge(DOMAIN, ThreeWay { base, ours: base, theirs: request })).unwrap();
    assert_eq!(leads(&content, taken.root, "one/three/four"), Some(id(4)));
}

#[test]
fn all_former_paths_of_a_page_renamed_on_both_sides_resolve() {
    let (content, base) = four();
    let main = after(&content, base, &[slugged(1, "main")]);
    let request = after(&content, base, &[slugged(1, "between"), slugged(1, "request")]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
    sound(&content, merged.root);
    assert_eq!(merged.conflicts.len(), 1);
    for path in ["one", "main", "between", "request"] {
        assert_eq!(leads(&content, merged.root, path), Some(id(1)), "{path}");
    }
}

// Main content deleted the pages on the old path.
#[test]
fn page_moved_in_request_is_found_below_pages_deleted_in_main() {
    let (content, base) = four();
    let main = after(&content, base, &[Edit::DeletePage { page: id(1) }]);
    let request = after(&content, base, &[into(4, None)]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap();
    sound(&content, merged.root);
    assert_eq!(leads(&content, merged.root, "one/three/four"), Some(id(4)));
}

fn with_redirects(redirects: &[(&str, usize, Option<&str>)]) -> Vec<BuildItem> {
    let mut items = many_pages(3);
    items.extend(redirects.iter().map(|(path, page, anchor)| {
        BuildItem::Redirect((*path).to_owned(), id(*page), anchor.map(str::to_owned))
    }));
    items
}

// The first redirect of a path applies. Redirects to missing pages do not resolve.
#[test]
fn pages_and_traces_precede_repository_redirects() {
    let content = content();
    let named = [
        ("Old/Path", 1, Some("part")),
        ("old/path", 2, None),
        ("page-0", 2, None),
        ("left", 2, None),
        ("gone", 9, None),
    ];
    let root = now(content.build(DOMAIN, time(0), with_redirects(&named))).unwrap().root;
    sound(&content, root);
    let found = |root, path| now(content.view(DOMAIN, root).find_moved(path)).unwrap();
    let old = found(root, "/old/PATH").unwrap();
    assert_eq!((old.id, old.anchor.as_deref()), (id(1), Some("part")));
    assert_eq!(found(root, "page-0").unwrap().id, id(0));
    assert_eq!(found(root, "left").unwrap().id, id(2));
    assert_eq!((found(root, "gone"), found(root, "old/path/page-1")), (None, None));
    let root = after(&content, root, &[slugged(0, "left"), slugged(0, "other")]);
    assert_eq!(found(root, "left").unwrap().id, id(0));
}

#[test]
fn rebuild_keeps_traces_and_drops_old_repository_redirects() {
    let content = content();
    let first = now(content.build(DOMAIN, time(0), with_redirects(&[("old", 1, None)]))).unwrap().root;
    let before = after(&content, first, &[slugged(1, "uno")]);
    let built = now(content.build(DOMAIN, time(5), with_redirects(&[("new", 1, None)]))).unwrap().root;
    let root = now(content.keep_redirects(DOMAIN, time(5), before, built)).unwrap();
    sound(&content, root);
    for (path, page) in [("page-0/uno", Some(1)), ("page-0/page-1", Some(1)), ("new", Some(1)), ("old", None)]
    {
        assert_eq!(leads(&content, root, path), page.map(id), "{path}");
    }
    // Nothing has moved since.
    assert_eq!(now(content.keep_redirects(DOMAIN, time(6), root, root)).unwrap(), root);
    // Empty previous content adds no redirects.
    assert_eq!(now(content.keep_redirects(DOMAIN, time(6), Content::empty_hash(), first)).unwrap(), first);
}

#[test]
fn check_reports_malformed_redirect_entries() {
    let (content, root) = four();
    let mut session = content.session(DOMAIN);
    let bad = [
        ("o!git!old", "{\"page\":1}"),
        ("o!moved!!slug", "{}"),
        ("o!moved!!slug!page00001", "[1]"),
        ("o!other!x", "{}"),
    ];
    let changes = bad.map(|(key, value)| (docs_store::Key::from(key), Some(value.into()))).into();
    let root = now(session.apply(root, &changes)).unwrap();
    now(session.save(root, &BTreeSet::new())).unwrap();
    assert_eq!(now(content.check(DOMAIN, root)).unwrap().len(), bad.len());
}

#[test]
fn renaming_one_of_many_pages_touches_few_nodes() {
    let objects = Arc::new(MemObjects::new());
    let root = now(cold(&objects).build(DOMAIN, time(0), many_pages(20_000))).unwrap().root;
    let cost = now(cold(&objects).edit(DOMAIN, root, time(1), &[slugged(12_320, "new")])).unwrap().cost;
    assert!(cost.nodes_loaded <= 24 && cost.nodes_written <= 18, "{cost:?}");
    let moved = apply(&cold(&objects), root, &[slugged(12_320, "new")]);
    let content = cold(&objects);
    assert_eq!(leads(&content, moved, "page-12320/page-12345"), Some(id(12_345)));
    assert!(content.cost().nodes_loaded <= 24, "{:?}", content.cost());
}

/// A previous path of a page, the page, and its ancestors at the time.
type Had = (String, PageId, Vec<PageId>);

#[derive(Default)]
struct History {
    all: HashSet<Had>,
    /// The paths that each page has had since it was added. A page that is deleted and added again starts from scratch.
    living: HashSet<(String, PageId)>,
}

impl History {
    fn take(&mut self, tree: &PageTree) {
        self.living.retain(|(_, page)| tree.get(page).is_some());
        for page in tree.pages().iter().filter(|page| !page.path.is_empty()) {
            let above = tree.ancestors(page).map(|above| above.id.clone()).collect();
            self.all.insert((page.path.clone(), page.id.clone(), above));
            self.living.insert((page.path.clone(), page.id.clone()));
        }
    }

    fn holders(&self, path: &str) -> BTreeSet<&PageId> {
        self.all.iter().filter(|(had, ..)| had == path).map(|(_, page, _)| page).collect()
    }

    /// Returns `true` if no other page ever had the location of the page or of one of its ancestors.
    fn is_alone(&self, (path, page, above): &Had) -> bool {
        let mut slugs = path.rsplit('/');
        let chain: Vec<&PageId> = std::iter::once(page).chain(above).collect();
        chain.iter().enumerate().all(|(level, page)| {
            let (slug, parent) = (slugs.next(), chain.get(level + 1).copied());
            let had = |(path, _, above): &&Had| path.rsplit('/').next() == slug && above.first() == parent;
            self.all.iter().filter(had).all(|(_, other, _)| other == *page)
        })
    }

    fn was_below(&self, page: &PageId, top: &PageId) -> bool {
        self.all.iter().any(|(_, id, above)| id == page && above.contains(top))
    }
}

fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_former_path_of_an_existing_page_resolves(
        edits in proptest::collection::vec(any_edit(), 0..60),
    ) {
        let content = content();
        let mut root = now(content.empty_root(DOMAIN)).unwrap();
        let mut history = History::default();
        for (n, edit) in edits.iter().enumerate() {
            let at = time(i64::try_from(n).unwrap());
            if let Ok(edited) = now(content.edit(DOMAIN, root, at, std::slice::from_ref(edit))) {
                root = edited.root;
                history.take(&now(content.view(DOMAIN, root).tree()).unwrap());
            }
        }
        sound(&content, root);
        let tree = now(content.view(DOMAIN, root).tree()).unwrap();
        for entry in &history.all {
            let path = &entry.0;
            let found = leads(&content, root, path);
            if let Some(standing) = tree.find(path) {
                prop_assert_eq!(found.as_ref(), Some(&standing.id), "{}", path);
                continue;
            }
            let holders = history.holders(path);
            let living: Vec<_> = history.living.iter().filter(|(had, _)| had == path).collect();
            match &found {
                None => prop_assert!(living.is_empty(), "{} of {:?} leads nowhere", path, living),
                Some(page) if history.is_alone(entry) => prop_assert_eq!(page, &entry.1, "{}", path),
                // If other pages had a prefix of the path, it may resolve to a current or former descendant of one of
                // them.
                Some(page) => prop_assert!(
                    holders.contains(page) || prefixes(path).any(|above| {
                        history.holders(above).iter().any(|top| history.was_below(page, top))
                    }),
                    "{} leads to {}", path, page
                ),
            }
        }
    }

    // Every path that a page had on either side resolves if the page still exists.
    #[test]
    fn merge_keeps_the_paths_of_existing_pages_of_both_sides(
        start in program(), one in program(), two in program(),
    ) {
        let content = content();
        let empty = now(content.empty_root(DOMAIN)).unwrap();
        let base = random(&content, empty, &start);
        // A page that is deleted and inserted again is a different page.
        let before = now(content.view(DOMAIN, base).tree()).unwrap();
        let comes_back = |edit: &Edit| matches!(edit, Edit::InsertPage(page) if before.get(&page.id).is_some());
        let [main, request] = [one, two].map(|mut edits| {
            edits.retain(|edit| !comes_back(edit));
            random(&content, base, &edits)
        });
        let merged = now(content.merge(DOMAIN, ThreeWay { base, ours: main, theirs: request })).unwrap().root;
        let tree = now(content.view(DOMAIN, merged).tree()).unwrap();
        for root in [base, main, request] {
            for page in now(content.view(DOMAIN, root).tree()).unwrap().pages() {
                if !page.path.is_empty() && tree.get(&page.id).is_some_and(|page| !page.path.is_empty()) {
                    prop_assert!(leads(&content, merged, &page.path).is_some(), "{} of {}", page.path, page.id);
                }
            }
        }
    }
}
