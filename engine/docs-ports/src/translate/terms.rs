//! Terms of a glossary, found in texts.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use super::TermRule;

/// Finds the terms of a glossary in texts: all of them in one pass, however many there are.
///
/// A term is found as whole words: not behind a letter or a digit, and, where it ends in one, not before one. It is
/// found in any case, unless its rule says otherwise.
///
/// ```
/// use docs_ports::{TermRule, Terms};
/// let rule = |term: &str| TermRule {
///     term: term.to_owned(),
///     translation: String::new(),
///     case_sensitive: false,
///     note: String::new(),
/// };
/// let terms = Terms::new(&[rule("request"), rule("change request"), rule("space")]);
/// assert_eq!(terms.occurring_in("A Change request in two spaces").into_iter().collect::<Vec<_>>(), [0, 1]);
/// let found = terms.find_all("a change request");
/// assert_eq!((found[0].range.clone(), found[0].rule), (2..16, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The characters that go on from a node, in the case that [`folded`] gives them; the first node is 0.
    next: HashMap<(usize, Folded), usize>,
    /// The terms that end at a node, by its number.
    ends: Vec<Vec<End>>,
}

/// A term that occurs in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundTerm {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// The place of its rule among those that were given.
    pub rule: usize,
}

#[derive(Clone, Debug)]
struct End {
    rule: usize,
    /// The term as it has to be written; absent where its case means nothing.
    exact: Option<String>,
}

/// A character in lower case: as many as Unicode has for one at most.
type Folded = [char; 3];

fn folded(c: char) -> Folded {
    let mut folded = ['\0'; 3];
    folded.iter_mut().zip(c.to_lowercase()).for_each(|(place, c)| *place = c);
    folded
}

impl Terms {
    /// The terms of these rules.
    #[must_use]
    pub fn new(rules: &[TermRule]) -> Self {
        let mut terms = Self { next: HashMap::new(), ends: vec![Vec::new()] };
        for (rule, TermRule { term, case_sensitive, .. }) in rules.iter().enumerate() {
            let mut node = 0;
            for c in term.chars() {
                let new = terms.ends.len();
                node = *terms.next.entry((node, folded(c))).or_insert(new);
                if node == new {
                    terms.ends.push(Vec::new());
                }
            }
            if node != 0 {
                terms.ends[node].push(End { rule, exact: case_sensitive.then(|| term.clone()) });
            }
        }
        terms
    }

    /// The places of the rules whose terms occur in a text, wherever they overlap.
    #[must_use]
    pub fn occurring_in(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for at in self.starts(text) {
            self.each_at(text, at, &mut |term| found.extend([term.rule]));
        }
        found
    }

    /// The terms in a text, from its beginning: where several begin at a place, the longest.
    #[must_use]
    pub fn find_all(&self, text: &str) -> Vec<FoundTerm> {
        let mut found: Vec<FoundTerm> = Vec::new();
        for at in self.starts(text) {
            if found.last().is_some_and(|last| at < last.range.end) {
                continue;
            }
            let mut longest = None;
            self.each_at(text, at, &mut |term| longest = Some(term));
            found.extend(longest);
        }
        found
    }

    /// Where a term may begin in a text.
    fn starts(&self, text: &str) -> impl Iterator<Item = usize> {
        let mut before: Option<char> = None;
        let is_empty = self.next.is_empty();
        text.char_indices().filter_map(move |(at, c)| {
            let begins = before.replace(c).is_none_or(|before| !before.is_alphanumeric());
            (begins && !is_empty).then_some(at)
        })
    }

