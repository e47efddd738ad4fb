//! The evaluation of conditions for one request: its step budgets, and its place among the requests of an organization.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quick_cache::sync::Cache;

use super::decision_budget::SharedDecisionBudget;
use crate::{
    Error, Result,
    content::{
        Cancelled,
        expression::{Budget, MAX_STEPS},
        run_cancellable,
    },
    platform::kernel::{tenant::Tenant, tenant_queue::TenantQueue},
    store::Hash,
};

/// Maximum number of evaluation steps for the conditions of all site parts that a request examines, unless their
/// results are cached. Conditions beyond this limit are not met.
const MAX_SITE_CONDITION_STEPS: u32 = 5 * MAX_STEPS;
/// Maximum number of evaluation steps for the conditions of all pages and header links that a request examines.
/// Conditions beyond this limit are not met.
const MAX_CONDITION_STEPS: u32 = 20 * MAX_STEPS;
/// Maximum number of cached decisions on conditions of site parts, of a few dozen bytes each.
const MAX_SITE_DECISIONS: usize = 20_000;
/// Maximum number of requests whose conditions are evaluated concurrently.
const MAX_CONCURRENT_EVALUATIONS: usize = 4;
/// Maximum number of requests of one organization's visitors whose conditions are evaluated concurrently.
const MAX_TENANT_EVALUATIONS: usize = 2;

/// A step budget that the evaluators of a request share.
#[derive(Clone, Debug)]
pub(super) struct SharedBudget {
    total: u32,
    left: Arc<Mutex<Budget>>,
}

impl SharedBudget {
    fn new(steps: u32) -> Self {
        Self { total: steps, left: Arc::new(Mutex::new(Budget(steps))) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Budget> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self) -> u32 {
        self.total.saturating_sub(self.lock().0)
    }

    /// Returns `true` if no steps remain, so that some conditions may not have been evaluated.
    pub(super) fn is_exhausted(&self) -> bool {
        self.lock().0 == 0
    }
}

/// The budgets for evaluating the conditions that apply to a visitor. Reads of several spaces for one request share
/// them.
#[derive(Clone, Debug)]
pub struct ConditionBudgets {
    /// The budget for the conditions of site parts.
    pub(super) site: SharedBudget,
    /// The budget for the conditions of pages and header links.
    pub(super) content: SharedBudget,
    /// The budget for the conditions within documents that decide which files and reusable content blocks are visible.
    pub(super) documents: SharedBudget,
    /// The budget for the decisions which files and reusable content blocks are visible.
    pub(super) decisions: SharedDecisionBudget,
}

impl Default for ConditionBudgets {
    fn default() -> Self {
        Self {
            site: SharedBudget::new(MAX_SITE_CONDITION_STEPS),
            content: SharedBudget::new(MAX_CONDITION_STEPS),
            documents: SharedBudget::new(MAX_CONDITION_STEPS),
            decisions: SharedDecisionBudget::default(),
        }
    }
}

impl ConditionBudgets {
    /// Replaces the budgets for content by new ones of at most `most` steps each.
    pub(super) fn with_content_steps(&self, most: u32) -> Self {
        let budget = || SharedBudget::new(most.min(MAX_CONDITION_STEPS));
        Self { content: budget(), documents: budget(), ..self.clone() }
    }

    /// Replaces the budgets for content by those of another request.
    pub(super) fn with_content_of(&self, other: &Self) -> Self {
        Self { site: self.site.clone(), ..other.clone() }
    }

    /// Returns `true` if a budget for content is used up. Some conditions may then not have been evaluated, so the
    /// response must not be cached.
    #[must_use]
    pub fn are_exhausted(&self) -> bool {
        self.content.is_exhausted() || self.documents.is_exhausted() || self.decisions.lock().is_exhausted
    }

