//! Typed reads of a revision, implemented as pure functions over loaded nodes.

use std::collections::BTreeMap;

use docs_model::{FileId, PageId, ReusableId};
use docs_store::{Hash, Key};

use super::{
    FileEntry, PageEntry, ReusableEntry, VariableEntry,
    entry::decode,
    keys,
    load::{MissingCollector, PassResult, Session},
    map::{self, Range},
};

/// Number of ancestors at which a chain of pages is considered a cycle. Valid content has at most
/// [`MAX_PAGE_LEVELS`](docs_model::MAX_PAGE_LEVELS).
pub const CYCLE_DEPTH: usize = 10_000;

pub(crate) fn page(session: &Session<'_>, root: &Hash, id: &PageId) -> PassResult<Option<PageEntry>> {
    let key = keys::page(id);
    match map::get(session, root, &key)? {
        Some(bytes) => Ok(Some(decode(&key, &bytes)?)),
        None => Ok(None),
    }
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
    entry: &PageEntry,
) -> PassResult<Vec<(PageId, PageEntry)>> {
    let mut out = Vec::new();
    let mut next = entry.parent.clone();
    while let Some(id) = next {
        if out.len() >= CYCLE_DEPTH {
            return Err(cycle(&id));
        }
        let Some(above) = page(session, root, &id)? else {
            return Err(damaged(format!("the parent page {id} does not exist")));
        };
        next = above.parent.clone();
        out.push((id, above));
    }
    Ok(out)
}

/// Returns the path of a page: the slugs of its ancestors and its own slug. Links and computed pages have no path.
pub(crate) fn path(session: &Session<'_>, root: &Hash, entry: &PageEntry) -> PassResult<Option<String>> {
    if entry.slug.is_empty() {
        return Ok(None);
    }
    let above = ancestors(session, root, entry)?;
    let mut segments: Vec<&str> = above.iter().rev().map(|(_, e)| e.slug.as_str()).collect();
    segments.push(&entry.slug);
    Ok(Some(segments.join("/")))
}

pub(crate) fn variables(session: &Session<'_>, root: &Hash) -> PassResult<BTreeMap<String, VariableEntry>> {
    let (from, to) = keys::class(keys::VARIABLE);
    let found = map::range(session, root, &Range::new(from, to))?;
    let read = |(key, value): &(Key, bytes::Bytes)| {
        Ok::<_, super::ContentError>((docs_store::key::last_segment(key), decode(key, value)?))
    };
    Ok(found.iter().map(read).collect::<Result<_, _>>()?)
}

pub(crate) fn cycle(at: &PageId) -> super::load::PassStop {
    damaged(format!("the ancestors or descendants of {at} form a cycle"))
}

fn damaged(what: String) -> super::load::PassStop {
    super::ContentError::Corrupt(what).into()
}
