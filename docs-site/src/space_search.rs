//! Searches for pages in other spaces of a site.
//!
//! The page tree of a small space is built, because it answers all further lookups. That of a large space is only used
//! if single lookups would cost as much, and only within the bound of visited pages.

use std::sync::Arc;

use docs_core::{
    Result,
    platform::{ContentSnapshot, PageSearch},
};

use crate::{
    address::SitePlace, page_tree::PageTree, page_tree_cache::PageTreeKey, site_cache::SiteCaches,
    visit::Visit,
};

/// The maximum number of pages of a small space.
const MAX_SMALL_SPACE: u64 = 2_000;
/// The number of pages of a tree that can be built in the time of one lookup.
const LOOKUP_COST: u64 = 16;

/// A space in which pages are searched.
#[derive(Debug)]
pub(crate) enum SearchedSpace {
    Tree(PageTreeKey, Arc<PageTree>),
    /// The content of a large space, whose pages are looked up one by one.
    Content(Box<ContentSnapshot>),
}

impl SearchedSpace {
    /// Opens a space for a number of lookups. The pages of a tree are added to `search`.
    ///
    /// # Errors
    /// `NotFound` if the visitor cannot access the space.
    pub(crate) async fn open(
        visit: &Visit,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
        lookups: usize,
        search: &mut PageSearch,
    ) -> Result<Self> {
        if search.has_room()
            && let Some((key, tree)) = visit.cached_page_tree(caches, place)
        {
            search.add(tree.entries.len() as u64);
            return Ok(Self::Tree(key, tree));
        }
        let content = visit.snapshot(&place.space.space.id).await?;
        if search.has_room() {
            let pages = content.count_pages().await?;
            let is_small = pages <= MAX_SMALL_SPACE || lookups as u64 * LOOKUP_COST >= pages;
            // Single lookups do not find generated pages.
            if is_small || content.has_computed_pages().await? {
                search.add(pages);
                let (key, tree) = visit.page_tree_of(caches, place, &content).await?;
                return Ok(Self::Tree(key, tree));
            }
        }
        Ok(Self::Content(Box::new(content)))
    }
}
