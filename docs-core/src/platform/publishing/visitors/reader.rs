//! Readers of content, and the filter that hides conditional content from them.

use std::sync::Arc;

use serde_json::Value;

use super::{
    conditions::ConditionEvaluator,
    decisions::{UseDecisions, Uses},
};
use crate::{
    Error, Result,
    content::{
        Evaluated, PageEntry, PageTree, SharedDocument, View, document_allowance, evaluate,
        evaluate_for_visitor_within,
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
    pub(super) visitor: Option<ConditionEvaluator>,
    pub(super) uses: Uses,
}

impl ContentFilter {
    /// Adds the state that the requests of a server share. Without it, each filter parses conditional content itself.
    pub(in crate::platform) fn sharing(mut self, decisions: &Arc<UseDecisions>) -> Self {
        self.uses.shared = Some(Arc::clone(decisions));
        self
    }

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
