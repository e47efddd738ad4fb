//! The words of a field in their order, and finding those that a query means without looking at all of them.

use std::{
    collections::{BTreeMap, btree_map},
    ops::Bound,
    sync::Arc,
};

use docs_ports::search::{Match, Word};

/// Words in their order, each with what is known of it.
#[derive(Debug)]
pub(super) struct Terms<V>(BTreeMap<Arc<str>, V>);

impl<V> Default for Terms<V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<V> Terms<V> {
    /// The place of a word.
    pub(super) fn entry(&mut self, term: Arc<str>) -> btree_map::Entry<'_, Arc<str>, V> {
        self.0.entry(term)
    }

    /// What is known of a word.
    pub(super) fn get_mut(&mut self, term: &str) -> Option<&mut V> {
        self.0.get_mut(term)
    }

    /// Forgets a word.
    pub(super) fn remove(&mut self, term: &str) {
        self.0.remove(term);
    }

    /// Calls for every word that meets the one looked for, in no particular order.
    pub(super) fn meeting<'t>(&'t self, word: &Word, mut each: impl FnMut(&'t V, Match)) {
        self.whole(word, &mut each);
        near(word, |from| self.next(from), &mut each);
    }

    /// Calls for every word that is the one looked for, or that begins with it where a beginning will do.
    pub(super) fn whole<'t>(&'t self, word: &Word, mut each: impl FnMut(&'t V, Match)) {
        if !word.is_beginning() {
            if let Some(value) = self.0.get(word.text()) {
                each(value, Match::Exact);
            }
            return;
        }
        let from = Bound::Included(word.text());
        for (term, value) in self.0.range::<str, _>((from, Bound::Unbounded)) {
            match word.matches(term) {
                Some(how @ (Match::Exact | Match::Beginning)) => each(value, how),
                _ => break,
            }
        }
    }

    fn next(&self, from: Bound<&str>) -> Option<(&str, &V)> {
        self.0.range::<str, _>((from, Bound::Unbounded)).next().map(|(term, value)| (&**term, value))
    }
}

/// Calls for every word that is the one looked for with typos.
///
/// `next` answers the first word from a bound on. A beginning that cannot become a near word is left with all words
/// that have it, and the next beginning that can is looked up.
fn near<'t, V>(
    word: &Word,
    next: impl Fn(Bound<&str>) -> Option<(&'t str, &'t V)>,
    each: &mut dyn FnMut(&'t V, Match),
) {
    if word.typos() == 0 {
        return;
    }
    let mut path = Path::new(word);
    let mut found = next(Bound::Unbounded);
    while let Some((term, value)) = found {
        found = match path.follow(term) {
            None => {
                // The way leads to the few words that are near; which of them meet is decided as everywhere.
                if let Some(how @ (Match::OneTypo | Match::TwoTypos)) = word.matches(term) {
                    each(value, how);
                }
                next(Bound::Excluded(term))
            }
            Some(dead) => match path.behind(dead) {
                Some(beginning) => next(Bound::Included(beginning.as_str())),
                None => return,
            },
        };
    }
}

/// Most typos of a word.
const MOST: usize = 2;
/// Letters of the word that lie within so many typos of a place.
const BAND: usize = 2 * MOST + 1;

/// How many typos lie between the letters so far and the beginnings of the word. Entry `k` behind `n` letters is that
/// of the first `n + k - MOST` letters of the word; all others are too many.
type Row = [u8; BAND];

/// No beginning, or too many typos.
const FAR: u8 = MOST as u8 + 1;

/// The letters that lead to a term, and how near the word is behind each.
struct Path {
    word: Vec<char>,
    /// The letters of the word in their order, each once.
    letters: Vec<char>,
    most: u8,
    taken: Vec<char>,
    /// One more than there are letters.
    rows: Vec<Row>,
}

impl Path {
    fn new(word: &Word) -> Self {
        let letters: Vec<char> = word.text().chars().collect();
        let start = std::array::from_fn(|k| match k.checked_sub(MOST) {
            Some(count) if count <= letters.len() => u8::try_from(count).unwrap_or(FAR),
            _ => FAR,
        });
        let mut own = letters.clone();
        own.sort_unstable();
        own.dedup();
        Self { word: letters, letters: own, most: word.typos(), taken: Vec::new(), rows: vec![start] }
    }

    /// Goes along the letters of a term; answers the one behind which no near word lies.
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

    /// The first beginning behind the letters taken and a dead one that near words may have.
    fn behind(&mut self, mut dead: char) -> Option<String> {
        loop {
            if let Some(letter) = self.letter_behind(dead) {
                let mut beginning: String = self.taken.iter().collect();
                beginning.push(letter);
                return Some(beginning);
            }
            dead = self.taken.pop()?;
            self.rows.pop();
        }
    }

    /// The first letter behind another that a near word may go on with.
    fn letter_behind(&self, letter: char) -> Option<char> {
        // Letters that the word has not got are all alike, and no nearer than those that it has.
        if !self.is_dead(&self.step(None)) {
            return (letter..=char::MAX).nth(1);
        }
        let from = self.letters.partition_point(|own| *own <= letter);
        self.letters[from..].iter().copied().find(|own| !self.is_dead(&self.step(Some(*own))))
    }

