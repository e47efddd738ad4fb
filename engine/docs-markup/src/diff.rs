//! What changed between two texts, line by line, or between two lists of other things that are equal or not.
//!
//! Several smallest lists of changes may exist, and whether two of them unite depends on which is taken. The one
//! taken here is the one Git takes: Myers' search from both ends, with its order of preference, over lines that can
//! match at all; then every change is moved down as far as it goes, or to where the other text changes too.

mod search;
mod slide;

use std::{collections::HashMap, ops::Range};

use self::{
    search::{rough_root, unmatched},
    slide::settle,
};

/// A line of one text, as a number that equal lines share.
pub type LineId = u32;

/// A change: these lines of the old text became those of the new one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The lines of the old text.
    pub old: Range<usize>,
    /// The lines of the new text.
    pub new: Range<usize>,
}

/// What changed from one list of texts to another, in order; no two changes touch.
///
/// Where the lists have little in common, the search for the fewest changes ends early: it takes time that grows little
/// faster than the lists.
#[must_use]
pub fn changed(old: &[String], new: &[String]) -> Vec<Change> {
    let mut lines = Lines::default();
    let [old, new] = [old, new].map(|list| list.iter().map(|text| lines.id(text)).collect::<Vec<_>>());
    changes(&old, &new)
}

/// Numbers lines, the same for equal ones of all texts.
#[derive(Default, Debug)]
pub struct Lines<'a> {
    known: HashMap<&'a str, LineId>,
}

impl<'a> Lines<'a> {
    /// The lines of a text, line breaks included, as numbers.
    pub fn number(&mut self, text: &'a str) -> Vec<LineId> {
        // Room that grows as it is filled would be taken three times.
        let mut lines = Vec::with_capacity(text.bytes().filter(|b| *b == b'\n').count() + 1);
        lines.extend(text.split_inclusive('\n').map(|line| self.id(line)));
        lines
    }

    /// Texts as numbers, each as it is.
    pub fn number_all(&mut self, texts: &[&'a str]) -> Vec<LineId> {
        texts.iter().map(|text| self.id(text)).collect()
    }

    fn id(&mut self, line: &'a str) -> LineId {
        let next = LineId::try_from(self.known.len()).unwrap_or(LineId::MAX);
        *self.known.entry(line).or_insert(next)
    }
}

/// What changed from `old` to `new`, in order; no two changes touch.
#[must_use]
pub fn changes(old: &[LineId], new: &[LineId]) -> Vec<Change> {
    let [mut old, mut new] = marked(old, new);
    settle(&mut old, &mut new);
    settle(&mut new, &mut old);
    // Room that grows as it is filled would be taken three times.
    let mut out = Vec::with_capacity(gaps(&old, &new).count());
    out.extend(gaps(&old, &new));
    out
}

/// What stands between lines that match, where that is anything.
fn gaps(old: &Marked<'_>, new: &Marked<'_>) -> impl Iterator<Item = Change> {
    let (mut a, mut b) = (0, 0);
    std::iter::from_fn(move || {
        while a < old.lines.len() || b < new.lines.len() {
            let (from_a, from_b) = (a, b);
            let (end_a, end_b) = (a + old.run(a), b + new.run(b));
            (a, b) = (end_a + 1, end_b + 1);
            if end_a > from_a || end_b > from_b {
                return Some(Change { old: from_a..end_a, new: from_b..end_b });
            }
        }
        None
    })
}

/// A text and which of its lines have no counterpart.
struct Marked<'a> {
    lines: &'a [LineId],
    changed: Vec<bool>,
}

impl Marked<'_> {
    /// How many lines from here on have no counterpart.
    fn run(&self, from: usize) -> usize {
        self.changed.get(from..).unwrap_or_default().iter().take_while(|changed| **changed).count()
    }

    /// The lines of a range that may have a counterpart.
    fn open(&self, range: &Range<usize>) -> Vec<LineId> {
        let places = || range.clone().filter(|at| !self.changed[*at]);
        let mut lines = Vec::with_capacity(places().count());
        lines.extend(places().map(|at| self.lines[at]));
        lines
    }
}