    /// Tells the terms that begin at a place, shorter ones first.
    fn each_at(&self, text: &str, at: usize, tell: &mut dyn FnMut(FoundTerm)) {
        let mut node = 0;
        let mut rest = text[at..].char_indices().peekable();
        while let Some((offset, c)) = rest.next() {
            let Some(next) = self.next.get(&(node, folded(c))) else { return };
            node = *next;
            let goes_on = c.is_alphanumeric() && rest.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if goes_on {
                continue;
            }
            let range = at..at + offset + c.len_utf8();
            for End { rule, exact } in &self.ends[node] {
                if exact.as_ref().is_none_or(|exact| *exact == text[range.clone()]) {
                    tell(FoundTerm { range: range.clone(), rule: *rule });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(term: &str, case_sensitive: bool) -> TermRule {
        TermRule { term: term.into(), translation: String::new(), case_sensitive, note: String::new() }
    }

    #[test]
    fn a_term_occurs_as_whole_words_only() {
        let occurs = |rule: TermRule, text: &str| !Terms::new(&[rule]).occurring_in(text).is_empty();
        for (text, expected) in [
            ("a space", true),
            ("Space.", true),
            ("spaces", false),
            ("backspace", false),
            ("⟦1⟧space⟦/1⟧", true),
            ("", false),
        ] {
            assert_eq!(occurs(rule("space", false), text), expected, "{text}");
        }
        assert!(!occurs(rule("API", true), "the api"));
        assert!(occurs(rule("C++", true), "in C++20"), "what ends in no letter ends anywhere");
        assert!(!occurs(rule("", false), "text"));
    }

    #[test]
    fn of_terms_that_begin_at_a_place_the_longest_is_found() {
        let terms =
            Terms::new(&[rule("a", false), rule("a b", false), rule("b c", false), rule("A b", true)]);
        let found: Vec<_> =
            terms.find_all("a b c, a x").into_iter().map(|term| (term.range, term.rule)).collect();
        assert_eq!(found, [(0..3, 1), (7..8, 0)]);
        assert_eq!(terms.occurring_in("a b c"), BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn a_thousand_terms_are_found_in_one_pass() {
        // Looking for every term at every place would take minutes.
        let rules: Vec<TermRule> =
            (0..1_000).map(|n| rule(&format!("a term of number {n}"), false)).collect();
        let terms = Terms::new(&rules);
        let text = "a term of number 999 and a term of none; ".repeat(20_000);
        assert_eq!(terms.find_all(&text).len(), 20_000);
        assert_eq!(terms.occurring_in(&text), BTreeSet::from([999]));
    }

    /// Where a term stands in a text, looked for at every place.
    fn naive(rule: &TermRule, text: &str) -> Vec<Range<usize>> {
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let term: Vec<char> = rule.term.chars().collect();
        let same = |one: char, other: char| {
            one == other || (!rule.case_sensitive && one.to_lowercase().eq(other.to_lowercase()))
        };
        let is_word =
            |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|(_, c)| c.is_alphanumeric());
        (0..chars.len())
            .filter(|at| {
                let end = at + term.len();
                end <= chars.len()
                    && term.iter().zip(&chars[*at..]).all(|(term, (_, c))| same(*term, *c))
                    && !is_word(at.checked_sub(1))
                    && !(is_word(Some(end - 1)) && is_word(Some(end)))
            })
            .map(|at| chars[at].0..chars.get(at + term.len()).map_or(text.len(), |(end, _)| *end))
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_search_at_every_place_finds(
            words in prop::collection::vec(("[aAİßé +]{1,4}", any::<bool>()), 0..6),
            text in "[aAİißé +⟦⟧]{0,30}",
        ) {
            let rules: Vec<TermRule> = words.iter().map(|(term, exact)| rule(term, *exact)).collect();
            let terms = Terms::new(&rules);
            let all: Vec<Vec<Range<usize>>> = rules.iter().map(|rule| naive(rule, &text)).collect();
            let occurring: BTreeSet<usize> = (0..rules.len()).filter(|rule| !all[*rule].is_empty()).collect();
            prop_assert_eq!(terms.occurring_in(&text), occurring);
            let mut ends = 0;
            let mut expected: Vec<Range<usize>> = Vec::new();
            for (at, _) in text.char_indices().filter(|(at, _)| all.iter().flatten().any(|range| range.start == *at)) {
                let longest = all.iter().flatten().filter(|range| range.start == at).map(|range| range.end).max();
                if at >= ends && let Some(end) = longest {
                    expected.push(at..end);
                    ends = end;
                }
            }
            let found: Vec<Range<usize>> = terms.find_all(&text).into_iter().map(|term| term.range).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
