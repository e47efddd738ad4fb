//! Readers of content, and the filter of conditional content for them.

use std::sync::Arc;

use serde_json::Value;

use super::{decider::Decider, uses::Uses};
use crate::{
    Error, Result,
    content::{
        Evaluated, PageEntry, PageTree, SharedDocument, View, document_allowance, evaluate,
        evaluate_for_visitor_within,
        expression::{Allowance, Budget, Claims, Context},
        off_thread,
    },
    model::{BASE32, Document, HeaderLinks, PageId, Variables},
};

/// The claims of a visitor that conditions can read.
#[derive(Clone, Debug)]
pub(in crate::platform) struct VisitorClaims {
    /// Signed claims.
    pub(in crate::platform) signed: Value,
    /// Unsigned claims, which anyone can make.
    pub(in crate::platform) unsigned: Value,
    /// The claims that the site declares.
    pub(in crate::platform) claims: Claims,
}

impl VisitorClaims {
    /// Removes header links that are not for the visitor, and the conditions of the others.
    pub(in crate::platform) fn clear(&self, links: &mut HeaderLinks) {
        let decider = self.decider(Context::default());
        links.retain(|link| decider.holds(link.condition.take().as_ref()));
    }

    /// Returns an id that is equal for visitors with equal claims.
    pub(in crate::platform) fn id(&self) -> String {
        let Self { signed, unsigned, claims } = self;
        let known = format!("{signed} {unsigned} {claims:?}");
        let hash = blake3::derive_key("docs-platform context of a visitor", known.as_bytes());
        BASE32.encode(&hash[..16])
    }

    /// Returns the evaluator of conditions in a context.
    pub(super) fn decider(&self, context: Context) -> Decider {
        Decider::new(context.with_visitor(&self.signed, &self.unsigned), self.claims.clone())
    }
}

/// A reader of content with regard to conditions.
#[derive(Clone, Debug)]
pub(in crate::platform) enum Reader {
    /// A member, who sees everything that any visitor may see.
    Member,
    /// A visitor of a site.
    Visitor(Arc<VisitorClaims>),
}

impl Reader {
    /// Returns the reader's filter of a content.
    pub(in crate::platform) async fn content_filter(&self, view: &View) -> Result<ContentFilter> {
        let uses = Uses::default();
        let Self::Visitor(claims) = self else {
            return Ok(ContentFilter { view: view.clone(), visitor: None, uses });
        };
        let visitor = Some(claims.decider(of_space(view).await?));
        Ok(ContentFilter { view: view.clone(), visitor, uses })
    }
}

/// The part of one content that a reader sees.
#[derive(Debug)]
pub(in crate::platform) struct ContentFilter {
    view: View,
    /// The evaluator of conditions, or `None` for members.
    visitor: Option<Decider>,
    uses: Uses,
}

impl ContentFilter {
    /// Returns `true` if conditions apply to the reader.
    pub(in crate::platform) const fn hides(&self) -> bool {
        self.visitor.is_some()
    }

    /// Returns `true` if the page's own condition holds, regardless of its ancestors.
    pub(in crate::platform) fn meets(&self, id: &PageId, page: &PageEntry) -> bool {
        self.visitor.as_ref().is_none_or(|decider| decider.holds_of_page(id, page))
    }

    /// Returns for each page of a tree if the reader sees it: its own condition and those of all ancestors hold.
    pub(in crate::platform) fn shown(&self, tree: &PageTree) -> Vec<bool> {
        let mut shown: Vec<bool> = Vec::with_capacity(tree.len());
        for page in tree.pages() {
            let above = page.parent.is_none_or(|at| shown.get(at).copied().unwrap_or_default());
            shown.push(above && self.meets(&page.id, &page.entry));
        }
        shown
    }

    /// Rejects a page that the reader does not see as not found.
    pub(in crate::platform) async fn require(&self, id: &PageId, entry: &PageEntry) -> Result<()> {
        if self.shows(id, entry).await? { Ok(()) } else { Err(Error::not_found("page")) }
    }

    /// Returns `true` if the reader sees a page: its own condition and those of all ancestors hold.
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

    pub(super) const fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Returns a document as the reader sees it. For members, only variables are evaluated, since they have no claims.
    /// A document that is the same for everyone is returned unchanged.
    pub(in crate::platform) async fn document(
        &self,
        document: SharedDocument,
        of_page: &Variables,
        mode: Evaluated,
    ) -> Result<Arc<Document>> {
        self.document_within(document, of_page, mode, &mut document_allowance()).await
    }

    /// Returns a document like [`document`](Self::document). For visitors, the evaluation draws from an allowance that
    /// several documents share.
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
        // The steps of an evaluation take much of a second, even of a short document.
        let evaluated = match &self.visitor {
            Some(decider) => {
                let context = decider.context().clone().with_page(of_page);
                let claims = decider.claims().clone();
                // An evaluation that does not end leaves nothing of the allowance.
                let mut left = std::mem::replace(allowance, Allowance { steps: Budget(0), bytes: 0 });
                let evaluated = off_thread(move || {
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
                let context = of_space(&self.view).await?.with_page(of_page);
                off_thread(move || evaluate(&document, mode, &context, &Claims::default())).await
            }
        };
        evaluated.map(Arc::new).ok_or_else(|| Error::internal("the document was not evaluated"))
    }
}

/// The evaluation context of a space.
async fn of_space(view: &View) -> Result<Context> {
    let variables = view.variables().await?;
    let variables = variables.into_iter().map(|(name, entry)| (name, entry.value)).collect();
    Ok(Context::default().with_space(&variables))
}
