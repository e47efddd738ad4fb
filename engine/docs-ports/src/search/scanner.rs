//! Finds the terms of a query in texts, in one pass over the words of a text.

use std::{collections::HashMap, ops::ControlFlow};

use super::{PART_MARK, Query, QueryTerm, Word, words::try_for_each_token};

/// Maximum work on the words of a page, in comparisons of two words.
const MAX_COMPARISONS: usize = 1_000_000;
/// The cost of a stem or an edit distance, in comparisons.
const INEXACT_COST: usize = 50;

/// The words of a query, prepared for the texts of one page.
pub(super) struct TermScanner<'q> {
    terms: Vec<ScannedTerm>,
    words: Vec<ScannedWord<'q>>,
    /// The words by their text.
    exact: HashMap<&'q str, Vec<usize>>,
    /// The words that also match other words than themselves.
    inexact: Vec<usize>,
    first_bytes: [bool; 256],
    /// The rest of [`MAX_COMPARISONS`].
    left: usize,
}

/// A query term, with indexes into [`TermScanner::words`].
enum ScannedTerm {
    Word(usize),
    /// The words of a phrase, with their positions relative to the first one.
    Phrase(Vec<(usize, u32)>),
}

struct ScannedWord<'q> {
    word: &'q Word,
    letters: LetterSet,
    is_in_phrase: bool,
}

/// The occurrences of a word in a text.
#[derive(Default)]
struct Occurrences {
    /// Position and offset in bytes. Only the first one, unless the word is part of a phrase.
    places: Vec<(u32, usize)>,
    /// The offset in bytes of the first word that matches with typos.
    near: Option<usize>,
}

impl<'q> TermScanner<'q> {
    pub(super) fn new(query: &'q Query) -> Self {
        let mut scanner = Self {
            terms: Vec::new(),
            words: Vec::new(),
            exact: HashMap::new(),
            inexact: Vec::new(),
            first_bytes: [false; 256],
            left: MAX_COMPARISONS,
        };
        let mut known = HashMap::new();
        for term in query.needs() {
            let term = match term {
                QueryTerm::Word(word) => ScannedTerm::Word(scanner.add(word, false, &mut known)),
                QueryTerm::Phrase(phrase) => {
                    let parts = phrase.parts().iter();
                    let part = parts.map(|part| (scanner.add(&part.word, true, &mut known), part.offset));
                    ScannedTerm::Phrase(part.collect())
                }
            };
            scanner.terms.push(term);
        }
        scanner
    }

