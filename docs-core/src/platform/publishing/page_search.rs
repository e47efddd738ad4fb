//! The bound of a request's searches in spaces other than the requested one.

/// The number of pages that a request has visited while it searches other spaces.
#[derive(Clone, Debug, Default)]
pub struct PageSearch {
    pages: u64,
}

impl PageSearch {
    /// Maximum number of other variants of a space that are searched for a page.
    pub const MAX_VARIANTS: usize = 20;
    /// Number of visited pages after which no further page is visited.
    pub const MAX_PAGES: u64 = 50_000;

    /// Returns `true` if another page may be visited.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.pages < Self::MAX_PAGES
    }

    /// Counts visited pages.
    pub const fn add(&mut self, pages: u64) {
        self.pages = self.pages.saturating_add(pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(pages: u64) -> usize {
        let (mut search, mut spaces) = (PageSearch::default(), 0);
        while search.has_room() {
            search.add(pages);
            spaces += 1;
        }
        spaces
    }

    #[test]
    fn pages_of_searched_spaces_are_bounded() {
        assert_eq!(searched(100), 500);
        assert_eq!(searched(25_000), 2);
        assert_eq!(searched(u64::MAX), 1);
    }
}
