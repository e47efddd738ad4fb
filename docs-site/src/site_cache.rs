//! The caches of sites: page trees, and lookups for anonymous visitors.

use std::sync::Arc;

use docs_core::{
    model::{FileId, SiteId},
    platform::{AnonymousViewVersion, EntityTag, OpenSite},
};
use quick_cache::{Weighter, sync::Cache};

use crate::{
    cache::{EXPECTED_ENTRIES, EXPECTED_LARGE_ENTRIES, EntryWeigher, Versioned},
    known_site::KnownSite,
    machine::PageTreeSummary,
    page_tree::PageTree,
    page_tree_cache::{PageTreeCache, PageTreeKey},
    space_files::{FileKey, VisibleFile},
};

/// The origin and path prefix of a request, which may identify a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteStart {
    pub(crate) origin: Box<str>,
    pub(crate) path: Box<str>,
}

impl Weighter<SiteStart, Versioned<Option<Arc<OpenSite>>>> for EntryWeigher {
    fn weight(&self, start: &SiteStart, open: &Versioned<Option<Arc<OpenSite>>>) -> u64 {
        let site = open.found.as_ref().map_or(0, |open| open.weight());
        (start.origin.len() + start.path.len() + site) as u64 + 256
    }
}

impl Weighter<SiteId, Versioned<Arc<KnownSite>>> for EntryWeigher {
    fn weight(&self, _: &SiteId, site: &Versioned<Arc<KnownSite>>) -> u64 {
        site.found.weight() as u64 + 256
    }
}

#[derive(Debug)]
pub(crate) struct SiteCaches {
    pub(crate) frames: PageTreeCache,
    /// The tag of the pages that an audience sees.
    pub(crate) page_tags: Cache<PageTreeKey, EntityTag, EntryWeigher>,
    files: Cache<FileKey, VisibleFile, EntryWeigher>,
    /// Summaries of page trees by the tag of the pages.
    pub(crate) summaries: Cache<EntityTag, Arc<PageTreeSummary>, EntryWeigher>,
    /// Sites as seen by anonymous visitors.
    sites: Cache<SiteId, Versioned<Arc<KnownSite>>, EntryWeigher>,
    /// The site at a URL for anonymous visitors, or `None` if it is not public.
    open: Cache<SiteStart, Versioned<Option<Arc<OpenSite>>>, EntryWeigher>,
}

impl SiteCaches {
    /// Creates caches of at most 7 × `unit` bytes: four units for page trees, one unit for files and the tags of page
    /// trees, half a unit for summaries of page trees, half a unit for sites, and one unit for site lookups.
    pub(crate) fn new(unit: u64) -> Self {
        Self {
            frames: PageTreeCache::new(4 * unit),
            page_tags: Cache::with_weighter(EXPECTED_ENTRIES, unit / 4, EntryWeigher),
            files: Cache::with_weighter(EXPECTED_ENTRIES, unit - unit / 4, EntryWeigher),
            summaries: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, unit / 2, EntryWeigher),
            sites: Cache::with_weighter(EXPECTED_ENTRIES, unit / 2, EntryWeigher),
            open: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, unit, EntryWeigher),
        }
    }

    /// Returns the page tree for a key, if it is cached.
    pub(crate) fn known_page_tree(&self, key: &PageTreeKey) -> Option<Arc<PageTree>> {
        self.page_tags.get(key).and_then(|tag| self.frames.get(&tag))
    }

    /// Returns a file of the content with this key, if it is cached.
    pub(crate) fn file(&self, content: &PageTreeKey, file: &FileId) -> Option<VisibleFile> {
        self.files.get(&FileKey { content: content.clone(), file: file.clone() })
    }

    /// Caches a file of the content with this key.
    pub(crate) fn store_file(&self, content: &PageTreeKey, id: &FileId, file: VisibleFile) {
        self.files.insert(FileKey { content: content.clone(), file: id.clone() }, file);
    }

    /// Returns the cached site at a URL for anonymous visitors, if it is still valid.
    pub(crate) fn open_site(
        &self,
        start: &SiteStart,
        moment: AnonymousViewVersion,
    ) -> Option<Option<Arc<OpenSite>>> {
        Some(self.open.get(start).filter(|kept| kept.moment == moment)?.found)
    }

    /// Caches the site at a URL for anonymous visitors, computed at `moment` or later.
    pub(crate) fn store_open_site(
        &self,
        start: SiteStart,
        moment: AnonymousViewVersion,
        found: Option<Arc<OpenSite>>,
    ) {
        self.open.insert(start, Versioned { moment, found });
    }

    /// Returns the cached site as seen by anonymous visitors, if it is still valid.
    pub(crate) fn site(&self, id: &SiteId, moment: AnonymousViewVersion) -> Option<Arc<KnownSite>> {
        Some(self.sites.get(id).filter(|kept| kept.moment == moment)?.found)
    }

    /// Caches a site as seen by anonymous visitors, computed at `moment` or later. Returns the previously cached site
    /// if it is equal.
    pub(crate) fn store_site(
        &self,
        id: &SiteId,
        moment: AnonymousViewVersion,
        site: KnownSite,
    ) -> Arc<KnownSite> {
        let before = self.sites.get(id).map(|kept| kept.found).filter(|before| before.hash == site.hash);
        let found = before.unwrap_or_else(|| Arc::new(site));
        self.sites.insert(id.clone(), Versioned { moment, found: Arc::clone(&found) });
        found
    }
}
