//! The caches of sites: their page trees, and the lookups of anonymous visitors.

use std::sync::Arc;

use docs_core::{
    model::SiteId,
    platform::{Moment, OpenSite},
};
use quick_cache::{Weighter, sync::Cache};

use crate::{
    cache::{At, EXPECTED, LARGE, Weigh},
    frames::{FrameKey, Frames},
    known_site::KnownSite,
    machine::Summary,
};

/// The origin and path prefix of a request, which may identify a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteStart {
    pub(crate) origin: Box<str>,
    pub(crate) path: Box<str>,
}

impl Weighter<SiteStart, At<Option<Arc<OpenSite>>>> for Weigh {
    fn weight(&self, start: &SiteStart, open: &At<Option<Arc<OpenSite>>>) -> u64 {
        let site = open.found.as_ref().map_or(0, |open| open.weight());
        (start.origin.len() + start.path.len() + site) as u64 + 256
    }
}

impl Weighter<SiteId, At<Arc<KnownSite>>> for Weigh {
    fn weight(&self, _: &SiteId, site: &At<Arc<KnownSite>>) -> u64 {
        site.found.weight() as u64 + 256
    }
}

#[derive(Debug)]
pub(crate) struct SiteCaches {
    pub(crate) frames: Frames,
    /// Summaries of page trees.
    pub(crate) summaries: Cache<FrameKey, Arc<Summary>, Weigh>,
    /// Sites as anonymous visitors see them.
    sites: Cache<SiteId, At<Arc<KnownSite>>, Weigh>,
    /// The site that anonymous visitors find at an address; `None` if it is not public.
    open: Cache<SiteStart, At<Option<Arc<OpenSite>>>, Weigh>,
}

impl SiteCaches {
    /// Creates caches of at most 7 × `unit` bytes: five units for page trees, half a unit for their summaries, half a
    /// unit for sites, and one for the lookups of sites.
    pub(crate) fn new(unit: u64) -> Self {
        Self {
            frames: Frames::new(5 * unit),
            summaries: Cache::with_weighter(LARGE, unit / 2, Weigh),
            sites: Cache::with_weighter(EXPECTED, unit / 2, Weigh),
            open: Cache::with_weighter(LARGE, unit, Weigh),
        }
    }

    /// The cached site that anonymous visitors find at an address, if it is still valid.
    pub(crate) fn open(&self, start: &SiteStart, moment: Moment) -> Option<Option<Arc<OpenSite>>> {
        Some(self.open.get(start).filter(|kept| kept.moment == moment)?.found)
    }

    /// Caches the site that anonymous visitors find at an address, computed at `moment` or later.
    pub(crate) fn keep_open(&self, start: SiteStart, moment: Moment, found: Option<Arc<OpenSite>>) {
        self.open.insert(start, At { moment, found });
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
