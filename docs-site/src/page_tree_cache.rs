//! The cache of page trees.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use docs_core::{
    Error, Result,
    model::{RevisionId, SpaceId},
    platform::EntityTag,
};
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::Semaphore;

use crate::{
    address::SitePlace,
    cache::{EXPECTED_LARGE_ENTRIES, EntryWeigher},
    page_tree::PageTree,
};

/// The maximum number of page trees that are built concurrently. A tree and the revision that it is built from take
/// most of the memory of a request, so this limits the memory of all requests together.
const MAX_BUILDS: usize = 4;

/// The key of a page tree: the content of a space as seen by an audience.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PageTreeKey {
    pub(crate) audience: Arc<str>,
    pub(crate) space: SpaceId,
    pub(crate) revision: RevisionId,
    /// The ETag of the sources of computed pages, or `None` without computed pages or before the lookup.
    pub(crate) computed: Option<EntityTag>,
}

impl PageTreeKey {
    /// Returns `true` if the tree belongs to the revision in the site record.
    pub(crate) fn is_current(&self, place: &SitePlace<'_>) -> bool {
        self.revision == place.space.space.revision
    }
}

impl Weighter<PageTreeKey, Arc<PageTree>> for EntryWeigher {
    fn weight(&self, _: &PageTreeKey, frame: &Arc<PageTree>) -> u64 {
        frame.weight() as u64 + 256
    }
}

/// Cached page trees, with a size limit in bytes.
pub(crate) struct PageTreeCache {
    cached: Cache<PageTreeKey, Arc<PageTree>, EntryWeigher>,
    /// The most recent tree that was larger than the cache. Without it, every request would rebuild that tree.
    oversized: Mutex<Option<(PageTreeKey, Arc<PageTree>)>>,
    builds: Semaphore,
}

impl fmt::Debug for PageTreeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("cached", &self.cached.len()).finish_non_exhaustive()
    }
}

