//! An in-memory search index: [`MemSearch`].

mod matching;
mod state;
mod terms;

use std::{collections::HashSet, ops::Bound};

use async_trait::async_trait;
use docs_model::{PageId, SpaceId};
use docs_ports::{
    SearchError, SearchIndex,
    search::{
        IndexChange, IndexedSpace, PageDocument, PageHit, PageScore, Query, Rank, RankedPage, Scope,
        SearchQuery, hash_name, select_pages,
    },
};
use docs_store::FeedPos;
use parking_lot::RwLock;

use self::{matching::Tolerance, state::SearchState};

/// An in-memory search index with exact results. It is lost with its process and rebuilt from the store at startup.
///
/// Words are sorted: an exact lookup is a point read, a prefix lookup is a range scan, and a fuzzy search visits only
/// words with viable prefixes. The text of all pages is held in memory in addition to the words, so the index is suited
/// to tests and to platforms whose content fits in memory.
#[derive(Debug, Default)]
pub struct MemSearch(RwLock<SearchState>);

impl MemSearch {
    /// Creates an empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl SearchState {
    /// Returns the best pages. Words with typos are only looked up if the pages without typos are too few.
    fn find(&self, query: &SearchQuery) -> Vec<RankedPage<u32>> {
        let terms = u32::try_from(query.query.needs().len()).unwrap_or(u32::MAX);
        let only_typos = query.after.is_some_and(|rank| rank.score <= PageScore::max_with_typos(terms));
        if !only_typos {
            let found = self.ranked(query, Tolerance::NoTypos);
            let found = select_pages(found, query.after, query.limit);
            if found.len() >= query.limit {
                return found;
            }
        }
        select_pages(self.ranked(query, Tolerance::Typos), query.after, query.limit)
    }

    fn ranked(&self, query: &SearchQuery, tolerance: Tolerance) -> Vec<RankedPage<u32>> {
        let spaces: HashSet<u64> = match &query.scope {
            Scope::Organization(_) => HashSet::new(),
            Scope::Spaces(spaces) | Scope::OrganizationBut(_, spaces) => {
                spaces.iter().map(|space| hash_name(&[space.as_str()])).collect()
            }
        };
        let is_wanted = |number: u32| {
            self.pages.get(&number).is_some_and(|stored| match &query.scope {
                Scope::Organization(org) => stored.page.organization == *org,
                Scope::OrganizationBut(org, _) => {
                    stored.page.organization == *org && !spaces.contains(&stored.space_tie)
                }
                Scope::Spaces(_) => spaces.contains(&stored.space_tie),
            })
        };
        let scored = self.scores(&query.query, tolerance, &is_wanted).into_iter();
        let found = scored.filter_map(|(number, score)| {
            let stored = self.pages.get(&number)?;
            let rank = Rank { score, tie: stored.rank_tie };
            Some(RankedPage { rank, at: number })
        });
        found.collect()
    }

    fn hits(&self, query: &Query, found: Vec<RankedPage<u32>>) -> Vec<PageHit> {
        let hit = |found: RankedPage<u32>| {
            self.pages.get(&found.at).map(|stored| PageHit::new(found.rank, query, &stored.page))
        };
        found.into_iter().filter_map(hit).collect()
    }
}

#[async_trait]
impl SearchIndex for MemSearch {
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError> {
        let mut inner = self.0.write();
        for change in changes {
            inner.apply(change);
        }
        if position.is_some() {
            inner.position = position;
        }
        Ok(())
    }

    async fn position(&self) -> Result<Option<FeedPos>, SearchError> {
        Ok(self.0.read().position.clone())
    }

    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError> {
        let inner = self.0.read();
        Ok(spaces.iter().map(|space| inner.spaces.get(space).cloned()).collect())
    }

    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError> {
        let inner = self.0.read();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(inner
            .spaces
            .range::<SpaceId, _>((from, Bound::Unbounded))
            .take(limit)
            .map(|(id, _)| id.clone())
            .collect())
    }

    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError> {
        let inner = self.0.read();
        Ok(inner.hits(&query.query, inner.find(query)))
    }

    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError> {
        let inner = self.0.read();
        let number = |page: PageId| inner.numbers.get(&(space.clone(), page));
        let numbers = inner.pages_of(space).into_iter().filter_map(number);
        Ok(numbers.filter_map(|number| Some(PageDocument::clone(&inner.pages.get(number)?.page))).collect())
    }

    async fn clear(&self) -> Result<(), SearchError> {
        *self.0.write() = SearchState::default();
        Ok(())
    }
}