    /// Returns the index of a word. Equal words of phrases share one.
    fn add(
        &mut self,
        word: &'q Word,
        is_in_phrase: bool,
        known: &mut HashMap<(&'q str, bool, bool), usize>,
    ) -> usize {
        let index = self.words.len();
        let found = *known.entry((word.text(), word.is_beginning(), is_in_phrase)).or_insert(index);
        if found == index {
            self.words.push(ScannedWord { word, letters: LetterSet::from_word(word.text()), is_in_phrase });
            self.exact.entry(word.text()).or_default().push(index);
            if word.is_inexact() {
                self.inexact.push(index);
            }
            if let Some(first) = word.text().bytes().next() {
                self.first_bytes[usize::from(first)] = true;
            }
        }
        found
    }

    /// Returns the offset in bytes of the first match of each term, in the order of the query. Typos only count if the
    /// text does not contain the word itself. After [`MAX_COMPARISONS`], the rest of the page is not searched.
    pub(super) fn first_matches(&mut self, text: &str) -> Vec<Option<usize>> {
        let mut found: Vec<Occurrences> = self.words.iter().map(|_| Occurrences::default()).collect();
        let mut missing = self.words.len();
        _ = try_for_each_token(text, |token, position, from| {
            self.match_token(token, (position, from), &mut found, &mut missing);
            if missing == 0 || self.left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let mut left = self.left;
        let first = |term: &ScannedTerm| match term {
            ScannedTerm::Word(index) => {
                let word = &found[*index];
                word.places.first().map(|(_, from)| *from).or(word.near)
            }
            ScannedTerm::Phrase(parts) => first_phrase(parts, &found, &mut left),
        };
        let matches = self.terms.iter().map(first).collect();
        self.left = left;
        matches
    }

    /// Returns `true` if the work on the page has reached [`MAX_COMPARISONS`].
    pub(super) const fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Adds a token of the text to the occurrences of the words that it matches. `missing` is the number of words that
    /// further tokens may match.
    fn match_token(
        &mut self,
        token: &str,
        place: (u32, usize),
        found: &mut [Occurrences],
        missing: &mut usize,
    ) {
        if let Some(part) = token.strip_prefix(PART_MARK) {
            return self.match_part(part, place, found, missing);
        }
        let is_first_byte = token.bytes().next().is_some_and(|first| self.first_bytes[usize::from(first)]);
        if is_first_byte && let Some(equal) = self.exact.get(token) {
            for &index in equal {
                *missing -= found[index].add(place, self.words[index].is_in_phrase);
            }
        }
        let mut letters = None;
        let mut cost = 1 + self.inexact.len();
        for &index in &self.inexact {
            let ScannedWord { word, letters: own, is_in_phrase } = &self.words[index];
            let found = &mut found[index];
            if !is_in_phrase && !found.places.is_empty() {
                continue;
            }
            if word.inflection_beginning().is_some_and(|beginning| token.starts_with(beginning)) {
                cost += INEXACT_COST;
            }
            if word.matches_without_typos(token).is_some() {
                *missing -= found.add(place, *is_in_phrase);
            } else if word.typos() > 0 && found.near.is_none() {
                let letters = letters.get_or_insert_with(|| LetterSet::from_word(token));
                if own.is_near(letters, u32::from(word.typos())) {
                    cost += INEXACT_COST;
                    found.near = word.matches_with_typos(token).map(|_| place.1);
                }
            }
        }
        self.left = self.left.saturating_sub(cost);
    }
}

impl TermScanner<'_> {
    /// Adds a part of a word in camel case to the occurrences of the words that it matches, except those of phrases.
    fn match_part(
        &mut self,
        part: &str,
        place: (u32, usize),
        found: &mut [Occurrences],
        missing: &mut usize,
    ) {
        for (own, found) in self.words.iter().zip(found).filter(|(own, _)| !own.is_in_phrase) {
            if found.places.is_empty() && own.word.matches_part(part) {
                *missing -= found.add(place, false);
            }
        }
        self.left = self.left.saturating_sub(self.words.len());
    }
}

impl Occurrences {
    /// Adds a place. Returns 1 if the word is complete with it, because only the first place of it is needed, else 0.
    fn add(&mut self, place: (u32, usize), is_in_phrase: bool) -> usize {
        let is_first = self.places.is_empty();
        if is_first || is_in_phrase && self.places.last() != Some(&place) {
            self.places.push(place);
        }
        usize::from(is_first && !is_in_phrase)
    }
}

/// Returns the offset in bytes of the first occurrence of a phrase. Reduces `left` by its work.
fn first_phrase(parts: &[(usize, u32)], found: &[Occurrences], left: &mut usize) -> Option<usize> {
    let (first, others) = parts.split_first()?;
    let mut is_at = |start: u32| {
        others.iter().all(|(index, offset)| {
            let places = &found[*index].places;
            *left = left.saturating_sub(1 + places.len().checked_ilog2().unwrap_or_default() as usize);
            *left > 0 && places.binary_search_by_key(&(start + offset), |(position, _)| *position).is_ok()
        })
    };
    found[first.0].places.iter().find(|(start, _)| is_at(*start)).map(|(_, from)| *from)
}

/// The letters of a word, to exclude most words without computing an edit distance.
struct LetterSet {
    /// A bit per letter. Letters may share a bit.
    bits: u64,
    count: u32,
}

impl LetterSet {
    fn from_word(word: &str) -> Self {
        word.chars().fold(Self { bits: 0, count: 0 }, |set, letter| Self {
            bits: set.bits | 1 << (u32::from(letter) % u64::BITS),
            count: set.count + 1,
        })
    }

    /// Returns `false` if the words differ by more than `typos`: a typo adds and removes at most one letter.
    const fn is_near(&self, other: &Self, typos: u32) -> bool {
        self.count.abs_diff(other.count) <= typos
            && (self.bits & !other.bits).count_ones() <= typos
            && (other.bits & !self.bits).count_ones() <= typos
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::tokens;

    /// The first matches, found by comparing each word of the text with each word of the query.
    fn naive(query: &Query, text: &str) -> Vec<Option<usize>> {
        let all: Vec<_> = tokens(text).collect();
        let is_close = |word: &Word, at: usize| {
            all.get(at).and_then(|token| word.matches(&token.text)).is_some_and(|how| !how.is_typo())
        };
        let first = |term: &QueryTerm| match term {
            QueryTerm::Word(word) => {
                let near = || all.iter().position(|token| word.matches(&token.text).is_some());
                (0..all.len()).find(|at| is_close(word, *at)).or_else(near)
            }
            QueryTerm::Phrase(phrase) => (0..all.len())
                .find(|at| phrase.parts().iter().all(|part| is_close(&part.word, at + part.offset as usize))),
        };
        query.needs().iter().map(|term| first(term).map(|at| all[at].from)).collect()
    }

    #[test]
    fn a_page_takes_bounded_work() {
        let text = (0..20_000).map(|n| format!("in{} ", "abcdefgh".repeat(1 + n % 7))).collect::<String>();
        let words = (0..60).map(|n| format!("inabc{} ", "defgh".repeat(1 + n % 11))).collect::<String>();
        let phrase = format!("\"{}x\"", "a b ".repeat(100));
        for (query, text) in [(words, text), (phrase, "a b ".repeat(30_000))] {
            let query = Query::parse(&query);
            let mut scanner = TermScanner::new(&query);
            _ = scanner.first_matches(&text);
            assert!(scanner.is_exhausted(), "a lot of work");
            assert!(scanner.first_matches("abc").iter().all(Option::is_none), "no more work");
        }
    }

    proptest! {
        #[test]
        fn one_pass_equals_a_comparison_of_all_words(
            text in "([a-d]{1,9}s?|日本|日|ä|[a-c]{1,2})( ([a-d]{1,9}s?|日本|日|ä|[a-c]{1,2})){0,30}",
            query in "\"?[a-d]{1,9}( [a-d日本]{1,9}){0,3}\"?( [a-d]{1,9}){0,2}",
        ) {
            let query = Query::parse(&query);
            prop_assert_eq!(TermScanner::new(&query).first_matches(&text), naive(&query, &text));
        }
    }
}
