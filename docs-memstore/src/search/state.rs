//! The pages and words of an index in memory.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use docs_model::{PageId, SpaceId};
use docs_ports::search::{Field, IndexChange, IndexedSpace, PageDocument, TokenKind, hash_name};
use docs_store::FeedPos;

use super::terms::Terms;

/// Pages that contain a word, with its positions on each page.
pub(super) type Pages = BTreeMap<u32, Vec<u32>>;

#[derive(Debug, Default)]
pub(super) struct SearchState {
    pub(super) position: Option<FeedPos>,
    pub(super) spaces: BTreeMap<SpaceId, IndexedSpace>,
    pub(super) numbers: BTreeMap<(SpaceId, PageId), u32>,
    pub(super) pages: BTreeMap<u32, IndexedPage>,
    pub(super) terms: [Terms<Pages>; 4],
    pub(super) next: u32,
}

#[derive(Debug)]
pub(super) struct IndexedPage {
    pub(super) page: Arc<PageDocument>,
    pub(super) rank_tie: u64,
    pub(super) space_tie: u64,
    pub(super) title_words: u32,
}

impl SearchState {
    fn put(&mut self, page: PageDocument) {
        self.drop_page(&page.space, &page.page);
        let number = self.next;
        self.next += 1;
        let mut title_words = 0;
        for (field, terms) in Field::ALL.into_iter().zip(&mut self.terms) {
            for token in page.tokens(field) {
                let is_word = token.kind != TokenKind::Part;
                title_words += u32::from(field == Field::Title && is_word);
                let pages = terms.entry(token.text.into()).or_default();
                pages.entry(number).or_default().push(token.position);
            }
        }
        self.numbers.insert((page.space.clone(), page.page.clone()), number);
        let (rank_tie, space_tie) = (page.tie_breaker(), hash_name(&[page.space.as_str()]));
        self.pages.insert(number, IndexedPage { page: Arc::new(page), rank_tie, space_tie, title_words });
    }

    fn drop_page(&mut self, space: &SpaceId, page: &PageId) {
        let Some(number) = self.numbers.remove(&(space.clone(), page.clone())) else { return };
        let Some(stored) = self.pages.remove(&number) else { return };
        for (field, terms) in Field::ALL.into_iter().zip(&mut self.terms) {
            for token in stored.page.tokens(field) {
                if let Some(pages) = terms.get_mut(token.text.as_str()) {
                    pages.remove(&number);
                    if pages.is_empty() {
                        terms.remove(token.text.as_str());
                    }
                }
            }
        }
    }

    pub(super) fn pages_of(&self, space: &SpaceId) -> Vec<PageId> {
        let Ok(least) = "-".parse::<PageId>() else { return Vec::new() };
        let from = Bound::Included((space.clone(), least));
        let ours = self.numbers.range((from, Bound::Unbounded)).take_while(|((of, _), _)| of == space);
        ours.map(|((_, page), _)| page.clone()).collect()
    }

    pub(super) fn apply(&mut self, change: IndexChange) {
        match change {
            IndexChange::PutPage(page) => self.put(*page),
            IndexChange::DropPage(space, page) => self.drop_page(&space, &page),
            IndexChange::PutSpace(space) => drop(self.spaces.insert(space.space.clone(), space)),
            IndexChange::DropSpace(space) => {
                self.spaces.remove(&space);
                for page in self.pages_of(&space) {
                    self.drop_page(&space, &page);
                }
            }
        }
    }
}
