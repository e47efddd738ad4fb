//! Line-based differences between two texts, and differences between lists of other comparable items.
//!
//! Several minimal lists of changes may exist, and the choice determines whether two of them can be merged. This module
//! makes the same choice as Git: Myers' bidirectional search with its order of preference, limited to lines that have a
//! match. Then every change is moved down as far as possible, or to the last position where the other text changes too.

mod marked_lines;
mod search;
mod slide;

use std::{collections::HashMap, ops::Range};

pub use self::marked_lines::LineId;
use self::{
    marked_lines::MarkedLines,
    search::{mark_unmatched, rough_root},
    slide::slide_groups,
};

/// A change that replaces a range of lines in the old text with a range of lines in the new text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineChange {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Returns the changes between two lists of strings, in order. No two changes are adjacent.
///
/// If the lists have little in common, the search for a minimal result is cut short, so the time is nearly linear in
/// the length of the lists.
#[must_use]
pub fn changed(old: &[String], new: &[String]) -> Vec<LineChange> {
    let mut lines = Lines::default();
    let [old, new] = [old, new].map(|list| list.iter().map(|text| lines.id(text)).collect::<Vec<_>>());
    changes(&old, &new)
}

/// Assigns numbers to lines. Equal lines in all texts get the same number.
#[derive(Default, Debug)]
pub struct Lines<'a> {
    known: HashMap<&'a str, LineId>,
}

impl<'a> Lines<'a> {
    /// Returns the lines of `text`, including line breaks, as numbers.
    pub fn number(&mut self, text: &'a str) -> Vec<LineId> {
        // Allocated once, because a vector that grows while it is filled takes up to three times the memory.
        let mut lines = Vec::with_capacity(text.bytes().filter(|b| *b == b'\n').count() + 1);
        lines.extend(text.split_inclusive('\n').map(|line| self.id(line)));
        lines
    }

    /// Assigns numbers to whole texts, without splitting them into lines.
    pub fn number_all(&mut self, texts: &[&'a str]) -> Vec<LineId> {
        texts.iter().map(|text| self.id(text)).collect()
    }

    fn id(&mut self, line: &'a str) -> LineId {
        let next = LineId::try_from(self.known.len()).unwrap_or(LineId::MAX);
        *self.known.entry(line).or_insert(next)
    }
}

/// Returns the changes from `old` to `new`, in order. No two changes are adjacent.
#[must_use]
pub fn changes(old: &[LineId], new: &[LineId]) -> Vec<LineChange> {
    let [mut old, mut new] = mark_changed(old, new);
    slide_groups(&mut old, &mut new);
    slide_groups(&mut new, &mut old);
    // Allocated once, because a vector that grows while it is filled takes up to three times the memory.
    let mut out = Vec::with_capacity(gaps(&old, &new).count());
    out.extend(gaps(&old, &new));
    out
}

/// Iterates over the non-empty gaps between matching lines.
fn gaps(old: &MarkedLines<'_>, new: &MarkedLines<'_>) -> impl Iterator<Item = LineChange> {
    let (mut a, mut b) = (0, 0);
    std::iter::from_fn(move || {
        while a < old.lines.len() || b < new.lines.len() {
            let (from_a, from_b) = (a, b);
            let (end_a, end_b) = (a + old.run(a), b + new.run(b));
            (a, b) = (end_a + 1, end_b + 1);
            if end_a > from_a || end_b > from_b {
                return Some(LineChange { old: from_a..end_a, new: from_b..end_b });
            }
        }
        None
    })
}

/// Marks the lines that have no counterpart in the other text.
fn mark_changed<'a>(old: &'a [LineId], new: &'a [LineId]) -> [MarkedLines<'a>; 2] {
    let mut sides = [old, new].map(|lines| MarkedLines { lines, changed: vec![false; lines.len()] });
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let middles = [head..old.len() - tail, head..new.len() - tail];
    exclude_insignificant(&mut sides[0], new, &middles[0]);
    exclude_insignificant(&mut sides[1], old, &middles[1]);
    let ids = [0, 1].map(|side: usize| sides[side].matchable_lines(&middles[side]));
    for (side, unmatched) in mark_unmatched(&ids[0], &ids[1]).into_iter().enumerate() {
        let mut unmatched = unmatched.into_iter();
        for at in middles[side].clone() {
            if !sides[side].changed[at] {
                sides[side].changed[at] = unmatched.next().unwrap_or_default();
            }
        }
    }
    sides
}

