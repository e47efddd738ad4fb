//! State of the decisions which files and reusable content blocks a visitor sees.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use quick_cache::{Weighter, sync::Cache};

use super::{conditions::ConditionEvaluator, decision_budget::SharedDecisionBudget};
use crate::{
    content::{AllBacklinks, ConditionalTargets, LinkSource, LinkTarget},
    model::{PageId, Variables},
    platform::kernel::tenant_queue::TenantQueue,
    store::Hash,
};

/// Maximum number of concurrent decisions on the visibility of files and reusable content blocks.
const MAX_CONCURRENT_DECISIONS: usize = 4;
/// Maximum number of concurrent decisions for the visitors of one organization.
const MAX_TENANT_DECISIONS: usize = 2;
/// Memory of the cached references with their conditions, in bytes.
const MAX_CACHED_TARGET_BYTES: u64 = 8 << 20;
/// Memory of the cached decisions which pages of a tree a visitor sees, in bytes.
const MAX_CACHED_SHOWN_BYTES: u64 = 8 << 20;

/// State of the decisions that the requests of a server share.
pub(in crate::platform) struct UseDecisions {
    /// The references of each text with their conditions, by organization and text. They are the same for all visitors,
    /// so made-up claims cause no parsing.
    pub(super) known: Cache<Hash, Arc<ConditionalTargets>, TargetWeigher>,
    /// For each page of a tree whether it is visible, by content and claims.
    pub(super) shown_pages: Cache<Hash, Arc<Vec<bool>>, ShownWeigher>,
    pub(super) queue: TenantQueue,
}

#[derive(Clone)]
pub(super) struct ShownWeigher;

impl Weighter<Hash, Arc<Vec<bool>>> for ShownWeigher {
    fn weight(&self, _: &Hash, shown: &Arc<Vec<bool>>) -> u64 {
        shown.len() as u64 + 128
    }
}

#[derive(Clone)]
pub(super) struct TargetWeigher;

impl Weighter<Hash, Arc<ConditionalTargets>> for TargetWeigher {
    fn weight(&self, _: &Hash, targets: &Arc<ConditionalTargets>) -> u64 {
        targets.memory() as u64 + 128
    }
}

impl fmt::Debug for UseDecisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UseDecisions").field("known", &self.known.len()).finish_non_exhaustive()
    }
}

impl Default for UseDecisions {
    fn default() -> Self {
        // One shard, because an entry must fit into its shard.
        let known = Cache::with_weighter(32, MAX_CACHED_TARGET_BYTES, TargetWeigher);
        let shown_pages = Cache::with_weighter(32, MAX_CACHED_SHOWN_BYTES, ShownWeigher);
        Self { known, shown_pages, queue: TenantQueue::new(MAX_CONCURRENT_DECISIONS, MAX_TENANT_DECISIONS) }
    }
}

/// Cached results of checking which sources use a target.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) shared: Option<Arc<UseDecisions>>,
    /// All backlinks of files and reusable content blocks, if the request reads them at once.
    pub(super) all: OnceLock<AllBacklinks>,
    /// The evaluator of conditions within documents. The filters of a request share its budget.
    pub(super) conditions: OnceLock<ConditionEvaluator>,
    pub(super) budget: SharedDecisionBudget,
    found: Mutex<VisibilityCache>,
}

#[derive(Debug, Default)]
pub(super) struct VisibilityCache {
    pub(super) targets: HashMap<LinkTarget, bool>,
    pub(super) pages: HashMap<PageId, bool>,
    /// The sources with references that are subject to conditions. `None` for a source without text.
    pub(super) sources: HashMap<LinkSource, Option<Arc<ConditionalSource>>>,
}

/// A source with references that are subject to conditions.
#[derive(Debug)]
pub(super) struct ConditionalSource {
    pub(super) targets: Arc<ConditionalTargets>,
    /// The variables of the page, which its conditions can read.
    pub(super) variables: Variables,
}

impl Uses {
    pub(super) fn within(budget: SharedDecisionBudget) -> Self {
        Self { budget, ..Self::default() }
    }

    pub(super) fn cache(&self) -> MutexGuard<'_, VisibilityCache> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
