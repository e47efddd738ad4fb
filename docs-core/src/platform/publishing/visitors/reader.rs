//! Readers of content, and the filter that hides conditional content from them.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use serde_json::Value;

use super::conditions::ConditionEvaluator;
use crate::{
    Error, Result,
    content::{
        AllBacklinks, Evaluated, LinkFields, LinkSource, LinkTarget, PageEntry, PageTree, Rendering,
        SharedDocument, View,
        document::update_blocks,
        document_allowance, evaluate, evaluate_for_visitor_within,
        expression::{Allowance, Budget, Claims, Context},
        run_blocking,
    },
    model::{BASE32, Document, HeaderLinks, PageId, Variables},
};

/// The name of the object with unsigned claims.
pub(in crate::platform) const UNSIGNED: &str = "unsigned";

/// A visitor's claims that conditions can read.
#[derive(Clone, Debug)]
pub(in crate::platform) struct VisitorClaims {
    pub(in crate::platform) signed: Value,
    /// Unsigned claims, which anyone can make up.
    pub(in crate::platform) unsigned: Value,
    /// The claims declared by the site.
    pub(in crate::platform) claims: Claims,
}

impl VisitorClaims {
    /// Removes header links that are hidden from the visitor, and the conditions of the others.
    pub(in crate::platform) fn clear(&self, links: &mut HeaderLinks) {
        let decider = self.condition_evaluator(Context::default());
        links.retain(|link| decider.holds(link.condition.take().as_ref()));
    }

    /// Returns an id that is equal for visitors with equal claims.
    pub(in crate::platform) fn id(&self) -> String {
        let Self { signed, unsigned, claims } = self;
        let known = format!("{signed} {unsigned} {claims:?}");
        let hash = blake3::derive_key("docs-platform context of a visitor", known.as_bytes());
        BASE32.encode(&hash[..16])
    }

    /// Returns a condition evaluator for a context.
    pub(super) fn condition_evaluator(&self, context: Context) -> ConditionEvaluator {
        ConditionEvaluator::new(context.with_visitor(&self.signed, &self.unsigned), self.claims.clone())
    }
}

/// A reader of content, as far as conditions are concerned.
#[derive(Clone, Debug)]
pub(in crate::platform) enum ContentReader {
    /// A member, who sees everything visible to any visitor.
    Member,
    /// A visitor of a site.
    Visitor(Arc<VisitorClaims>),
}

impl ContentReader {
    /// Returns the reader's filter for the content of a view.
    pub(in crate::platform) async fn content_filter(&self, view: &View) -> Result<ContentFilter> {
        let uses = Uses::default();
        let Self::Visitor(claims) = self else {
            return Ok(ContentFilter { view: view.clone(), visitor: None, uses });
        };
        let visitor = Some(claims.condition_evaluator(space_context(view).await?));
        Ok(ContentFilter { view: view.clone(), visitor, uses })
    }
}

/// The part of the content visible to a reader.
#[derive(Debug)]
pub(in crate::platform) struct ContentFilter {
    view: View,
    /// The evaluator of conditions, or `None` for members.
    visitor: Option<ConditionEvaluator>,
    uses: Uses,
}

impl ContentFilter {
    /// Returns `true` if conditions apply to the reader.
    pub(in crate::platform) const fn hides(&self) -> bool {
        self.visitor.is_some()
    }

    /// Returns `true` if the page's own condition is met, regardless of its ancestors.
    pub(in crate::platform) fn meets(&self, id: &PageId, page: &PageEntry) -> bool {
        self.visitor.as_ref().is_none_or(|decider| decider.holds_for_page(id, page))
    }

    /// Returns for each page of a tree whether it is visible to the reader: its own condition and those of all
    /// ancestors are met.
    pub(in crate::platform) fn visible_pages(&self, tree: &PageTree) -> Vec<bool> {
        let mut shown: Vec<bool> = Vec::with_capacity(tree.len());
        for page in tree.pages() {
            let above = page.parent.is_none_or(|at| shown.get(at).copied().unwrap_or_default());
            shown.push(above && self.meets(&page.id, &page.entry));
        }
        shown
    }

