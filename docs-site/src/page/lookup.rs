//! Cache lookup of pages. Concurrent requests for a page share one rendering.

use std::sync::Arc;

use docs_core::{ErrorKind, Result, model::SpaceId};

use super::{
    page_cache::{CachedPage, PageCache, PageForm},
    page_key::PageKey,
};
use crate::{
    sources::{Basis, Sources, Versions},
    visit::Visit,
};

/// A page found in the cache or rendered.
#[derive(Debug)]
pub(crate) struct FoundPage<P> {
    pub(crate) page: Arc<P>,
    /// The key of the cache entry, or `None` if the page is not cached.
    pub(crate) key: Option<PageKey>,
}

/// Finds a page in the cache, or renders and caches it. `base` is its key without the versions of its sources.
///
/// # Errors
/// Errors of the platform and of `render`.
pub(crate) async fn find_page<P: PageForm>(
    visit: &Visit,
    cache: &PageCache<P>,
    base: PageKey,
    render: impl Future<Output = Result<P>> + Send,
) -> Result<FoundPage<P>> {
    let entry = match cache.get_value_or_guard_async(&base).await {
        Ok(entry) => entry,
        Err(guard) => {
            let (found, entry) = page_and_entry(&base, render.await?);
            found.store(cache);
            // Waiting requests receive the entry even if it does not fit into the cache.
            drop(guard.insert(entry.clone()));
            // A full cache may immediately evict an entry inserted through a guard, so the entry is inserted again.
            if !cache.contains_key(&base) {
                cache.insert(base, entry);
            }
            return Ok(found);
        }
    };
    match entry {
        CachedPage::Rendered(page) => Ok(FoundPage { page, key: Some(base) }),
        CachedPage::OfSources(sources) => find_version(visit, cache, base, &sources, render).await,
        CachedPage::Uncached => Ok(replace(cache, base, render.await?)),
    }
}

/// Finds a page whose content depends on sources.
async fn find_version<P: PageForm>(
    visit: &Visit,
    cache: &PageCache<P>,
    base: PageKey,
    sources: &Sources,
    render: impl Future<Output = Result<P>> + Send,
) -> Result<FoundPage<P>> {
    let Some(versions) = versions(visit, &base.space.frame.space, sources).await? else {
        return Ok(replace(cache, base, render.await?));
    };
    let key = PageKey { versions: Some(Arc::new(versions)), ..base.clone() };
    let guard = match cache.get_value_or_guard_async(&key).await {
        Ok(CachedPage::Rendered(page)) => return Ok(FoundPage { page, key: Some(key) }),
        Ok(_) => return Ok(replace(cache, base, render.await?)),
        Err(guard) => guard,
    };
    let (found, entry) = page_and_entry(&base, render.await?);
    if found.key.as_ref() == Some(&key) {
        drop(guard.insert(CachedPage::Rendered(Arc::clone(&found.page))));
    }
    found.store(cache);
    cache.insert(base, entry);
    Ok(found)
}

/// Replaces the cache entry of a page that was rendered again.
fn replace<P: PageForm>(cache: &PageCache<P>, base: PageKey, page: P) -> FoundPage<P> {
    let (found, entry) = page_and_entry(&base, page);
    found.store(cache);
    cache.insert(base, entry);
    found
}

/// Returns a rendered page, and the entry to cache under the key without versions.
fn page_and_entry<P: PageForm>(base: &PageKey, page: P) -> (FoundPage<P>, CachedPage<P>) {
    let page = Arc::new(page);
    let (key, entry) = match page.basis() {
        Basis::Site => (Some(base.clone()), CachedPage::Rendered(Arc::clone(&page))),
        Basis::Sources(sources, versions) => {
            let key = PageKey { versions: Some(Arc::clone(versions)), ..base.clone() };
            (Some(key), CachedPage::OfSources(Arc::clone(sources)))
        }
        Basis::Other => (None, CachedPage::Uncached),
    };
    (FoundPage { page, key }, entry)
}

impl<P: PageForm> FoundPage<P> {
    /// Caches a page whose content depends on sources.
    fn store(&self, cache: &PageCache<P>) {
        if let Some(key) = self.key.as_ref().filter(|key| key.versions.is_some())
            && !cache.contains_key(key)
        {
            cache.insert(key.clone(), CachedPage::Rendered(Arc::clone(&self.page)));
        }
    }
}

/// Returns the current versions of the sources of a page of `space`, or `None` if one of the sources is no longer
/// accessible.
async fn versions(visit: &Visit, space: &SpaceId, sources: &Sources) -> Result<Option<Versions>> {
    let mut versions = Versions::default();
    if !sources.specs.is_empty() {
        versions.specs = Some(visit.content(space).specs_tag(&sources.specs).await?);
    }
    for space in &sources.spaces {
        match visit.content(space).computed_tag().await {
            Ok(Some(tag)) => versions.spaces.push(tag),
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(versions))
}
