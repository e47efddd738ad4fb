//! Evaluates conditions for one visitor.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    content::{
        PageEntry,
        expression::{self, Budget, Claims, Context, Expression, MAX_STEPS},
    },
    model::{Condition, PageId, Variables},
};

/// Maximum number of evaluation steps for all conditions of a site or space together. Conditions beyond this limit are
/// not met.
const MAX_CONDITION_STEPS: u32 = 20 * MAX_STEPS;

/// Evaluates conditions within one budget and caches the results, because parts of a site and pages often share
/// conditions. A condition that reads values not permitted for access decisions is not met.
///
/// An instance serves either the conditions of one site, or those of the pages of one space.
#[derive(Debug)]
pub(super) struct ConditionEvaluator {
    context: Context,
    claims: Claims,
    decided: Mutex<ConditionResults>,
}

#[derive(Debug)]
struct ConditionResults {
    by_text: HashMap<String, Decision>,
    /// The results of conditions that read page variables.
    pages: HashMap<PageId, bool>,
    budget: Budget,
}

#[derive(Debug, Clone)]
enum Decision {
    /// The same on every page.
    Everywhere(bool),
    /// Depends on the page.
    PerPage(Expression),
}

impl ConditionEvaluator {
    pub(super) fn new(context: Context, claims: Claims) -> Self {
        let (by_text, pages) = (HashMap::new(), HashMap::new());
        let decided = ConditionResults { by_text, pages, budget: Budget(MAX_CONDITION_STEPS) };
        Self { context, claims, decided: Mutex::new(decided) }
    }

    /// Returns the evaluation context.
    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the claims declared by the site.
    pub(super) const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Returns `true` if a part of the site has no condition, or its condition is met.
    pub(super) fn holds(&self, condition: Option<&Condition>) -> bool {
        let Some(condition) = condition else { return true };
        let mut decided = self.results();
        if let Some(Decision::Everywhere(holds)) = decided.by_text.get(condition.as_str()) {
            return *holds;
        }
        let holds = self.evaluate(condition.expression(), &self.context, &mut decided.budget);
        decided.by_text.insert(condition.as_str().to_owned(), Decision::Everywhere(holds));
        holds
    }

    /// Returns `true` if a page has no condition, or its condition is met. The condition can read the page's variables.
    pub(super) fn holds_for_page(&self, id: &PageId, page: &PageEntry) -> bool {
        let Some(text) = page.condition.as_deref() else { return true };
        let mut decided = self.results();
        let condition = match self.decision(text, &mut decided) {
            Decision::Everywhere(holds) => return holds,
            Decision::PerPage(condition) => condition,
        };
        if let Some(holds) = decided.pages.get(id) {
            return *holds;
        }
        let context = self.context.clone().with_page(&page.variables);
        let holds = self.evaluate(&condition, &context, &mut decided.budget);
        decided.pages.insert(id.clone(), holds);
        holds
    }

    /// Returns `true` if a condition within a document is met. The condition can read the variables of the page.
    pub(super) fn holds_in_document(&self, text: &str, of_page: &Variables) -> bool {
        let mut decided = self.results();
        match self.decision(text, &mut decided) {
            Decision::Everywhere(holds) => holds,
            Decision::PerPage(condition) => {
                let context = self.context.clone().with_page(of_page);
                self.evaluate(&condition, &context, &mut decided.budget)
            }
        }
    }

    /// Returns the decision on a condition of a page. Each condition is parsed once.
    fn decision(&self, text: &str, decided: &mut ConditionResults) -> Decision {
        if let Some(decision) = decided.by_text.get(text) {
            return decision.clone();
        }
        let decision = self.read(text, &mut decided.budget);
        decided.by_text.insert(text.to_owned(), decision.clone());
        decision
    }

    /// Parses the condition of a page, and evaluates it if it does not depend on the page.
    fn read(&self, text: &str, budget: &mut Budget) -> Decision {
        match Expression::parse(text) {
            Ok(condition) if condition.reads_page() => Decision::PerPage(condition),
            Ok(condition) => Decision::Everywhere(self.evaluate(&condition, &self.context, budget)),
            Err(_) => Decision::Everywhere(expression::is_blank(text)),
        }
    }

    fn evaluate(&self, condition: &Expression, context: &Context, budget: &mut Budget) -> bool {
        expression::is_visible_within(condition, context, &self.claims, budget)
    }

    fn results(&self) -> MutexGuard<'_, ConditionResults> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
