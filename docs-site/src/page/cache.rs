//! The caches of rendered pages, page layouts and prerendered texts, together with those of sites.

use std::sync::Arc;

use docs_core::{
    model::{ExternalLinksTarget, SpaceId},
    platform::Moment,
};
use quick_cache::{Weighter, sync::Cache};

use super::{
    page_cache::{CachedPage, PageCache},
    page_key::{PageKey, SpaceKey},
    rendered::Rendered,
    scene::Surroundings,
};
use crate::{
    address::Loads,
    cache::{At, EXPECTED, LARGE, Weigh},
    descriptions::DescriptionParser,
    frame::TextName,
    machine::{MarkdownPage, SiteLists},
    render::{Drawn, Manner},
    request::Asked,
    site_cache::SiteCaches,
};

/// The key of a prerendered text: a document of a space with its render options.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DrawnKey {
    space: SpaceId,
    text: TextName,
    language: &'static str,
    is_outside_apart: bool,
    loads: Loads,
}

impl DrawnKey {
    pub(crate) fn of(space: &SpaceId, text: TextName, manner: Manner) -> Self {
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
pub(crate) struct StrangerKey {
    origin: Box<str>,
    path: Box<str>,
}

impl StrangerKey {
    /// Returns the key of a request that carries no information about the visitor, so that all visitors get
    /// the same response. Returns `None` for any other request.
    pub(crate) fn of(asked: &Asked<'_>) -> Option<Self> {
        let is_page = asked.is_strangers() && !asked.prefers_markdown();
        is_page.then(|| Self { origin: (&*asked.origin).into(), path: asked.path.as_str().into() })
    }
}

impl Weighter<DrawnKey, Option<Arc<Drawn>>> for Weigh {
    fn weight(&self, _: &DrawnKey, drawn: &Option<Arc<Drawn>>) -> u64 {
        drawn.as_ref().map_or(0, |drawn| drawn.weight()) as u64 + 256
    }
}

impl Weighter<SpaceKey, Arc<Surroundings>> for Weigh {
    fn weight(&self, _: &SpaceKey, around: &Arc<Surroundings>) -> u64 {
        around.weight() as u64 + 512
    }
}

impl Weighter<StrangerKey, At<Arc<PageKey>>> for Weigh {
    fn weight(&self, key: &StrangerKey, _: &At<Arc<PageKey>>) -> u64 {
        (key.origin.len() + key.path.len()) as u64 + 512
    }
}

#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) sites: SiteCaches,
    pub(crate) pages: PageCache<Rendered>,
    pub(crate) markdown: PageCache<MarkdownPage>,
    pub(crate) lists: SiteLists,
    pub(crate) surroundings: Cache<SpaceKey, Arc<Surroundings>, Weigh>,
    /// Prerendered texts that are the same for all visitors; `None` for a text that must be rendered each
    /// time.
    drawn: Cache<DrawnKey, Option<Arc<Drawn>>, Weigh>,
    /// The page that answers an anonymous request.
    answered: Cache<StrangerKey, At<Arc<PageKey>>, Weigh>,
    pub(super) descriptions: DescriptionParser,
}

impl Caches {
    /// Creates caches of at most `bytes` in total: 5/16 for page trees, 1/16 for summaries of page trees and for
    /// lists of pages, 4/16 for rendered pages, 2/16 for pages as Markdown, 1/16 for page layouts, 1/16 for
    /// prerendered texts, and 2/16 for lookups.
    pub(crate) fn new(bytes: u64) -> Self {
        let small = bytes / 16;
        Self {
            sites: SiteCaches::new(small),
            // A page of a few megabytes would not fit into one of several shards.
            pages: Cache::with_weighter(LARGE, 4 * small, Weigh),
            markdown: Cache::with_weighter(LARGE, 2 * small, Weigh),
            lists: SiteLists::new(small / 2),
            surroundings: Cache::with_weighter(LARGE, small, Weigh),
            drawn: Cache::with_weighter(LARGE, small, Weigh),
            answered: Cache::with_weighter(EXPECTED, small / 2, Weigh),
            descriptions: DescriptionParser::default(),
        }
    }

    /// Returns a prerendered text; the inner `None` marks a text that must be rendered each time.
    pub(crate) fn drawn(&self, key: &DrawnKey) -> Option<Option<Arc<Drawn>>> {
        self.drawn.get(key)
    }

    /// Renders a text and caches it if it fits. A text that does not fit is cached as `None`, so that it is
    /// rendered each time.
    pub(crate) fn keep_drawn(
        &self,
        key: DrawnKey,
        draw: impl FnOnce() -> Option<Drawn>,
    ) -> Option<Arc<Drawn>> {
        let room = self.drawn.capacity();
        if room == 0 {
            return None;
        }
        let drawn = draw().filter(|drawn| (drawn.weight() as u64) < room - room / 8).map(Arc::new);
        self.drawn.insert(key, drawn.clone());
        drawn
    }

    /// The cached page that answers an anonymous request, if it is still valid.
    pub(crate) fn answered(&self, key: &StrangerKey, moment: Moment) -> Option<Arc<Rendered>> {
        let page = self.answered.get(key).filter(|kept| kept.moment == moment)?.found;
        match self.pages.get(&*page)? {
            CachedPage::Rendered(page) => Some(page),
            CachedPage::OfSources(_) | CachedPage::Uncached => None,
        }
    }

    /// Caches the page that answers an anonymous request, computed at `moment` or later.
    pub(crate) fn keep_answered(&self, key: StrangerKey, moment: Moment, page: PageKey) {
        self.answered.insert(key, At { moment, found: Arc::new(page) });
    }
}
