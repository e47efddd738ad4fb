//! Myers' bidirectional search for the lines of two texts that have no counterpart.

use super::marked_lines::LineId;

/// Returns a flag for each line of both texts that has no counterpart in the other text.
pub(super) fn mark_unmatched(old: &[LineId], new: &[LineId]) -> [Vec<bool>; 2] {
    let mut search = Search::new(old, new);
    search.compare((0, old.len()), (0, new.len()), WorkLimit::Bounded);
    search.unmatched
}

/// Returns a power of two slightly above the square root.
pub(super) fn rough_root(mut n: usize) -> usize {
    let mut root = 1;
    while n > 0 {
        root <<= 1;
        n >>= 2;
    }
    root
}

/// The work limit of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkLimit {
    /// Unlimited: finds a minimal list of changes.
    Full,
    /// Limited: returns the best split found so far once the limit is reached.
    Bounded,
}

/// The position where both texts are split, and the work limits of the two halves.
struct SplitPoint {
    old: usize,
    new: usize,
    efforts: [WorkLimit; 2],
}

/// Minimum length of a significant run of equal lines.
const LONG_RUN: LineOffset = 20;
/// Number of steps after which a bounded search looks for a good split.
const FEW_STEPS: LineOffset = 256;
/// Maximum number of compared lines and visited diagonals of a search. Lists that have few distinct lines in a
/// different order would exceed it. The ranges that remain then have no counterparts.
const MAX_WORK: usize = 8 << 20;

/// A position in a text, or a diagonal. At least one is stored per line, so the type is no larger than [`LineId`].
type LineOffset = i32;

/// The state of Myers' search. Diagonals are numbered by `old - new`. Each direction stores the furthest position
/// reached on each diagonal.
struct Search<'a> {
    texts: [&'a [LineId]; 2],
    unmatched: [Vec<bool>; 2],
    forward: Vec<LineOffset>,
    backward: Vec<LineOffset>,
    /// Index of diagonal 0.
    zero: LineOffset,
    most_steps: LineOffset,
    work_left: usize,
}

impl<'a> Search<'a> {
    fn new(old: &'a [LineId], new: &'a [LineId]) -> Self {
        let diagonals = old.len() + new.len() + 3;
        Self {
            texts: [old, new],
            unmatched: [vec![false; old.len()], vec![false; new.len()]],
            forward: vec![0; diagonals + 2],
            backward: vec![0; diagonals + 2],
            zero: to_line_offset(new.len()) + 1,
            most_steps: to_line_offset(rough_root(diagonals)).max(FEW_STEPS),
            work_left: MAX_WORK,
        }
    }

