//! Evaluates conditions for one visitor.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::condition_work::{SharedBudget, SiteDecisions};
use crate::{
    content::{
        PageEntry,
        expression::{self, Budget, Claims, Context, Expression},
    },
    model::{Condition, PageId, Variables},
};

/// Evaluates conditions within a budget and caches the results, because parts of a site and pages often share
/// conditions. A condition that reads values not permitted for access decisions is not met.
///
/// An instance serves either the conditions of one site, or those of the pages of one space. Its budget is shared with
/// the other instances of the request.
#[derive(Debug)]
pub(super) struct ConditionEvaluator {
    context: Context,
    claims: Claims,
    budget: SharedBudget,
    decided: Mutex<ConditionResults>,
    /// The decisions that requests with the same claims share. `None` for conditions of pages.
    cache: Option<SiteDecisions>,
}

#[derive(Debug, Default)]
struct ConditionResults {
    by_text: HashMap<String, Decision>,
    /// The results of conditions that read page variables.
    pages: HashMap<PageId, bool>,
}

#[derive(Debug, Clone)]
enum Decision {
    /// The same on every page.
    Everywhere(bool),
    /// Depends on the page.
    PerPage(Expression),
}

impl ConditionEvaluator {
    pub(super) fn new(context: Context, claims: Claims, budget: SharedBudget) -> Self {
        Self { context, claims, budget, decided: Mutex::default(), cache: None }
    }

    /// Adds the cache of the decisions on site parts.
    pub(super) fn with_cache(self, cache: SiteDecisions) -> Self {
        Self { cache: Some(cache), ..self }
    }

    /// Returns `true` if the decision on a condition of a site part is cached.
    pub(super) fn is_cached(&self, condition: &Condition) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.get(condition.as_str()).is_some())
    }

    /// Returns `true` if the budget is used up, so that some conditions may not have been evaluated.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget.is_exhausted()
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
        let cached = self.cache.as_ref().and_then(|cache| cache.get(condition.as_str()));
        let holds = cached.unwrap_or_else(|| self.evaluate_part(condition));
        decided.by_text.insert(condition.as_str().to_owned(), Decision::Everywhere(holds));
        holds
    }

    /// Evaluates the condition of a part of the site, and caches the result unless it depends on the budget.
    fn evaluate_part(&self, condition: &Condition) -> bool {
        let mut budget = self.budget.lock();
        let holds = budget.charge_parsed(condition.expression())
            && self.evaluate(condition.expression(), &self.context, &mut budget);
        if let Some(cache) = self.cache.as_ref().filter(|_| budget.0 > 0) {
            cache.insert(condition.as_str(), holds);
        }
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
        let context = self.context.clone().with_page(&page.variables.value());
        let holds = self.evaluate(&condition, &context, &mut self.budget.lock());
        decided.pages.insert(id.clone(), holds);
        holds
    }

    /// Returns the result of [`holds_for_page`](Self::holds_for_page) if it requires no evaluation.
    pub(super) fn known_for_page(&self, id: &PageId, page: &PageEntry) -> Option<bool> {
        let Some(text) = page.condition.as_deref() else { return Some(true) };
        let decided = self.results();
        match decided.by_text.get(text)? {
            Decision::Everywhere(holds) => Some(*holds),
            Decision::PerPage(_) => decided.pages.get(id).copied(),
        }
    }

    /// Returns `true` if a condition within a document is met. The condition can read the variables of the page.
    pub(super) fn holds_in_document(&self, text: &str, of_page: &Variables) -> bool {
        let mut decided = self.results();
        match self.decision(text, &mut decided) {
            Decision::Everywhere(holds) => holds,
            Decision::PerPage(condition) => {
                let context = self.context.clone().with_page(of_page);
                self.evaluate(&condition, &context, &mut self.budget.lock())
            }
        }
    }

    /// Returns the decision on a condition of a page. Each condition is parsed once.
    fn decision(&self, text: &str, decided: &mut ConditionResults) -> Decision {
        if let Some(decision) = decided.by_text.get(text) {
            return decision.clone();
        }
        let decision = self.read(text, &mut self.budget.lock());
        decided.by_text.insert(text.to_owned(), decision.clone());
        decision
    }

    /// Parses the condition of a page, and evaluates it if it does not depend on the page.
    fn read(&self, text: &str, budget: &mut Budget) -> Decision {
        if expression::is_blank(text) {
            return Decision::Everywhere(true);
        }
        match Expression::parse_within(text, budget) {
            Some(condition) if condition.reads_page() => Decision::PerPage(condition),
            Some(condition) => Decision::Everywhere(self.evaluate(&condition, &self.context, budget)),
            None => Decision::Everywhere(false),
        }
    }

    fn evaluate(&self, condition: &Expression, context: &Context, budget: &mut Budget) -> bool {
        expression::is_visible_within(condition, context, &self.claims, budget)
    }

    fn results(&self) -> MutexGuard<'_, ConditionResults> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
