//! The files and reusable content blocks that a visitor sees: those that visible content references.

use std::{collections::HashSet, sync::Arc};

use super::{conditions::ConditionEvaluator, decisions::ConditionalSource, reader::ContentFilter};
use crate::{
    Error, Result,
    content::{
        Body, ConditionalTargets, LinkSource, LinkTarget, Rendering, document, run_in_place, run_on_text,
        yield_after_each,
    },
    model::{PageId, Variables},
    platform::kernel::tenant_queue::WorkPermit,
    store::Hash,
};

/// Maximum number of link sources read per batch.
const SOURCE_BATCH: usize = 200;
/// Number of sources after which other tasks run.
const YIELD_INTERVAL: usize = 16;

/// A batch of sources that link to a target.
struct Sources {
    items: Vec<(LinkSource, bool)>,
    /// `true` if more sources may follow.
    more: bool,
}

/// The progress of a decision.
struct Search {
    /// The targets that were or will be searched.
    known: HashSet<LinkTarget>,
    /// The targets to search.
    open: Vec<LinkTarget>,
}

impl ContentFilter {
    /// Reads all backlinks at once, for callers that check every file and reusable content block.
    pub(in crate::platform) async fn prepare(&self) -> Result<()> {
        if self.hides() && self.uses.all.get().is_none() {
            let all = self.view().all_backlinks().await?;
            self.uses.all.get_or_init(|| all);
        }
        Ok(())
    }

    /// Returns `true` if a file or reusable content block is visible to the reader: a visible page uses it, directly or
    /// through other reusable content. An unused file is visible only to members. A reusable content block that is
    /// unused in its own space may be used in others.
    ///
    /// The work for all decisions of a request is bounded.
    pub(in crate::platform) async fn sees(&self, target: LinkTarget) -> Result<bool> {
        if !self.hides() {
            return Ok(true);
        }
        if let Some(sees) = self.uses.cache().targets.get(&target) {
            return Ok(*sees);
        }
        let _permit = self.permit().await?;
        let mut search = Search { known: HashSet::from([target.clone()]), open: vec![target.clone()] };
        while let Some(next) = search.open.pop() {
            if self.is_used(&next, &mut search).await? {
                self.uses.cache().targets.insert(target, true);
                return Ok(true);
            }
        }
        // No visible page was reached, so all these targets are hidden.
        let mut cache = self.uses.cache();
        if !self.uses.budget.lock().is_exhausted {
            cache.targets.extend(search.known.into_iter().map(|target| (target, false)));
        }
        Ok(false)
    }

    /// Returns `true` if a decision ended because of its budget. Such a decision must not be cached: a later request
    /// continues with the texts that this one parsed.
    pub(in crate::platform) fn is_exhausted(&self) -> bool {
        self.uses.budget.lock().is_exhausted
    }

