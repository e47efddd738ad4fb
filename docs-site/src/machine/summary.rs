//! Summaries of page trees, for the lists of a site.
//!
//! A list covers all spaces of a site, but shows pages of few of them. A summary is much smaller than the page tree
//! that it is made from, so the trees of the other spaces need not be rebuilt for each request.

use std::{cmp::Reverse, sync::Arc};

use docs_core::{model::Timestamp, platform::EntityTag};
use quick_cache::Weighter;

use crate::{cache::EntryWeigher, page_tree::PageTree};

/// The maximum number of items in the feed of a site.
pub(super) const MAX_FEED_ITEMS: usize = 50;

/// The page counts and the newest pages of a page tree.
#[derive(Debug, Default)]
pub(crate) struct PageTreeSummary {
    /// The number of pages with content.
    pub(super) pages: usize,
    /// The number of pages in lists.
    pub(super) listed: usize,
    /// The number of pages in the sitemap.
    pub(super) mapped: usize,
    /// The most recently changed pages in lists, newest first.
    pub(super) newest: Box<[RecentPage]>,
}

/// A recently changed page.
#[derive(Debug)]
pub(super) struct RecentPage {
    pub(super) at: Timestamp,
    pub(super) title: Box<str>,
    pub(super) about: Option<Box<str>>,
    /// The percent-encoded path below the space.
    pub(super) path: Box<str>,
}

impl PageTreeSummary {
    pub(crate) fn from_page_tree(frame: &PageTree) -> Self {
        let mut newest: Vec<(Timestamp, usize)> =
            frame.listed_pages().filter_map(|page| Some((frame.entries[page].updated_at?, page))).collect();
        newest.sort_by_key(|(at, _)| Reverse(*at));
        newest.truncate(MAX_FEED_ITEMS);
        let page = |(at, page): (Timestamp, usize)| RecentPage {
            at,
            title: frame.entries[page].title.clone(),
            about: frame.entries[page].description_text().map(Into::into),
            path: frame.address(page).into(),
        };
        Self {
            pages: frame.documents().count(),
            listed: frame.listed_pages().count(),
            mapped: frame.sitemap_pages().count(),
            newest: newest.into_iter().map(page).collect(),
        }
    }

    /// Returns the approximate memory in bytes.
    fn weight(&self) -> usize {
        let texts = |page: &RecentPage| {
            page.title.len() + page.about.as_ref().map_or(0, |it| it.len()) + page.path.len()
        };
        self.newest.iter().map(|page| texts(page) + size_of::<RecentPage>() + 48).sum::<usize>() + 64
    }
}

impl Weighter<EntityTag, Arc<PageTreeSummary>> for EntryWeigher {
    fn weight(&self, _: &EntityTag, summary: &Arc<PageTreeSummary>) -> u64 {
        summary.weight() as u64 + 256
    }
}
