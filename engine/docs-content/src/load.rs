//! Runs the pure algorithms on stored objects. If an algorithm reports missing objects, they are loaded and it runs
//! again.

mod weight;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use docs_markup::document;
use docs_store::{Hash, Key, Objects};
use quick_cache::{Weighter, sync::Cache};

use weight::{CacheWeight, Id, IdRef, WeighedDocument};

use super::{
    ContentError, ContentResult, PageTree, SharedDocument,
    map::{self, Fault, MapNode, MapUpdate, NewNode, Nodes, ValueChange, apply},
    offload::{run_in_place, run_on_text, yield_to_others},
};

/// The root of empty content.
static NOTHING: LazyLock<NewNode> = LazyLock::new(map::empty);

/// Maximum number of objects loaded or stored in a single call of the object store.
const LOAD_CHUNK: usize = 256;
/// Maximum number of bytes stored in a single call of the object store. A larger object is stored by itself.
const LOAD_CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Number of map changes applied per batch. A batch takes a few milliseconds.
const CHANGES_AT_ONCE: usize = 2_000;
/// Size of unreachable nodes, in bytes, that may accumulate before they are dropped.
const DROPPED_BYTES: usize = 8 * 1024 * 1024;

/// Cache sizes for decoded content. Because content is immutable, cached content never becomes stale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheLimits {
    pub node_bytes: u64,
    pub text_bytes: u64,
    /// Size of page trees in memory.
    pub tree_bytes: u64,
    /// Size of documents in memory.
    pub document_bytes: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { node_bytes: 64 << 20, text_bytes: 32 << 20, tree_bytes: 104 << 20, document_bytes: 64 << 20 }
    }
}

/// The cost of operations: objects loaded from and written to the object store.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Map nodes loaded, excluding cache hits.
    pub nodes_loaded: u64,
    pub nodes_written: u64,
    /// Texts loaded, excluding cache hits.
    pub texts_loaded: u64,
    pub texts_written: u64,
    pub bytes_written: u64,
    /// Calls of the object store.
    pub calls: u64,
    /// Texts parsed into documents, excluding cache hits.
    pub documents_read: u64,
}

/// The reason a step did not return a result.
#[derive(Debug)]
pub(crate) enum PassStop {
    /// Objects must be loaded first.
    Need(MissingObjects),
    /// The operation failed.
    Fail(ContentError),
}

#[derive(Debug, Default)]
pub(crate) struct MissingObjects {
    nodes: BTreeSet<Hash>,
    texts: BTreeSet<Hash>,
}

impl MissingObjects {
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.texts.is_empty()
    }
}

impl From<Fault> for PassStop {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing(nodes) => Self::Need(MissingObjects { nodes, texts: BTreeSet::new() }),
            Fault::Corrupt(what) => Self::Fail(ContentError::Corrupt(format!(
                "a node of the map is damaged: \
                                                                              {what}"
            ))),
        }
    }
}

impl From<ContentError> for PassStop {
    fn from(error: ContentError) -> Self {
        Self::Fail(error)
    }
}

pub(crate) type PassResult<T> = Result<T, PassStop>;

/// Collects the missing objects of several steps, so that they are loaded together.
#[derive(Debug, Default)]
pub(crate) struct MissingCollector(MissingObjects);

impl MissingCollector {
    /// Returns the result of a step, or `None` if the step must be repeated after loading objects.
    pub(crate) fn ask<T>(&mut self, step: PassResult<T>) -> PassResult<Option<T>> {
        match step {
            Ok(value) => Ok(Some(value)),
            Err(PassStop::Need(need)) => {
                self.0.nodes.extend(need.nodes);
                self.0.texts.extend(need.texts);
                Ok(None)
            }
            Err(fail) => Err(fail),
        }
    }

    /// Requests the missing objects, if any.
    pub(crate) fn finish(self) -> PassResult<()> {
        if self.0.is_empty() { Ok(()) } else { Err(PassStop::Need(self.0)) }
    }
}

/// The shared state of all operations: the object store and its caches.
pub(crate) struct ObjectCaches {
    objects: Arc<dyn Objects>,
    nodes: Cache<Id, Arc<MapNode>, CacheWeight>,
    texts: Cache<Id, Arc<str>, CacheWeight>,
    trees: Cache<Id, Arc<PageTree>, CacheWeight>,
    documents: Cache<Id, WeighedDocument, CacheWeight>,
    total: [AtomicU64; 7],
    lookups: [CacheLookups; 4],
}

