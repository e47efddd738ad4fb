//! Pieces of text by which records are found that contain what somebody types.
//!
//! A text is found by every piece of three characters in it, and by the first one and two characters of its words.
//! Whatever contains a text also contains all the pieces of it, so a search reads the rows of its pieces and compares
//! only what has all of them.

use std::collections::BTreeSet;

/// Characters of a piece.
const GRAM_LENGTH: usize = 3;
/// Most pieces of a search that are looked up: all texts that match have them, and what they leave over is compared.
const MAX_QUERY_GRAMS: usize = 24;

/// Text as it is compared: every letter in lower case, whatever stands beside it.
#[must_use]
pub fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The pieces by which a text is found.
///
/// ```
/// use docs_store::grams;
/// let pieces: Vec<String> = grams::of_text("Ada L").into_iter().collect();
/// assert_eq!(pieces, ["a", "a l", "ad", "ada", "da ", "l"]);
/// ```
#[must_use]
pub fn of_text(text: &str) -> BTreeSet<String> {
    let text: Vec<char> = folded(text).chars().collect();
    let mut pieces: BTreeSet<String> =
        text.windows(GRAM_LENGTH).map(|piece| piece.iter().collect()).collect();
    for start in word_starts(&text) {
        for length in 1..GRAM_LENGTH {
            pieces.extend(text.get(start..start + length).map(|piece| piece.iter().collect::<String>()));
        }
    }
    pieces
}

/// A search for text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted(String);

impl Wanted {
    /// A search; `None` where nothing is searched for. Space around it does not count.
    #[must_use]
    pub fn new(query: &str) -> Option<Self> {
        let folded = folded(query.trim());
        (!folded.is_empty()).then_some(Self(folded))
    }

    /// What is searched for, as it is compared.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The pieces that every text that matches has.
    #[must_use]
    pub fn grams(&self) -> BTreeSet<String> {
        let text: Vec<char> = self.0.chars().collect();
        if text.len() < GRAM_LENGTH {
            return BTreeSet::from([self.0.clone()]);
        }
        let pieces: Vec<&[char]> = text.windows(GRAM_LENGTH).collect();
        // Spread over the whole, so that the end of a long search narrows it down as its beginning does.
        let step = pieces.len().div_ceil(MAX_QUERY_GRAMS);
        pieces.iter().step_by(step).map(|piece| piece.iter().collect()).collect()
    }

    /// Tells whether a text matches: it contains what is searched for. One or two characters have to begin a word.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        let text = folded(text);
        let wanted: Vec<char> = self.0.chars().collect();
        if wanted.len() >= GRAM_LENGTH {
            return text.contains(&self.0);
        }
        let text: Vec<char> = text.chars().collect();
        word_starts(&text).any(|start| text[start..].starts_with(&wanted))
    }
}

/// Where words begin: at a letter or a digit that follows none.
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
        fn whatever_matches_has_all_the_pieces_of_the_search(text in text(60), query in text(6)) {
            if let Some(wanted) = Wanted::new(&query) && wanted.is_in(&text) {
                prop_assert!(wanted.grams().is_subset(&of_text(&text)), "{text} {query}");
            }
        }

        #[test]
        fn every_part_of_three_characters_or_more_is_found(text in text(60), from in 0_usize..60, length in 3_usize..60) {
            let part: String = text.chars().skip(from).take(length).collect();
            if let Some(wanted) = Wanted::new(&part) && wanted.as_str().chars().count() >= GRAM_LENGTH {
                prop_assert!(wanted.is_in(&text));
            }
        }

        #[test]
        fn a_short_search_asks_for_the_one_piece_that_decides(text in text(20), query in text(3)) {
            if let Some(wanted) = Wanted::new(&query) && wanted.as_str().chars().count() < GRAM_LENGTH {
                prop_assert_eq!(wanted.is_in(&text), of_text(&text).contains(wanted.as_str()));
            }
        }
    }

    #[test]
    fn a_search_is_for_parts_of_any_case_and_for_beginnings_of_words() {
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
            assert_eq!(Wanted::new(query).expect("a search").is_in(text), found, "{query} in {text}");
        }
        assert_eq!(Wanted::new("  "), None);
    }

    #[test]
    fn a_long_search_asks_for_some_pieces_of_all_of_it() {
        let wanted = Wanted::new(&('a'..='z').cycle().take(500).collect::<String>()).expect("a search");
        assert!((2..=MAX_QUERY_GRAMS).contains(&wanted.grams().len()));
    }
}
