//! The caches of rendered pages, page layouts and prerendered documents, together with those of sites.

use std::sync::Arc;

use docs_core::{
    model::{ExternalLinksTarget, SpaceId},
    platform::{AnonymousViewVersion, TenantQueue},
};
use quick_cache::{Weighter, sync::Cache};

use super::{
    context::SpaceLayout,
    page_cache::{CachedPage, PageCache},
    page_key::{PageKey, SpaceKey},
    rendered_page::RenderedPage,
};
use crate::{
    address::ImageSchemes,
    cache::{EXPECTED_ENTRIES, EXPECTED_LARGE_ENTRIES, EntryWeigher, Versioned},
    descriptions::DescriptionParser,
    machine::{MarkdownPage, SiteLists},
    page_tree::TextName,
    render::{PrerenderedPage, RenderOptions},
    request::SiteRequest,
    site_cache::SiteCaches,
};

/// The maximum number of pages that are rendered at the same time.
const MAX_RENDERINGS: usize = 8;
/// The maximum number of pages of one organization that are rendered at the same time.
const MAX_SHARE: usize = MAX_RENDERINGS / 2;

/// The key of a prerendered document. It identifies the document and the options that it was rendered with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PrerenderedKey {
    space: SpaceId,
    text: TextName,
    language: &'static str,
    is_outside_apart: bool,
    loads: ImageSchemes,
}

impl PrerenderedKey {
    pub(crate) fn new(space: &SpaceId, text: TextName, manner: RenderOptions) -> Self {
        Self {
            space: space.clone(),
            text,
            language: manner.words.language,
            is_outside_apart: manner.outside == ExternalLinksTarget::Blank,
            loads: manner.loads,
        }
    }
}

/// The key of an anonymous page request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnonymousPageKey {
    origin: Box<str>,
    path: Box<str>,
}

impl AnonymousPageKey {
    /// Returns the key of a request without information about the visitor, for which all visitors get the same
    /// response. Returns `None` for any other request.
    pub(crate) fn from_request(asked: &SiteRequest<'_>) -> Option<Self> {
        let is_page = asked.is_anonymous() && !asked.prefers_markdown();
        is_page.then(|| Self { origin: (&*asked.origin).into(), path: asked.path.as_str().into() })
    }
}

impl Weighter<PrerenderedKey, Option<Arc<PrerenderedPage>>> for EntryWeigher {
    fn weight(&self, _: &PrerenderedKey, drawn: &Option<Arc<PrerenderedPage>>) -> u64 {
        drawn.as_ref().map_or(0, |drawn| drawn.weight()) as u64 + 256
    }
}

impl Weighter<SpaceKey, Arc<SpaceLayout>> for EntryWeigher {
    fn weight(&self, _: &SpaceKey, around: &Arc<SpaceLayout>) -> u64 {
        around.weight() as u64 + 512
    }
}

impl Weighter<AnonymousPageKey, Versioned<Arc<PageKey>>> for EntryWeigher {
    fn weight(&self, key: &AnonymousPageKey, _: &Versioned<Arc<PageKey>>) -> u64 {
        (key.origin.len() + key.path.len()) as u64 + 512
    }
}

#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) sites: SiteCaches,
    pub(crate) pages: PageCache<RenderedPage>,
    pub(crate) markdown: PageCache<MarkdownPage>,
    pub(crate) lists: SiteLists,
    pub(crate) surroundings: Cache<SpaceKey, Arc<SpaceLayout>, EntryWeigher>,
    /// Prerendered documents that are the same for all visitors, or `None` for a document that must be rendered each
    /// time.
    drawn: Cache<PrerenderedKey, Option<Arc<PrerenderedPage>>, EntryWeigher>,
    /// The page to return for an anonymous request.
    answered: Cache<AnonymousPageKey, Versioned<Arc<PageKey>>, EntryWeigher>,
    pub(super) descriptions: DescriptionParser,
    /// The pages that are being rendered. Without a limit, every request for a page that is not cached takes a thread
    /// and the memory of a document at the same time.
    pub(crate) renderings: TenantQueue,
}

impl Caches {
    /// Creates caches of at most `bytes` in total: 5/18 for page trees and files, 1/18 for summaries of page trees and
    /// for page lists, 4/18 for rendered pages, 2/18 for pages as Markdown, 1/18 for page layouts, 1/18 for
    /// prerendered documents, 2/18 for descriptions of specifications, and 2/18 for lookups.
    pub(crate) fn new(bytes: u64) -> Self {
        let small = bytes / 18;
        Self {
            sites: SiteCaches::new(small),
            // With several shards, a page of a few megabytes would exceed the size of a shard.
            pages: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, 4 * small, EntryWeigher),
            markdown: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, 2 * small, EntryWeigher),
            lists: SiteLists::new(small / 2),
            surroundings: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, small, EntryWeigher),
            drawn: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, small, EntryWeigher),
            answered: Cache::with_weighter(EXPECTED_ENTRIES, small / 2, EntryWeigher),
            descriptions: DescriptionParser::new(2 * small),
            renderings: TenantQueue::new(MAX_RENDERINGS, MAX_SHARE),
        }
    }

    /// Returns a prerendered document. The inner `None` marks a document that must be rendered each time.
    pub(crate) fn prerendered(&self, key: &PrerenderedKey) -> Option<Option<Arc<PrerenderedPage>>> {
        self.drawn.get(key)
    }

    /// Renders a document and caches it if it fits. Otherwise caches `None`, so that the document is rendered each
    /// time.
    pub(crate) fn prerender_and_store(
        &self,
        key: PrerenderedKey,
        draw: impl FnOnce() -> Option<PrerenderedPage>,
    ) -> Option<Arc<PrerenderedPage>> {
        let room = self.drawn.capacity();
        if room == 0 {
            return None;
        }
        let drawn = draw().filter(|drawn| (drawn.weight() as u64) < room - room / 8).map(Arc::new);
        self.drawn.insert(key, drawn.clone());
        drawn
    }

    /// Returns the cached page for an anonymous request, if it is still valid.
    pub(crate) fn anonymous_page(
        &self,
        key: &AnonymousPageKey,
        moment: AnonymousViewVersion,
    ) -> Option<Arc<RenderedPage>> {
        let page = self.answered.get(key).filter(|kept| kept.moment == moment)?.found;
        match self.pages.get(&*page)? {
            CachedPage::Rendered(page) => Some(page),
            CachedPage::OfSources(_) | CachedPage::Uncached => None,
        }
    }

    /// Caches the page for an anonymous request, computed at `moment` or later.
    pub(crate) fn store_anonymous_page(
        &self,
        key: AnonymousPageKey,
        moment: AnonymousViewVersion,
        page: PageKey,
    ) {
        self.answered.insert(key, Versioned { moment, found: Arc::new(page) });
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn renderings_of_one_organization_leave_half_to_others() {
        let renderings = Caches::new(0).renderings;
        let begin =
            |org: &str| renderings.acquire(org).now_or_never().map(|rendering| rendering.expect("no error"));
        let mut one: Vec<_> = (0..MAX_SHARE).map(|_| begin("one").expect("a share")).collect();
        assert!(begin("one").is_none());
        let other: Vec<_> = (0..MAX_SHARE).map(|_| begin("other").expect("the other half")).collect();
        assert!(begin("third").is_none());
        one.pop();
        let third = begin("third").expect("a free place");
        drop((one, other, third));
        assert!(begin("one").is_some());
    }
}