#[derive(Default)]
struct CacheLookups {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl CacheLookups {
    fn count<T>(&self, found: Option<T>) -> Option<T> {
        let counter = if found.is_some() { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }
}

/// The names of the caches, in the order of their lookup counters.
const CACHES: [&str; 4] = ["nodes", "texts", "trees", "documents"];

/// The lookup counts of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheStats {
    pub cache: &'static str,
    pub hits: u64,
    /// Lookups of values that were not cached and had to be read from the store.
    pub misses: u64,
}

impl ObjectCaches {
    pub(crate) fn new(objects: Arc<dyn Objects>, limits: CacheLimits) -> Self {
        let items = |bytes: u64, each: u64| usize::try_from(bytes / each).unwrap_or(usize::MAX).max(16);
        Self {
            objects,
            nodes: Cache::with_weighter(items(limits.node_bytes, 4096), limits.node_bytes, CacheWeight),
            texts: Cache::with_weighter(items(limits.text_bytes, 4096), limits.text_bytes, CacheWeight),
            trees: Cache::with_weighter(items(limits.tree_bytes, 64 << 10), limits.tree_bytes, CacheWeight),
            documents: Cache::with_weighter(
                items(limits.document_bytes, 4096),
                limits.document_bytes,
                CacheWeight,
            ),
            total: Default::default(),
            lookups: Default::default(),
        }
    }

    pub(crate) fn cost(&self) -> Cost {
        let [nodes_loaded, nodes_written, texts_loaded, texts_written, bytes_written, calls, documents_read] =
            self.total.each_ref().map(|n| n.load(Ordering::Relaxed));
        Cost {
            nodes_loaded,
            nodes_written,
            texts_loaded,
            texts_written,
            bytes_written,
            calls,
            documents_read,
        }
    }

    pub(crate) fn cache_stats(&self) -> [CacheStats; 4] {
        std::array::from_fn(|n| CacheStats {
            cache: CACHES[n],
            hits: self.lookups[n].hits.load(Ordering::Relaxed),
            misses: self.lookups[n].misses.load(Ordering::Relaxed),
        })
    }

    pub(crate) fn objects(&self) -> &dyn Objects {
        &*self.objects
    }

    pub(crate) fn tree(&self, domain: &str, root: &Hash) -> Option<Arc<PageTree>> {
        self.lookups[2].count(self.trees.get(&IdRef { domain, hash: root }))
    }

    pub(crate) fn keep_tree(&self, domain: &Arc<str>, root: Hash, tree: &Arc<PageTree>) {
        self.trees.insert(Id { domain: Arc::clone(domain), hash: root }, Arc::clone(tree));
    }

    /// Returns the page tree of a root. Concurrent callers share one build, because each build needs memory for a whole
    /// tree.
    pub(crate) async fn tree_once(
        &self,
        domain: &Arc<str>,
        root: Hash,
        build: impl Future<Output = ContentResult<Arc<PageTree>>> + Send,
    ) -> ContentResult<Arc<PageTree>> {
        let id = Id { domain: Arc::clone(domain), hash: root };
        match self.trees.get_value_or_guard_async(&id).await {
            Ok(tree) => Ok(tree),
            Err(guard) => {
                let tree = build.await?;
                drop(guard.insert(Arc::clone(&tree)));
                keep(&self.trees, id, &tree);
                Ok(tree)
            }
        }
    }

    /// Returns the cached document for the text with the given hash.
    pub(crate) fn known_document(&self, domain: &str, hash: &Hash) -> Option<SharedDocument> {
        self.documents.get(&IdRef { domain, hash }).map(|known| known.document)
    }

    /// Returns the document parsed from a text. The document depends only on the text and is cached by its hash.
    pub(crate) async fn document(&self, domain: &Arc<str>, text: &str) -> SharedDocument {
        let hash = Hash::compute(text.as_bytes());
        if let Some(known) = self.lookups[3].count(self.known_document(domain, &hash)) {
            return known;
        }
        // Parsing a long text takes a considerable part of a second, so concurrent callers wait for a single parse.
        let id = Id { domain: Arc::clone(domain), hash };
        let guard = match self.documents.get_value_or_guard_async(&id).await {
            Ok(known) => return known.document,
            Err(guard) => guard,
        };
        let document = run_on_text(text, |text| SharedDocument::new(document::parse(text))).await;
        self.count(Cost { documents_read: 1, ..Cost::default() });
        let weighed = WeighedDocument::new(document.clone(), text);
        drop(guard.insert(weighed.clone()));
        keep(&self.documents, id, &weighed);
        document
    }

