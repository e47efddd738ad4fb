//! The lines of a text, with a flag for each line that has no counterpart in the other text.

use std::ops::Range;

/// The number of a line. Equal lines have the same number.
pub type LineId = u32;

/// A text, with a flag for each line that has no counterpart.
pub(super) struct MarkedLines<'a> {
    pub(super) lines: &'a [LineId],
    pub(super) changed: Vec<bool>,
}

impl MarkedLines<'_> {
    /// Returns the number of consecutive lines without a counterpart, starting at a position.
    pub(super) fn run(&self, from: usize) -> usize {
        self.changed.get(from..).unwrap_or_default().iter().take_while(|changed| **changed).count()
    }

    /// Returns the lines in a range that may have a counterpart.
    pub(super) fn matchable_lines(&self, range: &Range<usize>) -> Vec<LineId> {
        let places = || range.clone().filter(|at| !self.changed[*at]);
        let mut lines = Vec::with_capacity(places().count());
        lines.extend(places().map(|at| self.lines[at]));
        lines
    }
}
