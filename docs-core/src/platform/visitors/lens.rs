//! What conditions let a reader of content see.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use crate::{
    Error, Result,
    content::{
        Evaluated, LinkRange, LinkSource, LinkTarget, PageEntry, PageTree, Standing, View, evaluate,
        evaluate_for_visitor,
        expression::{self, Budget, Claims, Context, MAX_STEPS},
    },
    model::{Document, FileId, HeaderLinks, PageId, ReusableId, Variables},
};

/// Most links of a source, or sources of a target, that are read in one go.
const CHUNK: usize = 1_000;

/// Most steps that all conditions of a site, or of a content, take together. Those that are left then do not hold.
pub(super) const MAX_CONDITION_STEPS: u32 = 20 * MAX_STEPS;

/// What is known of a visitor, as far as it decides what they see.
#[derive(Clone, Debug)]
pub(in crate::platform) struct Sighted {
    /// Claims that were signed.
    pub(in crate::platform) signed: Value,
    /// Claims that anybody can make.
    pub(in crate::platform) unsigned: Value,
    /// Which claims the site knows.
    pub(in crate::platform) claims: Claims,
}

impl Sighted {
    /// Keeps the links of a site's header that are for the visitor, who is not told what they depend on.
    pub(in crate::platform) fn clear(&self, links: &mut HeaderLinks) {
        let context = Context::default().with_visitor(&self.signed, &self.unsigned);
        let mut budget = Budget(MAX_CONDITION_STEPS);
        links.retain(|link| {
            let condition = link.condition.take();
            condition.is_none_or(|it| expression::condition_within(it.as_str(), &context, &mut budget))
        });
    }
}

/// With whose eyes content is read.
#[derive(Clone, Debug)]
pub(in crate::platform) enum Eyes {
    /// Those of a member, who sees what any visitor might.
    Member,
    /// Those of a visitor of a site.
    Visitor(Arc<Sighted>),
}

impl Eyes {
    /// The lens that these eyes see a content through.
    pub(in crate::platform) async fn lens(&self, view: &View) -> Result<Lens> {
        let Self::Visitor(sighted) = self else { return Ok(Lens { view: view.clone(), visitor: None }) };
        let context = of_space(view).await?.with_visitor(&sighted.signed, &sighted.unsigned);
        let claims = sighted.claims.clone();
        let decided = Mutex::new((HashMap::new(), Budget(MAX_CONDITION_STEPS)));
        let visitor = Some(Gaze { context, claims, decided });
        Ok(Lens { view: view.clone(), visitor })
    }
}

/// What a reader sees of one content.
#[derive(Debug)]
pub(in crate::platform) struct Lens {
    view: View,
    visitor: Option<Gaze>,
}

/// A visitor looking at a content.
#[derive(Debug)]
struct Gaze {
    /// The visitor, and the variables of the space.
    context: Context,
    claims: Claims,
    /// Conditions that were decided, as pages often share them, and the steps that are left for others.
    decided: Mutex<(HashMap<String, bool>, Budget)>,
}

impl Lens {
    /// Tells whether conditions hide something from the reader.
    pub(in crate::platform) const fn hides(&self) -> bool {
        self.visitor.is_some()
    }

    /// Tells whether a condition lets the reader see what it stands at.
    pub(in crate::platform) fn meets(&self, condition: Option<&str>) -> bool {
        let (Some(condition), Some(gaze)) = (condition, &self.visitor) else { return true };
        let mut decided = gaze.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let (decided, budget) = &mut *decided;
        if let Some(holds) = decided.get(condition) {
            return *holds;
        }
        let holds = expression::condition_within(condition, &gaze.context, budget);
        decided.insert(condition.to_owned(), holds);
        holds
    }

    /// Which pages of a tree the reader sees: those whose own condition and all above hold.
    pub(in crate::platform) fn shown(&self, tree: &PageTree) -> Vec<bool> {
        let mut shown: Vec<bool> = Vec::with_capacity(tree.len());
        for page in tree.pages() {
            let above = page.parent.is_none_or(|at| shown.get(at).copied().unwrap_or_default());
            shown.push(above && self.meets(page.entry.condition.as_deref()));
        }
        shown
    }

    /// Refuses a page that the reader does not see, as if it were not there.
    pub(in crate::platform) async fn require(&self, id: &PageId, entry: &PageEntry) -> Result<()> {
        if !self.hides() {
            return Ok(());
        }
        let above = self.view.ancestors(id).await?;
        let mut line = above.iter().map(|(_, entry)| entry).chain([entry]);
        if line.all(|entry| self.meets(entry.condition.as_deref())) {
            return Ok(());
        }
        Err(Error::not_found("page"))
    }

