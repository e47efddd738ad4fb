//! Fuzzy lookup of similar words in a sorted index, without visiting all words.

use std::ops::Bound;

use super::{Match, Word};

/// Calls `each` for every word in an index that matches `word` with typos: first those with one typo, then those with
/// two, both in index order. Stops after [`Word::visits`] lookups, so in a very large index some words are omitted.
///
/// The index must be sorted bytewise and free of duplicates. `next` returns the first word at or after a lower bound,
/// with an arbitrary value. If a prefix cannot lead to a match, all words with this prefix are skipped, and the next
/// viable prefix is looked up. Therefore few lookups suffice even for a large index.
///
/// # Errors
/// The error of a failed lookup, which ends the search.
///
/// # Example
///
/// ```
/// use std::{collections::BTreeSet, convert::Infallible, ops::Bound};
/// use docs_ports::search::{QueryTerm, Query, near_words};
///
/// let words = BTreeSet::from(["server", "serves", "space"]);
/// let next = |from: Bound<&str>| {
///     let found = words.range::<str, _>((from, Bound::Unbounded)).next();
///     Ok::<_, Infallible>(found.map(|word| (*word, word.len())))
/// };
/// let query = Query::parse("servr ");
/// let [QueryTerm::Word(word)] = query.needs() else { unreachable!("one word") };
/// let mut found = Vec::new();
/// near_words(word, next, |length, how| found.push((length, how)))?;
/// assert_eq!(found.len(), 1, "one letter was left out of `server`; `serves` would be two");
/// # Ok::<(), Infallible>(())
/// ```
pub fn near_words<T: AsRef<str>, V, E>(
    word: &Word,
    mut next: impl FnMut(Bound<&str>) -> Result<Option<(T, V)>, E>,
    mut each: impl FnMut(V, Match),
) -> Result<(), E> {
    let mut left = word.visits();
    for (typos, wanted) in [(1, Match::OneTypo), (2, Match::TwoTypos)] {
        if typos > word.typos() {
            break;
        }
        let next = |from: Bound<&str>| {
            let Some(rest) = left.checked_sub(1) else { return Ok(None) };
            left = rest;
            next(from)
        };
        walk(word, typos, wanted, next, &mut each)?;
    }
    Ok(())
}

/// Calls `each` for every word with the wanted number of typos. Only looks up prefixes with at most that many typos.
fn walk<T: AsRef<str>, V, E>(
    word: &Word,
    typos: u8,
    wanted: Match,
    mut next: impl FnMut(Bound<&str>) -> Result<Option<(T, V)>, E>,
    each: &mut impl FnMut(V, Match),
) -> Result<(), E> {
    let mut path = Path::new(word, typos);
    let mut found = next(Bound::Unbounded)?;
    while let Some((term, value)) = found {
        let term = term.as_ref();
        found = match path.follow(term) {
            None => {
                // Only similar words reach this line. The shared matching rule makes the final decision.
                if word.matches(term) == Some(wanted) {
                    each(value, wanted);
                }
                next(Bound::Excluded(term))?
            }
            Some(dead) => match path.prefix_after(dead) {
                Some(beginning) => next(Bound::Included(beginning.as_str()))?,
                None => return Ok(()),
            },
        };
    }
    Ok(())
}

/// Maximum number of typos in a word.
const MAX_TYPOS: usize = 2;
/// Width of the band of the edit distance matrix.
const BAND: usize = 2 * MAX_TYPOS + 1;

/// A row of the edit distance matrix, limited to its band. After `n` letters of the term, entry `k` is the distance to
/// the first `n + k - MAX_TYPOS` letters of the word. Distances outside the band exceed the maximum.
type Row = [u8; BAND];

/// The value of an entry that is outside the word or has too many typos.
const BEYOND_MAX_TYPOS: u8 = MAX_TYPOS as u8 + 1;

/// The current prefix of a term, with the matrix row after each letter.
struct Path {
    word: Vec<char>,
    /// The distinct letters of the word, sorted.
    letters: Vec<char>,
    most: u8,
    taken: Vec<char>,
    /// The matrix rows: one more than there are letters in `taken`.
    rows: Vec<Row>,
}

impl Path {
    fn new(word: &Word, most: u8) -> Self {
        let letters: Vec<char> = word.text().chars().collect();
        let start = std::array::from_fn(|k| match k.checked_sub(MAX_TYPOS) {
            Some(count) if count <= letters.len() => u8::try_from(count).unwrap_or(BEYOND_MAX_TYPOS),
            _ => BEYOND_MAX_TYPOS,
        });
        let mut own = letters.clone();
        own.sort_unstable();
        own.dedup();
        Self { word: letters, letters: own, most, taken: Vec::new(), rows: vec![start] }
    }

