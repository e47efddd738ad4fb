//! Readers of content, and the filter that hides conditional content from them.

use std::{
    iter,
    sync::{Arc, OnceLock},
};

use serde_json::Value;

use super::{
    condition_work::{ConditionBudgets, EvaluationTurn, SharedBudget, SiteDecisions},
    conditions::ConditionEvaluator,
    decisions::{UseDecisions, Uses},
};
use crate::{
    Error, Result,
    content::{
        Cancelled, Evaluated, PageEntry, PageTree, SharedDocument, View, document_allowance,
        evaluate_for_visitor_within, evaluate_within,
        expression::{Allowance, Budget, Claims, Context},
        run_blocking,
    },
    model::{BASE32, Customizations, Document, PageId, Variables},
    store::Hash,
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
    pub(super) budgets: ConditionBudgets,
    pub(super) turn: EvaluationTurn,
}

impl VisitorClaims {
    /// Removes header links that are hidden from the visitor, and the conditions of the others.
    pub(in crate::platform) async fn clear(&self, mut looks: Customizations) -> Result<Customizations> {
        let decider = self.content_evaluator(Context::default());
        let work = move |cancelled: &Cancelled| {
            for look in iter::once(&mut looks.site).chain(looks.site_spaces.values_mut()) {
                look.header
                    .links
                    .retain(|link| !cancelled.is_set() && decider.holds(link.condition.take().as_ref()));
            }
            looks
        };
        self.turn.run(work).await
    }

    /// Returns the same claims with the budgets of a new request.
    pub(in crate::platform) fn renewed(&self) -> Arc<Self> {
        Arc::new(Self { budgets: ConditionBudgets::default(), ..self.clone() })
    }

    /// Returns an id that is equal for visitors with equal claims.
    pub(in crate::platform) fn id(&self) -> String {
        let Self { signed, unsigned, claims, .. } = self;
        let known = format!("{signed} {unsigned} {claims:?}");
        let hash = blake3::derive_key("docs-platform context of a visitor", known.as_bytes());
        BASE32.encode(&hash[..16])
    }

    /// Returns an evaluator for the conditions of site parts.
    pub(super) fn site_evaluator(&self) -> ConditionEvaluator {
        let decisions = SiteDecisions::new(&self.turn, self.id());
        self.evaluator(Context::default(), &self.budgets.site).with_cache(decisions)
    }

    /// Returns an evaluator for the conditions of pages or header links.
    fn content_evaluator(&self, context: Context) -> ConditionEvaluator {
        self.evaluator(context, &self.budgets.content)
    }

    fn evaluator(&self, context: Context, budget: &SharedBudget) -> ConditionEvaluator {
        let context = context.with_visitor(&self.signed, &self.unsigned);
        ConditionEvaluator::new(context, self.claims.clone(), budget.clone())
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
    /// Limits the conditions of pages, and those within documents, to `most` evaluation steps each. Members have no
    /// conditions.
    pub(in crate::platform) fn with_condition_steps(self, most: u32) -> Self {
        self.with_changed_budgets(|own| own.with_content_steps(most))
    }

    /// Charges the conditions of content to these budgets.
    pub(in crate::platform) fn with_budgets(self, budgets: &ConditionBudgets) -> Self {
        self.with_changed_budgets(|own| own.with_content_of(budgets))
    }

    fn with_changed_budgets(self, change: impl FnOnce(&ConditionBudgets) -> ConditionBudgets) -> Self {
        match self {
            Self::Member => Self::Member,
            Self::Visitor(claims) => {
                let budgets = change(&claims.budgets);
                Self::Visitor(Arc::new(VisitorClaims { budgets, ..VisitorClaims::clone(&claims) }))
            }
        }
    }

    /// Returns the evaluation steps taken by the conditions of content.
    pub(in crate::platform) fn condition_steps(&self) -> u32 {
        match self {
            Self::Member => 0,
            Self::Visitor(claims) => claims.budgets.content_steps(),
        }
    }

    /// Returns the reader's filter for the content of a view.
    pub(in crate::platform) async fn content_filter(&self, view: &View) -> Result<ContentFilter> {
        let Self::Visitor(claims) = self else {
            let uses = Uses::default();
            return Ok(ContentFilter {
                view: view.clone(),
                shown_pages: OnceLock::new(),
                visitor: None,
                uses,
            });
        };
        let evaluator = Arc::new(claims.content_evaluator(space_context(view).await?));
        let visitor = Some(VisitorFilter { evaluator, claims: Arc::clone(claims) });
        let uses = Uses::within(claims.budgets.decisions.clone());
        Ok(ContentFilter { view: view.clone(), shown_pages: OnceLock::new(), visitor, uses })
    }
}

/// The conditions that apply to a visitor.
#[derive(Debug)]
pub(super) struct VisitorFilter {
    pub(super) evaluator: Arc<ConditionEvaluator>,
    pub(super) claims: Arc<VisitorClaims>,
}

/// The part of the content visible to a reader.
#[derive(Debug)]
pub(in crate::platform) struct ContentFilter {
    view: View,
    /// The visible pages of the tree, once they are known.
    shown_pages: OnceLock<Arc<Vec<bool>>>,
    /// The evaluator of conditions, or `None` for members.
    pub(super) visitor: Option<VisitorFilter>,
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