    /// Compares two ranges. Ranges that need a split are pushed to a stack as two halves, with the first half on top.
    fn compare(&mut self, old: (usize, usize), new: (usize, usize), effort: WorkLimit) {
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
                self.unmatched[0][a..a_end].fill(true);
                self.unmatched[1][b..b_end].fill(true);
                continue;
            }
            let Some(cut) = self.find_split((a, a_end), (b, b_end), effort) else {
                self.unmatched[0][a..a_end].fill(true);
                self.unmatched[1][b..b_end].fill(true);
                continue;
            };
            waiting.push(((cut.old, a_end), (cut.new, b_end), cut.efforts[1]));
            waiting.push(((a, cut.old), (b, cut.new), cut.efforts[0]));
        }
    }

    /// Finds a position on the shortest edit path through both ranges: the meeting point of the searches from both
    /// ends. Returns `None` if the search exceeds [`MAX_WORK`].
    fn find_split(
        &mut self,
        old: (usize, usize),
        new: (usize, usize),
        effort: WorkLimit,
    ) -> Option<SplitPoint> {
        let area = Area {
            a: (to_line_offset(old.0), to_line_offset(old.1)),
            b: (to_line_offset(new.0), to_line_offset(new.1)),
        };
        let (lowest, highest) = (area.a.0 - area.b.1, area.a.1 - area.b.0);
        let (first, last) = (area.a.0 - area.b.0, area.a.1 - area.b.1);
        let odd = (first - last) % 2 != 0;
        let mut ahead = Front { low: first, high: first };
        let mut back = Front { low: last, high: last };
        *self.slot(Direction::Forward, first) = area.a.0;
        *self.slot(Direction::Backward, last) = area.a.1;
        for steps in 1.. {
            if self.work_left == 0 {
                return None;
            }
            let mut long = false;
            self.widen(&mut ahead, Direction::Forward, lowest, highest);
            for diagonal in ahead.diagonals() {
                let reached = self.advance(diagonal, &area, &mut long);
                if odd && back.has(diagonal) && *self.slot(Direction::Backward, diagonal) <= reached {
                    return Some(split_on_diagonal(reached, diagonal));
                }
            }
            self.widen(&mut back, Direction::Backward, lowest, highest);
            for diagonal in back.diagonals() {
                let reached = self.retreat(diagonal, &area, &mut long);
                if !odd && ahead.has(diagonal) && reached <= *self.slot(Direction::Forward, diagonal) {
                    return Some(split_on_diagonal(reached, diagonal));
                }
            }
            if effort == WorkLimit::Full {
                continue;
            }
            let trusted = (long && steps > FEW_STEPS)
                .then(|| self.promising_split(ahead, back, first, last, &area, steps));
            if let Some(cut) = trusted.flatten() {
                return Some(cut);
            }
            if steps >= self.most_steps {
                return Some(self.furthest_split(ahead, back, &area));
            }
        }
        None
    }

    fn slot(&mut self, way: Direction, diagonal: LineOffset) -> &mut LineOffset {
        let at = usize::try_from(diagonal + self.zero).unwrap_or(0);
        match way {
            Direction::Forward => &mut self.forward[at],
            Direction::Backward => &mut self.backward[at],
        }
    }

    /// Extends the front by one diagonal on either side, or shrinks it at the edge of the area. Diagonals beyond the
    /// front are marked as unreached.
    fn widen(&mut self, front: &mut Front, way: Direction, lowest: LineOffset, highest: LineOffset) {
        let nothing = if way == Direction::Forward { -1 } else { LineOffset::MAX };
        if front.low > lowest {
            front.low -= 1;
            *self.slot(way, front.low - 1) = nothing;
        } else {
            front.low += 1;
        }
        if front.high < highest {
            front.high += 1;
            *self.slot(way, front.high + 1) = nothing;
        } else {
            front.high -= 1;
        }
    }

    /// Advances one step from the start on a diagonal, and past all equal lines that follow.
    fn advance(&mut self, diagonal: LineOffset, area: &Area, long: &mut bool) -> LineOffset {
        let (below, above) =
            (*self.slot(Direction::Forward, diagonal - 1), *self.slot(Direction::Forward, diagonal + 1));
        let start = if below >= above { below + 1 } else { above };
        let mut a = start;
        while a < area.a.1 && a - diagonal < area.b.1 && self.is_equal(a, a - diagonal) {
            a += 1;
        }
        *long |= a - start > LONG_RUN;
        self.work(a - start);
        *self.slot(Direction::Forward, diagonal) = a;
        a
    }

    /// Retreats one step from the end on a diagonal, and past all equal lines that precede it.
    fn retreat(&mut self, diagonal: LineOffset, area: &Area, long: &mut bool) -> LineOffset {
        let (below, above) =
            (*self.slot(Direction::Backward, diagonal - 1), *self.slot(Direction::Backward, diagonal + 1));
        let start = if below < above { below } else { above - 1 };
        let mut a = start;
        while a > area.a.0 && a - diagonal > area.b.0 && self.is_equal(a - 1, a - diagonal - 1) {
            a -= 1;
        }
        *long |= start - a > LONG_RUN;
        self.work(start - a);
        *self.slot(Direction::Backward, diagonal) = a;
        a
    }

    /// Deducts a visited diagonal and its equal lines from the remaining work.
    fn work(&mut self, lines: LineOffset) {
        self.work_left = self.work_left.saturating_sub(1 + usize::try_from(lines).unwrap_or_default());
    }

    fn is_equal(&self, a: LineOffset, b: LineOffset) -> bool {
        let line =
            |side: usize, at: LineOffset| usize::try_from(at).ok().and_then(|at| self.texts[side].get(at));
        line(0, a) == line(1, b)
    }

    /// Returns a position that is far ahead relative to the number of steps, and that is reached through a long run of
    /// equal lines.
    fn promising_split(
        &mut self,
        ahead: Front,
        back: Front,
        first: LineOffset,
        last: LineOffset,
        area: &Area,
        steps: LineOffset,
    ) -> Option<SplitPoint> {
        let mut best: Option<(LineOffset, SplitPoint)> = None;
        self.work((ahead.high - ahead.low).saturating_add(back.high - back.low));
        for diagonal in ahead.diagonals() {
            let a = *self.slot(Direction::Forward, diagonal);
            let b = a - diagonal;
            let worth = (a - area.a.0) + (b - area.b.0) - (diagonal - first).abs();
            let within = area.a.0 + LONG_RUN <= a && a < area.a.1 && area.b.0 + LONG_RUN <= b && b < area.b.1;
            let better = worth > 4 * steps && best.as_ref().is_none_or(|(known, _)| worth > *known);
            if better && within && (1..=LONG_RUN).all(|back| self.is_equal(a - back, b - back)) {
                best = Some((
                    worth,
                    SplitPoint {
                        efforts: [WorkLimit::Full, WorkLimit::Bounded],
                        ..split_on_diagonal(a, diagonal)
                    },
                ));
            }
        }
        if let Some((_, cut)) = best {
            return Some(cut);
        }
        let mut best: Option<(LineOffset, SplitPoint)> = None;
        for diagonal in back.diagonals() {
            let a = *self.slot(Direction::Backward, diagonal);
            let b = a - diagonal;
            let worth = (area.a.1 - a) + (area.b.1 - b) - (diagonal - last).abs();
            let within = area.a.0 < a && a <= area.a.1 - LONG_RUN && area.b.0 < b && b <= area.b.1 - LONG_RUN;
            let better = worth > 4 * steps && best.as_ref().is_none_or(|(known, _)| worth > *known);
            if better && within && (0..LONG_RUN).all(|on| self.is_equal(a + on, b + on)) {
                best = Some((
                    worth,
                    SplitPoint {
                        efforts: [WorkLimit::Bounded, WorkLimit::Full],
                        ..split_on_diagonal(a, diagonal)
                    },
                ));
            }
        }
        best.map(|(_, cut)| cut)
    }

    /// Returns the position furthest from its end, once the work limit is reached.
    fn furthest_split(&mut self, ahead: Front, back: Front, area: &Area) -> SplitPoint {
        let (mut far, mut far_a) = (-1, -1);
        for diagonal in ahead.diagonals() {
            let a = (*self.slot(Direction::Forward, diagonal)).min(area.a.1).min(area.b.1 + diagonal);
            if far < a + (a - diagonal) {
                (far, far_a) = (a + (a - diagonal), a);
            }
        }
        let (mut near, mut near_a) = (LineOffset::MAX, LineOffset::MAX);
        for diagonal in back.diagonals() {
            let a = (*self.slot(Direction::Backward, diagonal)).max(area.a.0).max(area.b.0 + diagonal);
            if a + (a - diagonal) < near {
                (near, near_a) = (a + (a - diagonal), a);
            }
        }
        if (area.a.1 + area.b.1) - near < far - (area.a.0 + area.b.0) {
            let cut = split_on_diagonal(far_a, far_a - (far - far_a));
            return SplitPoint { efforts: [WorkLimit::Full, WorkLimit::Bounded], ..cut };
        }
        let cut = split_on_diagonal(near_a, near_a - (near - near_a));
        SplitPoint { efforts: [WorkLimit::Bounded, WorkLimit::Full], ..cut }
    }
}

