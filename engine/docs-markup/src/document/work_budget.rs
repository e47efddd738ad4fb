//! The work budget of the parser.
//!
//! A block is parsed, printed, and parsed again to check that it round-trips, and so are its nested blocks. For nested
//! blocks that do not round-trip, the same bytes could be parsed hundreds of times. These bytes are counted, and a
//! block that exceeds its share is preserved verbatim. A block may use all of the remaining budget except the reserve
//! for the following blocks. The count only depends on the text, so the same text always results in the same document.

use std::cell::Cell;

/// Maximum number of times that each input byte is split into blocks, on average.
const MAX_READINGS: u64 = 60;
/// Maximum number of times per pass. Human-written texts need up to 10.
const MAX_PASS_READINGS: u64 = 24;
/// Number of times that the bytes of well-formed blocks are split. This amount is reserved for the following blocks.
const RESERVED_READINGS: u64 = 4;
/// Minimum size for the budget: shorter text has the budget of a text of this size.
const MIN_BUDGET_BYTES: u64 = 16 * 1024;

thread_local! {
    /// The remaining work budget of the text being parsed on this thread.
    static REMAINING_WORK: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The budget of one text. Dropping it restores the remaining budget of the enclosing text.
pub(super) struct TextBudget(u64);

impl TextBudget {
    /// Starts the budget for this many bytes of text.
    pub(super) fn begin(bytes: usize) -> Self {
        Self(REMAINING_WORK.replace(MAX_READINGS * MIN_BUDGET_BYTES.max(bytes as u64)))
    }
}

impl Drop for TextBudget {
    fn drop(&mut self) {
        REMAINING_WORK.set(self.0);
    }
}

/// A share of the work budget. Dropping it returns the unused part.
pub(super) struct WorkShare {
    before: u64,
    given: u64,
}

impl WorkShare {
    /// Starts a pass over a whole text of this many bytes: parsing it, or printing it and parsing the result.
    pub(super) fn pass(bytes: usize) -> Self {
        Self::begin(MAX_PASS_READINGS * MIN_BUDGET_BYTES.max(bytes as u64))
    }

    /// Starts parsing a block that is followed by this many bytes.
    pub(super) fn block(bytes_behind: usize) -> Self {
        Self::begin(
            REMAINING_WORK.get().saturating_sub(RESERVED_READINGS * bytes_behind as u64 + MIN_BUDGET_BYTES),
        )
    }

    fn begin(most: u64) -> Self {
        let before = REMAINING_WORK.get();
        let given = before.min(most);
        REMAINING_WORK.set(given);
        Self { before, given }
    }
}

impl Drop for WorkShare {
    fn drop(&mut self) {
        REMAINING_WORK.set(self.before - self.given.saturating_sub(REMAINING_WORK.get()));
    }
}

/// Counts lines that are split into chunks. Returns `false` when the budget is exhausted.
pub(super) fn take<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    take_bytes(lines.map(|line| line.len() + 1).sum());
    !is_used_up()
}

/// Counts the bytes of a line that is tracked through this many containers. Eight containers cost as much as splitting
/// the line.
pub(super) fn take_containers(line: &str, containers: usize) {
    take_bytes(line.len().saturating_mul(containers) / 8);
}

/// Counts bytes that are inspected in other ways, for example by failed attempts.
pub(super) fn take_bytes(bytes: usize) {
    step(bytes);
    REMAINING_WORK.set(REMAINING_WORK.get().saturating_sub(bytes as u64));
}

/// Returns `true` if the budget is exhausted.
pub(super) fn is_used_up() -> bool {
    REMAINING_WORK.get() == 0
}

/// Counts the input bytes of a parsing or printing step. A test checks that their sum is linear.
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

    /// Returns the total number of input bytes of all steps in a closure.
    pub(in super::super) fn steps_of(work: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}
