//! Typed reads of a revision, implemented as pure functions over loaded nodes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use docs_model::{FileId, PageId, ReusableId};
use docs_store::{Hash, Key};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    ContentError, ContentResult, FileEntry, PageEntry, Rank, ReusableEntry, VariableEntry,
    entry::decode,
    keys,
    load::{MissingCollector, PassResult, PassStop, Session},
    map::{self, Range},
};

/// Number of ancestors at which a chain of pages is considered a cycle. Valid content has at most
/// [`MAX_PAGE_LEVELS`](docs_model::MAX_PAGE_LEVELS).
pub const CYCLE_DEPTH: usize = 10_000;

/// Number of pages decoded before other tasks run.
pub(crate) const PAGES_AT_ONCE: usize = 32;

/// The fields of a page that determine its place and its path. Decoding them skips all other fields.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct PageHead {
    #[serde(default)]
    pub(crate) parent: Option<PageId>,
    pub(crate) rank: Rank,
    #[serde(default)]
    pub(crate) slug: String,
}

/// The record of a page, in full or in part.
pub(crate) trait PageRecord: DeserializeOwned {
    fn parent(&self) -> Option<&PageId>;
}

impl PageRecord for PageEntry {
    fn parent(&self) -> Option<&PageId> {
        self.parent.as_ref()
    }
}

impl PageRecord for PageHead {
    fn parent(&self) -> Option<&PageId> {
        self.parent.as_ref()
    }
}

pub(crate) fn page(session: &Session<'_>, root: &Hash, id: &PageId) -> PassResult<Option<PageEntry>> {
    page_record(session, root, id)
}

fn page_record<T: PageRecord>(session: &Session<'_>, root: &Hash, id: &PageId) -> PassResult<Option<T>> {
    let key = keys::page(id);
    match map::get(session, root, &key)? {
        Some(bytes) => Ok(Some(decode(&key, &bytes)?)),
        None => Ok(None),
    }
}

/// The pages of one revision that a call has read. A page is decoded once, even if it is an ancestor of many pages.
pub(crate) struct KnownPages<T>(HashMap<PageId, Arc<T>>);

impl<T> Default for KnownPages<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: PageRecord> KnownPages<T> {
    pub(crate) fn page(
        &mut self,
        session: &Session<'_>,
        root: &Hash,
        id: &PageId,
    ) -> PassResult<Option<Arc<T>>> {
        if let Some(known) = self.0.get(id) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some(page) = page_record(session, root, id)?.map(Arc::new) else { return Ok(None) };
        self.0.insert(id.clone(), Arc::clone(&page));
        Ok(Some(page))
    }

    /// Adds the record of a page that is read already.
    pub(crate) fn insert(&mut self, id: PageId, page: Arc<T>) {
        self.0.insert(id, page);
    }

    /// Returns a parent page, which must exist.
    pub(crate) fn parent(&mut self, session: &Session<'_>, root: &Hash, id: &PageId) -> PassResult<Arc<T>> {
        self.page(session, root, id)?.ok_or_else(|| no_parent(id).into())
    }

    /// Returns the ancestors of a page, nearest first, beginning with its parent.
    pub(crate) fn ancestors(
        &mut self,
        session: &Session<'_>,
        root: &Hash,
        parent: Option<&PageId>,
    ) -> PassResult<Vec<(PageId, Arc<T>)>> {
        walk_up(parent, |id| self.parent(session, root, id))
    }

    /// Returns the ancestors of a page, nearest first. Fails if one of them is not in memory.
    pub(crate) fn known_ancestors(&self, parent: Option<&PageId>) -> ContentResult<Vec<(PageId, Arc<T>)>> {
        walk_up(parent, |id| self.0.get(id).cloned().ok_or_else(|| no_parent(id)))
    }
}

/// Returns the ancestors of a page, nearest first, beginning with its parent.
fn walk_up<T: PageRecord, E: From<ContentError>>(
    parent: Option<&PageId>,
    mut read: impl FnMut(&PageId) -> Result<Arc<T>, E>,
) -> Result<Vec<(PageId, Arc<T>)>, E> {
    let (mut out, mut next) = (Vec::new(), parent.cloned());
    while let Some(id) = next {
        if out.len() >= CYCLE_DEPTH {
            return Err(cycle_error(&id).into());
        }
        let above = read(&id)?;
        next = above.parent().cloned();
        out.push((id, above));
    }
    Ok(out)
}

pub(crate) fn pages(
    session: &Session<'_>,
    root: &Hash,
    ids: &[PageId],
) -> PassResult<Vec<Option<PageEntry>>> {
    let wanted: Vec<Key> = ids.iter().map(keys::page).collect();
    let found = map::get_many(session, root, &wanted)?;
    let read = |(key, bytes): (&Key, Option<bytes::Bytes>)| match bytes {
        Some(bytes) => decode(key, &bytes).map(Some),
        None => Ok(None),
    };
    Ok(wanted.iter().zip(found).map(read).collect::<Result<_, _>>()?)
}

pub(crate) fn file(session: &Session<'_>, root: &Hash, id: &FileId) -> PassResult<Option<FileEntry>> {
    let key = keys::file(id);
    match map::get(session, root, &key)? {
        Some(bytes) => Ok(Some(decode(&key, &bytes)?)),
        None => Ok(None),
    }
}

