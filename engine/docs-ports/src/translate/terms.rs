//! Glossary term matching.

use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

/// A matcher that finds all terms of a glossary in a single pass.
///
/// A term matches only whole words: it must not follow a letter or digit and, if it ends in a letter or digit, must not
/// precede one. Matching ignores case unless the rule is case-sensitive.
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
    /// The trie edges, keyed by node and lowercased character. The root is node 0.
    next: HashMap<(usize, LowercaseChars), usize>,
    /// The terms that end at each node.
    ends: Vec<Vec<RuleEnd>>,
}

/// An occurrence of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundTerm {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The index of the rule.
    pub rule: usize,
}

#[derive(Clone, Debug)]
struct RuleEnd {
    rule: usize,
    /// The exact spelling for a case-sensitive rule, or `None` if the rule ignores case.
    exact: Option<String>,
}

/// The lowercase form of a character. In Unicode, it has at most three characters.
type LowercaseChars = [char; 3];

fn fold_char(c: char) -> LowercaseChars {
    let mut folded = ['\0'; 3];
    folded.iter_mut().zip(c.to_lowercase()).for_each(|(place, c)| *place = c);
    folded
}

impl Terms {
    /// Builds a matcher for the terms of the given rules.
    #[must_use]
    pub fn new(rules: &[TermRule]) -> Self {
        let mut terms = Self { next: HashMap::new(), ends: vec![Vec::new()] };
        for (rule, TermRule { term, case_sensitive, .. }) in rules.iter().enumerate() {
            let mut node = 0;
            for c in term.chars() {
                let new = terms.ends.len();
                node = *terms.next.entry((node, fold_char(c))).or_insert(new);
                if node == new {
                    terms.ends.push(Vec::new());
                }
            }
            if node != 0 {
                terms.ends[node].push(RuleEnd { rule, exact: case_sensitive.then(|| term.clone()) });
            }
        }
        terms
    }

    /// Returns the indexes of the rules whose terms occur in `text`, including overlapping occurrences.
    #[must_use]
    pub fn occurring_in(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for at in self.starts(text) {
            self.each_at(text, at, &mut |term| found.extend([term.rule]));
        }
        found
    }

    /// Returns the occurrences in `text` from left to right without overlaps. The longest match at an offset is
    /// preferred.
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

    /// Returns the offsets at which a term can start.
    fn starts(&self, text: &str) -> impl Iterator<Item = usize> {
        let mut before: Option<char> = None;
        let is_empty = self.next.is_empty();
        text.char_indices().filter_map(move |(at, c)| {
            let begins = before.replace(c).is_none_or(|before| !before.is_alphanumeric());
            (begins && !is_empty).then_some(at)
        })
    }

    /// Calls `tell` for the terms that start at an offset, shortest first.
    fn each_at(&self, text: &str, at: usize, tell: &mut dyn FnMut(FoundTerm)) {
        let mut node = 0;
        let mut rest = text[at..].char_indices().peekable();
        while let Some((offset, c)) = rest.next() {
            let Some(next) = self.next.get(&(node, fold_char(c))) else { return };
            node = *next;
            let goes_on = c.is_alphanumeric() && rest.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if goes_on {
                continue;
            }
            let range = at..at + offset + c.len_utf8();
            for RuleEnd { rule, exact } in &self.ends[node] {
                if exact.as_ref().is_none_or(|exact| *exact == text[range.clone()]) {
                    tell(FoundTerm { range: range.clone(), rule: *rule });
                }
            }
        }
    }
}

/// A glossary rule for a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermRule {
    /// The term in the source language.
    pub term: String,
    /// The translation. It equals the term if the term must not be translated.
    pub translation: String,
    /// `true` if the rule only matches this exact case.
    pub case_sensitive: bool,
    /// A note about the meaning of the term. May be empty.
    pub note: String,
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
    fn longest_term_at_a_position_wins() {
        let terms =
            Terms::new(&[rule("a", false), rule("a b", false), rule("b c", false), rule("A b", true)]);
        let found: Vec<_> =
            terms.find_all("a b c, a x").into_iter().map(|term| (term.range, term.rule)).collect();
        assert_eq!(found, [(0..3, 1), (7..8, 0)]);
        assert_eq!(terms.occurring_in("a b c"), BTreeSet::from([0, 1, 2]));
    }

    #[test]
    fn a_thousand_terms_are_found_in_one_pass() {
        // Searching for each term at each offset would take minutes.
        let rules: Vec<TermRule> =
            (0..1_000).map(|n| rule(&format!("a term of number {n}"), false)).collect();
        let terms = Terms::new(&rules);
        let text = "a term of number 999 and a term of none; ".repeat(20_000);
        assert_eq!(terms.find_all(&text).len(), 20_000);
        assert_eq!(terms.occurring_in(&text), BTreeSet::from([999]));
    }

    /// Finds the occurrences of a term by trying all offsets.
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
        fn term_search_equals_a_naive_search(
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
