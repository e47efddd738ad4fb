//! Tests of the complete engine over in-memory objects.

mod bounds;
mod edits;
mod fields;
mod files;
mod follow;
mod links;
mod long_steps;
mod lookups;
mod merges;
mod records;
mod redirects;
mod references;

use std::{collections::BTreeMap, future::Future, sync::Arc};

use chrono::{DateTime, Utc};
use docs_memstore::MemObjects;
use docs_model::{JsonText, PageId};
use docs_store::{Hash, Objects};
use futures_util::FutureExt as _;

use super::*;

pub(super) const DOMAIN: &str = "d";

/// Creates content in an empty in-memory store.
pub(super) fn content() -> Content {
    Content::new(Arc::new(MemObjects::new()))
}

/// Creates content with empty caches on the same objects.
pub(super) fn cold(objects: &Arc<MemObjects>) -> Content {
    Content::new(Arc::clone(objects) as Arc<dyn Objects>)
}

/// Returns the output of a future that is always ready, because the in-memory store never waits.
pub(super) fn now<F: Future>(future: F) -> F::Output {
    future.now_or_never().expect("memory does not wait")
}

pub(super) fn id(n: usize) -> PageId {
    format!("page{n:05}").parse().unwrap()
}

pub(super) fn time(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + n, 0).unwrap()
}

/// Formats the page tree as text, with one indented line per page.
pub(super) fn outline(content: &Content, root: Hash) -> String {
    let tree = now(content.view(DOMAIN, root).tree()).unwrap();
    let mut out = String::new();
    for page in tree.pages() {
        out.push_str(&format!("{}{} {}\n", "  ".repeat(page.depth), page.id, page.entry.slug));
    }
    out
}

pub(super) fn insert(page: PageId, parent: Option<PageId>, at: Option<usize>, title: &str) -> Edit {
    let new = NewPage::new(page, PageKind::Document, PagePatch::from_title(title));
    Edit::InsertPage(Box::new(NewPage { parent, at, ..new }))
}

pub(super) fn apply(content: &Content, root: Hash, edits: &[Edit]) -> Hash {
    now(content.edit(DOMAIN, root, time(0), edits)).unwrap().root
}

/// Returns all changes from one revision to another.
pub(super) fn changes(content: &Content, before: Hash, after: Hash) -> Vec<RevisionChange> {
    now(content.diff(DOMAIN, before, after)).unwrap().collect::<ContentResult<_>>().unwrap()
}

pub(super) fn sound(content: &Content, root: Hash) {
    assert_eq!(now(content.check(DOMAIN, root)).unwrap(), Vec::<String>::new());
}

pub(super) fn many_pages(count: usize) -> Vec<BuildItem> {
    let mut items = Vec::new();
    for n in 0..count {
        let parent = (n % 40 != 0).then(|| id(n - n % 40));
        let fields = PagePatch { title: Some(format!("Page {n}")), ..PagePatch::default() };
        let mut page = BuildPage::new(id(n), parent, PageKind::Document, fields);
        page.body = NewBody::Text(format!("Text of page {n}.\n"));
        items.push(BuildItem::Page(Box::new(page)));
    }
    items
}

pub(super) fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, Option<docs_model::VariableValue>> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Some(docs_model::VariableValue::Text((*value).to_owned()))))
        .collect()
}