    /// Returns `true` if the budget of the request is used up, so that some conditions may not have been evaluated.
    pub(in crate::platform) fn exceeds_budget(&self) -> bool {
        self.visitor.as_ref().is_some_and(|visitor| visitor.evaluator.is_exhausted())
    }

    /// Returns for each page whether its own condition is met, regardless of its ancestors.
    pub(in crate::platform) async fn meets<'e>(
        &self,
        pages: impl IntoIterator<Item = (&'e PageId, &'e PageEntry)>,
    ) -> Result<Vec<bool>> {
        let pages: Vec<_> = pages.into_iter().collect();
        let Some(visitor) = &self.visitor else { return Ok(vec![true; pages.len()]) };
        let known = pages.iter().map(|(id, entry)| visitor.evaluator.known_for_page(id, entry));
        if let Some(known) = known.collect() {
            return Ok(known);
        }
        let pages: Vec<_> = pages.into_iter().map(|(id, entry)| (id.clone(), entry.clone())).collect();
        let evaluator = Arc::clone(&visitor.evaluator);
        let work = move |cancelled: &Cancelled| {
            let awaited = pages.iter().take_while(|_| !cancelled.is_set());
            awaited.map(|(id, entry)| evaluator.holds_for_page(id, entry)).collect()
        };
        visitor.claims.turn.run(work).await
    }

    /// Returns for each page of a tree whether it is visible to the reader: its own condition and those of all
    /// ancestors are met.
    pub(in crate::platform) async fn visible_pages(&self, tree: &Arc<PageTree>) -> Result<Arc<Vec<bool>>> {
        let Some(visitor) = &self.visitor else { return Ok(Arc::new(vec![true; tree.len()])) };
        if let Some(shown) = self.shown_pages.get() {
            return Ok(Arc::clone(shown));
        }
        let evaluator = Arc::clone(&visitor.evaluator);
        let known = tree.pages().iter().all(|page| evaluator.known_for_page(&page.id, &page.entry).is_some());
        if known {
            let shown = Arc::new(visible_pages(tree, &evaluator, &Cancelled::default()));
            return Ok(Arc::clone(self.shown_pages.get_or_init(|| shown)));
        }
        let key = [self.view.domain(), &self.view.root().to_string(), &visitor.claims.id()].join("\n");
        let key = Hash::compute(key.as_bytes());
        let cache = self.uses.shared.as_ref().map(|shared| &shared.shown_pages);
        if let Some(shown) = cache.and_then(|cache| cache.get(&key)) {
            return Ok(Arc::clone(self.shown_pages.get_or_init(|| shown)));
        }
        let tree = Arc::clone(tree);
        let work = move |cancelled: &Cancelled| visible_pages(&tree, &evaluator, cancelled);
        let shown = Arc::new(visitor.claims.turn.run(work).await?);
        // Beyond the budget of a request, the result depends on the order of the evaluations.
        if let Some(cache) = cache.filter(|_| !self.exceeds_budget()) {
            cache.insert(key, Arc::clone(&shown));
        }
        Ok(Arc::clone(self.shown_pages.get_or_init(|| shown)))
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
        let pages = above.iter().map(|(id, entry)| (id, entry)).chain([(id, entry)]);
        Ok(self.meets(pages).await?.into_iter().all(|meets| meets))
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

    /// Like [`document`](Self::document), but the evaluation is charged to a budget shared by several documents.
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
        let (evaluate, context, claims): (Evaluation, _, _) = match &self.visitor {
            Some(VisitorFilter { evaluator: decider, .. }) => {
                (evaluate_for_visitor_within, decider.context().clone(), decider.claims().clone())
            }
            None if mode == Evaluated::No => return Ok(document.into_inner()),
            None => (evaluate_within, space_context(&self.view).await?, Claims::default()),
        };
        let context = context.with_page(of_page);
        // If the evaluation does not complete, the budget is used up.
        let mut left = std::mem::replace(allowance, Allowance { steps: Budget(0), bytes: 0 });
        // Evaluating all permitted steps can take a large part of a second, even for a short document.
        let evaluated = run_blocking(move || (evaluate(&document, mode, &context, &claims, &mut left), left));
        let evaluated = evaluated.await.ok_or_else(|| Error::internal("the document was not evaluated"));
        let (document, left) = evaluated?;
        *allowance = left;
        Ok(Arc::new(document))
    }
}

