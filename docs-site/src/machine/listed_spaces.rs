//! The spaces that a site's lists contain, with their summaries.

use std::{sync::Arc, vec};

use docs_core::Result;

use super::summary::PageTreeSummary;
use crate::{address::SitePlace, site_cache::SiteCaches, visit::Visit};

/// The number of pages after which the lists of a site contain no further spaces.
const MAX_SITE_PAGES: usize = 100_000;

/// The remaining number of pages for further spaces of a list.
struct PageBudget(usize);

impl PageBudget {
    const fn is_full(&self) -> bool {
        self.0 == 0
    }

    const fn take(&mut self, pages: usize) {
        self.0 = self.0.saturating_sub(pages);
    }
}

/// The spaces that a site's lists contain, in order. The last one is the space that reaches [`MAX_SITE_PAGES`].
pub(super) struct ListedSpaces<'v> {
    visit: &'v Visit,
    places: vec::IntoIter<SitePlace<'v>>,
    room: PageBudget,
}

impl<'v> ListedSpaces<'v> {
    pub(super) fn new(visit: &'v Visit) -> Self {
        Self { visit, places: visit.places().into_iter(), room: PageBudget(MAX_SITE_PAGES) }
    }

    /// Returns the next space with its summary.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(super) async fn next(
        &mut self,
        caches: &SiteCaches,
    ) -> Result<Option<(SitePlace<'v>, Arc<PageTreeSummary>)>> {
        if self.room.is_full() {
            return Ok(None);
        }
        let Some(place) = self.places.next() else { return Ok(None) };
        let summary = summary(self.visit, caches, &place).await?;
        self.room.take(summary.pages);
        Ok(Some((place, summary)))
    }

    /// Returns the remaining spaces with their summaries.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(super) async fn all(
        mut self,
        caches: &SiteCaches,
    ) -> Result<Vec<(SitePlace<'v>, Arc<PageTreeSummary>)>> {
        let mut all = Vec::new();
        while let Some(space) = self.next(caches).await? {
            all.push(space);
        }
        Ok(all)
    }

    /// Returns `true` if the site has more spaces than its lists contain.
    pub(super) fn is_truncated(&self) -> bool {
        self.room.is_full() && !self.places.as_slice().is_empty()
    }
}

/// Returns the summary of a space, from the cache if possible.
async fn summary(visit: &Visit, caches: &SiteCaches, place: &SitePlace<'_>) -> Result<Arc<PageTreeSummary>> {
    if visit.preview.is_some() {
        return Ok(Arc::new(PageTreeSummary::from_page_tree(&*visit.page_tree(caches, place).await?)));
    }
    // Only tags of pages without computed ones are cached under a key without the ETag.
    let tag = caches.page_tags.get(&visit.page_tree_key(place));
    if let Some(known) = tag.and_then(|tag| caches.summaries.get(&tag)) {
        return Ok(known);
    }
    let content = visit.snapshot(&place.space.space.id).await?;
    let (_, tag) = visit.pages_tag(caches, place, &content).await?;
    if let Some(known) = caches.summaries.get(&tag) {
        return Ok(known);
    }
    let frame = visit.tagged_page_tree(caches, &tag, &content).await?;
    let summary = Arc::new(PageTreeSummary::from_page_tree(&frame));
    caches.summaries.insert(tag, Arc::clone(&summary));
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_end_after_the_space_that_reaches_the_bound() {
        let mut room = PageBudget(MAX_SITE_PAGES);
        let mut spaces = 0;
        while !room.is_full() {
            room.take(MAX_SITE_PAGES / 4 + 1);
            spaces += 1;
        }
        assert_eq!(spaces, 4);
    }
}
