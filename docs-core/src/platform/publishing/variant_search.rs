//! The bounds of a search for a page in the variants of a space.

/// The number of searched variants of a space, and of their pages.
#[derive(Clone, Debug, Default)]
pub struct VariantSearch {
    variants: usize,
    pages: u64,
}

impl VariantSearch {
    /// Maximum number of other variants that are searched for a page.
    pub const MAX_VARIANTS: usize = 20;
    /// Number of pages in the searched variants, after which no further variant is searched.
    pub const MAX_PAGES: u64 = 50_000;

    /// Returns `true` if another variant may be searched.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.variants < Self::MAX_VARIANTS && self.pages < Self::MAX_PAGES
    }

    /// Counts a searched variant with this number of pages.
    pub const fn add(&mut self, pages: u64) {
        self.variants += 1;
        self.pages = self.pages.saturating_add(pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(pages: u64) -> usize {
        let mut search = VariantSearch::default();
        while search.has_room() {
            search.add(pages);
        }
        search.variants
    }

    #[test]
    fn pages_of_searched_variants_are_bounded() {
        assert_eq!(searched(0), VariantSearch::MAX_VARIANTS);
        assert_eq!(searched(100), VariantSearch::MAX_VARIANTS);
        assert_eq!(searched(25_000), 2);
        assert_eq!(searched(u64::MAX), 1);
    }
}
