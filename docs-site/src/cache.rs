//! What is kept between requests, within bytes: content of spaces, whole answers, and what leads to them.
//!
//! Nothing kept becomes stale: each is kept under all that it was made of, or with the [`Moment`] in which it was found
//! out. An answer that nobody asks for any more, as the site has changed since, goes when there is no room.

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

/// Entries that are expected: how large the tables of the caches are at first.
const EXPECTED: usize = 512;
/// The same of large ones. They lie in one shard, as an entry may take at most what a shard has.
pub(crate) const LARGE: usize = 32;

/// The content of a space as an audience sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrameKey {
    pub(crate) audience: Arc<str>,
    pub(crate) space: SpaceId,
    pub(crate) revision: RevisionId,
    /// What pages of it are computed from; `None` where nothing is, or where that was not asked.
    pub(crate) computed: Option<EntityTag>,
}

impl FrameKey {
    /// Tells whether the content is what the site says that it is, and nothing of it is computed from something else.
    pub(crate) fn follows_from(&self, place: &Place<'_>) -> bool {
        self.computed.is_none() && self.revision == place.space.space.revision
    }
}

/// A space of a site, with all that stands around its pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpaceKey {
    frame: FrameKey,
    /// Its place on the site.
    place: SiteSpaceId,
    /// All that is known of the site: how it looks, what it consists of, and the revisions of its spaces.
    site: blake3::Hash,
    /// Where the site was asked for.
    base: Box<str>,
}

impl SpaceKey {
    pub(crate) fn of(visit: &Visit, (frame, place): (FrameKey, &SiteSpaceId)) -> Self {
        let base = visit.found.site_base_path.as_str().into();
        Self { frame, place: place.clone(), site: visit.site.hash, base }
    }
}

/// An answer that shows a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) space: SpaceKey,
    pub(crate) page: PageId,
}

/// A text of a space, and in which manner it is drawn.
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

/// Where sites are asked for: the start of addresses that may lead to one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteStart {
    pub(crate) origin: Box<str>,
    pub(crate) path: Box<str>,
}

/// What is asked for by somebody of whom nothing is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StrangerKey {
    origin: Box<str>,
    path: Box<str>,
}

impl StrangerKey {
    /// What a request asks for, where it tells nothing of who asks and everybody may be told the same.
    pub(crate) fn of(asked: &Asked<'_>) -> Option<Self> {
        let is_page = asked.is_strangers() && !asked.prefers_markdown();
        is_page.then(|| Self { origin: (&*asked.origin).into(), path: asked.path.as_str().into() })
    }
}

/// What was found out in a moment, and holds as long as that lasts.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    moment: Moment,
    found: T,
}

/// How entries are weighed.
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

/// What is kept.
#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) frames: Frames,
    pub(crate) pages: Cache<PageKey, Arc<Rendered>, Weigh>,
    pub(crate) surroundings: Cache<SpaceKey, Arc<Surroundings>, Weigh>,
    /// Texts that are the same for all, as they were drawn; `None` for one that has to be drawn each time.
    drawn: Cache<DrawnKey, Option<Arc<Drawn>>, Weigh>,
    /// Which page it was that everybody was told.
    answered: Cache<StrangerKey, At<Arc<PageKey>>, Weigh>,
    /// What everybody is told of sites.
    sites: Cache<SiteId, At<Arc<KnownSite>>, Weigh>,
    /// What strangers find where they ask for a site; `None` for what is not for everybody.
    open: Cache<SiteStart, At<Option<Arc<OpenSite>>>, Weigh>,
}

impl Caches {
    /// Caches of at most so many bytes: six sixteenths for content, four for answers, two for what stands around these,
    /// and two for texts that were drawn.
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

    /// A text as it was drawn; `None` within for one that has to be drawn each time.
    pub(crate) fn drawn(&self, key: &DrawnKey) -> Option<Option<Arc<Drawn>>> {
        self.drawn.get(key)
    }

    /// Keeps a text as it is drawn, where there is room for it; of one that has none, that it is drawn each time.
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

    /// What strangers find where they ask for a site, where it is known and still holds.
    pub(crate) fn open(&self, start: &SiteStart, moment: Moment) -> Option<Option<Arc<OpenSite>>> {
        Some(self.open.get(start).filter(|kept| kept.moment == moment)?.found)
    }

    /// Keeps what strangers find where they ask for a site, as was found out in a moment or later.
    pub(crate) fn keep_open(&self, start: SiteStart, moment: Moment, found: Option<Arc<OpenSite>>) {
        self.open.insert(start, At { moment, found });
    }

    /// The page that answers what is asked for, where it is kept and still does.
    pub(crate) fn answered(&self, key: &StrangerKey, moment: Moment) -> Option<Arc<Rendered>> {
        let page = self.answered.get(key).filter(|kept| kept.moment == moment)?.found;
        self.pages.get(&*page)
    }

    /// Keeps which page answers what is asked for, as was found out in a moment or later.
    pub(crate) fn keep_answered(&self, key: StrangerKey, moment: Moment, page: PageKey) {
        self.answered.insert(key, At { moment, found: Arc::new(page) });
    }

    /// What everybody is told of a site, where it is kept and still holds.
    pub(crate) fn site(&self, id: &SiteId, moment: Moment) -> Option<Arc<KnownSite>> {
        Some(self.sites.get(id).filter(|kept| kept.moment == moment)?.found)
    }

    /// Keeps what everybody is told of a site, as was found out in a moment or later. Answers what was kept before
    /// where it is the same.
    pub(crate) fn keep_site(&self, id: &SiteId, moment: Moment, site: KnownSite) -> Arc<KnownSite> {
        let before = self.sites.get(id).map(|kept| kept.found).filter(|before| before.hash == site.hash);
        let found = before.unwrap_or_else(|| Arc::new(site));
        self.sites.insert(id.clone(), At { moment, found: Arc::clone(&found) });
        found
    }
}

/// Bytes with the tag that names them.
#[derive(Clone, Debug)]
pub(crate) struct Tagged {
    pub(crate) bytes: Bytes,
    /// The tag, without quotes.
    pub(crate) tag: String,
}

impl Tagged {
    /// HTML, whose parts need not be looked at again.
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