/// Marks the lines that have no counterpart.
fn marked<'a>(old: &'a [LineId], new: &'a [LineId]) -> [Marked<'a>; 2] {
    let mut sides = [old, new].map(|lines| Marked { lines, changed: vec![false; lines.len()] });
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let middles = [head..old.len() - tail, head..new.len() - tail];
    worth_comparing(&mut sides[0], new, &middles[0]);
    worth_comparing(&mut sides[1], old, &middles[1]);
    let ids = [0, 1].map(|side: usize| sides[side].open(&middles[side]));
    for (side, unmatched) in unmatched(&ids[0], &ids[1]).into_iter().enumerate() {
        let mut unmatched = unmatched.into_iter();
        for at in middles[side].clone() {
            if !sides[side].changed[at] {
                sides[side].changed[at] = unmatched.next().unwrap_or_default();
            }
        }
    }
    sides
}

/// Whether a line can match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Match {
    /// There is no equal line in the other text.
    No,
    /// There are a few.
    Some,
    /// There are so many that they say little.
    Many,
}

/// How far around a common line one looks to see whether it says anything.
const WINDOW: usize = 100;
/// How many equal lines are many, at most.
const MANY: u32 = 1024;

/// Marks the lines that are not worth comparing: they match nothing, or stand among lines that match nothing and are so
/// common that a match would say nothing.
fn worth_comparing(side: &mut Marked<'_>, other: &[LineId], middle: &Range<usize>) {
    let mut counts: HashMap<LineId, u32> = HashMap::new();
    for line in other {
        *counts.entry(*line).or_default() += 1;
    }
    let many = u32::try_from(rough_root(side.lines.len())).unwrap_or(MANY).min(MANY);
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
            Match::Many => says_nothing(&matches, at),
        };
    }
}

/// Tells whether a common line stands among lines that match nothing: at least three of four around it.
fn says_nothing(matches: &[Match], at: usize) -> bool {
    let look = |around: &mut dyn Iterator<Item = &Match>| {
        let (mut none, mut many) = (0, 1);
        for found in around.take(WINDOW).take_while(|found| **found != Match::Some) {
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

    fn applied(old: &[LineId], new: &[LineId], changes: &[Change]) -> Vec<LineId> {
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

    /// Lines of which each is there once.
    fn rare() -> impl Strategy<Value = Vec<LineId>> {
        let lines = Just((0..60).collect::<Vec<LineId>>()).prop_shuffle();
        (lines, 0..40_usize).prop_map(|(mut lines, length)| {
            lines.truncate(length);
            lines
        })
    }

    proptest! {
        #[test]
        fn changes_lead_from_the_old_text_to_the_new_one(
            old in prop::collection::vec(0u32..6, 0..40), new in prop::collection::vec(0u32..6, 0..40),
        ) {
            let changes = changes(&old, &new);
            prop_assert_eq!(applied(&old, &new, &changes), new);
            for pair in changes.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start && pair[0].new.end < pair[1].new.start);
            }
        }

        #[test]
        fn among_lines_that_are_rare_nothing_changes_that_need_not(old in rare(), new in rare()) {
            let changed: usize = changes(&old, &new).iter().map(|change| change.old.len()).sum();
            prop_assert_eq!(old.len() - changed, common(&old, &new));
        }
    }

    #[test]
    fn long_texts_with_nothing_in_order_are_compared_with_bounded_work() {
        let old: Vec<LineId> = (0..20_000).collect();
        let new: Vec<LineId> = (0..20_000).map(|n| (n * 7919) % 20_000).collect();
        let changes = changes(&old, &new);
        assert_eq!(applied(&old, &new, &changes), new);
    }
}
