//! [`Content`]: revisions over an object store.

use std::{collections::BTreeSet, sync::Arc};

use docs_store::{Hash, Objects};

use super::{
    Body, ContentResult, Cost, LineMerger, Rendering, TextMerger, View,
    build::FLUSH_TEXT_BYTES,
    load::{CacheLimits, CacheStats, Gather, Session, Shared, Step},
    map, text,
};

/// Reads and writes content over an object store.
///
/// Content is named by the hash of its root. Nothing is ever changed: an edit, an import and a merge store the objects
/// a new root needs and answer it; a transaction of the caller's then makes something refer to it. So every
/// operation here may be cancelled or repeated at any time, at the cost of objects nobody refers to.
///
/// Cheap to clone; clones share the caches.
#[derive(Clone)]
pub struct Content {
    shared: Arc<Shared>,
    merger: Arc<dyn TextMerger>,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("cost", &self.shared.cost()).finish_non_exhaustive()
    }
}

impl Content {
    /// Content over an object store, with the default caches and the line merger.
    #[must_use]
    pub fn new(objects: Arc<dyn Objects>) -> Self {
        Self::with(objects, CacheLimits::default(), Arc::new(LineMerger))
    }

    /// Content with caches and a text merger of the caller's choice.
    #[must_use]
    pub fn with(objects: Arc<dyn Objects>, limits: CacheLimits, merger: Arc<dyn TextMerger>) -> Self {
        Self { shared: Arc::new(Shared::new(objects, limits)), merger }
    }

    /// A revision, to be read.
    #[must_use]
    pub fn view(&self, domain: &str, root: Hash) -> View {
        View::new(self.clone(), domain, root)
    }

    /// The name of the root of content without anything in it, whether it is stored or not.
    #[must_use]
    pub fn nothing() -> Hash {
        map::empty().hash
    }

    /// The root of content without anything in it, stored.
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

    /// Stores texts, a few megabytes at a time; answers by what each is named.
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

    /// A text.
    ///
    /// # Errors
    /// [`ContentError::NotFound`](super::ContentError::NotFound) when the domain does not have it.
    pub async fn text(&self, domain: &str, hash: Hash) -> ContentResult<Arc<str>> {
        self.session(domain).run(|session| session.text(&hash)).await
    }

    /// The text of a body, in one piece; empty for an empty body.
    ///
    /// # Errors
    /// As [`Content::text`].
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
        Ok(match rendering {
            Rendering::Markers => text::render(self.merger(), &terms).0.into(),
            Rendering::Request => text::request_side(self.merger(), &terms).into(),
        })
    }

    /// What all operations so far have cost together.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.shared.cost()
    }

    /// How often each cache had what was looked for.
    #[must_use]
    pub fn cache_stats(&self) -> [CacheStats; 4] {
        self.shared.cache_stats()
    }

    #[cfg(test)]
    pub(crate) fn objects_for_test(&self) -> &dyn Objects {
        self.shared.objects()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn merger(&self) -> &dyn TextMerger {
        &*self.merger
    }

    pub(crate) fn session(&self, domain: &str) -> Session<'_> {
        Session::new(&self.shared, &domain.into())
    }
}

/// The texts of the terms of a body.
pub(crate) fn term_texts(session: &Session<'_>, body: &Body) -> Step<Vec<Arc<str>>> {
    let mut gather = Gather::default();
    let mut out = Vec::new();
    for term in body.terms() {
        match term {
            Some(hash) => out.extend(gather.ask(session.text(&hash))?),
            None => out.push("".into()),
        }
    }
    gather.done()?;
    Ok(out)
}
