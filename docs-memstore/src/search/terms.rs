//! Sorted words of a field, with exact, prefix and fuzzy lookup.

use std::{
    collections::{BTreeMap, btree_map},
    convert::Infallible,
    ops::Bound,
    sync::Arc,
};

use docs_ports::search::{Match, PART_MARK, Word, near_words};

/// Sorted words with associated data.
#[derive(Debug)]
pub(super) struct Terms<V>(BTreeMap<Arc<str>, V>);

impl<V> Default for Terms<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<V> Terms<V> {
    /// Returns the map entry of a word.
    pub(super) fn entry(&mut self, term: Arc<str>) -> btree_map::Entry<'_, Arc<str>, V> {
        self.0.entry(term)
    }

    /// Returns the data of a word.
    pub(super) fn get_mut(&mut self, term: &str) -> Option<&mut V> {
        self.0.get_mut(term)
    }

    /// Removes a word.
    pub(super) fn remove(&mut self, term: &str) {
        self.0.remove(term);
    }

    /// Calls `each` for every word that matches without typos, in unspecified order.
    pub(super) fn for_each_match<'t>(&'t self, word: &Word, mut each: impl FnMut(&'t V, Match)) {
        self.for_each_word_match(word, &mut each);
        self.for_each_inflection(word, &mut each);
        if let Some(value) = self.0.get(format!("{PART_MARK}{}", word.text()).as_str()) {
            each(value, Match::Part);
        }
    }

    /// Calls `each` for every word that matches with typos.
    pub(super) fn for_each_typo<'t>(&'t self, word: &Word, each: impl FnMut(&'t V, Match)) {
        let next = |from: Bound<&str>| Ok::<_, Infallible>(self.next_from(from));
        near_words(word, next, each).unwrap_or_else(|never| match never {});
    }

    /// Calls `each` for every word that matches exactly or, if permitted, as a prefix, up to [`Word::visits`] words.
    pub(super) fn for_each_word_match<'t>(&'t self, word: &Word, mut each: impl FnMut(&'t V, Match)) {
        if !word.is_beginning() {
            if let Some(value) = self.0.get(word.text()) {
                each(value, Match::Exact);
            }
            return;
        }
        let from = Bound::Included(word.text());
        for (term, value) in self.0.range::<str, _>((from, Bound::Unbounded)).take(word.visits()) {
            match word.matches(term) {
                Some(how @ (Match::Exact | Match::Beginning)) => each(value, how),
                Some(Match::Inflection) => {}
                _ => break,
            }
        }
    }

    /// Calls `each` for every inflection of a word, whole or as a part, among at most [`Word::visits`] words each.
    fn for_each_inflection<'t>(&'t self, word: &Word, mut each: impl FnMut(&'t V, Match)) {
        let Some(beginning) = word.inflection_beginning() else { return };
        for beginning in [beginning.to_owned(), format!("{PART_MARK}{beginning}")] {
            let from = (Bound::Included(beginning.as_str()), Bound::Unbounded);
            let near = self.0.range::<str, _>(from).take_while(|(term, _)| term.starts_with(&beginning));
            for (term, value) in near.take(word.visits()) {
                match word.matches(term) {
                    Some(Match::Inflection) => each(value, Match::Inflection),
                    Some(Match::Part) if term.get(1..) != Some(word.text()) => each(value, Match::Part),
                    _ => {}
                }
            }
        }
    }

    fn next_from(&self, from: Bound<&str>) -> Option<(&str, &V)> {
        self.0.range::<str, _>((from, Bound::Unbounded)).next().map(|(term, value)| (&**term, value))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use docs_ports::search::{Query, QueryTerm};
    use proptest::prelude::*;

    use super::*;

    /// Returns the words of a query, without its phrases.
    fn words(text: &str) -> Vec<Word> {
        let query = Query::parse(text);
        let word = |need: &QueryTerm| match need {
            QueryTerm::Word(word) => Some(word.clone()),
            QueryTerm::Phrase(_) => None,
        };
        query.needs().iter().filter_map(word).collect()
    }

    fn terms<'a>(all: impl IntoIterator<Item = &'a str>) -> Terms<String> {
        Terms(all.into_iter().map(|term| (term.into(), term.to_owned())).collect())
    }

    fn found(terms: &Terms<String>, word: &Word) -> BTreeMap<String, Match> {
        let mut found = BTreeMap::new();
        let mut add = |term: &String, how| {
            assert_eq!(found.insert(term.clone(), how), None, "{term} is told twice");
        };
        terms.for_each_match(word, &mut add);
        terms.for_each_typo(word, add);
        found
    }

    fn naive(terms: &Terms<String>, word: &Word) -> BTreeMap<String, Match> {
        let met = |term: &String| word.matches(term).map(|how| (term.clone(), how));
        terms.0.values().filter_map(met).collect()
    }

    proptest! {
        #[test]
        fn term_lookup_equals_a_naive_scan(
            all in prop::collection::btree_set("[a-dä日\u{d7ff}\u{e000}\u{10ffff}]{0,10}", 0..150),
            inflected in prop::collection::btree_set("\u{1}?ab(ac)?(s|es|ed|ing|ly|y|ies|ation)", 0..8),
            query in "[a-dä]{1,10}( [a-d]{1,9})?|ab(ac)?(s|es|ed|ing|y|ies)",
        ) {
            let all: BTreeSet<String> = all.into_iter().chain(inflected).collect();
            let terms = terms(all.iter().map(String::as_str));
            for word in words(&query) {
                prop_assert_eq!(found(&terms, &word), naive(&terms, &word), "{:?}", word);
            }
        }

    }

    #[test]
    fn term_lookup_handles_words_of_any_length() {
        let long = "abcdefghij".repeat(3);
        let terms = terms(["", "a", long.as_str(), &long[1..], &long[3..]]);
        let [word] = &words(&long)[..] else { panic!("one word") };
        let expected = [(long.clone(), Match::Exact), (long[1..].to_owned(), Match::OneTypo)];
        assert_eq!(found(&terms, word), BTreeMap::from(expected));
        let longer = long.repeat(100);
        let terms = self::terms([longer.as_str()]);
        assert_eq!(found(&terms, word), BTreeMap::from([(longer, Match::Beginning)]));
    }
}
