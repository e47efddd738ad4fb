//! Conditions, decided for one visitor.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::{
    content::expression::{self, Budget, Context, MAX_STEPS},
    model::Condition,
};

/// Most steps that all conditions of a site, or of a content, take together. Those that are left then do not hold.
const MAX_CONDITION_STEPS: u32 = 20 * MAX_STEPS;

/// Decides conditions within one budget, each once: parts of a site, and pages, often share them.
#[derive(Debug)]
pub(super) struct Decider {
    context: Context,
    decided: Mutex<(HashMap<String, bool>, Budget)>,
}

impl Decider {
    pub(super) fn new(context: Context) -> Self {
        Self { context, decided: Mutex::new((HashMap::new(), Budget(MAX_CONDITION_STEPS))) }
    }

    /// What is known of the visitor, and of what they look at.
    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// Tells whether a condition holds, or there is none.
    pub(super) fn holds(&self, condition: Option<&Condition>) -> bool {
        condition.is_none_or(|condition| {
            self.once(condition.as_str(), |context, budget| {
                expression::holds_within(condition.expression(), context, budget)
            })
        })
    }

    /// The same of the text of a condition, which is read here.
    pub(super) fn holds_text(&self, condition: Option<&str>) -> bool {
        condition.is_none_or(|condition| {
            self.once(condition, |context, budget| expression::condition_within(condition, context, budget))
        })
    }

    fn once(&self, condition: &str, decide: impl FnOnce(&Context, &mut Budget) -> bool) -> bool {
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let (decided, budget) = &mut *decided;
        if let Some(holds) = decided.get(condition) {
            return *holds;
        }
        let holds = decide(&self.context, budget);
        decided.insert(condition.to_owned(), holds);
        holds
    }
}
