//! The in-memory caches: page trees, rendered pages, and the lookups that select them. Each is bounded in
//! bytes.
//!
//! Entries never become stale. Each is stored under a key that covers all its inputs, or together with the
//! [`Moment`] of its computation. Entries of an outdated site are no longer requested and are evicted when a
//! cache is full.

use std::sync::Arc;

use bytes::Bytes;
use docs_core::{
    model::{ExternalLinksTarget, PageId, RevisionId, SiteId, SiteSpaceId, SpaceId},
    platform::{EntityTag, Moment, OpenSite},
};
use quick_cache::{Weighter, sync::Cache};

use crate::{
    address::{Loads, Place},
    frame::{Frame, TextName},
    frames::Frames,
    html::Html,
    page::{Rendered, Surroundings},
    render::{Drawn, Manner},
    request::Asked,
    visit::{KnownSite, Visit},
};

/// The expected number of entries, which sets the initial size of the cache tables.
const EXPECTED: usize = 512;
/// The expected number of large entries. These caches have a single shard, because an entry must fit into its
/// shard.
pub(crate) const LARGE: usize = 32;

/// The key of a page tree: the content of a space as an audience sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrameKey {
    pub(crate) audience: Arc<str>,
    pub(crate) space: SpaceId,
    pub(crate) revision: RevisionId,
    /// The entity tag of the sources of computed pages; `None` without computed pages or before the lookup.
    pub(crate) computed: Option<EntityTag>,
}

impl FrameKey {
    /// Returns `true` if the tree depends only on the site record: its revision is the site's and no page is
    /// computed from another source.
    pub(crate) fn follows_from(&self, place: &Place<'_>) -> bool {
        self.computed.is_none() && self.revision == place.space.space.revision
    }
}

/// The key of the page layout around the pages of a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpaceKey {
    frame: FrameKey,
    place: SiteSpaceId,
    /// The hash of the site: its customization, its structure, and the revisions of its spaces.
    site: blake3::Hash,
    /// The requested base path of the site.
    base: Box<str>,
}

impl SpaceKey {
    pub(crate) fn of(visit: &Visit, (frame, place): (FrameKey, &SiteSpaceId)) -> Self {
        let base = visit.found.site_base_path.as_str().into();
        Self { frame, place: place.clone(), site: visit.site.hash, base }
    }
}

/// The key of a rendered page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) space: SpaceKey,
    pub(crate) page: PageId,
}

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

/// The origin and path prefix of a request, which may identify a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteStart {
    pub(crate) origin: Box<str>,
    pub(crate) path: Box<str>,
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

/// A lookup result that is valid as long as the [`Moment`] is current.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    moment: Moment,
    found: T,
}

/// Computes the weight of cache entries in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Weigh;

impl Weighter<FrameKey, Arc<Frame>> for Weigh {
    fn weight(&self, _: &FrameKey, frame: &Arc<Frame>) -> u64 {
        frame.weight() as u64 + 256
    }
}

