//! [`Content`]: revisions in an object store.

use std::{collections::BTreeSet, sync::Arc};

use docs_markup::directives::Expansions;
use docs_store::{Hash, Objects};

use super::{
    Body, ContentError, ContentResult, Cost, LineMerger, Rendering, TextMerger,
    link_batches::LinkBatches,
    load::{CacheLimits, CacheStats, MissingCollector, ObjectCaches, PassResult, Session},
    map,
    offload::run_in_place,
    text,
};

/// Maximum size of the texts buffered in memory before they are stored, in bytes.
pub(crate) const FLUSH_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// Reads and writes content in an object store.
///
/// Content is immutable and identified by the hash of its root. An edit, an import or a merge stores the objects of the
/// new root and returns its hash. A transaction of the caller then references that root. Every operation can therefore
/// be cancelled or repeated at any time; at worst, it leaves unreferenced objects.
///
/// Cheap to clone; clones share the caches.
#[derive(Clone)]
pub struct Content {
    shared: Arc<ObjectCaches>,
    merger: Arc<dyn TextMerger>,
    link_batches: LinkBatches,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("cost", &self.shared.cost()).finish_non_exhaustive()
    }
}

impl Content {
    /// Creates content in an object store, with default cache limits and the line merger.
    #[must_use]
    pub fn new(objects: Arc<dyn Objects>) -> Self {
        Self::with_config(objects, CacheLimits::default(), Arc::new(LineMerger))
    }

    /// Creates content with custom cache limits and a custom text merger.
    #[must_use]
    pub fn with_config(objects: Arc<dyn Objects>, limits: CacheLimits, merger: Arc<dyn TextMerger>) -> Self {
        let shared = Arc::new(ObjectCaches::new(objects, limits));
        Self { shared, merger, link_batches: LinkBatches::default() }
    }

    /// Returns the root hash of empty content. The root itself need not be stored.
    #[must_use]
    pub fn empty_hash() -> Hash {
        map::empty().hash
    }

    /// Stores the root of empty content and returns its hash.
    ///
    /// # Errors
    /// [`ContentError::Store`](super::ContentError::Store).
    pub async fn empty_root(&self, domain: &str) -> ContentResult<Hash> {
        let node = map::empty();
        let root = node.hash;
        let mut session = self.session(domain);
        session.add_nodes(vec![node]);
        session.save(root, &BTreeSet::new()).await?;
        Ok(root)
    }

    /// Stores texts in batches of a few megabytes and returns their hashes.
    ///
    /// # Errors
    /// [`ContentError::Store`](super::ContentError::Store).
    pub async fn store_texts(&self, domain: &str, texts: &[&str]) -> ContentResult<Vec<Hash>> {
        let mut session = self.session(domain);
        let mut hashes = Vec::new();
        for text in texts {
            hashes.push(session.add_text(text));
            if session.waiting_text_bytes() > FLUSH_TEXT_BYTES {
                session.flush_texts().await?;
            }
        }
        session.flush_texts().await?;
        Ok(hashes)
    }

    /// Loads the text with the given hash.
    ///
    /// # Errors
    /// [`ContentError::NotFound`](super::ContentError::NotFound) if the text is not in the domain.
    pub async fn text(&self, domain: &str, hash: Hash) -> ContentResult<Arc<str>> {
        self.session(domain).run(|session| session.text(&hash)).await
    }

    /// Returns the complete text of a body, or an empty string for an empty body.
    ///
    /// # Errors
    /// See [`Content::text`].
    pub async fn body_text(
        &self,
        domain: &str,
        body: &Body,
        rendering: Rendering,
    ) -> ContentResult<Arc<str>> {
        let terms = self.session(domain).run(|session| term_texts(session, body)).await?;
        if let [only] = terms.as_slice() {
            return Ok(Arc::clone(only));
        }
        let terms: Vec<&str> = terms.iter().map(|t| &**t).collect();
        Ok(run_in_place(|| match rendering {
            Rendering::Markers => text::render(self.merger(), &terms).0.into(),
            Rendering::Request => text::request_side(self.merger(), &terms).into(),
        }))
    }

    /// Returns the text of a body as readers see it: with the results of its directives in their place, if there are
    /// any.
    ///
    /// # Errors
    /// See [`Content::text`]; [`ContentError::Corrupt`](super::ContentError::Corrupt) if the results are damaged.
    pub async fn reader_text(
        &self,
        domain: &str,
        body: &Body,
        expansions: Option<Hash>,
        rendering: Rendering,
    ) -> ContentResult<Arc<str>> {
        let text = self.body_text(domain, body, rendering).await?;
        let Some(expansions) = expansions.filter(|_| !text.is_empty()) else { return Ok(text) };
        let stored = self.text(domain, expansions).await?;
        run_in_place(|| {
            let expansions: Expansions =
                serde_json::from_str(&stored).map_err(|error| ContentError::Corrupt(error.to_string()))?;
            Ok(expansions.expand(&text).into())
        })
    }

    /// Returns the total cost of all operations so far.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.shared.cost()
    }

    /// Returns the hit and miss counts of each cache.
    #[must_use]
    pub fn cache_stats(&self) -> [CacheStats; 4] {
        self.shared.cache_stats()
    }

    #[cfg(test)]
    pub(crate) fn objects_for_test(&self) -> &dyn Objects {
        self.shared.objects()
    }

    pub(crate) fn shared(&self) -> &ObjectCaches {
        &self.shared
    }

    pub(crate) fn merger(&self) -> &dyn TextMerger {
        &*self.merger
    }

    pub(crate) const fn link_batches(&self) -> LinkBatches {
        self.link_batches
    }

    /// Sets the sizes of the batches in which links are derived.
    #[cfg(test)]
    pub(crate) const fn with_link_batches(mut self, link_batches: LinkBatches) -> Self {
        self.link_batches = link_batches;
        self
    }

    pub(crate) fn session(&self, domain: &str) -> Session<'_> {
        Session::new(&self.shared, &domain.into())
    }
}

/// Returns the texts of a body's terms.
pub(crate) fn term_texts(session: &Session<'_>, body: &Body) -> PassResult<Vec<Arc<str>>> {
    let mut gather = MissingCollector::default();
    let mut out = Vec::new();
    for term in body.terms() {
        match term {
            Some(hash) => out.extend(gather.ask(session.text(&hash))?),
            None => out.push("".into()),
        }
    }
    gather.finish()?;
    Ok(out)
}
