//! Reads of a few pages of a revision, in batches.

use std::{collections::HashMap, sync::Arc};

use docs_model::{ExtraFields, JsonText, PageId};
use docs_store::key;

use super::{
    ContentResult, PageEntry, Rank, View,
    entry::decode,
    keys,
    load::{MissingCollector, Session},
    map::{self, Range},
    offload::yield_to_others,
    read::{self, KnownPages, PageHead},
};

/// A page followed by its ancestors, nearest first.
pub type Lineage = Vec<(PageId, Arc<PageEntry>)>;

impl View {
    /// Returns up to `limit` children of a page, or top-level pages, in order, starting after the given one.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn children_after(
        &self,
        parent: Option<&PageId>,
        after: Option<(&Rank, &PageId)>,
        limit: usize,
    ) -> ContentResult<Vec<(PageId, PageEntry)>> {
        let (start, to) = keys::children(parent).prefix_range();
        let from = after.map_or(start, |(rank, id)| key::successor(&keys::child(parent, rank, id)));
        let (root, range) = (self.root(), Range::new(from, to).limit(limit));
        self.run(|session| {
            let found = map::range(session, &root, &range)?;
            let ids = found.iter().map(|(key, _)| keys::id(key)).collect::<Result<Vec<PageId>, _>>()?;
            let entries = read::pages(session, &root, &ids)?;
            Ok(ids.into_iter().zip(entries).filter_map(|(id, entry)| Some((id, entry?))).collect())
        })
        .await
    }

    /// Returns up to `limit` pages, ordered by id, starting after the given one.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn pages_after(
        &self,
        after: Option<&PageId>,
        limit: usize,
    ) -> ContentResult<Vec<(PageId, PageEntry)>> {
        let (start, to) = keys::class(keys::PAGE);
        let from = after.map_or(start, |id| key::successor(&keys::page(id)));
        let found = self.range(Range::new(from, to).limit(limit)).await?;
        found.iter().map(|(key, value)| Ok((keys::id(key)?, decode(key, value)?))).collect()
    }

    /// Returns the front matter of each page that has some which the platform does not interpret. Trees omit it.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn extra_fields(&self) -> ContentResult<HashMap<PageId, JsonText<ExtraFields>>> {
        let (mut all, mut last) = (HashMap::new(), None);
        loop {
            let pages = self.pages_after(last.as_ref(), read::PAGES_AT_ONCE).await?;
            last = pages.last().map(|(id, _)| id.clone());
            let is_end = pages.len() < read::PAGES_AT_ONCE;
            let extra = pages.into_iter().map(|(id, entry)| (id, entry.extra));
            all.extend(extra.filter(|(_, extra)| !extra.is_default()));
            if is_end {
                return Ok(all);
            }
            yield_to_others().await;
        }
    }

    /// Returns the lineage of each page, in the order of `ids`. That of a missing page is empty.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn lineages(&self, ids: &[PageId]) -> ContentResult<Vec<Lineage>> {
        let (root, mut all) = (self.root(), Vec::with_capacity(ids.len()));
        let mut known = KnownPages::<PageEntry>::default();
        for ids in ids.chunks(read::PAGES_AT_ONCE) {
            let read = |session: &Session<'_>| {
                let (mut gather, mut some) = (MissingCollector::default(), Vec::with_capacity(ids.len()));
                for id in ids {
                    let Some(Some(entry)) = gather.ask(known.page(session, &root, id))? else {
                        some.push(Vec::new());
                        continue;
                    };
                    let above = gather.ask(known.ancestors(session, &root, entry.parent.as_ref()))?;
                    some.push([(id.clone(), entry)].into_iter().chain(above.unwrap_or_default()).collect());
                }
                gather.finish()?;
                Ok(some)
            };
            all.append(&mut self.run(read).await?);
            yield_to_others().await;
        }
        Ok(all)
    }

    /// Returns pages with their paths, in the order of `ids`. The path is empty for page kinds without a path.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn pages_with_paths(&self, ids: &[PageId]) -> ContentResult<Vec<Option<(PageEntry, String)>>> {
        let (root, mut all) = (self.root(), Vec::with_capacity(ids.len()));
        let mut known = KnownPages::<PageHead>::default();
        for ids in ids.chunks(read::PAGES_AT_ONCE) {
            let read = |session: &Session<'_>| {
                let (mut gather, mut some) = (MissingCollector::default(), Vec::with_capacity(ids.len()));
                for entry in read::pages(session, &root, ids)? {
                    let Some(entry) = entry else {
                        some.push(None);
                        continue;
                    };
                    let above = gather.ask(known.ancestors(session, &root, entry.parent.as_ref()))?;
                    let path = above.and_then(|above| read::path_below(&above, &entry.slug));
                    some.push(Some((entry, path.unwrap_or_default())));
                }
                gather.finish()?;
                Ok(some)
            };
            all.append(&mut self.run(read).await?);
            yield_to_others().await;
        }
        Ok(all)
    }
}