    async fn permit(&self) -> Result<Option<WorkPermit>> {
        match &self.uses.shared {
            Some(shared) => shared.queue.acquire(self.view().domain()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns `true` if a visible page uses the target. Reusable content blocks that use it are added to the search.
    async fn is_used(&self, target: &LinkTarget, search: &mut Search) -> Result<bool> {
        let mut after: Option<LinkSource> = None;
        loop {
            let Sources { items, more } = self.sources(target, after.as_ref()).await?;
            if items.is_empty() && after.is_none() && matches!(target, LinkTarget::Reusable(_)) {
                return Ok(true);
            }
            for (at, (source, is_conditional)) in items.iter().enumerate() {
                yield_after_each(YIELD_INTERVAL, at + 1).await;
                if self.uses.all.get().is_none() && !self.uses.budget.lock().take_source() {
                    return Ok(false);
                }
                let via = match source {
                    LinkSource::Page(page) if !self.sees_page(page).await? => continue,
                    LinkSource::Page(_) => None,
                    LinkSource::Reusable(id) => Some(LinkTarget::Reusable(id.clone())),
                };
                if via.as_ref().is_some_and(|via| search.known.contains(via))
                    || *is_conditional && !self.uses_visibly(source, target).await?
                {
                    continue;
                }
                let Some(via) = via else { return Ok(true) };
                let sees = self.uses.cache().targets.get(&via).copied();
                match sees {
                    Some(true) => return Ok(true),
                    // Not added to `known`: this target is already known to be hidden, regardless of the result of this
                    // search.
                    Some(false) => continue,
                    None => search.open.push(via.clone()),
                }
                search.known.insert(via);
            }
            if !more {
                return Ok(false);
            }
            after = items.into_iter().next_back().map(|(source, _)| source);
        }
    }

    /// Returns a batch of sources of a target, starting after a given one.
    async fn sources(&self, target: &LinkTarget, after: Option<&LinkSource>) -> Result<Sources> {
        if let Some(all) = self.uses.all.get() {
            return Ok(Sources { items: all.get(target).cloned().unwrap_or_default(), more: false });
        }
        let items = self.view().backlinks(target, after, SOURCE_BATCH).await?;
        let more = items.len() == SOURCE_BATCH;
        Ok(Sources { items, more })
    }

    async fn sees_page(&self, id: &PageId) -> Result<bool> {
        if let Some(sees) = self.uses.cache().pages.get(id) {
            return Ok(*sees);
        }
        let sees = match self.view().page(id).await? {
            Some(entry) => self.shows(id, &entry).await?,
            None => false,
        };
        self.uses.cache().pages.insert(id.clone(), sees);
        Ok(sees)
    }

    /// Returns `true` if the conditions of a reference from the source to the target are met.
    async fn uses_visibly(&self, source: &LinkSource, target: &LinkTarget) -> Result<bool> {
        let Some(visitor) = self.visitor.as_ref() else { return Ok(true) };
        let known = self.uses.cache().sources.get(source).cloned();
        let found = match known {
            Some(known) => known,
            None => {
                let found = self.conditional_source(source).await?.map(Arc::new);
                self.uses.cache().sources.insert(source.clone(), found.clone());
                found
            }
        };
        let Some(found) = found else { return Ok(false) };
        let conditions = self.uses.conditions.get_or_init(|| {
            let (context, claims) = (visitor.evaluator.context().clone(), visitor.evaluator.claims().clone());
            ConditionEvaluator::new(context, claims, visitor.claims.budgets.documents.clone())
        });
        let holds = |condition: &str| conditions.holds_in_document(condition, &found.variables);
        Ok(run_in_place(|| found.targets.shows(target, holds)))
    }

    /// Reads a source. Returns `None` if it does not exist or exceeds the budget.
    async fn conditional_source(&self, source: &LinkSource) -> Result<Option<ConditionalSource>> {
        let found = match source {
            LinkSource::Page(id) => {
                self.view().page(id).await?.map(|entry| (entry.body, entry.variables.value()))
            }
            LinkSource::Reusable(id) => {
                self.view().reusable(id).await?.map(|entry| (entry.body, Variables::new()))
            }
        };
        let Some((body, variables)) = found else { return Ok(None) };
        let targets = self.conditional_targets(&body).await?;
        Ok(targets.map(|targets| ConditionalSource { targets, variables }))
    }

    /// Returns the references of a text with their conditions, or `None` beyond the budget.
    async fn conditional_targets(&self, body: &Body) -> Result<Option<Arc<ConditionalTargets>>> {
        let body_key = serde_json::to_string(body).map_err(Error::internal)?;
        let key = Hash::compute([self.view().domain(), &body_key].join("\n").as_bytes());
        if let Some(known) = self.uses.shared.as_ref().and_then(|shared| shared.known.get(&key)) {
            let is_within = self.uses.budget.lock().take_text(known.condition_bytes());
            return Ok(is_within.then_some(known));
        }
        let text = self.view().text(body, Rendering::Request).await?;
        if !self.uses.budget.lock().take_text(text.len()) {
            return Ok(None);
        }
        let targets = run_on_text(&text, |text| ConditionalTargets::new(&document::parse(text))).await;
        let targets = Arc::new(targets);
        if let Some(shared) = &self.uses.shared {
            shared.known.insert(key, Arc::clone(&targets));
        }
        Ok(Some(targets))
    }
}
