//! What changed between two texts, line by line, or between two lists of other things that are equal or not.
//!
//! Several smallest lists of changes may exist, and whether two of them unite depends on which is taken. The one
//! taken here is the one Git takes: Myers' search from both ends, with its order of preference, over lines that can
//! match at all; then every change is moved down as far as it goes, or to where the other text changes too.

use std::{collections::HashMap, ops::Range};

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
        text.split_inclusive('\n').map(|line| self.id(line)).collect()
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
    let (mut a, mut b) = (0, 0);
    let mut out = Vec::new();
    while a < old.lines.len() || b < new.lines.len() {
        let (from_a, from_b) = (a, b);
        a += old.run(a);
        b += new.run(b);
        if a > from_a || b > from_b {
            out.push(Change { old: from_a..a, new: from_b..b });
        }
        (a, b) = (a + 1, b + 1);
    }
    out
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
}

/// Marks the lines that have no counterpart.
fn marked<'a>(old: &'a [LineId], new: &'a [LineId]) -> [Marked<'a>; 2] {
    let mut sides = [old, new].map(|lines| Marked { lines, changed: vec![false; lines.len()] });
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let middles = [head..old.len() - tail, head..new.len() - tail];
    let kept =
        [worth_comparing(&mut sides[0], new, &middles[0]), worth_comparing(&mut sides[1], old, &middles[1])];
    let ids =
        [0, 1].map(|side: usize| kept[side].iter().map(|at| sides[side].lines[*at]).collect::<Vec<_>>());
    let mut search = Search::new(&ids[0], &ids[1]);
    search.compare((0, ids[0].len()), (0, ids[1].len()), Effort::Bounded);
    let [gone, come] = search.unmatched;
    for (side, unmatched) in [gone, come].into_iter().enumerate() {
        for at in unmatched {
            sides[side].changed[kept[side][at]] = true;
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
const MANY: usize = 1024;

/// The lines to compare. The others are marked: they match nothing, or stand among lines that match nothing and are
/// so common that a match would say nothing.
fn worth_comparing(side: &mut Marked<'_>, other: &[LineId], middle: &Range<usize>) -> Vec<usize> {
    let mut counts: HashMap<LineId, usize> = HashMap::new();
    for line in other {
        *counts.entry(*line).or_default() += 1;
    }
    let many = rough_root(side.lines.len()).min(MANY);
    let matches: Vec<Match> = side.lines[middle.clone()]
        .iter()
        .map(|line| match counts.get(line) {
            None => Match::No,
            Some(count) if *count >= many => Match::Many,
            Some(_) => Match::Some,
        })
        .collect();
    let mut kept = Vec::with_capacity(matches.len());
    for (at, line) in middle.clone().enumerate() {
        let keep = match matches[at] {
            Match::No => false,
            Match::Some => true,
            Match::Many => !says_nothing(&matches, at),
        };
        if keep {
            kept.push(line);
        } else {
            side.changed[line] = true;
        }
    }
    kept
}

/// A power of two near the square root, from above.
fn rough_root(mut n: usize) -> usize {
    let mut root = 1;
    while n > 0 {
        root <<= 1;
        n >>= 2;
    }
    root
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

/// How much work a search may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// As much as the shortest list of changes needs.
    Full,
    /// A limited amount: then the best place that was found is taken.
    Bounded,
}

/// Where to cut both texts, and how much work each half is worth.
struct Cut {
    old: usize,
    new: usize,
    efforts: [Effort; 2],
}

/// A run of equal lines that is long enough to be trusted.
const LONG_RUN: isize = 20;
/// Steps from which a bounded search looks for a good place to stop.
const FEW_STEPS: isize = 256;

/// Myers' search. Diagonals are numbered by `old - new`; each direction keeps how far it has come on every one.
struct Search<'a> {
    texts: [&'a [LineId]; 2],
    unmatched: [Vec<usize>; 2],
    forward: Vec<isize>,
    backward: Vec<isize>,
    /// Where diagonal 0 is kept.
    zero: isize,
    most_steps: isize,
}

impl<'a> Search<'a> {
    fn new(old: &'a [LineId], new: &'a [LineId]) -> Self {
        let diagonals = old.len() + new.len() + 3;
        Self {
            texts: [old, new],
            unmatched: [Vec::new(), Vec::new()],
            forward: vec![0; diagonals + 2],
            backward: vec![0; diagonals + 2],
            zero: signed(new.len()) + 1,
            most_steps: signed(rough_root(diagonals)).max(FEW_STEPS),
        }
    }

    /// Compares two ranges; the halves of what cannot be told at once wait on a stack, first half on top.
    fn compare(&mut self, old: (usize, usize), new: (usize, usize), effort: Effort) {
        let mut waiting = vec![(old, new, effort)];
        while let Some(((mut a, mut a_end), (mut b, mut b_end), effort)) = waiting.pop() {
            let [old, new] = self.texts;
            while a < a_end && b < b_end && old[a] == new[b] {
                (a, b) = (a + 1, b + 1);
            }
            while a < a_end && b < b_end && old[a_end - 1] == new[b_end - 1] {
                (a_end, b_end) = (a_end - 1, b_end - 1);
            }
            if a == a_end || b == b_end {
                self.unmatched[0].extend(a..a_end);
                self.unmatched[1].extend(b..b_end);
                continue;
            }
            let cut = self.cut((a, a_end), (b, b_end), effort);
            waiting.push(((cut.old, a_end), (cut.new, b_end), cut.efforts[1]));
            waiting.push(((a, cut.old), (b, cut.new), cut.efforts[0]));
        }
    }

    /// Finds a place on the shortest way through both ranges: where the ways from either end meet.
    fn cut(&mut self, old: (usize, usize), new: (usize, usize), effort: Effort) -> Cut {
        let area = Area { a: (signed(old.0), signed(old.1)), b: (signed(new.0), signed(new.1)) };
        let (lowest, highest) = (area.a.0 - area.b.1, area.a.1 - area.b.0);
        let (first, last) = (area.a.0 - area.b.0, area.a.1 - area.b.1);
        let odd = (first - last) % 2 != 0;
        let mut ahead = Front { low: first, high: first };
        let mut back = Front { low: last, high: last };
        *self.at(Way::Forward, first) = area.a.0;
        *self.at(Way::Backward, last) = area.a.1;
        for steps in 1.. {
            let mut long = false;
            self.widen(&mut ahead, Way::Forward, (lowest, highest));
            for diagonal in ahead.diagonals() {
                let reached = self.advance(diagonal, &area, &mut long);
                if odd && back.has(diagonal) && *self.at(Way::Backward, diagonal) <= reached {
                    return cut_at(reached, diagonal);
                }
            }
            self.widen(&mut back, Way::Backward, (lowest, highest));
            for diagonal in back.diagonals() {
                let reached = self.retreat(diagonal, &area, &mut long);
                if !odd && ahead.has(diagonal) && reached <= *self.at(Way::Forward, diagonal) {
                    return cut_at(reached, diagonal);
                }
            }
            if effort == Effort::Full {
                continue;
            }
            let trusted =
                (long && steps > FEW_STEPS).then(|| self.trusted((ahead, back), (first, last), &area, steps));
            if let Some(cut) = trusted.flatten() {
                return cut;
            }
            if steps >= self.most_steps {
                return self.furthest((ahead, back), &area);
            }
        }
        cut_at(area.a.0, first)
    }

    fn at(&mut self, way: Way, diagonal: isize) -> &mut isize {
        let at = usize::try_from(diagonal + self.zero).unwrap_or(0);
        match way {
            Way::Forward => &mut self.forward[at],
            Way::Backward => &mut self.backward[at],
        }
    }

    /// Takes one more diagonal on either side, or gives one up where there is none; beyond both nothing is reached.
    fn widen(&mut self, front: &mut Front, way: Way, (lowest, highest): (isize, isize)) {
        let nothing = if way == Way::Forward { -1 } else { isize::MAX };
        if front.low > lowest {
            front.low -= 1;
            *self.at(way, front.low - 1) = nothing;
        } else {
            front.low += 1;
        }
        if front.high < highest {
            front.high += 1;
            *self.at(way, front.high + 1) = nothing;
        } else {
            front.high -= 1;
        }
    }

    /// One step from the front on a diagonal, and all equal lines behind it.
    fn advance(&mut self, diagonal: isize, area: &Area, long: &mut bool) -> isize {
        let (below, above) = (*self.at(Way::Forward, diagonal - 1), *self.at(Way::Forward, diagonal + 1));
        let start = if below >= above { below + 1 } else { above };
        let mut a = start;
        while a < area.a.1 && a - diagonal < area.b.1 && self.equal(a, a - diagonal) {
            a += 1;
        }
        *long |= a - start > LONG_RUN;
        *self.at(Way::Forward, diagonal) = a;
        a
    }

    /// One step from the back on a diagonal, and all equal lines before it.
    fn retreat(&mut self, diagonal: isize, area: &Area, long: &mut bool) -> isize {
        let (below, above) = (*self.at(Way::Backward, diagonal - 1), *self.at(Way::Backward, diagonal + 1));
        let start = if below < above { below } else { above - 1 };
        let mut a = start;
        while a > area.a.0 && a - diagonal > area.b.0 && self.equal(a - 1, a - diagonal - 1) {
            a -= 1;
        }
        *long |= start - a > LONG_RUN;
        *self.at(Way::Backward, diagonal) = a;
        a
    }

    fn equal(&self, a: isize, b: isize) -> bool {
        let line = |side: usize, at: isize| usize::try_from(at).ok().and_then(|at| self.texts[side].get(at));
        line(0, a) == line(1, b)
    }

    /// A place that was reached far beyond the steps it took and that a long run of equal lines leads to.
    fn trusted(
        &mut self,
        (ahead, back): (Front, Front),
        (first, last): (isize, isize),
        area: &Area,
        steps: isize,
    ) -> Option<Cut> {
        let mut best: Option<(isize, Cut)> = None;
        for diagonal in ahead.diagonals() {
            let a = *self.at(Way::Forward, diagonal);
            let b = a - diagonal;
            let worth = (a - area.a.0) + (b - area.b.0) - (diagonal - first).abs();
            let within = area.a.0 + LONG_RUN <= a && a < area.a.1 && area.b.0 + LONG_RUN <= b && b < area.b.1;
            let better = worth > 4 * steps && best.as_ref().is_none_or(|(known, _)| worth > *known);
            if better && within && (1..=LONG_RUN).all(|back| self.equal(a - back, b - back)) {
                best = Some((worth, Cut { efforts: [Effort::Full, Effort::Bounded], ..cut_at(a, diagonal) }));
            }
        }
        if let Some((_, cut)) = best {
            return Some(cut);
        }
        let mut best: Option<(isize, Cut)> = None;
        for diagonal in back.diagonals() {
            let a = *self.at(Way::Backward, diagonal);
            let b = a - diagonal;
            let worth = (area.a.1 - a) + (area.b.1 - b) - (diagonal - last).abs();
            let within = area.a.0 < a && a <= area.a.1 - LONG_RUN && area.b.0 < b && b <= area.b.1 - LONG_RUN;
            let better = worth > 4 * steps && best.as_ref().is_none_or(|(known, _)| worth > *known);
            if better && within && (0..LONG_RUN).all(|on| self.equal(a + on, b + on)) {
                best = Some((worth, Cut { efforts: [Effort::Bounded, Effort::Full], ..cut_at(a, diagonal) }));
            }
        }
        best.map(|(_, cut)| cut)
    }

    /// The place furthest from its end, when the search has taken long enough.
    fn furthest(&mut self, (ahead, back): (Front, Front), area: &Area) -> Cut {
        let (mut far, mut far_a) = (-1, -1);
        for diagonal in ahead.diagonals() {
            let a = (*self.at(Way::Forward, diagonal)).min(area.a.1).min(area.b.1 + diagonal);
            if far < a + (a - diagonal) {
                (far, far_a) = (a + (a - diagonal), a);
            }
        }
        let (mut near, mut near_a) = (isize::MAX, isize::MAX);
        for diagonal in back.diagonals() {
            let a = (*self.at(Way::Backward, diagonal)).max(area.a.0).max(area.b.0 + diagonal);
            if a + (a - diagonal) < near {
                (near, near_a) = (a + (a - diagonal), a);
            }
        }
        if (area.a.1 + area.b.1) - near < far - (area.a.0 + area.b.0) {
            let cut = cut_at(far_a, far_a - (far - far_a));
            return Cut { efforts: [Effort::Full, Effort::Bounded], ..cut };
        }
        let cut = cut_at(near_a, near_a - (near - near_a));
        Cut { efforts: [Effort::Bounded, Effort::Full], ..cut }
    }
}

/// The ranges of both texts that are compared.
struct Area {
    a: (isize, isize),
    b: (isize, isize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

/// The diagonals that a direction has reached, every second one of them in the last step.
#[derive(Clone, Copy)]
struct Front {
    low: isize,
    high: isize,
}

impl Front {
    /// From the highest down.
    fn diagonals(self) -> impl Iterator<Item = isize> {
        (self.low..=self.high).rev().step_by(2)
    }

    const fn has(self, diagonal: isize) -> bool {
        self.low <= diagonal && diagonal <= self.high
    }
}

fn cut_at(a: isize, diagonal: isize) -> Cut {
    let at = |n: isize| usize::try_from(n).unwrap_or(0);
    Cut { old: at(a), new: at(a - diagonal), efforts: [Effort::Full, Effort::Full] }
}

/// Lines are counted in memory, so their number fits.
fn signed(n: usize) -> isize {
    isize::try_from(n).unwrap_or(isize::MAX)
}

/// A run of changed lines, perhaps an empty one: between any two lines that match stands one.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

impl Group {
    const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl Marked<'_> {
    fn first(&self) -> Group {
        Group { start: 0, end: self.run(0) }
    }

    fn next(&self, group: Group) -> Option<Group> {
        let start = group.end + 1;
        (group.end < self.lines.len()).then(|| Group { start, end: start + self.run(start) })
    }

    fn previous(&self, group: Group) -> Option<Group> {
        let end = group.start.checked_sub(1)?;
        Some(Group { start: self.joined_start(end), end })
    }

    fn joined_start(&self, start: usize) -> usize {
        start - self.changed[..start].iter().rev().take_while(|changed| **changed).count()
    }

    /// Moves a group one line up where that changes nothing; it may join the group before.
    fn up(&mut self, group: Group) -> Option<Group> {
        let before = group.start.checked_sub(1)?;
        if self.lines[before] != self.lines[group.end - 1] {
            return None;
        }
        self.changed[before] = true;
        self.changed[group.end - 1] = false;
        Some(Group { start: self.joined_start(before), end: group.end - 1 })
    }

    /// Moves a group one line down where that changes nothing; it may join the group behind.
    fn down(&mut self, group: Group) -> Option<Group> {
        if self.lines.get(group.end) != Some(&self.lines[group.start]) {
            return None;
        }
        self.changed[group.start] = false;
        self.changed[group.end] = true;
        Some(Group { start: group.start + 1, end: group.end + 1 + self.run(group.end + 1) })
    }
}

/// Moves every group of a text down as far as it goes, or to the last place where the other text changes too.
fn settle(text: &mut Marked<'_>, other: &mut Marked<'_>) {
    let (mut group, mut beside) = (text.first(), other.first());
    loop {
        if !group.is_empty() {
            (group, beside) = settled(text, other, group, beside);
        }
        // Between lines that match stands a group in either text, so both have a next one or none has.
        match (text.next(group), other.next(beside)) {
            (Some(next), Some(next_beside)) => (group, beside) = (next, next_beside),
            _ => return,
        }
    }
}

fn settled(text: &mut Marked<'_>, other: &Marked<'_>, mut group: Group, mut beside: Group) -> (Group, Group) {
    let (earliest, meets) = loop {
        let size = group.end - group.start;
        while let Some(moved) = text.up(group) {
            group = moved;
            beside = other.previous(beside).unwrap_or(beside);
        }
        let earliest = group.end;
        let mut meets = !beside.is_empty();
        while let Some(moved) = text.down(group) {
            group = moved;
            beside = other.next(beside).unwrap_or(beside);
            meets |= !beside.is_empty();
        }
        if group.end - group.start == size {
            break (earliest, meets);
        }
    };
    if group.end != earliest && meets {
        while beside.is_empty() {
            let (Some(moved), Some(before)) = (text.up(group), other.previous(beside)) else { break };
            (group, beside) = (moved, before);
        }
    }
    (group, beside)
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
        fn among_lines_that_are_rare_nothing_changes_that_need_not(
            old in prop::collection::vec(0u32..200, 0..40), new in prop::collection::vec(0u32..200, 0..40),
        ) {
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