    /// Returns `NotFound` for a page that is hidden from the reader.
    pub(in crate::platform) async fn require(&self, id: &PageId, entry: &PageEntry) -> Result<()> {
        if self.shows(id, entry).await? { Ok(()) } else { Err(Error::not_found("page")) }
    }

    /// Returns `true` if a page is visible to the reader: its own condition and those of all ancestors are met.
    pub(in crate::platform) async fn shows(&self, id: &PageId, entry: &PageEntry) -> Result<bool> {
        if !self.hides() {
            return Ok(true);
        }
        let above = self.view.ancestors(id).await?;
        Ok(above.iter().all(|(id, entry)| self.meets(id, entry)) && self.meets(id, entry))
    }

    pub(in crate::platform) const fn view(&self) -> &View {
        &self.view
    }

    /// Returns a document as the reader sees it. For members, only variables are evaluated, since they have no claims.
    /// A document that is the same for every reader is returned unchanged.
    pub(in crate::platform) async fn document(
        &self,
        document: SharedDocument,
        of_page: &Variables,
        mode: Evaluated,
    ) -> Result<Arc<Document>> {
        self.document_within(document, of_page, mode, &mut document_allowance()).await
    }

    /// Like [`document`](Self::document), but for visitors the evaluation is charged to a budget shared by several
    /// documents.
    pub(in crate::platform) async fn document_within(
        &self,
        document: SharedDocument,
        of_page: &Variables,
        mode: Evaluated,
        allowance: &mut Allowance,
    ) -> Result<Arc<Document>> {
        if document.is_same_for_all() {
            return Ok(document.into_inner());
        }
        // Evaluating all permitted steps can take a large part of a second, even for a short document.
        let evaluated = match &self.visitor {
            Some(decider) => {
                let context = decider.context().clone().with_page(of_page);
                let claims = decider.claims().clone();
                // If the evaluation does not complete, the budget is used up.
                let mut left = std::mem::replace(allowance, Allowance { steps: Budget(0), bytes: 0 });
                let evaluated = run_blocking(move || {
                    let own = evaluate_for_visitor_within(&document, mode, &context, &claims, &mut left);
                    (own, left)
                });
                evaluated.await.map(|(document, left)| {
                    *allowance = left;
                    document
                })
            }
            None if mode == Evaluated::No => return Ok(document.into_inner()),
            None => {
                let context = space_context(&self.view).await?.with_page(of_page);
                run_blocking(move || evaluate(&document, mode, &context, &Claims::default())).await
            }
        };
        evaluated.map(Arc::new).ok_or_else(|| Error::internal("the document was not evaluated"))
    }
}

/// Returns the evaluation context of a space.
async fn space_context(view: &View) -> Result<Context> {
    let variables = view.variables().await?;
    let variables = variables.into_iter().map(|(name, entry)| (name, entry.value)).collect();
    Ok(Context::default().with_space(&variables))
}

/// Maximum number of link sources read per batch.
const SOURCE_BATCH: usize = 200;

/// Cached results of checking which sources use a target.
#[derive(Debug, Default)]
struct Uses {
    /// All backlinks of files and reusable content blocks, set by [`ContentFilter::prepare`].
    all: OnceLock<AllBacklinks>,
    found: Mutex<VisibilityCache>,
}

#[derive(Debug, Default)]
struct VisibilityCache {
    targets: HashMap<LinkTarget, bool>,
    pages: HashMap<PageId, bool>,
    /// The targets visibly used by each source.
    within: HashMap<LinkSource, Arc<HashSet<LinkTarget>>>,
}

impl Uses {
    fn cache(&self) -> MutexGuard<'_, VisibilityCache> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A batch of sources that link to a target.
struct Sources {
    items: Vec<(LinkSource, bool)>,
    /// `true` if more sources may follow.
    more: bool,
}

impl ContentFilter {
    /// Reads all backlinks at once, for callers that check every file and reusable content block.
    pub(in crate::platform) async fn prepare(&self) -> Result<()> {
        if self.hides() && self.uses.all.get().is_none() {
            let all = self.view.all_backlinks().await?;
            self.uses.all.get_or_init(|| all);
        }
        Ok(())
    }