    fn is_dead(&self, row: &Row) -> bool {
        row.iter().all(|typos| *typos > self.most)
    }

    /// The row behind one more letter; without one, behind a letter that the word has not got.
    fn step(&self, letter: Option<char>) -> Row {
        let count = self.taken.len();
        let last = self.rows[count];
        let mut row = [FAR; BAND];
        for k in 0..BAND {
            // The letters of the word that this entry is about.
            let Some(own) = (count + 1 + k).checked_sub(MOST).filter(|own| *own <= self.word.len()) else {
                continue;
            };
            let left_out = k.checked_sub(1).map_or(FAR, |k| row[k] + 1);
            let put_in = last.get(k + 1).map_or(FAR, |typos| typos + 1);
            let replaced = match own.checked_sub(1) {
                Some(before) => last[k] + u8::from(letter != Some(self.word[before])),
                None => FAR,
            };
            let typos = left_out.min(put_in).min(replaced).min(self.swapped(letter, (own, k)));
            row[k] = typos.min(FAR);
        }
        row
    }

    /// The typos when a letter and the one before it stand in the word the other way round.
    fn swapped(&self, letter: Option<char>, (own, k): (usize, usize)) -> u8 {
        let count = self.taken.len();
        if count == 0 || own < 2 {
            return FAR;
        }
        let is_swapped = letter == Some(self.word[own - 2]) && self.taken[count - 1] == self.word[own - 1];
        if is_swapped { self.rows[count - 1][k] + 1 } else { FAR }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        collections::{BTreeMap, BTreeSet},
    };

    use docs_ports::search::{Need, Query};
    use proptest::prelude::*;

    use super::*;

    /// The words of a query that are no phrases.
    fn words(text: &str) -> Vec<Word> {
        let query = Query::parse(text);
        let word = |need: &Need| match need {
            Need::Word(word) => Some(word.clone()),
            Need::Phrase(_) => None,
        };
        query.needs().iter().filter_map(word).collect()
    }

    fn terms<'a>(all: impl IntoIterator<Item = &'a str>) -> Terms<String> {
        Terms(all.into_iter().map(|term| (term.into(), term.to_owned())).collect())
    }

    fn found(terms: &Terms<String>, word: &Word) -> BTreeMap<String, Match> {
        let mut found = BTreeMap::new();
        terms.meeting(word, |term, how| {
            assert_eq!(found.insert(term.clone(), how), None, "{term} is told twice");
        });
        found
    }

    fn naive(terms: &Terms<String>, word: &Word) -> BTreeMap<String, Match> {
        let met = |term: &String| word.matches(term).map(|how| (term.clone(), how));
        terms.0.values().filter_map(met).collect()
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_look_at_every_word_finds(
            all in prop::collection::btree_set("[a-dä日\u{d7ff}\u{e000}\u{10ffff}]{0,10}", 0..150),
            query in "[a-dä]{1,10}( [a-d]{1,9})?",
        ) {
            let terms = terms(all.iter().map(String::as_str));
            for word in words(&query) {
                prop_assert_eq!(found(&terms, &word), naive(&terms, &word), "{:?}", word);
            }
        }

        #[test]
        fn what_is_found_near_a_word_is_what_a_look_at_every_word_finds(
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
            let terms = terms(all.iter().map(String::as_str));
            for query in [word.clone(), format!("{word} ")] {
                for word in words(&query) {
                    prop_assert_eq!(found(&terms, &word), naive(&terms, &word), "{:?}", word);
                }
            }
        }
    }

    /// Words of nine letters, spread over all that there are.
    fn spread(count: u64) -> Terms<String> {
        let letter = |n: u64| char::from(b'a' + (n % 26) as u8);
        let word = |n: u64| {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
            (0..9).map(|at| letter(mixed / 26_u64.pow(at))).collect::<String>()
        };
        let all: Vec<String> = (0..count).map(word).collect();
        terms(all.iter().map(String::as_str))
    }

    #[test]
    fn ten_times_the_words_do_not_take_ten_times_the_looks() {
        let looks_in = |terms: &Terms<String>, word: &Word| {
            let looks = Cell::new(0);
            let mut met = 0;
            let next = |from: Bound<&str>| {
                looks.set(looks.get() + 1);
                terms.next(from)
            };
            near(word, next, &mut |_, _| met += 1);
            assert_eq!(met, naive(terms, word).values().filter(|how| **how >= Match::OneTypo).count());
            looks.get()
        };
        let (few, many) = (spread(10_000), spread(100_000));
        for word in words("confguraton insatll wrod") {
            let (few, many) = (looks_in(&few, &word), looks_in(&many, &word));
            assert!(many < 4 * few && many < 10_000, "{few} looks, then {many}, for {word:?}");
        }
    }

    #[test]
    fn no_word_is_too_long_and_none_too_short() {
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
