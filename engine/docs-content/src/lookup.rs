//! Reads of a few pages of a revision, in batches.

use docs_model::PageId;
use docs_store::key;

use super::{
    ContentResult, PageEntry, Rank, View,
    entry::decode,
    keys,
    load::MissingCollector,
    map::{self, Range},
    read,
};

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

    /// Returns each page followed by its ancestors, nearest first, in the order of `ids`. The list of a missing page is
    /// empty.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn lineages(&self, ids: &[PageId]) -> ContentResult<Vec<Vec<(PageId, PageEntry)>>> {
        let root = self.root();
        self.run(|session| {
            let (mut gather, mut all) = (MissingCollector::default(), Vec::with_capacity(ids.len()));
            for id in ids {
                let Some(Some(entry)) = gather.ask(read::page(session, &root, id))? else {
                    all.push(Vec::new());
                    continue;
                };
                let above = gather.ask(read::ancestors(session, &root, &entry))?;
                all.push([(id.clone(), entry)].into_iter().chain(above.unwrap_or_default()).collect());
            }
            gather.finish()?;
            Ok(all)
        })
        .await
    }
}
