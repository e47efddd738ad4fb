//! The cache of the pages in one form.

use std::sync::Arc;

use quick_cache::{Weighter, sync::Cache};

use super::page_key::PageKey;
use crate::{
    cache::EntryWeigher,
    sources::{Basis, Sources},
};

/// A form of a page that is cached, such as HTML.
pub(crate) trait PageForm: Send + Sync {
    fn basis(&self) -> &Basis;

    /// The approximate memory in bytes, including the compressed form: a cache weighs a page only once, on
    /// insertion.
    fn weight(&self) -> usize;
}

/// A cache entry of a page.
#[derive(Debug)]
pub(crate) enum CachedPage<P> {
    Rendered(Arc<P>),
    /// The page depends on these sources: it is cached under the key with their versions.
    OfSources(Arc<Sources>),
    /// The page depends on more than its key covers and is rendered for each request.
    Uncached,
}

impl<P> Clone for CachedPage<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Rendered(page) => Self::Rendered(Arc::clone(page)),
            Self::OfSources(sources) => Self::OfSources(Arc::clone(sources)),
            Self::Uncached => Self::Uncached,
        }
    }
}

impl<P: PageForm> Weighter<PageKey, CachedPage<P>> for EntryWeigher {
    fn weight(&self, key: &PageKey, page: &CachedPage<P>) -> u64 {
        let page = match page {
            CachedPage::Rendered(page) => page.weight(),
            CachedPage::OfSources(sources) => sources.weight(),
            CachedPage::Uncached => 0,
        };
        (page + key.versions.as_ref().map_or(0, |versions| versions.weight())) as u64 + 512
    }
}

/// The cached pages in one form, bounded in bytes.
pub(crate) type PageCache<P> = Cache<PageKey, CachedPage<P>, EntryWeigher>;