    /// Extends the prefix by the letters of a term. Returns the first letter that no match can follow, if any.
    fn follow(&mut self, term: &str) -> Option<char> {
        let shared = self.taken.iter().zip(term.chars()).take_while(|(taken, own)| **taken == *own).count();
        self.taken.truncate(shared);
        self.rows.truncate(shared + 1);
        for letter in term.chars().skip(shared) {
            let row = self.step(Some(letter));
            if self.is_dead(&row) {
                return Some(letter);
            }
            self.taken.push(letter);
            self.rows.push(row);
        }
        None
    }

    /// Returns the first viable prefix after `taken` followed by a dead letter.
    fn prefix_after(&mut self, mut dead: char) -> Option<String> {
        loop {
            if let Some(letter) = self.letter_after(dead) {
                let mut beginning: String = self.taken.iter().collect();
                beginning.push(letter);
                return Some(beginning);
            }
            dead = self.taken.pop()?;
            self.rows.pop();
        }
    }

    /// Returns the next letter after the given one with which a match can continue.
    fn letter_after(&self, letter: char) -> Option<char> {
        // All letters that are not in the word are equivalent, and never better than a letter in it.
        if !self.is_dead(&self.step(None)) {
            return (letter..=char::MAX).nth(1);
        }
        let from = self.letters.partition_point(|own| *own <= letter);
        self.letters[from..].iter().copied().find(|own| !self.is_dead(&self.step(Some(*own))))
    }

    fn is_dead(&self, row: &Row) -> bool {
        row.iter().all(|typos| *typos > self.most)
    }

    /// Computes the row after one more letter. `None` stands for a letter that is not in the word.
    fn step(&self, letter: Option<char>) -> Row {
        let count = self.taken.len();
        let last = self.rows[count];
        let mut row = [BEYOND_MAX_TYPOS; BAND];
        for k in 0..BAND {
            // The length of the word prefix for this entry.
            let Some(own) = (count + 1 + k).checked_sub(MAX_TYPOS).filter(|own| *own <= self.word.len())
            else {
                continue;
            };
            let left_out = k.checked_sub(1).map_or(BEYOND_MAX_TYPOS, |k| row[k] + 1);
            let put_in = last.get(k + 1).map_or(BEYOND_MAX_TYPOS, |typos| typos + 1);
            let replaced = match own.checked_sub(1) {
                Some(before) => last[k] + u8::from(letter != Some(self.word[before])),
                None => BEYOND_MAX_TYPOS,
            };
            let typos = left_out.min(put_in).min(replaced).min(self.transposed_distance(letter, own, k));
            row[k] = typos.min(BEYOND_MAX_TYPOS);
        }
        row
    }

    /// Returns the distance if this letter and the previous one are transposed in the word.
    fn transposed_distance(&self, letter: Option<char>, own: usize, k: usize) -> u8 {
        let count = self.taken.len();
        if count == 0 || own < 2 {
            return BEYOND_MAX_TYPOS;
        }
        let is_swapped = letter == Some(self.word[own - 2]) && self.taken[count - 1] == self.word[own - 1];
        if is_swapped { self.rows[count - 1][k] + 1 } else { BEYOND_MAX_TYPOS }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        convert::Infallible,
    };

    use proptest::prelude::*;

    use super::*;
    use crate::search::{Query, QueryTerm};

    /// Returns the words of a query, without its phrases.
    fn words(text: &str) -> Vec<Word> {
        let query = Query::parse(text);
        let word = |need: &QueryTerm| match need {
            QueryTerm::Word(word) => Some(word.clone()),
            QueryTerm::Phrase(_) => None,
        };
        query.needs().iter().filter_map(word).collect()
    }

