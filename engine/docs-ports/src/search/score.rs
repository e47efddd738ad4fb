//! Matching and scoring, shared by all indexes.

use std::collections::HashMap;

use super::{Match, Phrase, PhraseWord, Query, QueryTerm, Word};

/// A searchable field of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Field {
    Title,
    Headings,
    Description,
    Body,
}

impl Field {
    /// All fields, in order of descending weight.
    pub const ALL: [Self; 4] = [Self::Title, Self::Headings, Self::Description, Self::Body];

    /// Returns the score of an exact match in the field.
    const fn worth(self) -> u32 {
        match self {
            Self::Title => 1_000,
            Self::Headings => 600,
            Self::Description => 500,
            Self::Body => 300,
        }
    }
}

impl Match {
    /// Returns the score of a match in a field. A prefix match in the title scores higher than an exact match in a
    /// heading, an inflection scores lower than a prefix, and a match with a typo in any field scores lower than an
    /// exact match in the text.
    const fn worth(self, field: Field) -> u32 {
        let hundredths = match self {
            Self::Exact => 100,
            Self::Beginning => 80,
            Self::Inflection => 70,
            Self::OneTypo => 20,
            Self::TwoTypos => 10,
        };
        field.worth() * hundredths / 100
    }
}

/// Maximum bonus for repeated occurrences of a word.
const MOST_FOR_TIMES: u32 = 64;
/// Bonus for a title that only consists of the query words.
const WHOLE_TITLE: u32 = 200;

/// The word positions of an index.
///
/// Pages are identified by numbers that are internal to the index.
pub trait Postings {
    /// The error of a failed read.
    type Error;

    /// Calls `found` with page, number of occurrences and kind of match for every matching word in a field.
    ///
    /// # Errors
    /// The error of a failed read.
    fn words(
        &self,
        field: Field,
        word: &Word,
        found: &mut dyn FnMut(u32, u32, Match),
    ) -> Result<(), Self::Error>;

    /// Calls `found` with page and positions for every word in a field that matches a part of a phrase.
    ///
    /// # Errors
    /// The error of a failed read.
    fn places(
        &self,
        field: Field,
        part: &PhraseWord,
        found: &mut dyn FnMut(u32, &[u32]),
    ) -> Result<(), Self::Error>;

    /// Returns the number of words in the title of a page. Numbers above 40 may be approximate.
    fn title_words(&self, page: u32) -> u32;
}

/// Computes the scores of the pages that match every term of a query. Only considers pages for which `is_wanted`
/// returns `true`.
///
/// # Errors
/// The error of a failed read.
pub fn scores<P: Postings>(
    query: &Query,
    postings: &P,
    is_wanted: &dyn Fn(u32) -> bool,
) -> Result<HashMap<u32, u32>, P::Error> {
    let mut pages: Option<HashMap<u32, Total>> = None;
    for need in query.needs() {
        let mut met: HashMap<u32, TermMatches> = HashMap::new();
        let look = |page| pages.as_ref().map_or_else(|| is_wanted(page), |pages| pages.contains_key(&page));
        for field in Field::ALL {
            match need {
                QueryTerm::Word(word) => postings.words(field, word, &mut |page, times, how| {
                    if look(page) {
                        met.entry(page).or_default().add(field, times, how);
                    }
                })?,
                QueryTerm::Phrase(phrase) => {
                    for (page, times) in phrases(postings, field, phrase, &look)? {
                        met.entry(page).or_default().add(field, times, Match::Exact);
                    }
                }
            }
        }
        let words = match need {
            QueryTerm::Word(_) => 1,
            QueryTerm::Phrase(phrase) => u32::try_from(phrase.parts().len()).unwrap_or(u32::MAX),
        };
        let mut kept =
            pages.take().unwrap_or_else(|| met.keys().map(|page| (*page, Total::default())).collect());
        kept.retain(|page, total| met.get(page).map(|met| total.add(met, words)).is_some());
        pages = Some(kept);
    }
    let asked = query.needs().len();
    let finished = pages.unwrap_or_default().into_iter().map(|(page, total)| {
        let least = u32::try_from(asked).unwrap_or(u32::MAX).max(total.in_title).max(1);
        (page, total.score + WHOLE_TITLE * total.in_title / postings.title_words(page).max(least))
    });
    Ok(finished.collect())
}

/// The matches of a page for one query term.
#[derive(Default)]
struct TermMatches {
    best: u32,
    times: u32,
    is_in_title: bool,
}

impl TermMatches {
    fn add(&mut self, field: Field, times: u32, how: Match) {
        self.best = self.best.max(how.worth(field));
        if how <= Match::Inflection {
            self.times = self.times.saturating_add(times);
            self.is_in_title |= field == Field::Title;
        }
    }
}

/// The accumulated matches of a page.
#[derive(Default)]
struct Total {
    score: u32,
    in_title: u32,
}

impl Total {
    fn add(&mut self, met: &TermMatches, words: u32) {
        // Logarithmic: each doubling of the occurrences adds the same amount.
        let for_times = (8 * (1 + met.times).ilog2()).min(MOST_FOR_TIMES);
        self.score += met.best + for_times;
        if met.is_in_title {
            self.in_title += words;
        }
    }
}

/// Returns the number of occurrences of a phrase in a field, by page.
fn phrases<P: Postings>(
    postings: &P,
    field: Field,
    phrase: &Phrase,
    look: &dyn Fn(u32) -> bool,
) -> Result<HashMap<u32, u32>, P::Error> {
    let mut starts: Option<HashMap<u32, Vec<u32>>> = None;
    for part in phrase.parts() {
        let mut here: HashMap<u32, Vec<u32>> = HashMap::new();
        postings.places(field, part, &mut |page, places| {
            let is_open = starts.as_ref().map_or_else(|| look(page), |starts| starts.contains_key(&page));
            if is_open {
                let places = places.iter().filter_map(|place| place.checked_sub(part.offset));
                here.entry(page).or_default().extend(places);
            }
        })?;
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
    let counted = |(page, starts): (u32, Vec<u32>)| (page, u32::try_from(starts.len()).unwrap_or(u32::MAX));
    Ok(starts.unwrap_or_default().into_iter().map(counted).collect())
}

/// A matching page, passed from an index to the selection.
#[derive(Clone, Copy, Debug)]
pub struct RankedPage<T> {
    /// The rank among all hits.
    pub rank: Rank,
    /// The index-internal location of the page.
    pub at: T,
}

/// Returns the best pages after a position, in order.
#[must_use]
pub fn select_pages<T>(
    mut found: Vec<RankedPage<T>>,
    after: Option<Rank>,
    limit: usize,
) -> Vec<RankedPage<T>> {
    found.retain(|page| after.is_none_or(|after| page.rank > after));
    keep_best(&mut found, limit, |page| page.rank);
    found
}

/// Keeps the first `limit` items in order, without sorting the others.
fn keep_best<T>(items: &mut Vec<T>, limit: usize, rank: impl Fn(&T) -> Rank) {
    if limit < items.len() {
        items.select_nth_unstable_by_key(limit, &rank);
        items.truncate(limit);
    }
    items.sort_unstable_by_key(rank);
}

/// The sort key of a hit: higher scores first, then lower tie-breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub score: u32,
    pub tie: u64,
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.score.cmp(&self.score).then(self.tie.cmp(&other.tie))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
