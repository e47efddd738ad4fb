//! The budget of the decisions which files and reusable content blocks a visitor sees.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum total size, in bytes, of the texts that a request of a visitor parses to find the conditions of references
/// to files and reusable content blocks. A text whose conditions are cached counts with the length of its conditions.
/// Content that only further texts reference is hidden from the request.
const MAX_CONDITIONAL_TEXT: usize = 8 * 1024 * 1024;
/// Maximum number of pages and reusable content blocks that a request of a visitor examines as sources of references,
/// unless it reads all backlinks at once. Content that only further sources reference is hidden from the request.
const MAX_EXAMINED_SOURCES: usize = 10_000;

/// The work that the decisions of a request may still cause.
#[derive(Debug)]
pub(super) struct DecisionBudget {
    bytes: usize,
    sources: usize,
    /// `true` if a decision ended because of the budget.
    pub(super) is_exhausted: bool,
}

impl Default for DecisionBudget {
    fn default() -> Self {
        Self { bytes: MAX_CONDITIONAL_TEXT, sources: MAX_EXAMINED_SOURCES, is_exhausted: false }
    }
}

impl DecisionBudget {
    /// Charges for a text. Returns `false` if it exceeds the budget.
    pub(super) fn take_text(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or_default();
        self.is_exhausted |= left.is_none();
        !self.is_exhausted
    }

    /// Charges for a source. Returns `false` if it exceeds the budget.
    pub(super) fn take_source(&mut self) -> bool {
        let left = self.sources.checked_sub(1);
        self.sources = left.unwrap_or_default();
        self.is_exhausted |= left.is_none();
        !self.is_exhausted
    }
}

/// The budget that the filters of a request share.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedDecisionBudget(Arc<Mutex<DecisionBudget>>);

impl SharedDecisionBudget {
    pub(super) fn lock(&self) -> MutexGuard<'_, DecisionBudget> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_of_a_request_have_a_bounded_budget() {
        let mut budget = DecisionBudget::default();
        assert!(budget.take_text(MAX_CONDITIONAL_TEXT));
        assert!(!budget.take_text(1), "the bytes are used");
        assert!(budget.is_exhausted);
        let mut budget = DecisionBudget::default();
        assert!((0..MAX_EXAMINED_SOURCES).all(|_| budget.take_source()));
        assert!(!budget.is_exhausted);
        assert!(!budget.take_source(), "the sources are used");
        assert!(budget.is_exhausted && !budget.take_text(0));
    }
}