    fn count(&self, cost: Cost) {
        let all = [
            cost.nodes_loaded,
            cost.nodes_written,
            cost.texts_loaded,
            cost.texts_written,
            cost.bytes_written,
            cost.calls,
            cost.documents_read,
        ];
        for (total, more) in self.total.iter().zip(all) {
            total.fetch_add(more, Ordering::Relaxed);
        }
    }
}

/// Reinserts a value that a guard has inserted. A full cache would otherwise evict it before all others.
fn keep<V: Clone>(cache: &Cache<Id, V, CacheWeight>, id: Id, value: &V)
where
    CacheWeight: Weighter<Id, V>,
{
    if !cache.contains_key(&id) {
        cache.insert(id, value.clone());
    }
}

/// The state of an operation: loaded objects, new objects and cost.
pub(crate) struct Session<'a> {
    shared: &'a ObjectCaches,
    domain: Arc<str>,
    nodes: HashMap<Hash, Arc<MapNode>>,
    texts: HashMap<Hash, Arc<str>>,
    fresh: HashMap<Hash, NewNode>,
    /// Size of the new nodes, in bytes, and of those retained by the last [`Session::drop_unreachable`].
    fresh_bytes: usize,
    reachable_bytes: usize,
    fresh_texts: HashMap<Hash, Bytes>,
    /// Nodes to be stored with the next batch.
    waiting_nodes: Vec<(Hash, Bytes)>,
    waiting_node_bytes: usize,
    cost: Cost,
}

