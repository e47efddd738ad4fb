//! The cache of page trees.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use docs_core::{
    Result,
    model::{RevisionId, SpaceId},
    platform::{EntityTag, Tenant, TenantQueue},
};
use quick_cache::{Weighter, sync::Cache};

use crate::{
    cache::{EXPECTED_LARGE_ENTRIES, EntryWeigher},
    page_tree::PageTree,
};

/// The maximum number of page trees that are built concurrently. A tree and the revision that it is built from take
/// most of the memory of a request, so this limits the memory of all requests together.
const MAX_BUILDS: usize = 4;
/// The maximum number of page trees of one organization that are built concurrently.
const MAX_TENANT_BUILDS: usize = 2;

/// The key of the content of a space as seen by an audience.
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
    pub(crate) fn is_current(&self, revision: &RevisionId) -> bool {
        self.revision == *revision
    }
}

impl Weighter<EntityTag, Arc<PageTree>> for EntryWeigher {
    fn weight(&self, _: &EntityTag, frame: &Arc<PageTree>) -> u64 {
        frame.weight() as u64 + 256
    }
}

impl Weighter<PageTreeKey, EntityTag> for EntryWeigher {
    fn weight(&self, _: &PageTreeKey, _: &EntityTag) -> u64 {
        512
    }
}

/// Cached page trees, with a size limit in bytes. The key is the tag of the pages, so audiences who see the same pages
/// share a tree.
pub(crate) struct PageTreeCache {
    cached: Cache<EntityTag, Arc<PageTree>, EntryWeigher>,
    /// The most recent tree that was larger than the cache. Without it, every request would rebuild that tree.
    oversized: Mutex<Option<(EntityTag, Arc<PageTree>)>>,
    builds: TenantQueue,
}

impl fmt::Debug for PageTreeCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageTreeCache").finish_non_exhaustive()
    }
}

