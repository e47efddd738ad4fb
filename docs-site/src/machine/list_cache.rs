//! The cache of a site's page lists.

use std::sync::Arc;

use docs_core::platform::AnonymousViewVersion;
use quick_cache::{Weighter, sync::Cache};

use crate::{
    cache::{EXPECTED_LARGE_ENTRIES, EntryWeigher},
    response::{RSS, TEXT, XML},
    tagged_bytes::TaggedBytes,
};

/// A list of a site's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SiteList {
    /// The sitemap, or one part of it.
    Sitemap(Option<usize>),
    /// The RSS feed.
    Feed,
    /// `llms.txt`.
    Short,
}

impl SiteList {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Sitemap(_) => XML,
            Self::Feed => RSS,
            Self::Short => TEXT,
        }
    }

    /// Returns `true` if search engines may index the list.
    pub(crate) const fn is_indexed(self) -> bool {
        matches!(self, Self::Sitemap(_))
    }
}

/// The key of a list: the site as anonymous visitors see it at a store version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListKey {
    pub(super) list: SiteList,
    pub(super) site: blake3::Hash,
    /// The canonical URL of the site, and its requested base path.
    pub(super) addresses: (Box<str>, Box<str>),
    pub(super) moment: AnonymousViewVersion,
}

impl Weighter<ListKey, Arc<TaggedBytes>> for EntryWeigher {
    fn weight(&self, _: &ListKey, list: &Arc<TaggedBytes>) -> u64 {
        list.bytes.len() as u64 + 512
    }
}

/// The cached lists, with a size limit in bytes.
#[derive(Debug)]
pub(crate) struct SiteLists(pub(super) Cache<ListKey, Arc<TaggedBytes>, EntryWeigher>);

impl SiteLists {
    pub(crate) fn new(bytes: u64) -> Self {
        Self(Cache::with_weighter(EXPECTED_LARGE_ENTRIES, bytes, EntryWeigher))
    }
}