/// An evaluation of a document within a budget.
type Evaluation = fn(&Document, Evaluated, &Context, &Claims, &mut Allowance) -> Document;

/// Returns for each page of a tree whether its own condition and those of all ancestors are met. A cancelled evaluation
/// returns fewer decisions.
fn visible_pages(tree: &PageTree, evaluator: &ConditionEvaluator, cancelled: &Cancelled) -> Vec<bool> {
    let mut shown: Vec<bool> = Vec::with_capacity(tree.len());
    for page in tree.pages().iter().take_while(|_| !cancelled.is_set()) {
        let above = page.parent.is_none_or(|at| shown.get(at).copied().unwrap_or_default());
        shown.push(above && evaluator.holds_for_page(&page.id, &page.entry));
    }
    shown
}

/// Returns the evaluation context of a space.
async fn space_context(view: &View) -> Result<Context> {
    let variables = view.variables().await?;
    let variables = variables.into_iter().map(|(name, entry)| (name, entry.value)).collect();
    Ok(Context::default().with_space(&variables))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Condition, Customization, SiteSpaceId};

    fn claims() -> VisitorClaims {
        VisitorClaims {
            signed: json!({}),
            unsigned: json!({}),
            claims: Claims::default(),
            budgets: ConditionBudgets::default(),
            turn: EvaluationTurn { queue: Arc::default(), tenant: "org".into() },
        }
    }

    /// A condition whose evaluation takes about 70,000 steps.
    fn costly(n: usize) -> String {
        format!("'x'.repeat(7000).split('').map(x => x + {n}).length == 7000")
    }

    #[test]
    fn decisions_on_site_parts_are_cached_for_equal_claims() {
        let claims = claims();
        let condition = costly(0).parse::<Condition>().expect("a condition");
        assert!(!claims.site_evaluator().is_cached(&condition));
        assert!(claims.site_evaluator().holds(Some(&condition)));
        let again = claims.renewed();
        let before = again.budgets.site.lock().0;
        assert!(again.site_evaluator().is_cached(&condition));
        assert!(again.site_evaluator().holds(Some(&condition)));
        assert_eq!(again.budgets.site.lock().0, before, "it was evaluated again");
        let other = VisitorClaims { signed: json!({ "plan": "pro" }), ..claims.clone() };
        assert!(!other.site_evaluator().is_cached(&condition), "the claims differ");
        assert!(!claims.content_evaluator(Context::default()).is_cached(&condition));
    }

    #[tokio::test]
    async fn conditions_of_a_request_share_one_budget() {
        let claims = claims();
        let look = |n: usize| {
            let mut look = serde_json::to_value(Customization::default()).expect("a customization");
            look["header"]["links"] = json!([{ "title": "Link", "to": { "kind": "url", "url": "https://example.com" },
                "links": [], "condition": costly(n) }]);
            serde_json::from_value::<Customization>(look).expect("a customization")
        };
        let spaces = |from: usize| {
            (from..from + 60).map(|n| (format!("sitesp_{n}").parse::<SiteSpaceId>().expect("an id"), look(n)))
        };
        let looks = |from| Customizations { site: look(from), site_spaces: spaces(from + 1).collect() };
        let shown = |looks: Customizations| {
            looks.site_spaces.values().filter(|look| !look.header.links.is_empty()).count()
        };
        let first = shown(claims.clear(looks(0)).await.expect("evaluated"));
        assert!((10..40).contains(&first), "{first} links are within the budget");
        assert_eq!(shown(claims.clear(looks(100)).await.expect("evaluated")), 0, "the budget is used up");
        let again = shown(claims.renewed().clear(looks(0)).await.expect("evaluated"));
        assert_eq!(again, first, "another request has its own budget");
        // The conditions of site parts have another budget, which spaces share too.
        let condition = |n| costly(n).parse::<Condition>().expect("a condition");
        let site = |n| claims.site_evaluator().holds(Some(&condition(n)));
        assert!(site(0));
        assert!((1..20).filter(|n| site(*n)).count() < 10);
    }
}
