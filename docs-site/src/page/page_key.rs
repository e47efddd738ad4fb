//! The cache keys of pages and page layouts.

use std::sync::Arc;

use docs_core::model::{PageId, SiteSpaceId};

use crate::{page_tree_cache::PageTreeKey, sources::Versions, visit::Visit};

/// The key of the layout around the pages of a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpaceKey {
    pub(super) frame: PageTreeKey,
    place: SiteSpaceId,
    /// The hash of the site: its customization, its structure, and the revisions of its spaces.
    site: blake3::Hash,
    /// The requested base path of the site.
    base: Box<str>,
}

impl SpaceKey {
    pub(crate) fn new(visit: &Visit, (frame, place): (PageTreeKey, &SiteSpaceId)) -> Self {
        let base = visit.found.site_base_path.as_str().into();
        Self { frame, place: place.clone(), site: visit.site.hash, base }
    }
}

/// The key of a rendered page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) space: SpaceKey,
    pub(crate) page: PageId,
    /// The versions of the page's sources, or `None` if they are not known yet or there are none.
    pub(crate) versions: Option<Arc<Versions>>,
}
