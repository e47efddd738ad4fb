//! Conditions, decided for one visitor.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    content::{
        PageEntry,
        expression::{self, Budget, Claims, Context, Expression, MAX_STEPS},
    },
    model::{Condition, PageId},
};

/// Most steps that all conditions of a site, or of a content, take together. Those that are left then do not hold.
const MAX_CONDITION_STEPS: u32 = 20 * MAX_STEPS;

/// Decides conditions within one budget, each once: parts of a site, and pages, often share them. One that reads what
/// may not decide who sees what does not hold.
///
/// It is for the conditions of one site, or for those of the pages of one content.
#[derive(Debug)]
pub(super) struct Decider {
    context: Context,
    claims: Claims,
    decided: Mutex<Decided>,
}

#[derive(Debug)]
struct Decided {
    by_text: HashMap<String, Decision>,
    /// Pages whose conditions read something of the page.
    pages: HashMap<PageId, bool>,
    budget: Budget,
}

/// What is known of a condition.
#[derive(Debug, Clone)]
enum Decision {
    /// Whether it holds, wherever it stands.
    Everywhere(bool),
    /// That depends on the page it stands at.
    OfPage(Expression),
}

impl Decider {
    pub(super) fn new(context: Context, claims: Claims) -> Self {
        let (by_text, pages) = (HashMap::new(), HashMap::new());
        let decided = Decided { by_text, pages, budget: Budget(MAX_CONDITION_STEPS) };
        Self { context, claims, decided: Mutex::new(decided) }
    }

    /// What is known of the visitor, and of what they look at.
    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// Which claims the site knows.
    pub(super) const fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Tells whether a condition of a part of the site holds, or there is none.
    pub(super) fn holds(&self, condition: Option<&Condition>) -> bool {
        let Some(condition) = condition else { return true };
        let mut decided = self.decided();
        if let Some(Decision::Everywhere(holds)) = decided.by_text.get(condition.as_str()) {
            return *holds;
        }
        let holds = self.shows(condition.expression(), &self.context, &mut decided.budget);
        decided.by_text.insert(condition.as_str().to_owned(), Decision::Everywhere(holds));
        holds
    }

    /// Tells whether the condition of a page holds, or there is none. It knows the variables of the page.
    pub(super) fn holds_of_page(&self, id: &PageId, page: &PageEntry) -> bool {
        let Some(text) = page.condition.as_deref() else { return true };
        let mut decided = self.decided();
        let decision = match decided.by_text.get(text) {
            Some(decision) => decision.clone(),
            None => {
                let decision = self.read(text, &mut decided.budget);
                decided.by_text.insert(text.to_owned(), decision.clone());
                decision
            }
        };
        let condition = match decision {
            Decision::Everywhere(holds) => return holds,
            Decision::OfPage(condition) => condition,
        };
        if let Some(holds) = decided.pages.get(id) {
            return *holds;
        }
        let context = self.context.clone().with_page(&page.variables);
        let holds = self.shows(&condition, &context, &mut decided.budget);
        decided.pages.insert(id.clone(), holds);
        holds
    }

    /// Reads the condition of a page, and decides it where it is the same for all pages.
    fn read(&self, text: &str, budget: &mut Budget) -> Decision {
        match Expression::parse(text) {
            Ok(condition) if condition.reads_page() => Decision::OfPage(condition),
            Ok(condition) => Decision::Everywhere(self.shows(&condition, &self.context, budget)),
            Err(_) => Decision::Everywhere(expression::is_blank(text)),
        }
    }

    fn shows(&self, condition: &Expression, context: &Context, budget: &mut Budget) -> bool {
        expression::shows_within(condition, context, &self.claims, budget)
    }

    fn decided(&self) -> MutexGuard<'_, Decided> {
        self.decided.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
