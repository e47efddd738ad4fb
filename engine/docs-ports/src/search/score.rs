//! Which pages meet a query, and how well: one computation for all indexes.

use std::collections::{BTreeMap, HashMap};

use super::{Match, Need, Part, Phrase, Query, Rank, Word};

/// What is searched of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Field {
    /// The title.
    Title,
    /// The headings.
    Headings,
    /// The description.
    Description,
    /// The text.
    Body,
}

impl Field {
    /// All fields, the weightiest first.
    pub const ALL: [Self; 4] = [Self::Title, Self::Headings, Self::Description, Self::Body];

    /// What a word of the field is worth when it is the one looked for.
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
    /// What a match is worth in a field. The beginning of a word of the title is worth more than a heading, and a typo
    /// anywhere less than the word itself in the text.
    const fn worth(self, field: Field) -> u32 {
        let hundredths = match self {
            Self::Exact => 100,
            Self::Beginning => 80,
            Self::OneTypo => 20,
            Self::TwoTypos => 10,
        };
        field.worth() * hundredths / 100
    }
}

/// The most that a page gains for saying a word often.
const MOST_FOR_TIMES: u32 = 64;
/// What a page gains when its title is nothing but what is looked for.
const WHOLE_TITLE: u32 = 200;

/// What an index knows of words: where they are.
///
/// Pages have numbers here, which mean something to the index only.
pub trait Postings {
    /// Why the index cannot be read.
    type Error;

    /// Tells of every word of a field that meets the one looked for: page, how often, how.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn words(
        &self,
        field: Field,
        word: &Word,
        found: &mut dyn FnMut(u32, u32, Match),
    ) -> Result<(), Self::Error>;

    /// Tells of every word of a field that meets a part of a phrase: page, places.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn places(
        &self,
        field: Field,
        part: &Part,
        found: &mut dyn FnMut(u32, &[u32]),
    ) -> Result<(), Self::Error>;

    /// How many words the title of a page has; more than 40 may be told roughly.
    fn title_words(&self, page: u32) -> u32;
}

/// The pages that meet every need of a query, with their scores. Only pages that `is_wanted` are looked at.
///
/// # Errors
/// When the index cannot be read.
pub fn scores<P: Postings>(
    query: &Query,
    postings: &P,
    is_wanted: &dyn Fn(u32) -> bool,
) -> Result<HashMap<u32, u32>, P::Error> {
    let mut pages: Option<HashMap<u32, Total>> = None;
    for need in query.needs() {
        let mut met: HashMap<u32, Met> = HashMap::new();
        let look = |page| pages.as_ref().map_or_else(|| is_wanted(page), |pages| pages.contains_key(&page));
        for field in Field::ALL {
            match need {
                Need::Word(word) => postings.words(field, word, &mut |page, times, how| {
                    if look(page) {
                        met.entry(page).or_default().add(field, times, how);
                    }
                })?,
                Need::Phrase(phrase) => {
                    for (page, times) in phrases(postings, field, phrase, &look)? {
                        met.entry(page).or_default().add(field, times, Match::Exact);
                    }
                }
            }
        }
        let words = match need {
            Need::Word(_) => 1,
            Need::Phrase(phrase) => u32::try_from(phrase.parts().len()).unwrap_or(u32::MAX),
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

/// How a page meets one need.
#[derive(Default)]
struct Met {
    best: u32,
    times: u32,
    is_in_title: bool,
}

impl Met {
    fn add(&mut self, field: Field, times: u32, how: Match) {
        self.best = self.best.max(how.worth(field));
        if how <= Match::Beginning {
            self.times = self.times.saturating_add(times);
            self.is_in_title |= field == Field::Title;
        }
    }
}

/// How a page meets the needs so far.
#[derive(Default)]
struct Total {
    score: u32,
    in_title: u32,
}

impl Total {
    fn add(&mut self, met: &Met, words: u32) {
        // Each time that the number doubles counts the same.
        let for_times = (8 * (1 + met.times).ilog2()).min(MOST_FOR_TIMES);
        self.score += met.best + for_times;
        if met.is_in_title {
            self.in_title += words;
        }
    }
}

/// How often a phrase stands in a field of each page.
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

/// A page that meets a query, as indexes hand it to be selected.
#[derive(Clone, Copy, Debug)]
pub struct Found<T> {
    /// Its place among all that was found.
    pub rank: Rank,
    /// Where the index has it.
    pub at: T,
}

/// The best pages after a place, in order.
#[must_use]
pub fn select_pages<T>(mut found: Vec<Found<T>>, after: Option<Rank>, limit: usize) -> Vec<Found<T>> {
    found.retain(|page| after.is_none_or(|after| page.rank > after));
    best(&mut found, limit, |page| page.rank);
    found
}

/// Keeps the first few in order, without ordering the others.
fn best<T>(items: &mut Vec<T>, limit: usize, rank: impl Fn(&T) -> Rank) {
    if limit < items.len() {
        items.select_nth_unstable_by_key(limit, &rank);
        items.truncate(limit);
    }
    items.sort_unstable_by_key(rank);
}

/// A small index of a few texts, for excerpts and tests: how often each word is there.
#[derive(Debug, Default)]
pub(super) struct Counted(BTreeMap<String, Vec<u32>>);

impl Counted {
    pub(super) fn of(tokens: impl Iterator<Item = super::Token>) -> Self {
        let mut counted = Self::default();
        for token in tokens {
            counted.0.entry(token.text).or_default().push(token.position);
        }
        counted
    }

    /// Where the need is met, in order: the places of its first words.
    pub(super) fn places(&self, need: &Need) -> Vec<u32> {
        let of = |word: &Word| -> Vec<u32> {
            let met = self.0.iter().filter(|(term, _)| word.matches(term).is_some());
            met.flat_map(|(_, places)| places.iter().copied()).collect()
        };
        let mut places = match need {
            Need::Word(word) => of(word),
            Need::Phrase(phrase) => {
                let mut parts = phrase.parts().iter();
                let mut starts = parts.next().map(|part| of(&part.word)).unwrap_or_default();
                for part in parts {
                    let next = of(&part.word);
                    starts.retain(|start| next.contains(&(start + part.offset)));
                }
                starts
            }
        };
        places.sort_unstable();
        places
    }
}
