//! Lookups of a few pages in content, without its page tree.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    vec,
};

use docs_macros::boxed;
use quick_cache::sync::Cache;

use super::{ReadableRevision, snapshot::ContentSnapshot};
use crate::{
    Result,
    content::{Lineage, PageEntry, PageKind, View, yield_to_others},
    model::PageId,
    platform::{
        content::computed::OpenApiSource,
        kernel::platform::Platform,
        publishing::{page_search::PageSearch, visitors::ContentFilter},
    },
    store::Hash,
};

/// Number of pages per read of the first batch, which usually contains the first document.
const FIRST_BATCH: usize = 8;
/// Number of pages per read of the following batches.
const PAGE_BATCH: usize = 100;
/// Number of pages whose ancestors are read together.
const LINEAGE_BATCH: usize = 100;
/// Number of revisions whose page traits are cached.
const CACHED_REVISIONS: usize = 5_000;
/// Number of pages read before other tasks run.
const YIELD_INTERVAL: usize = 64;

/// The title and the address of a page on a site.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageAddress {
    pub title: String,
    /// The path in the space. Empty for a page without a path, and for the first document of the space.
    pub path: String,
}

/// The kinds of pages in a revision that its visible pages depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageTraits {
    /// Some pages are computed from specifications.
    pub(super) has_computed: bool,
    /// Some pages have conditions.
    pub(super) has_conditions: bool,
}

/// The page traits of recently read revisions.
struct KnownTraits(Cache<Hash, PageTraits>);

impl Default for KnownTraits {
    fn default() -> Self {
        Self(Cache::new(CACHED_REVISIONS))
    }
}

impl ContentSnapshot {
    /// Returns the number of all pages, including those that are hidden from the reader.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn count_pages<'s>(&'s self) -> Result<u64> {
        Ok(self.at.view.counts().await?.pages)
    }

    /// Returns `true` if the content has pages that are computed from specifications. The result is cached.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn has_computed_pages<'s>(&'s self) -> Result<bool> {
        Ok(self.platform.page_traits(&self.at.view).await?.has_computed)
    }

    /// Returns the addresses of the pages that exist and are visible to the reader. The visited pages are added to
    /// `search`; pages beyond its bound, and generated pages, are left out.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn page_addresses<'s>(
        &'s self,
        ids: &'s [PageId],
        search: &'s mut PageSearch,
    ) -> Result<HashMap<PageId, PageAddress>> {
        let mut addresses = HashMap::new();
        let mut first = None;
        for ids in ids.chunks(LINEAGE_BATCH) {
            if !search.has_room() {
                break;
            }
            let lineages = self.at.view.lineages(ids).await?;
            search.add(lineages.iter().map(|lineage| 1 + lineage.len() as u64).sum());
            for lineage in visible_lineages(&self.filter, lineages).await? {
                let Some((id, entry)) = lineage.first() else { continue };
                if first.is_none() {
                    first = Some(self.at.first_document(&self.filter, search).await?);
                }
                let is_first = first.as_ref().and_then(Option::as_ref) == Some(id);
                let path = if is_first { String::new() } else { path_of(&lineage) };
                addresses.insert(id.clone(), PageAddress { title: entry.title.clone(), path });
            }
        }
        Ok(addresses)
    }

    /// Returns `true` if a document that is visible to the reader has the path, ignoring case. The empty path is that
    /// of the first document. The visited pages are added to `search`. Generated pages are not found.
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn has_document_at<'s>(&'s self, path: &'s str, search: &'s mut PageSearch) -> Result<bool> {
        if path.is_empty() {
            return Ok(self.at.first_document(&self.filter, search).await?.is_some());
        }
        search.add(1 + path.matches('/').count() as u64);
        match self.at.view.find(path).await? {
            Some((id, entry)) if entry.kind == PageKind::Document => self.filter.shows(&id, &entry).await,
            _ => Ok(false),
        }
    }
}

impl Platform {
    /// Returns the page traits of a revision. They are read once, in batches, without the page tree.
    pub(super) async fn page_traits(&self, view: &View) -> Result<PageTraits> {
        let known = self.inner.memory.get_or_default::<KnownTraits>();
        let key = Hash::compute(format!("{} {}", view.domain(), view.root()).as_bytes());
        if let Some(known) = known.0.get(&key) {
            return Ok(known);
        }
        let (mut traits, mut after) = (PageTraits::default(), None);
        loop {
            let pages = view.pages_after(after.as_ref(), PAGE_BATCH).await?;
            for (_, entry) in &pages {
                traits.has_computed |= OpenApiSource::from_entry(entry).is_some();
                traits.has_conditions |= entry.condition.is_some();
            }
            match pages.last() {
                Some((last, _)) if pages.len() == PAGE_BATCH => after = Some(last.clone()),
                _ => break,
            }
            yield_to_others().await;
        }
        known.0.insert(key, traits);
        Ok(traits)
    }
}