    /// A document as the reader sees it: for a member as far as variables decide what it says, as members have no
    /// claims.
    pub(in crate::platform) async fn document(
        &self,
        document: Document,
        of_page: &Variables,
        mode: Evaluated,
    ) -> Result<Document> {
        Ok(match &self.visitor {
            Some(gaze) => {
                let context = gaze.context.clone().with_page(of_page);
                evaluate_for_visitor(&document, mode, &context, &gaze.claims)
            }
            None if mode == Evaluated::No => document,
            None => {
                let context = of_space(&self.view).await?.with_page(of_page);
                evaluate(&document, mode, &context, &Claims::default())
            }
        })
    }

    /// What only hidden pages use, and is hidden with them.
    pub(in crate::platform) async fn hidden(&self) -> Result<Hidden> {
        if !self.hides() {
            return Ok(Hidden::default());
        }
        let view = &self.view;
        let tree = view.tree().await?;
        let shown = self.shown(&tree);
        let pages =
            tree.pages().iter().zip(shown).filter(|(_, shown)| !shown).map(|(page, _)| page.id.clone());
        let pages: HashSet<PageId> = pages.collect();
        let used = used_by(view, &pages).await?;
        let mut hidden = Hidden { pages, ..Hidden::default() };
        // A reusable content is seen where a page that is seen uses it, or one that is seen itself; so what use each
        // other in a circle are hidden together.
        let mut seen: BTreeSet<LinkTarget> = BTreeSet::new();
        loop {
            let mut found = Vec::new();
            for (target, sources) in used.iter().filter(|(target, _)| !seen.contains(*target)) {
                let is_seen = |source: &LinkSource| match source {
                    LinkSource::Page(page) => !hidden.pages.contains(page),
                    LinkSource::Reusable(id) => {
                        let target = LinkTarget::Reusable(id.clone());
                        !used.contains_key(&target) || seen.contains(&target)
                    }
                };
                if sources.iter().any(is_seen) {
                    found.push(target.clone());
                }
            }
            if found.is_empty() {
                break;
            }
            seen.extend(found);
        }
        for target in used.into_keys().filter(|target| !seen.contains(target)) {
            match target {
                LinkTarget::File(id) => drop(hidden.files.insert(id)),
                LinkTarget::Reusable(id) => drop(hidden.reusables.insert(id)),
                LinkTarget::Page(_) => {}
            }
        }
        Ok(hidden)
    }
}

/// What expressions know of a space.
async fn of_space(view: &View) -> Result<Context> {
    let variables = view.variables().await?;
    let variables = variables.into_iter().map(|(name, entry)| (name, entry.value)).collect();
    Ok(Context::default().with_space(&variables))
}

/// What a reader does not see of a content.
#[derive(Debug, Default)]
pub(in crate::platform) struct Hidden {
    pub(in crate::platform) pages: HashSet<PageId>,
    pub(in crate::platform) files: HashSet<FileId>,
    pub(in crate::platform) reusables: HashSet<ReusableId>,
}

/// The files and reusable contents that pages use, also by way of each other, each with all that uses it.
async fn used_by(view: &View, pages: &HashSet<PageId>) -> Result<HashMap<LinkTarget, Vec<LinkSource>>> {
    let mut used: HashMap<LinkTarget, Vec<LinkSource>> = HashMap::new();
    let mut open: Vec<LinkSource> = pages.iter().cloned().map(LinkSource::Page).collect();
    while let Some(source) = open.pop() {
        for target in targets_of(view, &source).await? {
            if used.contains_key(&target) {
                continue;
            }
            let sources = sources_of(view, &target).await?;
            if let LinkTarget::Reusable(id) = &target {
                open.push(LinkSource::Reusable(id.clone()));
            }
            used.insert(target, sources);
        }
    }
    Ok(used)
}

/// The files and reusable contents that a source uses.
async fn targets_of(view: &View, source: &LinkSource) -> Result<BTreeSet<LinkTarget>> {
    let mut targets = BTreeSet::new();
    let range = LinkRange { standing: Standing::Inside, source: Some(source.clone()) };
    let mut after = None;
    loop {
        let links = view.links(&range, after.as_deref(), CHUNK).await?;
        after = links.last().map(|(key, _)| key.to_string());
        let found = links.iter().filter_map(|(_, link)| link.target());
        targets.extend(found.filter(|target| !matches!(target, LinkTarget::Page(_))));
        if links.len() < CHUNK {
            return Ok(targets);
        }
    }
}

/// All that uses a target.
async fn sources_of(view: &View, target: &LinkTarget) -> Result<Vec<LinkSource>> {
    let mut sources = Vec::new();
    loop {
        let found = view.backlinks(target, sources.last(), CHUNK).await?;
        let is_last = found.len() < CHUNK;
        sources.extend(found);
        if is_last {
            return Ok(sources);
        }
    }
}
