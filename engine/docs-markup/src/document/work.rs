//! How much work reading one text may be.
//!
//! A block is read, written, and read again to see that it says the same, and so are the blocks inside of it. For a
//! text of blocks in blocks that do not read the same, that would be hundreds of readings of the same bytes. They are
//! counted, and a text that takes too many is kept as it is. What is counted depends on the text alone, so that the
//! same text is always the same document.

use std::cell::Cell;

use super::lines::Line;

/// How often the bytes of a text may be taken apart into blocks. Texts that people write take up to 15.
const READINGS: u64 = 40;
/// Texts below this many bytes may take as much work as one of this length.
const FLOOR: u64 = 16 * 1024;

thread_local! {
    /// What is left of the work for the text that is being read on this thread.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The reading of one text. What was left for the text around it is there again when it ends.
pub(super) struct Reading(u64);

impl Reading {
    /// Begins to read a text of so many bytes.
    pub(super) fn begin(bytes: usize) -> Self {
        Self(LEFT.replace(READINGS * FLOOR.max(bytes as u64)))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        LEFT.set(self.0);
    }
}

/// Counts lines that are taken apart; tells whether there was as much left.
pub(super) fn take(lines: &[Line<'_>]) -> bool {
    take_bytes(lines.iter().map(|line| line.text.len() + 1).sum());
    !is_used_up()
}

/// Counts the bytes of a line that is followed through so many containers: eight cost what taking it apart does.
pub(super) fn take_containers(line: &str, containers: usize) {
    take_bytes(line.len().saturating_mul(containers) / 8);
}

fn take_bytes(bytes: usize) {
    LEFT.set(LEFT.get().saturating_sub(bytes as u64));
}

/// Tells whether a text has taken all the work that it may.
pub(super) fn is_used_up() -> bool {
    LEFT.get() == 0
}
