//! The memory of all caches of a server.

use crate::{
    content::CacheLimits,
    platform::{
        content::{
            computed::{GeneratedPageCache, SpecPagesCache},
            openapi_specs::SpecDetailCache,
            read::PageTrees,
        },
        kernel::memory::Memory,
    },
};

/// Memory of the caches of a server together, in bytes, unless the embedding application sets another [`CacheBudget`].
pub(in crate::platform) const CACHE_MEMORY: u64 =
    CONTENT_CACHE_BYTES + SPEC_CACHE_BYTES + PAGE_LIST_CACHE_BYTES + SITE_CACHE_BYTES;
/// The total of the default [`CacheLimits`].
const CONTENT_CACHE_BYTES: u64 = 264 << 20;
const SPEC_CACHE_BYTES: u64 = 56 << 20;
const PAGE_LIST_CACHE_BYTES: u64 = 24 << 20;
const SITE_CACHE_BYTES: u64 = 72 << 20;

/// The memory of all caches of a server, 416 MiB by default.
///
/// An entry is counted with about the memory that it allocates. A full cache evicts the entries that are used least.
///
/// ```
/// use docs_core::platform::CacheBudget;
///
/// assert_eq!(CacheBudget::default().total_bytes(), 416 << 20);
/// assert_eq!(CacheBudget::of(100_000_000).total_bytes(), 100_000_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheBudget {
    /// The content of spaces: nodes, texts, page trees and documents.
    pub content: CacheLimits,
    /// Bytes for the pages and parts of OpenAPI specifications.
    pub spec_bytes: u64,
    /// Bytes for the lists of pages in responses of the API.
    pub page_list_bytes: u64,
    /// Bytes for published sites: page trees, rendered pages and lookups.
    pub site_bytes: u64,
}

impl Default for CacheBudget {
    fn default() -> Self {
        Self {
            content: CacheLimits::default(),
            spec_bytes: SPEC_CACHE_BYTES,
            page_list_bytes: PAGE_LIST_CACHE_BYTES,
            site_bytes: SITE_CACHE_BYTES,
        }
    }
}

impl CacheBudget {
    /// Splits a total size in bytes in the same proportions as the default budget.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        let share = |part: u64| {
            u64::try_from(u128::from(bytes) * u128::from(part) / u128::from(CACHE_MEMORY)).unwrap_or(bytes)
        };
        let CacheLimits { node_bytes, text_bytes, tree_bytes, document_bytes } = CacheLimits::default();
        let mut budget = Self {
            content: CacheLimits {
                node_bytes: share(node_bytes),
                text_bytes: share(text_bytes),
                tree_bytes: share(tree_bytes),
                document_bytes: share(document_bytes),
            },
            spec_bytes: share(SPEC_CACHE_BYTES),
            page_list_bytes: share(PAGE_LIST_CACHE_BYTES),
            site_bytes: share(SITE_CACHE_BYTES),
        };
        budget.content.node_bytes += bytes - budget.total_bytes();
        budget
    }

    /// Returns the bytes of all caches together.
    #[must_use]
    pub const fn total_bytes(&self) -> u64 {
        let CacheLimits { node_bytes, text_bytes, tree_bytes, document_bytes } = self.content;
        let content = node_bytes + text_bytes + tree_bytes + document_bytes;
        content + self.spec_bytes + self.page_list_bytes + self.site_bytes
    }

    /// Creates the cache of page lists, and those of specifications: 4/7 for outlines, 2/7 for generated pages and 1/7
    /// for parts.
    pub(in crate::platform) fn insert_caches(&self, memory: &Memory) {
        memory.insert(PageTrees::new(self.page_list_bytes));
        let unit = self.spec_bytes / 7;
        memory.insert(SpecPagesCache::new(4 * unit));
        memory.insert(GeneratedPageCache::new(2 * unit));
        memory.insert(SpecDetailCache::new(unit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_budget_has_the_documented_total() {
        assert_eq!(CacheBudget::default().total_bytes(), CACHE_MEMORY);
        for bytes in [0, 1, 1_000_003, CACHE_MEMORY, u64::MAX] {
            assert_eq!(CacheBudget::of(bytes).total_bytes(), bytes);
        }
        assert_eq!(CacheBudget::of(CACHE_MEMORY), CacheBudget::default());
    }
}
