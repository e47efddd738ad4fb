//! The pages that match a query, with their scores.

use std::collections::HashMap;

use docs_ports::search::{
    Field, MAX_ADJACENCY_PAGES, Match, PageScore, Phrase, Query, QueryTerm, TermScore, Word,
};

use super::state::{Pages, SearchState};

/// The words that match a word of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tolerance {
    NoTypos,
    Typos,
}

/// The matches of a term, by page.
type TermMatches = HashMap<u32, TermScore>;
/// The sorted positions of a word in a field, by page.
type Places = HashMap<u32, Vec<u32>>;

impl SearchState {
    /// Computes the scores of the pages that match every term of a query and that `is_wanted` accepts.
    pub(super) fn scores(
        &self,
        query: &Query,
        tolerance: Tolerance,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> HashMap<u32, u32> {
        let terms = query.needs();
        let Some((first, others)) = terms.split_first() else { return HashMap::new() };
        let words = |term: &QueryTerm| match term {
            QueryTerm::Word(_) => 1,
            QueryTerm::Phrase(phrase) => u32::try_from(phrase.parts().len()).unwrap_or(u32::MAX),
        };
        let start = |(page, term): (u32, TermScore)| {
            let mut score = PageScore::default();
            score.add_term(&term, words(first));
            (page, score)
        };
        let met = self.term_matches(first, tolerance, is_wanted);
        let mut pages: HashMap<u32, PageScore> = met.into_iter().map(start).collect();
        for term in others {
            let met = self.term_matches(term, tolerance, &|page| pages.contains_key(&page));
            pages.retain(|page, score| met.get(page).map(|met| score.add_term(met, words(term))).is_some());
        }
        for pair in terms.windows(2) {
            if let [QueryTerm::Word(one), QueryTerm::Word(next)] = pair {
                self.add_adjacency(one, next, &mut pages);
            }
        }
        let terms = u32::try_from(terms.len()).unwrap_or(u32::MAX);
        let total = |(page, score): (u32, PageScore)| {
            let title_words = self.pages.get(&page).map_or(0, |stored| stored.title_words);
            (page, score.total(terms, title_words))
        };
        pages.into_iter().map(total).collect()
    }

    fn term_matches(
        &self,
        term: &QueryTerm,
        tolerance: Tolerance,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> TermMatches {
        let mut met = TermMatches::new();
        for field in Field::ALL {
            let mut add = |page: u32, times: usize, how| {
                if is_wanted(page) {
                    let times = u32::try_from(times).unwrap_or(u32::MAX);
                    met.entry(page).or_default().add(field, times, how);
                }
            };
            match term {
                QueryTerm::Word(word) => {
                    let terms = &self.terms[field as usize];
                    let mut add = |pages: &Pages, how| {
                        pages.iter().for_each(|(page, places)| add(*page, places.len(), how));
                    };
                    terms.for_each_match(word, &mut add);
                    if tolerance == Tolerance::Typos {
                        terms.for_each_typo(word, add);
                    }
                }
                QueryTerm::Phrase(phrase) => {
                    for (page, starts) in self.phrase_places(field, phrase, is_wanted) {
                        add(page, starts.len(), Match::Exact);
                    }
                }
            }
        }
        met
    }

    /// Adds the bonus for consecutive words to the pages where they are adjacent.
    fn add_adjacency(&self, one: &Word, next: &Word, pages: &mut HashMap<u32, PageScore>) {
        for field in Field::ALL {
            let places = |word: &Word, pages: &HashMap<u32, PageScore>| {
                let mut found = Places::new();
                self.terms[field as usize].for_each_match(word, |own, how| {
                    for (page, places) in own.iter().filter(|_| how.is_occurrence()) {
                        if pages.contains_key(page) {
                            found.entry(*page).or_default().extend(places);
                        }
                    }
                });
                found.values_mut().for_each(|places| places.sort_unstable());
                found
            };
            let (starts, ends) = (places(one, pages), places(next, pages));
            if starts.len().min(ends.len()) > MAX_ADJACENCY_PAGES {
                continue;
            }
            for (page, starts) in starts {
                let ends = ends.get(&page).map(Vec::as_slice).unwrap_or_default();
                let is_adjacent = starts.iter().any(|start| ends.binary_search(&(start + 1)).is_ok());
                if let Some(score) = pages.get_mut(&page).filter(|_| is_adjacent) {
                    score.add_bonus(field.adjacency_bonus());
                }
            }
        }
    }

    /// Returns the positions of a phrase in a field, by page.
    fn phrase_places(&self, field: Field, phrase: &Phrase, is_wanted: &dyn Fn(u32) -> bool) -> Places {
        let mut starts: Option<Places> = None;
        for part in phrase.parts() {
            let mut here = Places::new();
            self.terms[field as usize].for_each_word_match(&part.word, |pages, _| {
                for (page, places) in pages {
                    let is_open =
                        starts.as_ref().map_or_else(|| is_wanted(*page), |starts| starts.contains_key(page));
                    if is_open {
                        let places = places.iter().filter_map(|place| place.checked_sub(part.offset));
                        here.entry(*page).or_default().extend(places);
                    }
                }
            });
            for places in here.values_mut() {
                places.sort_unstable();
                places.dedup();
            }
            starts = Some(match starts {
                None => here,
                Some(mut before) => {
                    before.retain(|page, starts| {
                        let here = here.get(page).map(Vec::as_slice).unwrap_or_default();
                        starts.retain(|start| here.binary_search(start).is_ok());
                        !starts.is_empty()
                    });
                    before
                }
            });
        }
        starts.unwrap_or_default()
    }
}