    /// Returns `true` if a file or reusable content block is visible to the reader: a visible page uses it, directly or
    /// through other reusable content. An unused file is visible only to members. A reusable content block that is
    /// unused in its own space may be used in others.
    pub(in crate::platform) async fn sees(&self, target: LinkTarget) -> Result<bool> {
        if !self.hides() {
            return Ok(true);
        }
        if let Some(sees) = self.uses.cache().targets.get(&target) {
            return Ok(*sees);
        }
        let mut known: HashSet<LinkTarget> = HashSet::from([target.clone()]);
        let mut open = vec![target.clone()];
        while let Some(next) = open.pop() {
            if self.is_used(&next, &mut known, &mut open).await? {
                self.uses.cache().targets.insert(target, true);
                return Ok(true);
            }
        }
        // No visible page was reached, so all these targets are hidden.
        self.uses.cache().targets.extend(known.into_iter().map(|target| (target, false)));
        Ok(false)
    }

    /// Returns `true` if a visible page uses the target. Reusable content blocks that use it are added to `open`.
    async fn is_used(
        &self,
        target: &LinkTarget,
        known: &mut HashSet<LinkTarget>,
        open: &mut Vec<LinkTarget>,
    ) -> Result<bool> {
        let mut after: Option<LinkSource> = None;
        loop {
            let Sources { items, more } = self.sources(target, after.as_ref()).await?;
            if items.is_empty() && after.is_none() && matches!(target, LinkTarget::Reusable(_)) {
                return Ok(true);
            }
            for (source, is_conditional) in &items {
                let via = match source {
                    LinkSource::Page(page) if !self.sees_page(page).await? => continue,
                    LinkSource::Page(_) => None,
                    LinkSource::Reusable(id) => Some(LinkTarget::Reusable(id.clone())),
                };
                if via.as_ref().is_some_and(|via| known.contains(via))
                    || *is_conditional && !self.used_targets(source).await?.contains(target)
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
                    None => open.push(via.clone()),
                }
                known.insert(via);
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
        let items = self.view.backlinks(target, after, SOURCE_BATCH).await?;
        let more = items.len() == SOURCE_BATCH;
        Ok(Sources { items, more })
    }

    async fn sees_page(&self, id: &PageId) -> Result<bool> {
        if let Some(sees) = self.uses.cache().pages.get(id) {
            return Ok(*sees);
        }
        let sees = match self.view.page(id).await? {
            Some(entry) => self.shows(id, &entry).await?,
            None => false,
        };
        self.uses.cache().pages.insert(id.clone(), sees);
        Ok(sees)
    }

    /// Returns the targets visibly used by a source, after evaluating its conditions.
    async fn used_targets(&self, source: &LinkSource) -> Result<Arc<HashSet<LinkTarget>>> {
        if let Some(within) = self.uses.cache().within.get(source) {
            return Ok(Arc::clone(within));
        }
        let within = Arc::new(self.read_used_targets(source).await?);
        self.uses.cache().within.insert(source.clone(), Arc::clone(&within));
        Ok(within)
    }

    async fn read_used_targets(&self, source: &LinkSource) -> Result<HashSet<LinkTarget>> {
        let (parts, variables) = match source {
            LinkSource::Page(id) => match self.view.page(id).await? {
                Some(entry) => (LinkFields::from(&entry), entry.variables),
                None => return Ok(HashSet::new()),
            },
            LinkSource::Reusable(id) => match self.view.reusable(id).await? {
                Some(entry) => (LinkFields::from(&entry), Variables::new()),
                None => return Ok(HashSet::new()),
            },
        };
        let document = self.view.document(&parts.body, Rendering::Request).await?;
        let shown = self.document(document, &variables, Evaluated::No).await?;
        let text = update_blocks("", &shown);
        Ok(parts.targets(source, &text))
    }
}
