//! What is kept between requests, within bytes: content of spaces, and whole answers.
//!
//! Nothing kept becomes stale: each is kept under all that it was made of. An answer that nobody asks for any more, as
//! the site has changed since, goes when there is no room.

use std::sync::Arc;

use bytes::Bytes;
use docs_core::{
    model::{PageId, RevisionId, SpaceId},
    platform::EntityTag,
};
use quick_cache::{Weighter, sync::Cache};

use crate::{frame::Frame, page::Rendered};

/// Entries that are expected: how large the tables of the caches are at first.
const EXPECTED: usize = 512;

/// The content of a space as an audience sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrameKey {
    pub(crate) audience: Arc<str>,
    pub(crate) space: SpaceId,
    pub(crate) revision: RevisionId,
    /// What pages of it are computed from; `None` where nothing is, or where that was not asked.
    pub(crate) computed: Option<EntityTag>,
}

/// An answer that shows a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageKey {
    pub(crate) frame: FrameKey,
    pub(crate) page: PageId,
    /// All that is known of the site: how it looks, what it consists of, and the revisions of its spaces.
    pub(crate) site: blake3::Hash,
    /// Where the site was asked for.
    pub(crate) base: Arc<str>,
}

/// How entries are weighed.
#[derive(Clone, Debug)]
pub(crate) struct Weigh;

impl Weighter<FrameKey, Arc<Frame>> for Weigh {
    fn weight(&self, _: &FrameKey, frame: &Arc<Frame>) -> u64 {
        frame.weight() as u64 + 256
    }
}

impl Weighter<PageKey, Arc<Rendered>> for Weigh {
    fn weight(&self, _: &PageKey, page: &Arc<Rendered>) -> u64 {
        page.weight() as u64 + 512
    }
}

/// What is kept.
#[derive(Debug)]
pub(crate) struct Caches {
    pub(crate) frames: Cache<FrameKey, Arc<Frame>, Weigh>,
    pub(crate) pages: Cache<PageKey, Arc<Rendered>, Weigh>,
}

impl Caches {
    /// Caches of at most so many bytes, half of them for content and half for answers.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            frames: Cache::with_weighter(EXPECTED, bytes / 2, Weigh),
            pages: Cache::with_weighter(EXPECTED, bytes / 2, Weigh),
        }
    }
}

/// Bytes with the tag that names them.
#[derive(Clone, Debug)]
pub(crate) struct Tagged {
    pub(crate) bytes: Bytes,
    /// The tag, without quotes.
    pub(crate) tag: String,
}

impl Tagged {
    pub(crate) fn new(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        let tag = blake3::hash(&bytes).to_hex()[..32].to_owned();
        Self { bytes, tag }
    }
}