/// The compared ranges of both texts.
struct Area {
    a: (LineOffset, LineOffset),
    b: (LineOffset, LineOffset),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// The diagonals that a direction has reached. The most recent step reached every second one.
#[derive(Clone, Copy)]
struct Front {
    low: LineOffset,
    high: LineOffset,
}

impl Front {
    /// Iterates over the diagonals in descending order.
    fn diagonals(self) -> impl Iterator<Item = LineOffset> {
        (self.low..=self.high).rev().step_by(2)
    }

    const fn has(self, diagonal: LineOffset) -> bool {
        self.low <= diagonal && diagonal <= self.high
    }
}

fn split_on_diagonal(a: LineOffset, diagonal: LineOffset) -> SplitPoint {
    let at = |n: LineOffset| usize::try_from(n).unwrap_or(0);
    SplitPoint { old: at(a), new: at(a - diagonal), efforts: [WorkLimit::Full, WorkLimit::Full] }
}

/// All lines are in memory, so their number fits.
fn to_line_offset(n: usize) -> LineOffset {
    LineOffset::try_from(n).unwrap_or(LineOffset::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudo-random list of a few distinct lines.
    fn lines(count: usize, mut seed: u32) -> Vec<LineId> {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % 4
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn work_on_a_few_distinct_lines_is_bounded() {
        let (old, new) = (lines(100_000, 1), lines(100_000, 2));
        let mut search = Search::new(&old, &new);
        search.compare((0, old.len()), (0, new.len()), WorkLimit::Bounded);
        assert_eq!(search.work_left, 0, "the text needs more work than permitted");
        let matched = |side: usize, list: &[LineId]| -> Vec<LineId> {
            let flags = list.iter().zip(&search.unmatched[side]);
            flags.filter(|(_, is_unmatched)| !**is_unmatched).map(|(line, _)| *line).collect()
        };
        assert_eq!(matched(0, &old), matched(1, &new));
        let mut small = Search::new(&old[..2_000], &new[..2_000]);
        small.compare((0, 2_000), (0, 2_000), WorkLimit::Bounded);
        assert!(small.work_left > MAX_WORK / 2, "{}", small.work_left);
    }
}
