//! The memory budget of a text.

use super::lines::Line;

/// Bytes of memory that the tree of any text may take. A page of tables and lists of common length fits.
const MAX_TREE_BYTES: usize = 28 * 120 * 1024;
/// Bytes of memory per input byte in addition to [`MAX_TREE_BYTES`]. A text may take 20; the remainder is reserved for
/// memory that is not estimated here.
const A_BYTE: usize = 9;
/// Weight of a line that is a block.
pub(super) const LINE_WEIGHT: usize = 800;
/// Weight of a line while it is split into chunks.
pub(super) const ANY_LINE: usize = 160;

/// Returns `true` for a text with so many lines that it is not even split into chunks.
pub(super) fn is_all_lines(text: &str) -> bool {
    let count = text.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - text.matches("\r\n").count();
    count * ANY_LINE > room(text.len())
}

/// Returns the maximum number of chunks, if all had minimal size.
pub(super) fn most_chunks(lines: &[Line<'_>]) -> usize {
    Room::new(lines).all / LINE_WEIGHT + 1
}

/// The memory budget of a text: the remaining and the total bytes.
pub(super) struct Room {
    pub(super) left: usize,
    pub(super) all: usize,
}

impl Room {
    pub(super) fn new(lines: &[Line<'_>]) -> Self {
        // Empty lines change when a text is printed.
        let full = || lines.iter().filter(|line| !line.is_blank());
        let bytes: usize = full().map(|line| line.text.len() + 1).sum();
        // The lines take memory in addition to the tree.
        Self::of(room(bytes).saturating_sub(full().count() * ANY_LINE / 3))
    }

    pub(super) const fn of(all: usize) -> Self {
        Self { left: all, all }
    }

    /// Returns `true` if the remaining budget is so small that it would be arbitrary which small blocks still fit.
    pub(super) const fn is_used_up(&self) -> bool {
        self.left < self.all / 8
    }

    /// Returns `true` if at least half of the budget remains.
    pub(super) const fn is_half_left(&self) -> bool {
        self.left >= self.all / 2
    }
}

/// Returns the memory limit of a text of this length, in bytes.
const fn room(bytes: usize) -> usize {
    MAX_TREE_BYTES + A_BYTE * bytes
}