/// The children of a page that remain to be visited.
struct PageLevel {
    parent: Option<PageId>,
    /// The children that have been read and whose own conditions are met.
    ready: vec::IntoIter<(PageId, PageEntry)>,
    /// The last child that has been read.
    last: Option<(PageId, PageEntry)>,
    /// `true` if all children have been read.
    is_complete: bool,
    /// `true` if the page or an ancestor is hidden from the navigation.
    is_hidden: bool,
}

impl PageLevel {
    fn new(parent: Option<PageId>, is_hidden: bool) -> Self {
        Self { parent, ready: Vec::new().into_iter(), last: None, is_complete: false, is_hidden }
    }
}

impl ReadableRevision {
    /// Returns the paths of the pages that exist and are visible to the reader.
    pub(super) async fn visible_paths(
        &self,
        filter: &ContentFilter,
        ids: &[PageId],
    ) -> Result<HashMap<PageId, String>> {
        let mut paths = HashMap::new();
        for ids in ids.chunks(LINEAGE_BATCH) {
            for lineage in visible_lineages(filter, self.view.lineages(ids).await?).await? {
                let path = path_of(&lineage);
                paths.extend(lineage.into_iter().next().map(|(id, _)| (id, path)));
            }
            yield_to_others().await;
        }
        Ok(paths)
    }

    /// Returns the first document visible to the reader, which a site shows at the URL of the space. Documents hidden
    /// from the navigation count only if there are no others. The visited pages are added to `search`; beyond its bound
    /// there is no result.
    pub(super) async fn first_document(
        &self,
        filter: &ContentFilter,
        search: &mut PageSearch,
    ) -> Result<Option<PageId>> {
        // The first hidden document, or `Some(None)` if it is computed: a computed page is replaced by generated ones.
        let mut hidden: Option<Option<PageId>> = None;
        let (mut stack, mut unyielded) = (vec![PageLevel::new(None, false)], 0_usize);
        while let Some(level) = stack.last_mut() {
            if let Some((id, entry)) = level.ready.next() {
                let is_hidden = level.is_hidden || entry.hidden;
                let is_document = entry.kind == PageKind::Document;
                if is_document || OpenApiSource::from_entry(&entry).is_some() {
                    let document = is_document.then(|| id.clone());
                    match is_hidden {
                        false => return Ok(document),
                        true => hidden = hidden.or(Some(document)),
                    }
                }
                if !is_hidden || hidden.is_none() {
                    stack.push(PageLevel::new(Some(id), is_hidden));
                }
                continue;
            }
            if level.is_complete {
                stack.pop();
                continue;
            }
            if !search.has_room() {
                return Ok(None);
            }
            let limit = if level.last.is_none() { FIRST_BATCH } else { PAGE_BATCH };
            let read = 1 + self.read_children(filter, level, limit).await?;
            search.add(read as u64);
            unyielded += read;
            if unyielded >= YIELD_INTERVAL {
                unyielded = 0;
                yield_to_others().await;
            }
        }
        Ok(hidden.flatten())
    }

    /// Reads the next children of a level. Returns their number.
    async fn read_children(
        &self,
        filter: &ContentFilter,
        level: &mut PageLevel,
        limit: usize,
    ) -> Result<usize> {
        let after = level.last.as_ref().map(|(id, entry)| (&entry.rank, id));
        let pages = self.view.children_after(level.parent.as_ref(), after, limit).await?;
        let meets = filter.meets(pages.iter().map(|(id, entry)| (id, entry))).await?;
        let read = pages.len();
        level.is_complete = read < limit;
        level.last = pages.last().cloned().or(level.last.take());
        let visible = pages.into_iter().zip(meets).filter_map(|(page, meets)| meets.then_some(page));
        level.ready = visible.collect::<Vec<_>>().into_iter();
        Ok(read)
    }
}

/// Keeps the lineages of pages that are visible to the reader.
async fn visible_lineages(filter: &ContentFilter, lineages: Vec<Lineage>) -> Result<Vec<Lineage>> {
    let pages: BTreeMap<&PageId, &PageEntry> =
        lineages.iter().flatten().map(|(id, entry)| (id, &**entry)).collect();
    let meets = filter.meets(pages.iter().map(|(id, entry)| (*id, *entry))).await?;
    let hidden: HashSet<PageId> =
        pages.into_keys().zip(meets).filter(|(_, meets)| !meets).map(|(id, _)| id.clone()).collect();
    let is_visible = |lineage: &Lineage| lineage.iter().all(|(id, _)| !hidden.contains(id));
    Ok(lineages.into_iter().filter(is_visible).collect())
}

/// Returns the path of the first page of a lineage.
fn path_of(lineage: &[(PageId, Arc<PageEntry>)]) -> String {
    match lineage.first() {
        Some((_, page)) if !page.slug.is_empty() => {
            let slugs: Vec<&str> = lineage.iter().rev().map(|(_, page)| page.slug.as_str()).collect();
            slugs.join("/")
        }
        _ => String::new(),
    }
}