/// The frequency of a line in the other text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    /// No equal line.
    No,
    /// A small number of equal lines.
    Some,
    /// So many equal lines that a match is not significant.
    Many,
}

/// Number of lines before and after a frequent line that are inspected to determine whether it is significant.
const CONTEXT_LINES: usize = 100;
/// Maximum threshold for frequent lines. Shorter texts have a lower threshold.
const MAX_FREQUENT_THRESHOLD: u32 = 1024;

/// Marks the lines that are excluded from the comparison: lines without a match, and frequent lines surrounded by lines
/// without a match, because such a match is not significant.
fn exclude_insignificant(side: &mut MarkedLines<'_>, other: &[LineId], middle: &Range<usize>) {
    let mut counts: HashMap<LineId, u32> = HashMap::new();
    for line in other {
        *counts.entry(*line).or_default() += 1;
    }
    let many = u32::try_from(rough_root(side.lines.len()))
        .unwrap_or(MAX_FREQUENT_THRESHOLD)
        .min(MAX_FREQUENT_THRESHOLD);
    let matches: Vec<Match> = side.lines[middle.clone()]
        .iter()
        .map(|line| match counts.get(line) {
            None => Match::No,
            Some(count) if *count >= many => Match::Many,
            Some(_) => Match::Some,
        })
        .collect();
    for (at, line) in middle.clone().enumerate() {
        side.changed[line] = match matches[at] {
            Match::No => true,
            Match::Some => false,
            Match::Many => is_insignificant(&matches, at),
        };
    }
}

/// Returns `true` if at least three quarters of the lines around a frequent line have no match.
fn is_insignificant(matches: &[Match], at: usize) -> bool {
    let look = |around: &mut dyn Iterator<Item = &Match>| {
        let (mut none, mut many) = (0, 1);
        for found in around.take(CONTEXT_LINES).take_while(|found| **found != Match::Some) {
            match found {
                Match::No => none += 1,
                Match::Some | Match::Many => many += 1,
            }
        }
        (none, many)
    };
    let (before, many_before) = look(&mut matches[..at].iter().rev());
    if before == 0 {
        return false;
    }
    let (after, many_after) = look(&mut matches[at + 1..].iter());
    let (none, many) = (before + after, many_before + many_after);
    after > 0 && many * 4 < many + none
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn applied(old: &[LineId], new: &[LineId], changes: &[LineChange]) -> Vec<LineId> {
        let mut out = Vec::new();
        let mut at = 0;
        for change in changes {
            out.extend_from_slice(&old[at..change.old.start]);
            out.extend_from_slice(&new[change.new.clone()]);
            at = change.old.end;
        }
        out.extend_from_slice(&old[at..]);
        out
    }

    fn common(old: &[LineId], new: &[LineId]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for a in old {
            let mut diagonal = 0;
            for (at, b) in new.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[new.len()]
    }

    /// Generates lists of distinct lines.
    fn rare() -> impl Strategy<Value = Vec<LineId>> {
        let lines = Just((0..60).collect::<Vec<LineId>>()).prop_shuffle();
        (lines, 0..40_usize).prop_map(|(mut lines, length)| {
            lines.truncate(length);
            lines
        })
    }

    proptest! {
        #[test]
        fn applying_the_changes_yields_the_new_text(
            old in prop::collection::vec(0u32..6, 0..40), new in prop::collection::vec(0u32..6, 0..40),
        ) {
            let changes = changes(&old, &new);
            prop_assert_eq!(applied(&old, &new, &changes), new);
            for pair in changes.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start && pair[0].new.end < pair[1].new.start);
            }
        }

        #[test]
        fn diff_of_rare_lines_is_minimal(old in rare(), new in rare()) {
            let changed: usize = changes(&old, &new).iter().map(|change| change.old.len()).sum();
            prop_assert_eq!(old.len() - changed, common(&old, &new));
        }
    }

    #[test]
    fn comparing_long_shuffled_texts_takes_bounded_work() {
        let old: Vec<LineId> = (0..20_000).collect();
        let new: Vec<LineId> = (0..20_000).map(|n| (n * 7919) % 20_000).collect();
        let changes = changes(&old, &new);
        assert_eq!(applied(&old, &new, &changes), new);
    }
}