    /// Returns the steps taken by the conditions of content.
    pub(super) fn content_steps(&self) -> u32 {
        self.content.used().saturating_add(self.documents.used())
    }
}

/// The queue of the evaluations of a server, and their results for the parts of sites.
#[derive(Debug)]
pub(super) struct EvaluationQueue {
    queue: TenantQueue,
    /// The decisions on conditions of site parts, by condition and claims.
    site_decisions: Cache<Hash, bool>,
}

impl Default for EvaluationQueue {
    fn default() -> Self {
        Self {
            queue: TenantQueue::new(MAX_CONCURRENT_EVALUATIONS, MAX_TENANT_EVALUATIONS),
            site_decisions: quick_cache::sync::Cache::new(MAX_SITE_DECISIONS),
        }
    }
}

/// The cached decisions on conditions of site parts for a visitor.
#[derive(Clone, Debug)]
pub(super) struct SiteDecisions {
    queue: Arc<EvaluationQueue>,
    /// The id of the visitor's claims.
    claims: String,
}

impl SiteDecisions {
    pub(super) fn new(turn: &EvaluationTurn, claims: String) -> Self {
        Self { queue: Arc::clone(&turn.queue), claims }
    }

    pub(super) fn get(&self, condition: &str) -> Option<bool> {
        self.queue.site_decisions.get(&self.key(condition))
    }

    pub(super) fn insert(&self, condition: &str, holds: bool) {
        self.queue.site_decisions.insert(self.key(condition), holds);
    }

    fn key(&self, condition: &str) -> Hash {
        Hash::compute(format!("{}\n{condition}", self.claims).as_bytes())
    }
}

/// The access of a request to the queue, on behalf of an organization.
#[derive(Clone, Debug)]
pub(super) struct EvaluationTurn {
    pub(super) queue: Arc<EvaluationQueue>,
    pub(super) tenant: Tenant,
}

impl EvaluationTurn {
    /// Waits for its turn, and evaluates conditions on a blocking thread. The permit is returned when the evaluation
    /// ends. If the request is cancelled, the evaluation ends before the next condition.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancelled) -> T + Send + 'static,
    ) -> Result<T> {
        let permit = self.queue.queue.acquire_for(&self.tenant).await?;
        let done = run_cancellable(move |cancelled| {
            let done = work(cancelled);
            drop(permit);
            done
        });
        done.await.ok_or_else(|| Error::internal("the conditions were not evaluated"))
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, sync::mpsc, thread};

    use futures_util::poll;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn evaluations_wait_per_organization_off_the_async_thread() {
        let queue = Arc::new(EvaluationQueue::default());
        let turn = |tenant: &str| EvaluationTurn { queue: Arc::clone(&queue), tenant: tenant.into() };
        let thread = turn("busy").run(|_| thread::current().id()).await.expect("evaluated");
        assert_ne!(thread, thread::current().id());
        let mut permits = Vec::new();
        for _ in 0..MAX_TENANT_EVALUATIONS {
            permits.push(queue.queue.acquire("busy").await.expect("a permit"));
        }
        let busy = turn("busy");
        let mut waiting = pin!(busy.run(|_| 1));
        assert!(poll!(&mut waiting).is_pending());
        assert_eq!(turn("other").run(|_| 2).await.expect("evaluated"), 2);
        permits.pop();
        assert_eq!(waiting.await.expect("evaluated"), 1);
    }

    #[tokio::test]
    async fn cancelled_evaluations_keep_their_permit_until_they_end() {
        let queue = Arc::new(EvaluationQueue::default());
        let turn = EvaluationTurn { queue: Arc::clone(&queue), tenant: "busy".into() };
        let ((begun, begins), (end, ends)) = (oneshot::channel(), mpsc::channel::<()>());
        let (report, seen) = oneshot::channel();
        let mut cancelled = Box::pin(turn.run(move |cancelled| {
            let _ = begun.send(cancelled.is_set());
            let ended = ends.recv();
            let _ = report.send(cancelled.is_set());
            ended
        }));
        assert!(poll!(&mut cancelled).is_pending());
        assert!(!begins.await.expect("the evaluation begins"));
        drop(cancelled);
        let mut permits = Vec::new();
        for _ in 1..MAX_TENANT_EVALUATIONS {
            permits.push(queue.queue.acquire("busy").await.expect("a permit"));
        }
        let mut next = pin!(queue.queue.acquire("busy"));
        assert!(poll!(&mut next).is_pending(), "the cancelled evaluation still runs");
        end.send(()).expect("the evaluation waits");
        next.await.expect("a permit");
        assert!(seen.await.expect("the evaluation ends"), "the evaluation is cancelled");
    }
}
