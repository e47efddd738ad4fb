//! The memory budget of the parser.

use super::lines::Line;

/// Memory in bytes that the tree of any text may take. It is sufficient for a typical page of tables and lists.
const MAX_TREE_BYTES: usize = 24 * 120 * 1024;
/// Memory in bytes per input byte, in addition to [`MAX_TREE_BYTES`]. The tree may take 20; the remainder is reserved
/// for memory that is not estimated here.
const A_BYTE: usize = 9;
/// Weight of a line that is a block.
pub(super) const LINE_WEIGHT: usize = 800;
/// Weight of a line while it is split into chunks.
pub(super) const ANY_LINE: usize = 160;

/// Returns `true` if `text` has so many lines that it must not be split into chunks.
pub(super) fn is_all_lines(text: &str) -> bool {
    let count = text.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - text.matches("\r\n").count();
    count * ANY_LINE > room(text.len())
}

/// Returns the maximum number of chunks, assuming that all have the minimum size.
pub(super) fn most_chunks(lines: &[Line<'_>]) -> usize {
    Room::new(lines).all / LINE_WEIGHT + 1
}

/// The memory budget of the parser: the remaining and the total bytes.
pub(super) struct Room {
    pub(super) left: usize,
    pub(super) all: usize,
}

impl Room {
    pub(super) fn new(lines: &[Line<'_>]) -> Self {
        // The number of empty lines changes when the document is printed.
        let full = || lines.iter().filter(|line| !line.is_blank());
        let bytes: usize = full().map(|line| line.text.len() + 1).sum();
        // The lines themselves take memory too.
        Self::of(room(bytes).saturating_sub(full().count() * ANY_LINE / 3))
    }

    pub(super) const fn of(all: usize) -> Self {
        Self { left: all, all }
    }

    /// Returns `true` if less than one eighth of the budget remains. Which small blocks still fit would then be
    /// arbitrary.
    pub(super) const fn is_used_up(&self) -> bool {
        self.left < self.all / 8
    }

    /// Returns `true` if at least half of the budget remains.
    pub(super) const fn is_half_left(&self) -> bool {
        self.left >= self.all / 2
    }
}

/// Returns the memory limit for this many bytes of input, in bytes.
const fn room(bytes: usize) -> usize {
    MAX_TREE_BYTES + A_BYTE * bytes
}