/// Returns at most two files with the given name, which suffices to detect another file with the same name.
pub(crate) fn files_named(session: &Session<'_>, root: &Hash, name: &str) -> PassResult<Vec<FileId>> {
    let (from, to) = keys::file_name_prefix(name).prefix_range();
    let found = map::range(session, root, &Range::new(from, to).limit(2))?;
    Ok(found.iter().map(|(key, _)| keys::id(key)).collect::<Result<_, _>>()?)
}

pub(crate) fn reusable(
    session: &Session<'_>,
    root: &Hash,
    id: &ReusableId,
) -> PassResult<Option<ReusableEntry>> {
    let key = keys::reusable(id);
    match map::get(session, root, &key)? {
        Some(bytes) => Ok(Some(decode(&key, &bytes)?)),
        None => Ok(None),
    }
}

/// Returns the child of a parent that has the given slug.
pub(crate) fn slug_owner(
    session: &Session<'_>,
    root: &Hash,
    parent: Option<&PageId>,
    slug: &str,
) -> PassResult<Option<PageId>> {
    let key = keys::slug(parent, slug);
    match map::get(session, root, &key)? {
        Some(value) => Ok(Some(keys::derived_page_id(&key, &value)?)),
        None => Ok(None),
    }
}

/// Returns the children of a page in order.
pub(crate) fn child_ids(
    session: &Session<'_>,
    root: &Hash,
    parent: Option<&PageId>,
) -> PassResult<Vec<PageId>> {
    let (from, to) = keys::children(parent).prefix_range();
    let found = map::range(session, root, &Range::new(from, to))?;
    Ok(found.iter().map(|(key, _)| keys::id(key)).collect::<Result<_, _>>()?)
}

/// Returns the children of several pages.
pub(crate) fn children_of_all(
    session: &Session<'_>,
    root: &Hash,
    parents: &[PageId],
) -> PassResult<Vec<PageId>> {
    let mut gather = MissingCollector::default();
    let mut out = Vec::new();
    for id in parents {
        out.extend(gather.ask(child_ids(session, root, Some(id)))?.unwrap_or_default());
    }
    gather.finish()?;
    Ok(out)
}

/// Returns a page and its descendants. Parents precede their children.
pub(crate) fn subtree(session: &Session<'_>, root: &Hash, top: &PageId) -> PassResult<Vec<PageId>> {
    let mut out = vec![top.clone()];
    let mut level = vec![top.clone()];
    for _ in 0..CYCLE_DEPTH {
        let next = children_of_all(session, root, &level)?;
        if next.is_empty() {
            return Ok(out);
        }
        out.extend(next.iter().cloned());
        level = next;
    }
    Err(cycle(top))
}

/// Returns the ancestors of a page, nearest first.
pub(crate) fn ancestors(
    session: &Session<'_>,
    root: &Hash,
    parent: Option<PageId>,
) -> PassResult<Vec<(PageId, PageEntry)>> {
    let found = KnownPages::<PageEntry>::default().ancestors(session, root, parent.as_ref())?;
    Ok(found.into_iter().map(|(id, entry)| (id, Arc::unwrap_or_clone(entry))).collect())
}

/// Returns the ids of the ancestors of a page, nearest first.
pub(crate) fn ancestor_ids(session: &Session<'_>, root: &Hash, entry: &PageEntry) -> PassResult<Vec<PageId>> {
    let found = KnownPages::<PageHead>::default().ancestors(session, root, entry.parent.as_ref())?;
    Ok(found.into_iter().map(|(id, _)| id).collect())
}

/// Returns the path of a page: the slugs of its ancestors and its own slug. Links and computed pages have no path.
pub(crate) fn path(session: &Session<'_>, root: &Hash, entry: &PageEntry) -> PassResult<Option<String>> {
    if entry.slug.is_empty() {
        return Ok(None);
    }
    let above = KnownPages::<PageHead>::default().ancestors(session, root, entry.parent.as_ref())?;
    Ok(path_below(&above, &entry.slug))
}

/// Returns the path of a page with this slug below its ancestors, which are given nearest first.
pub(crate) fn path_below(above: &[(PageId, Arc<PageHead>)], slug: &str) -> Option<String> {
    if slug.is_empty() {
        return None;
    }
    let above = above.iter().rev().map(|(_, head)| head.slug.as_str());
    Some(above.chain([slug]).collect::<Vec<_>>().join("/"))
}

pub(crate) fn variables(session: &Session<'_>, root: &Hash) -> PassResult<BTreeMap<String, VariableEntry>> {
    let (from, to) = keys::class(keys::VARIABLE);
    let found = map::range(session, root, &Range::new(from, to))?;
    let read = |(key, value): &(Key, bytes::Bytes)| {
        Ok::<_, ContentError>((docs_store::key::last_segment(key), decode(key, value)?))
    };
    Ok(found.iter().map(read).collect::<Result<_, _>>()?)
}

pub(crate) fn cycle(at: &PageId) -> PassStop {
    cycle_error(at).into()
}

fn cycle_error(at: &PageId) -> ContentError {
    ContentError::Corrupt(format!("the ancestors or descendants of {at} form a cycle"))
}

fn no_parent(id: &PageId) -> ContentError {
    ContentError::Corrupt(format!("the parent page {id} does not exist"))
}
