//! The work budget for parsing a text.
//!
//! A block is parsed, printed, and parsed again to check that it reads the same, and so are its nested blocks. For
//! nested blocks that do not read the same, the same bytes would be parsed hundreds of times. These bytes are counted,
//! and a block that exceeds its share is preserved verbatim: it may use all of the remaining budget except the reserve
//! for the following blocks. The count depends only on the text, so the same text always yields the same document.

use std::cell::Cell;

/// Maximum number of times that the bytes of a text are split into blocks.
const MAX_READINGS: u64 = 60;
/// Maximum number of times for one pass. Texts written by people take up to 10.
const MAX_PASS_READINGS: u64 = 24;
/// Number of times that the bytes of well-formed blocks are split into blocks.
const RESERVED_READINGS: u64 = 4;
/// Minimum budget: a shorter text may take as much work as a text of this many bytes.
const MIN_BUDGET_BYTES: u64 = 16 * 1024;

thread_local! {
    /// The remaining work budget of the text being parsed on this thread.
    static REMAINING_WORK: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The budget of one text. Dropping it restores the remaining budget of the surrounding text.
pub(super) struct TextBudget(u64);

impl TextBudget {
    /// Starts the budget of a text of this many bytes.
    pub(super) fn begin(bytes: usize) -> Self {
        Self(REMAINING_WORK.replace(MAX_READINGS * MIN_BUDGET_BYTES.max(bytes as u64)))
    }
}

impl Drop for TextBudget {
    fn drop(&mut self) {
        REMAINING_WORK.set(self.0);
    }
}

/// A share of the budget of a text. Dropping it returns the unused part.
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

/// Counts lines that are split into chunks. Returns `false` once the budget is used up.
pub(super) fn take<'a>(lines: impl Iterator<Item = &'a str>) -> bool {
    take_bytes(lines.map(|line| line.len() + 1).sum());
    !is_used_up()
}

/// Counts the bytes of a line that is tracked through this many containers. Eight containers cost as much as splitting
/// the line.
pub(super) fn take_containers(line: &str, containers: usize) {
    take_bytes(line.len().saturating_mul(containers) / 8);
}

/// Counts bytes, such as those that are inspected without a result.
pub(super) fn take_bytes(bytes: usize) {
    step(bytes);
    REMAINING_WORK.set(REMAINING_WORK.get().saturating_sub(bytes as u64));
}

/// Returns `true` if the budget is used up.
pub(super) fn is_used_up() -> bool {
    REMAINING_WORK.get() == 0
}

/// Counts the input bytes of a step of parsing or printing. A test checks that their sum is linear.
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

    /// Returns the sum of the input bytes of all steps of a closure.
    pub(in super::super) fn steps_of(work: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        work();
        STEPS.get() - before
    }
}
