//! How much work reading one text may be.
//!
//! A block is read, written, and read again to see that it says the same, and so are the blocks inside of it. For a
//! text of blocks in blocks that do not read the same, that would be hundreds of readings of the same bytes. They are
//! counted, and a block that takes too many is kept as it is: it may take all that is left but what the blocks behind
//! it need. What is counted depends on the text alone, so that the same text is always the same document.

use std::cell::Cell;

use super::lines::Line;

/// How often the bytes of a text may be taken apart into blocks.
const READINGS: u64 = 60;
/// How often they may be to read it once. Texts that people write take up to 10.
const PASS: u64 = 24;
/// How often the bytes of blocks are taken apart that read the same at once.
const BEHIND: u64 = 4;
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

/// A part of the reading of a text, with a part of the work. What it leaves is there again when it ends.
pub(super) struct Portion {
    before: u64,
    given: u64,
}

impl Portion {
    /// Reading a whole text of so many bytes once, or writing it and reading what was written.
    pub(super) fn pass(bytes: usize) -> Self {
        Self::begin(PASS * FLOOR.max(bytes as u64))
    }

    /// Reading a block of a text that goes on for so many bytes behind it.
    pub(super) fn block(bytes_behind: usize) -> Self {
        Self::begin(LEFT.get().saturating_sub(BEHIND * bytes_behind as u64 + FLOOR))
    }

    fn begin(most: u64) -> Self {
        let before = LEFT.get();
        let given = before.min(most);
        LEFT.set(given);
        Self { before, given }
    }
}

impl Drop for Portion {
    fn drop(&mut self) {
        LEFT.set(self.before - self.given.saturating_sub(LEFT.get()));
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

/// Counts bytes, as those that are looked at for nothing.
pub(super) fn take_bytes(bytes: usize) {
    step(bytes);
    LEFT.set(LEFT.get().saturating_sub(bytes as u64));
}

/// Tells whether a text has taken all the work that it may.
pub(super) fn is_used_up() -> bool {
    LEFT.get() == 0
}

/// Counts the bytes that a step of reading or writing is given: a test asks whether all of them together are linear.
#[cfg(not(test))]
pub(super) const fn step(_bytes: usize) {}

#[cfg(test)]
pub(super) use steps::{step, steps_of};

#[cfg(test)]
mod steps {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(in super::super) fn step(bytes: usize) {
        STEPS.set(STEPS.get() + bytes as u64);
    }

    /// How many bytes all steps of some work were given together.
    pub(in super::super) fn steps_of(work: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}
