//! The evaluation steps of a page.

use crate::{
    Error, ErrorKind, Result,
    content::{
        document_allowance,
        expression::{Allowance, Budget},
    },
    model::RevisionPage,
};

/// A page with the evaluation steps that reading it took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CountedPage {
    pub page: RevisionPage,
    /// The steps of the conditions and expressions.
    pub steps: u32,
}

/// Counts the evaluation steps of the documents of a page.
pub(super) struct StepMeter {
    most: u32,
    used: u32,
}

impl Default for StepMeter {
    fn default() -> Self {
        Self::new(u32::MAX)
    }
}

impl StepMeter {
    /// Creates a meter for a page of an answer with `most` remaining steps.
    pub(super) const fn new(most: u32) -> Self {
        Self { most, used: 0 }
    }

    /// Returns the budget of a document. Its steps exceed the remaining ones by one, so that a document within the
    /// limit is always complete.
    pub(super) fn allowance(&self) -> Allowance {
        let own = document_allowance();
        Allowance { steps: Budget(own.steps.0.min(step_limit(self.most.saturating_sub(self.used)))), ..own }
    }

    /// Adds the steps of a document. `given` is its budget before the evaluation.
    pub(super) const fn charge(&mut self, given: u32, left: &Allowance) {
        self.used = self.used.saturating_add(given.saturating_sub(left.steps.0));
    }

    /// Returns a page with its steps, including those of conditions.
    ///
    /// # Errors
    /// `TooLarge` if the steps exceed the limit; otherwise the error of `page`.
    pub(super) fn finish(self, conditions: u32, page: Result<RevisionPage>) -> Result<CountedPage> {
        let steps = self.used.saturating_add(conditions);
        if steps > self.most {
            let why = "the page takes more evaluation steps than its answer has left";
            return Err(Error::new(ErrorKind::TooLarge, why));
        }
        page.map(|page| CountedPage { page, steps })
    }
}

/// Returns a number of steps that is exceeded only by more than `most` steps.
pub(super) const fn step_limit(most: u32) -> u32 {
    most.saturating_add(1)
}