impl PageTreeCache {
    /// Creates a cache of at most `bytes`, plus one larger tree.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            cached: Cache::with_weighter(EXPECTED_LARGE_ENTRIES, bytes, EntryWeigher),
            oversized: Mutex::new(None),
            builds: TenantQueue::new(MAX_BUILDS, MAX_TENANT_BUILDS),
        }
    }

    /// Returns the tree for a tag, if it is cached.
    pub(crate) fn get(&self, key: &EntityTag) -> Option<Arc<PageTree>> {
        self.cached.get(key).or_else(|| self.oversized(key))
    }

    /// Returns the tree for a tag, and builds it on behalf of an organization if it is not cached. Concurrent requests
    /// for a tag wait for a single build.
    ///
    /// # Errors
    /// Errors of `build`.
    pub(crate) async fn get_or_build(
        &self,
        key: &EntityTag,
        tenant: &Tenant,
        build: impl Future<Output = Result<PageTree>> + Send,
    ) -> Result<Arc<PageTree>> {
        let guard = match self.cached.get_value_or_guard_async(key).await {
            Ok(built) => return Ok(built),
            Err(guard) => guard,
        };
        if let Some(built) = self.oversized(key) {
            return Ok(built);
        }
        let _permit = self.builds.acquire_for(tenant).await?;
        let built = Arc::new(build.await?);
        self.store_oversized(key, &built);
        // Waiting requests receive the tree even if it does not fit into the cache.
        drop(guard.insert(Arc::clone(&built)));
        // A full cache may immediately evict an entry inserted through a guard, so the tree is inserted again.
        if !self.cached.contains_key(key) {
            self.cached.insert(key.clone(), Arc::clone(&built));
        }
        Ok(built)
    }

    fn oversized(&self, key: &EntityTag) -> Option<Arc<PageTree>> {
        let last = self.oversized.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(own, _)| own == key).map(|(_, built)| Arc::clone(built))
    }

    fn store_oversized(&self, key: &EntityTag, built: &Arc<PageTree>) {
        let room = self.cached.capacity();
        if room > 0 && EntryWeigher.weight(key, built) > room - room / 8 {
            let mut last = self.oversized.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some((key.clone(), Arc::clone(built)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use docs_hostile::assert_weight;
    use futures_util::poll;
    use serde_json::{Value, json};

    use super::*;
    use crate::machine::PageTreeSummary;

    fn tag(name: &str) -> EntityTag {
        EntityTag::from_json(name.as_bytes())
    }

    fn org() -> Tenant {
        "org".into()
    }

    fn frame(pages: usize) -> PageTree {
        frame_with(pages, &json!({}))
    }

    /// Returns a tree of pages with these additional fields.
    fn frame_with(pages: usize, more: &Value) -> PageTree {
        let page = |at: usize| {
            let mut page = json!({ "type": "document", "kind": "sheet", "id": format!("p{at}"), "title": format!("Page {at}"),
                "urls": { "app": "https://a.test/p" }, "slug": format!("page-{at}"), "path": format!("page-{at}"),
                "pages": [], "layout": {}, "hidden": false, "noIndex": false, "noRobotsIndex": false });
            let more = more.as_object().expect("an object").clone();
            page.as_object_mut().expect("an object").extend(more);
            page
        };
        let pages = (0..pages).map(page).collect();
        PageTree::from_pages(serde_json::from_value(pages).expect("pages"))
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
                let tree = || Arc::new(frame_with(pages, &more));
                assert_weight(&name, tree, |tree| EntryWeigher.weight(&tag("pages"), tree));
            }
        }
        let dated = frame_with(2_000, &json!({ "updatedAt": "2026-01-01T00:00:00.000Z" }));
        let summary = || Arc::new(PageTreeSummary::from_page_tree(&dated));
        assert_weight("summary", summary, |summary| EntryWeigher.weight(&tag("pages"), summary));
    }

    #[tokio::test]
    async fn concurrent_requests_build_a_tree_once() {
        for bytes in [1 << 20, 64, 0] {
            let (frames, built) = (PageTreeCache::new(bytes), AtomicUsize::new(0));
            let (key, org) = (tag("pages"), org());
            let request = || {
                frames.get_or_build(&key, &org, async {
                    built.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                    Ok(frame(20))
                })
            };
            let requests: Vec<_> = (0..50).map(|_| request()).collect();
            for found in futures_util::future::join_all(requests).await {
                assert_eq!(found.expect("a tree").entries.len(), 20);
            }
            assert_eq!(built.load(Ordering::Relaxed), 1, "with {bytes} bytes");
            let is_cached = frames.get(&key).is_some();
            assert_eq!(is_cached, bytes > 0, "a tree larger than the cache is kept too; with {bytes} bytes");
        }
    }

    #[tokio::test]
    async fn builds_of_one_organization_leave_half_to_others() {
        let frames = PageTreeCache::new(1 << 20);
        let mut busy = Vec::new();
        for _ in 0..MAX_TENANT_BUILDS {
            busy.push(frames.builds.acquire_for(&org()).await.expect("a permit"));
        }
        let (own, org) = (tag("own"), org());
        let mut waiting = pin!(frames.get_or_build(&own, &org, async { Ok(frame(1)) }));
        assert!(poll!(&mut waiting).is_pending());
        let second = tag("second");
        let mut next = pin!(frames.get_or_build(&second, &org, async { Ok(frame(1)) }));
        assert!(poll!(&mut next).is_pending());
        let other = "other".into();
        assert!(frames.get_or_build(&tag("other"), &other, async { Ok(frame(1)) }).await.is_ok());
        busy.pop();
        assert!(waiting.await.is_ok() && next.await.is_ok());
    }

    #[tokio::test]
    async fn a_full_cache_keeps_the_newest_tree() {
        let frames = PageTreeCache::new(3 * frame(20).weight() as u64);
        for audience in 0..20 {
            let key = tag(&audience.to_string());
            let built = frames.get_or_build(&key, &org(), async { Ok(frame(20)) }).await;
            assert!(built.is_ok() && frames.cached.contains_key(&key), "{audience}");
        }
    }

    #[tokio::test]
    async fn a_failed_build_is_repeated_by_a_waiting_request() {
        let frames = PageTreeCache::new(1 << 20);
        let (key, org) = (tag("pages"), org());
        let failed = frames.get_or_build(&key, &org, async {
            tokio::task::yield_now().await;
            Err(docs_core::Error::not_found("content"))
        });
        let (failed, built) = tokio::join!(failed, frames.get_or_build(&key, &org, async { Ok(frame(1)) }));
        assert!(failed.is_err() && built.is_ok());
    }

    #[test]
    fn an_entry_takes_a_few_hundred_bytes() {
        let (small, large) = (frame(1_000).weight(), frame(2_000).weight());
        assert!(large - small < 1_000 * 400, "{} bytes an entry", (large - small) / 1_000);
    }
}
