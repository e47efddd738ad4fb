//! The page lists of a site, cached for anonymous visitors.

use std::sync::Arc;

use docs_core::Result;

use super::{
    feed::feed,
    list_cache::{ListKey, SiteList},
    llms::short_list,
    sitemap::sitemap,
};
use crate::{page::Caches, tagged_bytes::TaggedBytes, visit::Visit};

impl SiteList {
    async fn write(self, visit: &Visit, caches: &Caches) -> Result<Option<String>> {
        match self {
            Self::Sitemap(part) => sitemap(visit, caches, part).await,
            Self::Feed => feed(visit, caches).await.map(Some),
            Self::Short => short_list(visit, caches).await.map(Some),
        }
    }
}

/// Returns a page list of a site, from the cache if possible. Concurrent anonymous requests for one list wait for a
/// single computation. A list that is incomplete because of the budgets for conditions is not cached. Returns `None` if
/// the list does not exist.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn site_list(
    visit: &Visit,
    caches: &Caches,
    list: SiteList,
) -> Result<Option<Arc<TaggedBytes>>> {
    let Some(moment) = visit.moment.filter(|_| visit.is_for_all && visit.is_live()) else {
        return Ok(list.write(visit, caches).await?.map(|text| Arc::new(TaggedBytes::new(text))));
    };
    let addresses =
        (visit.canonical_base(&visit.place()?).into(), visit.found.site_base_path.as_str().into());
    let key = ListKey { list, site: visit.site.hash, addresses, moment };
    let guard = match caches.lists.0.get_value_or_guard_async(&key).await {
        Ok(list) => return Ok(Some(list)),
        Err(guard) => guard,
    };
    let Some(text) = list.write(visit, caches).await? else { return Ok(None) };
    let text = Arc::new(TaggedBytes::new(text));
    if visit.is_limited() {
        return Ok(Some(text));
    }
    drop(guard.insert(Arc::clone(&text)));
    // A full cache may immediately evict an entry inserted through a guard, so the entry is inserted again.
    if !caches.lists.0.contains_key(&key) {
        caches.lists.0.insert(key, Arc::clone(&text));
    }
    Ok(Some(text))
}
