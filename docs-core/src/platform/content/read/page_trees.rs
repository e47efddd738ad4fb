//! The page tree of a revision in a response. That of a large space is built on a blocking thread. Its JSON is cached.

use std::{fmt, sync::Arc};

use docs_macros::boxed;
use quick_cache::{Weighter, sync::Cache};

use super::{
    ContentOptions, ReadableRevision,
    answer_size::{AnswerSize, INLINE_ITEMS},
    computed::ReplacementPages,
    pages::without_conflicts,
};
use crate::{
    Error, ErrorKind, Result,
    content::{Cancelled, PageTree, TreePage, run_cancellable},
    model::{Pages, RevisionPage},
    platform::{
        kernel::{
            answer_memory::{AnswerMemory, UnlimitedMemory},
            json_answer::JsonAnswer,
            platform::Platform,
            tenant_queue::{TenantQueue, WorkPermit},
        },
        nouns::ContentHandle,
        publishing::visitors::ContentFilter,
    },
    store::{Hash, records::SpaceRecord},
};

/// Maximum number of concurrent builds of page trees, and of large responses that are built and serialized.
const MAX_CONCURRENT_TREES: usize = 3;
/// Maximum number of concurrent builds of page trees, and of large responses, of one organization.
const MAX_TENANT_TREES: usize = 2;

/// Page trees as JSON, keyed by a hash of the content, the audience and the options. Stores nothing unless the builder
/// sets a size.
pub(in crate::platform) struct PageTrees {
    cached: Cache<Hash, JsonAnswer, AnswerWeigher>,
    queue: TenantQueue,
    /// The queue of large responses, from the start of their construction to the end of their serialization. A holder
    /// waits in `queue` too, but not conversely.
    answers: TenantQueue,
}

#[derive(Clone)]
struct AnswerWeigher;

impl Weighter<Hash, JsonAnswer> for AnswerWeigher {
    fn weight(&self, _: &Hash, answer: &JsonAnswer) -> u64 {
        answer.json().len() as u64 + 256
    }
}

impl fmt::Debug for PageTrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageTrees").field("cached", &self.cached.len()).finish_non_exhaustive()
    }
}

impl Default for PageTrees {
    fn default() -> Self {
        Self::new(0)
    }
}

impl PageTrees {
    /// Creates a cache of at most `bytes`.
    pub(in crate::platform) fn new(bytes: u64) -> Self {
        // With several shards, a tree of a few megabytes would exceed the size of a shard.
        let cached = Cache::with_weighter(32, bytes, AnswerWeigher);
        let queue = || TenantQueue::new(MAX_CONCURRENT_TREES, MAX_TENANT_TREES);
        Self { cached, queue: queue(), answers: queue() }
    }
}

impl<'p> ContentHandle<'p> {
    /// Returns the JSON of [`list_pages`](Self::list_pages). It is cached for readers who see the same content, and
    /// concurrent requests for it build it once.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn list_pages_json(self, shown: ContentOptions) -> Result<JsonAnswer> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let tree = at.view.tree().await?;
        let filter = at.content_filter().await?;
        let key = platform.page_tree_key(&at, &tree, &filter, shown).await?;
        let trees = platform.inner.memory.get_or_default::<PageTrees>();
        let guard = match trees.cached.get_value_or_guard_async(&key).await {
            Ok(answer) => return Ok(answer),
            Err(guard) => guard,
        };
        let turn = platform
            .answer_turn(at.space(), AnswerSize::from_pages(&tree, shown.variables), &UnlimitedMemory)
            .await?;
        let pages = platform.tree_view(&at, &tree, &filter, shown).await?;
        let answer = JsonAnswer::offload_in_turn(Pages { pages }, turn).await?;
        // The specifications may have changed since the key was computed. Beyond the budget of a request, the result
        // depends on the order of the evaluations.
        if !filter.exceeds_budget() && platform.page_tree_key(&at, &tree, &filter, shown).await? == key {
            // An answer that exceeds the cache is not stored.
            let _ = guard.insert(answer.clone());
        }
        Ok(answer)
    }
}

impl Platform {
    /// Returns a key that is equal for equal page trees in responses. It contains the visible pages instead of the
    /// claims, so visitors with made-up claims share the trees.
    pub(super) async fn page_tree_key(
        &self,
        at: &ReadableRevision,
        tree: &Arc<PageTree>,
        filter: &ContentFilter,
        shown: ContentOptions,
    ) -> Result<Hash> {
        let space = at.space();
        let computed = self.computed_specs_tag(&space.organization, tree, at.spec_audience()).await?;
        let seen: Vec<u8> = filter.visible_pages(tree).await?.iter().map(|seen| u8::from(*seen)).collect();
        let audience = (filter.hides(), Hash::compute(&seen).to_string());
        let facts = (&space.domain, &space.id, at.view.root().to_string(), audience, shown, computed);
        Ok(Hash::compute(format!("{facts:?}").as_bytes()))
    }

