//! N-gram index for substring search over records.
//!
//! A string is indexed by its trigrams, and by the first character and the first two characters of each word. A string
//! that contains a query also contains all n-grams of the query. A search therefore reads the index rows of these
//! n-grams and compares only the records that have all of them.

use std::collections::BTreeSet;

/// Number of characters in an n-gram.
const GRAM_LENGTH: usize = 3;
/// Maximum number of query n-grams that are looked up. The final comparison removes false positives.
const MAX_QUERY_GRAMS: usize = 24;

/// Folds text for comparison. Each letter is lowercased independently of its neighbors.
#[must_use]
pub fn fold_text(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Returns the n-grams under which a string is indexed.
///
/// ```
/// use docs_store::grams;
/// let pieces: Vec<String> = grams::from_text("Ada L").into_iter().collect();
/// assert_eq!(pieces, ["a", "a l", "ad", "ada", "da ", "l"]);
/// ```
#[must_use]
pub fn from_text(text: &str) -> BTreeSet<String> {
    let text: Vec<char> = fold_text(text).chars().collect();
    let mut pieces: BTreeSet<String> =
        text.windows(GRAM_LENGTH).map(|piece| piece.iter().collect()).collect();
    for start in word_starts(&text) {
        for length in 1..GRAM_LENGTH {
            pieces.extend(text.get(start..start + length).map(|piece| piece.iter().collect::<String>()));
        }
    }
    pieces
}

/// A search query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GramQuery(String);

impl GramQuery {
    /// Creates a query, ignoring surrounding whitespace. Returns `None` if it is empty.
    #[must_use]
    pub fn new(query: &str) -> Option<Self> {
        let folded = fold_text(query.trim());
        (!folded.is_empty()).then_some(Self(folded))
    }

    /// Returns the folded query text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns n-grams that every matching text contains.
    #[must_use]
    pub fn grams(&self) -> BTreeSet<String> {
        let text: Vec<char> = self.0.chars().collect();
        if text.len() < GRAM_LENGTH {
            return BTreeSet::from([self.0.clone()]);
        }
        let pieces: Vec<&[char]> = text.windows(GRAM_LENGTH).collect();
        // Sample evenly, so that the end of a long query narrows the result as well as its beginning.
        let step = pieces.len().div_ceil(MAX_QUERY_GRAMS);
        pieces.iter().step_by(step).map(|piece| piece.iter().collect()).collect()
    }

    /// Returns `true` if the text contains the query. A query of one or two characters must be at the start of a word.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        let text = fold_text(text);
        let wanted: Vec<char> = self.0.chars().collect();
        if wanted.len() >= GRAM_LENGTH {
            return text.contains(&self.0);
        }
        let text: Vec<char> = text.chars().collect();
        word_starts(&text).any(|start| text[start..].starts_with(&wanted))
    }
}

/// Returns the start indexes of words: alphanumeric characters that do not follow an alphanumeric character.
fn word_starts(text: &[char]) -> impl Iterator<Item = usize> + '_ {
    (0..text.len()).filter(|at| text[*at].is_alphanumeric() && (*at == 0 || !text[at - 1].is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;

    fn text(most: usize) -> impl Strategy<Value = String> {
        let letters = "aAbBcß İΣς@.-1漢 ".chars().collect::<Vec<_>>();
        prop::collection::vec(select(letters), 0..most).prop_map(|letters| letters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn matching_text_contains_all_query_grams(text in text(60), query in text(6)) {
            if let Some(wanted) = GramQuery::new(&query) && wanted.is_in(&text) {
                prop_assert!(wanted.grams().is_subset(&from_text(&text)), "{text} {query}");
            }
        }

        #[test]
        fn every_part_of_three_characters_or_more_is_found(text in text(60), from in 0_usize..60, length in 3_usize..60) {
            let part: String = text.chars().skip(from).take(length).collect();
            if let Some(wanted) = GramQuery::new(&part) && wanted.as_str().chars().count() >= GRAM_LENGTH {
                prop_assert!(wanted.is_in(&text));
            }
        }

        #[test]
        fn query_shorter_than_a_gram_is_decided_by_one_gram(text in text(20), query in text(3)) {
            if let Some(wanted) = GramQuery::new(&query) && wanted.as_str().chars().count() < GRAM_LENGTH {
                prop_assert_eq!(wanted.is_in(&text), from_text(&text).contains(wanted.as_str()));
            }
        }
    }

    #[test]
    fn search_matches_substrings_in_any_case_and_word_prefixes() {
        for (query, text, found) in [
            ("LOVE", "Ada Lovelace", true),
            ("a lo", "Ada Lovelace", true),
            ("lovelace ada", "Ada Lovelace", false),
            ("l", "Ada Lovelace", true),
            (" lo ", "Ada Lovelace", true),
            ("o", "Ada Lovelace", false),
            ("ex", "ada@example.com", true),
            ("@", "ada@example.com", false),
            ("@ex", "ada@example.com", true),
            ("STRASSE", "Straße", false),
            ("ΟΔΟΣ", "οδοσ 1", true),
        ] {
            assert_eq!(GramQuery::new(query).expect("a search").is_in(text), found, "{query} in {text}");
        }
        assert_eq!(GramQuery::new("  "), None);
    }

    #[test]
    fn long_query_uses_a_bounded_number_of_grams() {
        let wanted = GramQuery::new(&('a'..='z').cycle().take(500).collect::<String>()).expect("a search");
        assert!((2..=MAX_QUERY_GRAMS).contains(&wanted.grams().len()));
    }
}
