//! Myers' bidirectional search for the lines of two texts that have no counterpart.

use super::marked::LineId;

/// Returns a flag for each line of both texts that has no counterpart in the other text.
pub(super) fn unmatched(old: &[LineId], new: &[LineId]) -> [Vec<bool>; 2] {
    let mut search = Search::new(old, new);
    search.compare((0, old.len()), (0, new.len()), Effort::Bounded);
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
enum Effort {
    /// Unlimited: finds a minimal list of changes.
    Full,
    /// Limited: takes the best cut found so far once the limit is reached.
    Bounded,
}

/// A position to cut both texts at, and the work limits of the two halves.
struct Cut {
    old: usize,
    new: usize,
    efforts: [Effort; 2],
}

/// Minimum length of a significant run of equal lines.
const LONG_RUN: Place = 20;
/// Number of steps after which a bounded search looks for a good place to stop.
const FEW_STEPS: Place = 256;

/// A position in a text, or a diagonal. There is at least one per line, so the type is as small as [`LineId`].
type Place = i32;

/// The state of Myers' search. Diagonals are numbered by `old - new`. Each direction stores the furthest position
/// reached on each diagonal.
struct Search<'a> {
    texts: [&'a [LineId]; 2],
    unmatched: [Vec<bool>; 2],
    forward: Vec<Place>,
    backward: Vec<Place>,
    /// Index of diagonal 0.
    zero: Place,
    most_steps: Place,
}

impl<'a> Search<'a> {
    fn new(old: &'a [LineId], new: &'a [LineId]) -> Self {
        let diagonals = old.len() + new.len() + 3;
        Self {
            texts: [old, new],
            unmatched: [vec![false; old.len()], vec![false; new.len()]],
            forward: vec![0; diagonals + 2],
            backward: vec![0; diagonals + 2],
            zero: signed(new.len()) + 1,
            most_steps: signed(rough_root(diagonals)).max(FEW_STEPS),
        }
    }

    /// Compares two ranges. Ranges that need a cut are split, and the halves are pushed to a stack, first half on top.
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
                self.unmatched[0][a..a_end].fill(true);
                self.unmatched[1][b..b_end].fill(true);
                continue;
            }
            let cut = self.cut((a, a_end), (b, b_end), effort);
            waiting.push(((cut.old, a_end), (cut.new, b_end), cut.efforts[1]));
            waiting.push(((a, cut.old), (b, cut.new), cut.efforts[0]));
        }
    }

    /// Finds a position on the shortest edit path through both ranges: the meeting point of the searches from either
    /// end.
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
            self.widen(&mut ahead, Way::Forward, lowest, highest);
            for diagonal in ahead.diagonals() {
                let reached = self.advance(diagonal, &area, &mut long);
                if odd && back.has(diagonal) && *self.at(Way::Backward, diagonal) <= reached {
                    return cut_at(reached, diagonal);
                }
            }
            self.widen(&mut back, Way::Backward, lowest, highest);
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
                (long && steps > FEW_STEPS).then(|| self.trusted(ahead, back, first, last, &area, steps));
            if let Some(cut) = trusted.flatten() {
                return cut;
            }
            if steps >= self.most_steps {
                return self.furthest(ahead, back, &area);
            }
        }
        cut_at(area.a.0, first)
    }

    fn at(&mut self, way: Way, diagonal: Place) -> &mut Place {
        let at = usize::try_from(diagonal + self.zero).unwrap_or(0);
        match way {
            Way::Forward => &mut self.forward[at],
            Way::Backward => &mut self.backward[at],
        }
    }

    /// Extends the front by one diagonal on either side, or shrinks it at the edge of the area. Diagonals beyond the
    /// front are marked as unreached.
    fn widen(&mut self, front: &mut Front, way: Way, lowest: Place, highest: Place) {
        let nothing = if way == Way::Forward { -1 } else { Place::MAX };
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

    /// Advances one step from the start on a diagonal, and over all equal lines that follow.
    fn advance(&mut self, diagonal: Place, area: &Area, long: &mut bool) -> Place {
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

    /// Retreats one step from the end on a diagonal, and over all equal lines that precede it.
    fn retreat(&mut self, diagonal: Place, area: &Area, long: &mut bool) -> Place {
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

    fn equal(&self, a: Place, b: Place) -> bool {
        let line = |side: usize, at: Place| usize::try_from(at).ok().and_then(|at| self.texts[side].get(at));
        line(0, a) == line(1, b)
    }

    /// Returns a position that is far ahead of the number of steps and is reached through a long run of equal lines.
    fn trusted(
        &mut self,
        ahead: Front,
        back: Front,
        first: Place,
        last: Place,
        area: &Area,
        steps: Place,
    ) -> Option<Cut> {
        let mut best: Option<(Place, Cut)> = None;
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
        let mut best: Option<(Place, Cut)> = None;
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

    /// Returns the position furthest from its end, once the work limit is reached.
    fn furthest(&mut self, ahead: Front, back: Front, area: &Area) -> Cut {
        let (mut far, mut far_a) = (-1, -1);
        for diagonal in ahead.diagonals() {
            let a = (*self.at(Way::Forward, diagonal)).min(area.a.1).min(area.b.1 + diagonal);
            if far < a + (a - diagonal) {
                (far, far_a) = (a + (a - diagonal), a);
            }
        }
        let (mut near, mut near_a) = (Place::MAX, Place::MAX);
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

/// The compared ranges of both texts.
struct Area {
    a: (Place, Place),
    b: (Place, Place),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

/// The diagonals that a direction has reached. The last step reached every second one.
#[derive(Clone, Copy)]
struct Front {
    low: Place,
    high: Place,
}

impl Front {
    /// Iterates in descending order.
    fn diagonals(self) -> impl Iterator<Item = Place> {
        (self.low..=self.high).rev().step_by(2)
    }

    const fn has(self, diagonal: Place) -> bool {
        self.low <= diagonal && diagonal <= self.high
    }
}

fn cut_at(a: Place, diagonal: Place) -> Cut {
    let at = |n: Place| usize::try_from(n).unwrap_or(0);
    Cut { old: at(a), new: at(a - diagonal), efforts: [Effort::Full, Effort::Full] }
}

/// Lines are counted in memory, so their number fits.
fn signed(n: usize) -> Place {
    Place::try_from(n).unwrap_or(Place::MAX)
}