impl PageTreeCache {
    /// Creates a cache of at most `bytes`, plus one larger tree.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            cached: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, bytes, EntryWeigher),
            oversized: Mutex::new(None),
            builds: Semaphore::new(MAX_BUILDS),
        }
    }

    /// Returns the tree for a key, if it is cached.
    pub(crate) fn get(&self, key: &PageTreeKey) -> Option<Arc<PageTree>> {
        self.cached.get(key).or_else(|| self.oversized(key))
    }

    /// Returns the tree for a key, and builds it if it is not cached. Concurrent requests for a key wait for a single
    /// build. The returned key contains the revision that was built, which may be newer; such a tree is not cached.
    ///
    /// # Errors
    /// Errors of `build`.
    pub(crate) async fn get_or_build(
        &self,
        key: PageTreeKey,
        build: impl Future<Output = Result<(RevisionId, PageTree)>> + Send,
    ) -> Result<(PageTreeKey, Arc<PageTree>)> {
        let guard = match self.cached.get_value_or_guard_async(&key).await {
            Ok(frame) => return Ok((key, frame)),
            Err(guard) => guard,
        };
        if let Some(frame) = self.oversized(&key) {
            return Ok((key, frame));
        }
        let _permit = self.builds.acquire().await.map_err(Error::internal)?;
        let (revision, frame) = build.await?;
        let frame = Arc::new(frame);
        if revision != key.revision {
            return Ok((PageTreeKey { revision, ..key }, frame));
        }
        self.store_oversized(&key, &frame);
        // Waiting requests receive the tree even if it does not fit into the cache.
        drop(guard.insert(Arc::clone(&frame)));
        // A full cache may immediately evict an entry inserted through a guard, so the tree is inserted again.
        if !self.cached.contains_key(&key) {
            self.cached.insert(key.clone(), Arc::clone(&frame));
        }
        Ok((key, frame))
    }

    fn oversized(&self, key: &PageTreeKey) -> Option<Arc<PageTree>> {
        let last = self.oversized.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(own, _)| own == key).map(|(_, frame)| Arc::clone(frame))
    }

    fn store_oversized(&self, key: &PageTreeKey, frame: &Arc<PageTree>) {
        let room = self.cached.capacity();
        if room > 0 && frame.weight() as u64 > room - room / 8 {
            let mut last = self.oversized.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some((key.clone(), Arc::clone(frame)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use docs_core::model::Revision;
    use docs_hostile::assert_weight;
    use serde_json::{Value, json};

    use super::*;
    use crate::machine::PageTreeSummary;

    const ID: &str = "r1";

    fn key() -> PageTreeKey {
        PageTreeKey {
            audience: "all".into(),
            space: "space".parse().expect("an id"),
            revision: ID.parse().expect("an id"),
            computed: None,
        }
    }

    fn frame(pages: usize) -> (RevisionId, PageTree) {
        frame_with(pages, &json!({}))
    }

    /// Returns a tree of pages with these additional fields.
    fn frame_with(pages: usize, more: &Value) -> (RevisionId, PageTree) {
        let page = |at: usize| {
            let mut page = json!({ "type": "document", "kind": "sheet", "id": format!("p{at}"), "title": format!("Page {at}"),
                "urls": { "app": "https://a.test/p" }, "slug": format!("page-{at}"), "path": format!("page-{at}"),
                "pages": [], "layout": {}, "hidden": false, "noIndex": false, "noRobotsIndex": false });
            let more = more.as_object().expect("an object").clone();
            page.as_object_mut().expect("an object").extend(more);
            page
        };
        let revision: Revision = serde_json::from_value(json!({
            "object": "revision", "id": ID, "parents": [], "type": "edits", "files": [], "reusableContents": [],
            "pages": (0..pages).map(page).collect::<Vec<_>>(), "createdAt": "2026-01-01T00:00:00.000Z",
            "urls": { "app": "https://a.test" },
        }))
        .expect("a revision");
        (revision.id.clone(), PageTree::from_revision(revision))
    }

    #[test]
    fn weights_of_page_trees_are_their_memory() {
        let long = "a".repeat(500);
        for (name, more) in [
            ("short", json!({})),
            ("described", json!({ "title": long, "description": long })),
            ("dated", json!({ "updatedAt": "2026-01-01T00:00:00.000Z", "emoji": "1f680" })),
        ] {
            for pages in [20, 2_000] {
                let name = format!("{pages} {name} pages");
                let tree = || Arc::new(frame_with(pages, &more).1);
                assert_weight(&name, tree, |tree| EntryWeigher.weight(&key(), tree));
            }
        }
        let dated = frame_with(2_000, &json!({ "updatedAt": "2026-01-01T00:00:00.000Z" })).1;
        let summary = || Arc::new(PageTreeSummary::from_page_tree(&dated));
        assert_weight("summary", summary, |summary| EntryWeigher.weight(&key(), summary));
    }

    #[tokio::test]
    async fn concurrent_requests_build_a_tree_once() {
        for bytes in [1 << 20, 64, 0] {
            let (frames, built) = (PageTreeCache::new(bytes), AtomicUsize::new(0));
            let request = || {
                frames.get_or_build(key(), async {
                    built.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    Ok(frame(20))
                })
            };
            let requests: Vec<_> = (0..50).map(|_| request()).collect();
            for found in futures_util::future::join_all(requests).await {
                assert_eq!(found.expect("a tree").1.entries.len(), 20);
            }
            assert_eq!(built.load(Ordering::Relaxed), 1, "with {bytes} bytes");
            let is_cached = frames.get(&key()).is_some();
            assert_eq!(is_cached, bytes > 0, "a tree larger than the cache is kept too; with {bytes} bytes");
        }
    }

    #[tokio::test]
    async fn a_full_cache_keeps_the_newest_tree() {
        let frames = PageTreeCache::new(3 * frame(20).1.weight() as u64);
        for audience in 0..20 {
            let key = PageTreeKey { audience: audience.to_string().into(), ..key() };
            let built = frames.get_or_build(key.clone(), async { Ok(frame(20)) }).await;
            assert!(built.is_ok() && frames.cached.contains_key(&key), "{audience}");
        }
    }

    #[tokio::test]
    async fn a_failed_build_is_repeated_by_a_waiting_request() {
        let frames = PageTreeCache::new(1 << 20);
        let failed = frames.get_or_build(key(), async {
            tokio::task::yield_now().await;
            Err(Error::not_found("content"))
        });
        let (failed, built) = tokio::join!(failed, frames.get_or_build(key(), async { Ok(frame(1)) }));
        assert!(failed.is_err() && built.is_ok());
    }

    #[test]
    fn an_entry_takes_a_few_hundred_bytes() {
        let (small, large) = (frame(1_000).1.weight(), frame(2_000).1.weight());
        assert!(large - small < 1_000 * 400, "{} bytes an entry", (large - small) / 1_000);
    }
}