    fn next<'a>(
        all: &'a BTreeSet<String>,
        from: Bound<&str>,
    ) -> Result<Option<(&'a str, &'a str)>, Infallible> {
        Ok(all.range::<str, _>((from, Bound::Unbounded)).next().map(|term| (term.as_str(), term.as_str())))
    }

    fn near_matches(all: &BTreeSet<String>, word: &Word) -> BTreeMap<String, Match> {
        let mut found = BTreeMap::new();
        let each = |term: &str, how| {
            assert_eq!(found.insert(term.to_owned(), how), None, "{term} is told twice");
        };
        near_words(word, |from| next(all, from), each).unwrap_or_else(|never| match never {});
        found
    }

    fn naive(all: &BTreeSet<String>, word: &Word) -> BTreeMap<String, Match> {
        let met = |term: &String| word.matches(term).map(|how| (term.clone(), how));
        all.iter().filter_map(met).filter(|(_, how)| *how >= Match::OneTypo).collect()
    }

    proptest! {
        #[test]
        fn fuzzy_search_equals_a_full_scan_for_any_script(
            all in prop::collection::btree_set("[a-dä日\u{d7ff}\u{e000}\u{10ffff}]{0,10}", 0..150),
            query in "[a-dä]{1,10}( [a-d]{1,9})?",
        ) {
            for word in words(&query) {
                prop_assert_eq!(near_matches(&all, &word), naive(&all, &word), "{:?}", word);
            }
        }

        #[test]
        fn fuzzy_search_equals_a_full_scan_for_edited_words(
            word in "[a-z]{4,12}",
            edits in prop::collection::vec((0..4_u8, 0..14_usize, "[a-z]", 0..3_u8), 0..80),
        ) {
            let mut all = BTreeSet::from([word.clone()]);
            let mut last: Vec<char> = word.chars().collect();
            for (edit, at, letter, again) in edits {
                if again == 0 {
                    last = word.chars().collect();
                }
                let at = at % last.len().max(1);
                match edit {
                    0 => last.insert(at, letter.chars().next().unwrap_or('x')),
                    1 if !last.is_empty() => _ = last.remove(at),
                    2 if !last.is_empty() => last[at] = letter.chars().next().unwrap_or('x'),
                    _ if at + 1 < last.len() => last.swap(at, at + 1),
                    _ => {}
                }
                all.insert(last.iter().collect());
            }
            for query in [word.clone(), format!("{word} ")] {
                for word in words(&query) {
                    prop_assert_eq!(near_matches(&all, &word), naive(&all, &word), "{:?}", word);
                }
            }
        }
    }

    /// Generates words of nine letters, distributed over the whole range.
    fn spread(count: u64) -> BTreeSet<String> {
        let letter = |n: u64| char::from(b'a' + (n % 26) as u8);
        let word = |n: u64| {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
            (0..9).map(|at| letter(mixed / 26_u64.pow(at))).collect::<String>()
        };
        (0..count).map(word).collect()
    }

    #[test]
    fn fuzzy_lookup_count_grows_sublinearly() {
        let looks_in = |all: &BTreeSet<String>, word: &Word| {
            let (mut looks, mut met) = (0, 0);
            let next = |from: Bound<&str>| {
                looks += 1;
                next(all, from)
            };
            near_words(word, next, |_, _| met += 1).unwrap_or_else(|never| match never {});
            assert_eq!(met, naive(all, word).len());
            looks
        };
        let (few, many) = (spread(10_000), spread(100_000));
        for word in words("confguraton insatll wrod") {
            let (few, many) = (looks_in(&few, &word), looks_in(&many, &word));
            assert!(many < 4 * few && many <= word.visits(), "{few} looks, then {many}, for {word:?}");
        }
    }

    #[test]
    fn near_words_visits_at_most_the_share_of_a_word() {
        let all = spread(100_000);
        let query =
            (0..60).map(|at| all.iter().nth(at * 1_000).expect("a word").as_str()).collect::<Vec<_>>();
        let mut looks = 0;
        for word in words(&query.join(" ")) {
            let before = looks;
            let next = |from: Bound<&str>| {
                looks += 1;
                next(&all, from)
            };
            near_words(&word, next, |_, _| {}).unwrap_or_else(|never| match never {});
            assert!(looks - before <= word.visits(), "{word:?}");
        }
        assert!(looks > 10_000, "{looks}");
    }

    #[test]
    fn near_words_reports_one_typo_before_two() {
        let all = BTreeSet::from(["installaton", "instalaton", "innstallation"].map(str::to_owned));
        let [word] = &words("installation ")[..] else { panic!("one word") };
        let mut found = Vec::new();
        near_words(word, |from| next(&all, from), |term, how| found.push((term.to_owned(), how)))
            .unwrap_or_else(|never| match never {});
        let expected = [
            ("innstallation", Match::OneTypo),
            ("installaton", Match::OneTypo),
            ("instalaton", Match::TwoTypos),
        ];
        assert_eq!(found, expected.map(|(term, how)| (term.to_owned(), how)));
    }

    #[test]
    fn failed_index_lookup_aborts_the_search() {
        let [word] = &words("server ")[..] else { panic!("one word") };
        let mut looks = 0;
        let next = |_: Bound<&str>| {
            looks += 1;
            if looks == 3 { Err("the index cannot be read") } else { Ok(Some(("servar", ()))) }
        };
        assert_eq!(near_words(word, next, |(), _| {}), Err("the index cannot be read"));
        assert_eq!(looks, 3);
    }
}
