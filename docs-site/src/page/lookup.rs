//! Lookup of pages in the cache. Concurrent requests for a page share one rendering.

use std::sync::Arc;

use docs_core::{ErrorKind, Result};

use super::{
    cache::{CachedPage, Caches, PageKey},
    document::document_page,
    rendered::Rendered,
};
use crate::{
    sources::{Basis, Sources, Versions},
    visit::Visit,
};

/// A rendered page.
#[derive(Debug)]
pub(crate) struct FoundPage {
    pub(crate) page: Arc<Rendered>,
    /// The key of its cache entry; `None` if the page is not cached.
    pub(crate) key: Option<PageKey>,
}

/// Finds a page in the cache, or renders and caches it. `base` is its key without the versions of its sources.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn find_page(
    visit: &Visit,
    caches: &Caches,
    (base, at): (PageKey, usize),
) -> Result<FoundPage> {
    let entry = match caches.pages.get_value_or_guard_async(&base).await {
        Ok(entry) => entry,
        Err(guard) => {
            let (found, entry) = render(visit, caches, (&base, at)).await?;
            found.keep(caches);
            // The waiting requests receive the entry, even if the cache has no room for it.
            drop(guard.insert(entry.clone()));
            // A full cache evicts what a guard inserts before anything else.
            if !caches.pages.contains_key(&base) {
                caches.pages.insert(base, entry);
            }
            return Ok(found);
        }
    };
    match entry {
        CachedPage::Rendered(page) => Ok(FoundPage { page, key: Some(base) }),
        CachedPage::OfSources(sources) => find_version(visit, caches, (base, at), &sources).await,
        CachedPage::Uncached => render_again(visit, caches, (base, at)).await,
    }
}

/// Finds a page that depends on sources.
async fn find_version(
    visit: &Visit,
    caches: &Caches,
    (base, at): (PageKey, usize),
    sources: &Sources,
) -> Result<FoundPage> {
    let Some(versions) = versions(visit, sources).await? else {
        return render_again(visit, caches, (base, at)).await;
    };
    let key = PageKey { versions: Some(Arc::new(versions)), ..base.clone() };
    let guard = match caches.pages.get_value_or_guard_async(&key).await {
        Ok(CachedPage::Rendered(page)) => return Ok(FoundPage { page, key: Some(key) }),
        Ok(_) => return render_again(visit, caches, (base, at)).await,
        Err(guard) => guard,
    };
    let (found, entry) = render(visit, caches, (&base, at)).await?;
    if found.key.as_ref() == Some(&key) {
        drop(guard.insert(CachedPage::Rendered(Arc::clone(&found.page))));
    }
    found.keep(caches);
    caches.pages.insert(base, entry);
    Ok(found)
}

/// Renders a page and replaces its cache entry.
async fn render_again(visit: &Visit, caches: &Caches, (base, at): (PageKey, usize)) -> Result<FoundPage> {
    let (found, entry) = render(visit, caches, (&base, at)).await?;
    found.keep(caches);
    caches.pages.insert(base, entry);
    Ok(found)
}

/// Renders a page. The result includes the cache entry for its key without versions.
async fn render(
    visit: &Visit,
    caches: &Caches,
    (base, at): (&PageKey, usize),
) -> Result<(FoundPage, CachedPage)> {
    let page = Arc::new(document_page(visit, caches, at).await?);
    let (key, entry) = match &page.basis {
        Basis::Site => (Some(base.clone()), CachedPage::Rendered(Arc::clone(&page))),
        Basis::Sources(sources, versions) => {
            let key = PageKey { versions: Some(Arc::clone(versions)), ..base.clone() };
            (Some(key), CachedPage::OfSources(Arc::clone(sources)))
        }
        Basis::Other => (None, CachedPage::Uncached),
    };
    Ok((FoundPage { page, key }, entry))
}

impl FoundPage {
    /// Caches a page that depends on sources.
    fn keep(&self, caches: &Caches) {
        if let Some(key) = self.key.as_ref().filter(|key| key.versions.is_some())
            && !caches.pages.contains_key(key)
        {
            caches.pages.insert(key.clone(), CachedPage::Rendered(Arc::clone(&self.page)));
        }
    }
}

/// The current versions of the sources of a page of the requested space; `None` if one of the sources is no longer
/// accessible.
async fn versions(visit: &Visit, sources: &Sources) -> Result<Option<Versions>> {
    let place = visit.place()?;
    let mut versions = Versions::default();
    if !sources.specs.is_empty() {
        versions.specs = Some(visit.content(&place.space.space.id).specs_tag(&sources.specs).await?);
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
