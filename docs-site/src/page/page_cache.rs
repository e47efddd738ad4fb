//! The cache of pages in one form.

use std::sync::Arc;

use quick_cache::{Weighter, sync::Cache};

use super::page_key::PageKey;
use crate::{
    cache::EntryWeigher,
    sources::{Basis, Sources},
};

/// A cacheable form of a page, such as HTML.
pub(crate) trait PageForm: Send + Sync {
    fn basis(&self) -> &Basis;

    /// Returns the approximate memory in bytes, including the compressed form. The cache calls this only once per page,
    /// on insertion.
    fn weight(&self) -> usize;
}

/// The cache entry of a page.
#[derive(Debug)]
pub(crate) enum CachedPage<P> {
    Rendered(Arc<P>),
    /// The page depends on these sources. It is cached under the key that includes their versions.
    OfSources(Arc<Sources>),
    /// The page depends on more than its key covers and is rendered on each request.
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

/// The cache of pages in one form, with a size limit in bytes.
pub(crate) type PageCache<P> = Cache<PageKey, CachedPage<P>, EntryWeigher>;
