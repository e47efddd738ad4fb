//! Summaries of page trees, for the lists of a site.
//!
//! A list of a site concerns all of its spaces, but shows pages of few of them. A summary is much smaller than the
//! page tree that it is made from, so the trees of the other spaces are not built again for each request.

use std::{cmp::Reverse, sync::Arc};

use docs_core::model::Timestamp;
use quick_cache::Weighter;

use crate::{cache::Weigh, frame::Frame, frames::FrameKey};

/// The maximum number of items of the feed of a site.
pub(super) const MAX_NEWS: usize = 50;

/// The numbers and the newest pages of a page tree.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// The number of pages with content.
    pub(super) pages: usize,
    /// The number of pages in lists.
    pub(super) listed: usize,
    /// The number of pages in the sitemap.
    pub(super) mapped: usize,
    /// The most recently changed pages in lists, newest first.
    pub(super) newest: Box<[NewPage]>,
}

/// A recently changed page.
#[derive(Debug)]
pub(super) struct NewPage {
    pub(super) at: Timestamp,
    pub(super) title: Box<str>,
    pub(super) about: Option<Box<str>>,
    /// The percent-encoded path below the space.
    pub(super) path: Box<str>,
}

impl Summary {
    pub(crate) fn of(frame: &Frame) -> Self {
        let mut newest: Vec<(Timestamp, usize)> =
            frame.listed().filter_map(|page| Some((frame.entries[page].updated_at?, page))).collect();
        newest.sort_by_key(|(at, _)| Reverse(*at));
        newest.truncate(MAX_NEWS);
        let page = |(at, page): (Timestamp, usize)| NewPage {
            at,
            title: frame.entries[page].title.clone(),
            about: frame.entries[page].about().map(Into::into),
            path: frame.address(page).into(),
        };
        Self {
            pages: frame.documents().count(),
            listed: frame.listed().count(),
            mapped: frame.mapped().count(),
            newest: newest.into_iter().map(page).collect(),
        }
    }

    /// The approximate memory in bytes.
    fn weight(&self) -> usize {
        let texts = |page: &NewPage| {
            page.title.len() + page.about.as_ref().map_or(0, |it| it.len()) + page.path.len()
        };
        self.newest.iter().map(|page| texts(page) + size_of::<NewPage>() + 48).sum::<usize>() + 64
    }
}

impl Weighter<FrameKey, Arc<Summary>> for Weigh {
    fn weight(&self, _: &FrameKey, summary: &Arc<Summary>) -> u64 {
        summary.weight() as u64 + 256
    }
}