impl Weighter<PageKey, Arc<Rendered>> for Weigh {
    fn weight(&self, _: &PageKey, page: &Arc<Rendered>) -> u64 {
        page.weight() as u64 + 512
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

impl Weighter<SiteStart, At<Option<Arc<OpenSite>>>> for Weigh {
    fn weight(&self, start: &SiteStart, open: &At<Option<Arc<OpenSite>>>) -> u64 {
        let site = open.found.as_ref().map_or(0, |open| open.weight());
        (start.origin.len() + start.path.len() + site) as u64 + 256
    }
}

impl Weighter<StrangerKey, At<Arc<PageKey>>> for Weigh {
    fn weight(&self, key: &StrangerKey, _: &At<Arc<PageKey>>) -> u64 {
        (key.origin.len() + key.path.len()) as u64 + 512
    }
}

impl Weighter<SiteId, At<Arc<KnownSite>>> for Weigh {
    fn weight(&self, _: &SiteId, site: &At<Arc<KnownSite>>) -> u64 {
        site.found.weight() as u64 + 256
    }
}

#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) frames: Frames,
    pub(crate) pages: Cache<PageKey, Arc<Rendered>, Weigh>,
    pub(crate) surroundings: Cache<SpaceKey, Arc<Surroundings>, Weigh>,
    /// Prerendered texts that are the same for all visitors; `None` for a text that must be rendered each
    /// time.
    drawn: Cache<DrawnKey, Option<Arc<Drawn>>, Weigh>,
    /// The page that answers an anonymous request.
    answered: Cache<StrangerKey, At<Arc<PageKey>>, Weigh>,
    /// Sites as anonymous visitors see them.
    sites: Cache<SiteId, At<Arc<KnownSite>>, Weigh>,
    /// The site that anonymous visitors find at an address; `None` if it is not public.
    open: Cache<SiteStart, At<Option<Arc<OpenSite>>>, Weigh>,
}

impl Caches {
    /// Creates caches of at most `bytes` in total: 6/16 for page trees, 4/16 for rendered pages, 2/16 for
    /// page layouts, 2/16 for prerendered texts, and 2/16 for lookups.
    pub(crate) fn new(bytes: u64) -> Self {
        let small = bytes / 16;
        Self {
            frames: Frames::new(6 * small),
            pages: Cache::with_weighter(EXPECTED, 4 * small, Weigh),
            surroundings: Cache::with_weighter(LARGE, 2 * small, Weigh),
            drawn: Cache::with_weighter(LARGE, 2 * small, Weigh),
            answered: Cache::with_weighter(EXPECTED, small / 2, Weigh),
            sites: Cache::with_weighter(EXPECTED, small / 2, Weigh),
            open: Cache::with_weighter(LARGE, small, Weigh),
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

    /// The cached site that anonymous visitors find at an address, if it is still valid.
    pub(crate) fn open(&self, start: &SiteStart, moment: Moment) -> Option<Option<Arc<OpenSite>>> {
        Some(self.open.get(start).filter(|kept| kept.moment == moment)?.found)
    }

    /// Caches the site that anonymous visitors find at an address, computed at `moment` or later.
    pub(crate) fn keep_open(&self, start: SiteStart, moment: Moment, found: Option<Arc<OpenSite>>) {
        self.open.insert(start, At { moment, found });
    }

    /// The cached page that answers an anonymous request, if it is still valid.
    pub(crate) fn answered(&self, key: &StrangerKey, moment: Moment) -> Option<Arc<Rendered>> {
        let page = self.answered.get(key).filter(|kept| kept.moment == moment)?.found;
        self.pages.get(&*page)
    }

    /// Caches the page that answers an anonymous request, computed at `moment` or later.
    pub(crate) fn keep_answered(&self, key: StrangerKey, moment: Moment, page: PageKey) {
        self.answered.insert(key, At { moment, found: Arc::new(page) });
    }

    /// The cached site as anonymous visitors see it, if it is still valid.
    pub(crate) fn site(&self, id: &SiteId, moment: Moment) -> Option<Arc<KnownSite>> {
        Some(self.sites.get(id).filter(|kept| kept.moment == moment)?.found)
    }

    /// Caches a site as anonymous visitors see it, computed at `moment` or later. Returns the previously
    /// cached site if it is equal.
    pub(crate) fn keep_site(&self, id: &SiteId, moment: Moment, site: KnownSite) -> Arc<KnownSite> {
        let before = self.sites.get(id).map(|kept| kept.found).filter(|before| before.hash == site.hash);
        let found = before.unwrap_or_else(|| Arc::new(site));
        self.sites.insert(id.clone(), At { moment, found: Arc::clone(&found) });
        found
    }
}

/// Bytes with their entity tag.
#[derive(Clone, Debug)]
pub(crate) struct Tagged {
    pub(crate) bytes: Bytes,
    /// The entity tag, without quotes.
    pub(crate) tag: String,
}

impl Tagged {
    /// Tags a page by its [`Html::name`], which does not hash named parts again.
    pub(crate) fn of(html: Html) -> Self {
        let tag = html.name().to_hex()[..32].to_owned();
        Self { bytes: html.into_string().into(), tag }
    }

    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let tag = blake3::hash(&bytes).to_hex()[..32].to_owned();
        Self { bytes, tag }
    }
}