impl Nodes for Session<'_> {
    fn node(&self, hash: &Hash) -> Option<Arc<MapNode>> {
        // Empty content can be compared before it is stored, and its object may have been garbage-collected.
        if *hash == NOTHING.hash {
            return Some(Arc::clone(&NOTHING.node));
        }
        if let Some(node) = self.nodes.get(hash) {
            return Some(Arc::clone(node));
        }
        if let Some(fresh) = self.fresh.get(hash) {
            return Some(Arc::clone(&fresh.node));
        }
        self.shared.lookups[0].count(self.shared.nodes.get(&IdRef { domain: &self.domain, hash }))
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(shared: &'a ObjectCaches, domain: &Arc<str>) -> Self {
        Self {
            shared,
            domain: Arc::clone(domain),
            nodes: HashMap::new(),
            texts: HashMap::new(),
            fresh: HashMap::new(),
            fresh_bytes: 0,
            reachable_bytes: 0,
            fresh_texts: HashMap::new(),
            waiting_nodes: Vec::new(),
            waiting_node_bytes: 0,
            cost: Cost::default(),
        }
    }

    /// Returns a text that was loaded or added.
    pub(crate) fn text(&self, hash: &Hash) -> PassResult<Arc<str>> {
        if let Some(text) = self.texts.get(hash) {
            return Ok(Arc::clone(text));
        }
        let cached = self.shared.texts.get(&IdRef { domain: &self.domain, hash });
        self.shared.lookups[1].count(cached).ok_or_else(|| {
            PassStop::Need(MissingObjects { nodes: BTreeSet::new(), texts: BTreeSet::from([*hash]) })
        })
    }

    /// Adds a text, which is stored only if the result references it.
    pub(crate) fn add_text(&mut self, text: &str) -> Hash {
        let hash = Hash::compute(text.as_bytes());
        self.texts.entry(hash).or_insert_with(|| text.into());
        self.fresh_texts.entry(hash).or_insert_with(|| Bytes::copy_from_slice(text.as_bytes()));
        hash
    }

    pub(crate) fn add_nodes(&mut self, nodes: Vec<NewNode>) {
        for node in nodes {
            self.fresh_bytes += node.bytes.len();
            self.fresh.insert(node.hash, node);
        }
    }

    /// Drops new nodes that are unreachable from a root, once they may be the majority of the new nodes. The amortized
    /// cost per new node is constant.
    pub(crate) fn drop_unreachable(&mut self, root: Hash) {
        if self.fresh_bytes < 2 * self.reachable_bytes + DROPPED_BYTES {
            return;
        }
        let mut made = std::mem::take(&mut self.fresh);
        self.fresh_bytes = 0;
        let mut stack = vec![root];
        while let Some(hash) = stack.pop() {
            if let Some(node) = made.remove(&hash) {
                stack.extend(node.node.children());
                self.add_nodes(vec![node]);
            }
        }
        self.reachable_bytes = self.fresh_bytes;
    }

    /// Like [`Session::run`], for a step whose work grows with the pages of a space. The other tasks of the thread
    /// continue on another thread.
    pub(crate) async fn run_long<T, F>(&mut self, mut step: F) -> ContentResult<T>
    where
        F: FnMut(&Self) -> PassResult<T> + Send,
        T: Send,
    {
        self.run(|session| run_in_place(|| step(session))).await
    }

    /// Runs a step repeatedly, loading missing objects, until it returns a result. A step must be short: other tasks
    /// of the thread wait for it.
    pub(crate) async fn run<T, F>(&mut self, mut step: F) -> ContentResult<T>
    where
        F: FnMut(&Self) -> PassResult<T> + Send,
        T: Send,
    {
        loop {
            match step(self) {
                Ok(value) => return Ok(value),
                Err(PassStop::Fail(error)) => return Err(error),
                Err(PassStop::Need(need)) => self.load(need).await?,
            }
        }
    }

    /// Applies changes to a map. New nodes remain in memory until [`Session::save`].
    pub(crate) async fn apply(
        &mut self,
        root: Hash,
        changes: &std::collections::BTreeMap<Key, ValueChange>,
    ) -> ContentResult<Hash> {
        if changes.len() <= CHANGES_AT_ONCE {
            return self.apply_some(root, changes).await;
        }
        // Apply the batches in key order, so that only nodes above the leaves are created repeatedly.
        let (mut root, mut rest) = (root, changes.iter().peekable());
        while rest.peek().is_some() {
            let some = rest.by_ref().take(CHANGES_AT_ONCE).map(|(key, change)| (key.clone(), change.clone()));
            root = self.apply_some(root, &some.collect()).await?;
            self.drop_unreachable(root);
            yield_to_others().await;
        }
        Ok(root)
    }

    async fn apply_some(
        &mut self,
        root: Hash,
        changes: &std::collections::BTreeMap<Key, ValueChange>,
    ) -> ContentResult<Hash> {
        if changes.is_empty() {
            return Ok(root);
        }
        let MapUpdate { root, nodes } =
            self.run(|session| apply(session, &root, changes).map_err(PassStop::from)).await?;
        self.add_nodes(nodes);
        Ok(root)
    }

    /// Stores the given texts and the new nodes reachable from the root. The revision is then complete.
    pub(crate) async fn save(&mut self, root: Hash, texts: &BTreeSet<Hash>) -> ContentResult<()> {
        let mut objects: Vec<(Hash, Bytes)> = Vec::new();
        for hash in texts {
            if let Some(bytes) = self.fresh_texts.remove(hash) {
                objects.push((*hash, bytes));
            }
        }
        self.cost.texts_written += objects.len() as u64;
        let mut made = Vec::new();
        let mut stack = vec![root];
        while let Some(hash) = stack.pop() {
            if let Some(fresh) = self.fresh.remove(&hash) {
                stack.extend(fresh.node.children());
                objects.push((hash, fresh.bytes));
                made.push((hash, fresh.node));
            }
        }
        self.cost.nodes_written += made.len() as u64;
        self.put(&objects).await?;
        // Only stored nodes are cached, because a cached node is assumed to exist in the store.
        for (hash, node) in made {
            self.shared.nodes.insert(Id { domain: Arc::clone(&self.domain), hash }, Arc::clone(&node));
            self.nodes.insert(hash, node);
        }
        Ok(())
    }

    /// Stores the new nodes that are reachable from a root and drops all new nodes from memory, if they have more than
    /// `bytes`. Used by updates that do not fit into memory.
    pub(crate) async fn store_early(&mut self, root: Hash, bytes: usize) -> ContentResult<()> {
        if self.fresh_bytes <= bytes {
            return Ok(());
        }
        self.save(root, &BTreeSet::new()).await?;
        self.fresh.clear();
        (self.fresh_bytes, self.reachable_bytes) = (0, 0);
        self.drop_loaded();
        Ok(())
    }

    /// Drops stored nodes and texts from memory.
    pub(crate) fn drop_loaded(&mut self) {
        self.nodes.clear();
        self.texts.retain(|hash, _| self.fresh_texts.contains_key(hash));
    }

    /// Stores all new texts. Used by imports that do not fit into memory.
    pub(crate) async fn flush_texts(&mut self) -> ContentResult<()> {
        let objects: Vec<(Hash, Bytes)> = self.fresh_texts.drain().collect();
        self.cost.texts_written += objects.len() as u64;
        self.texts.clear();
        self.put(&objects).await
    }

    /// Adds a node to the next batch to store, without retaining it in memory. Used by imports that do not fit into
    /// memory. [`Session::flush_nodes`] stores the last batch.
    pub(crate) async fn store_node(&mut self, node: NewNode) -> ContentResult<()> {
        self.cost.nodes_written += 1;
        self.waiting_node_bytes += node.bytes.len();
        self.waiting_nodes.push((node.hash, node.bytes));
        if self.waiting_node_bytes > LOAD_CHUNK_BYTES { self.flush_nodes().await } else { Ok(()) }
    }

    /// Stores the buffered nodes.
    pub(crate) async fn flush_nodes(&mut self) -> ContentResult<()> {
        let nodes = std::mem::take(&mut self.waiting_nodes);
        self.waiting_node_bytes = 0;
        self.put(&nodes).await
    }

    pub(crate) fn waiting_text_bytes(&self) -> usize {
        self.fresh_texts.values().map(Bytes::len).sum()
    }

    /// Returns the cost of the operation. Dropping the session adds it to the totals.
    pub(crate) fn finish(self) -> Cost {
        self.cost
    }

    async fn put(&mut self, objects: &[(Hash, Bytes)]) -> ContentResult<()> {
        let mut rest = objects;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest
                .iter()
                .take(LOAD_CHUNK)
                .take_while(|(_, b)| {
                    bytes += b.len();
                    bytes <= LOAD_CHUNK_BYTES
                })
                .count()
                .max(1);
            let (chunk, later) = rest.split_at(fits);
            self.cost.calls += 1;
            self.cost.bytes_written += chunk.iter().map(|(_, b)| b.len() as u64).sum::<u64>();
            self.shared.objects.put(&self.domain, chunk).await?;
            rest = later;
        }
        Ok(())
    }

    async fn load(&mut self, need: MissingObjects) -> ContentResult<()> {
        if need.is_empty() {
            return Err(ContentError::Corrupt("a pass needs no objects and does not end".into()));
        }
        for (hash, bytes) in self.get(&need.nodes).await? {
            let node =
                MapNode::decode(&bytes).map_err(|fault| ContentError::Corrupt(format!("{hash}: {fault}")))?;
            let node = Arc::new(node);
            self.cost.nodes_loaded += 1;
            self.shared.nodes.insert(Id { domain: Arc::clone(&self.domain), hash }, Arc::clone(&node));
            self.nodes.insert(hash, node);
        }
        for (hash, bytes) in self.get(&need.texts).await? {
            let text = std::str::from_utf8(&bytes)
                .map_err(|_| ContentError::Corrupt(format!("the text {hash} is not UTF-8")))?;
            let text: Arc<str> = text.into();
            self.cost.texts_loaded += 1;
            self.shared.texts.insert(Id { domain: Arc::clone(&self.domain), hash }, Arc::clone(&text));
            self.texts.insert(hash, text);
        }
        Ok(())
    }

    async fn get(&mut self, hashes: &BTreeSet<Hash>) -> ContentResult<Vec<(Hash, Bytes)>> {
        let hashes: Vec<Hash> = hashes.iter().copied().collect();
        let mut out = Vec::with_capacity(hashes.len());
        for chunk in hashes.chunks(LOAD_CHUNK) {
            self.cost.calls += 1;
            let found = self.shared.objects.get(&self.domain, chunk).await?;
            if found.len() != chunk.len() {
                return Err(ContentError::Corrupt(
                    "the object store returned a wrong number of objects".into(),
                ));
            }
            for (hash, bytes) in chunk.iter().zip(found) {
                out.push((*hash, bytes.ok_or(ContentError::NotFound(*hash))?));
            }
        }
        Ok(out)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.shared.count(self.cost);
    }
}