    /// Waits for memory and for permission to build a response. A small response needs neither.
    pub(super) async fn answer_turn(
        &self,
        space: &SpaceRecord,
        size: AnswerSize,
        memory: &dyn AnswerMemory,
    ) -> Result<Option<WorkPermit>> {
        if size.is_small() {
            return Ok(None);
        }
        if !memory.reserve(size.bytes()).await {
            let message = "the server has too many unread responses; try again later";
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let trees = self.inner.memory.get_or_default::<PageTrees>();
        trees.answers.acquire_for(&self.tenant(&space.organization).await?).await.map(Some)
    }

    /// Waits for permission to build many pages.
    pub(super) async fn build_turn(&self, space: &SpaceRecord) -> Result<WorkPermit> {
        let trees = self.inner.memory.get_or_default::<PageTrees>();
        trees.queue.acquire_for(&self.tenant(&space.organization).await?).await
    }

    /// Builds the pages of a tree that are visible to the reader.
    pub(super) async fn tree_view(
        &self,
        at: &ReadableRevision,
        tree: &Arc<PageTree>,
        filter: &ContentFilter,
        shown: ContentOptions,
    ) -> Result<Vec<RevisionPage>> {
        let space = at.access.space();
        let seen = filter.visible_pages(tree).await?;
        let replaced = self.replacement_pages(at, tree, filter, shown).await?;
        let built = VisibleTree { tree: Arc::clone(tree), seen, replaced, hides: filter.hides() };
        if tree.len() <= INLINE_ITEMS {
            return self.build_tree(space, built, shown, &Cancelled::default());
        }
        let permit = self.build_turn(space).await?;
        let (platform, space) = (self.clone(), Arc::clone(space));
        let pages = run_cancellable(move |cancelled| {
            let pages = platform.build_tree(&space, built, shown, cancelled);
            // The permit is returned when the tree is built, also if the request is cancelled.
            drop(permit);
            pages
        });
        pages.await.ok_or_else(|| Error::internal("the page tree was not built"))?
    }

    fn build_tree(
        &self,
        space: &SpaceRecord,
        visible: VisibleTree,
        shown: ContentOptions,
        cancelled: &Cancelled,
    ) -> Result<Vec<RevisionPage>> {
        let VisibleTree { tree, seen, mut replaced, hides } = visible;
        // Parents precede their children, so in reverse order the children of each page are ready.
        let mut ready: Vec<Vec<RevisionPage>> = tree.pages().iter().map(|_| Vec::new()).collect();
        for (at, page) in tree.pages().iter().enumerate().rev().filter(|(at, _)| seen[*at]) {
            if cancelled.is_set() {
                return Err(Error::internal("the request was cancelled"));
            }
            let below = take_views(&mut ready, &page.children);
            let TreePage { id, entry, path, .. } = page;
            ready[at] = match replaced.remove(id) {
                Some(pages) => pages,
                None => vec![self.page_view(space, id, entry, path, below, shown)?],
            };
        }
        let mut pages = take_views(&mut ready, tree.roots());
        if hides {
            pages.iter_mut().for_each(without_conflicts);
        }
        Ok(pages)
    }
}

/// A page tree as a reader sees it.
struct VisibleTree {
    tree: Arc<PageTree>,
    /// For each page, whether it is visible.
    seen: Arc<Vec<bool>>,
    replaced: ReplacementPages,
    /// `true` for visitors.
    hides: bool,
}

/// Takes the finished views of these pages, in order.
fn take_views(ready: &mut [Vec<RevisionPage>], pages: &[usize]) -> Vec<RevisionPage> {
    let mut taken = Vec::with_capacity(pages.len());
    for at in pages {
        if let Some(ready) = ready.get_mut(*at) {
            taken.append(ready);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use docs_hostile::assert_weight;

    use super::*;

    #[test]
    fn cached_lists_are_weighed_with_their_allocations() {
        for pages in [1_000, 20_000] {
            let build = || JsonAnswer::new(&vec!["Page"; pages]).expect("serialized");
            assert_weight("list", build, |answer| AnswerWeigher.weight(&Hash::compute(b""), answer));
        }
    }
}
