//! Broken links in the live content of several spaces, by target.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use super::{anchors::MAX_ANCHOR_TEXT, external::ExternalTargets, location::LocationContext};
use crate::{
    Result,
    content::{
        Link, LinkRange, LinkSource, LinkState, LinkTarget, View, reference, yield_after_each,
        yield_to_others,
    },
    model::{ContentRef, PageId, ReusableId, SpaceId},
    platform::kernel::{actor::Actor, platform::Platform},
    store::{Key, Tx, records::SpaceRecord},
};

/// Maximum number of links that one request examines: first those whose target is missing in its revision, then those
/// to anchors and to content outside the revision.
pub(in crate::platform) const MAX_EXAMINED_LINKS: usize = 5_000;
/// Maximum number of uses of reusable content that one request examines to find the pages with a broken link.
pub(in crate::platform) const MAX_EXAMINED_USES: usize = 5_000;
/// Maximum number of links per read of the content.
const LINKS_PER_READ: usize = 100;
/// Number of links or targets processed before other tasks run.
pub(in crate::platform) const YIELD_INTERVAL: usize = 64;

/// The live content of spaces as an actor sees it. Spaces that the actor cannot access are omitted.
pub(in crate::platform) struct LinkedSpaces(Vec<Arc<LocationContext>>);

impl LinkedSpaces {
    pub(in crate::platform) fn records(&self) -> impl Iterator<Item = &SpaceRecord> {
        self.0.iter().map(|context| &*context.record)
    }

    /// Returns the record and the content of a space of a [`BrokenTarget`].
    pub(in crate::platform) fn get(&self, space: usize) -> (&SpaceRecord, &View) {
        let context = &self.0[space];
        (&context.record, &context.view)
    }
}

/// A broken target of the links in a space.
#[derive(Debug)]
pub(in crate::platform) struct BrokenTarget {
    /// The position of the space in its [`LinkedSpaces`].
    pub(in crate::platform) space: usize,
    /// The destination as stored in the text.
    pub(in crate::platform) destination: String,
    /// The existing page and the missing anchor, if only the anchor is missing.
    pub(in crate::platform) anchor: Option<(PageId, String)>,
    /// The pages with links to the target, in their own text or in reusable content. There is at least one.
    pub(in crate::platform) pages: BTreeSet<PageId>,
}

/// The broken targets of several spaces.
#[derive(Debug)]
pub(in crate::platform) struct BrokenTargets {
    /// The targets, by space and destination.
    pub(in crate::platform) targets: Vec<BrokenTarget>,
    /// `false` if the spaces have more links than were examined.
    pub(in crate::platform) is_complete: bool,
}

impl Platform {
    /// Reads the spaces that the actor can access, in the order of their ids.
    pub(in crate::platform) async fn linked_spaces(
        &self,
        tx: &Tx,
        actor: &Actor,
        ids: &[SpaceId],
    ) -> Result<LinkedSpaces> {
        let mut contexts = self.location_contexts(tx, actor, ids.to_vec()).await?;
        Ok(LinkedSpaces(ids.iter().filter_map(|id| contexts.remove(id)).collect()))
    }

    /// Finds the broken targets of the links in spaces. Targets that the actor cannot access count as missing, as in
    /// the lists of links.
    ///
    /// The cost is proportional to the broken links and the links to anchors and to other content, up to
    /// [`MAX_EXAMINED_LINKS`].
    pub(in crate::platform) async fn broken_targets(
        &self,
        actor: &Actor,
        spaces: &LinkedSpaces,
    ) -> Result<BrokenTargets> {
        let mut search = LinkSearch::new();
        let mut links: Vec<Vec<Link>> = Vec::with_capacity(spaces.0.len());
        for context in &spaces.0 {
            links.push(search.missing(&context.view).await?);
        }
        for (context, links) in spaces.0.iter().zip(&mut links) {
            let outside = ExternalTargets::new(self, actor, context);
            links.extend(search.unresolved(&context.view, outside).await?);
        }
        let mut targets = Vec::new();
        for (space, links) in links.into_iter().enumerate() {
            let (_, view) = spaces.get(space);
            targets.extend(search.targets(view, links).await?.into_iter().map(|(destination, target)| {
                BrokenTarget { space, destination, anchor: target.anchor, pages: target.pages }
            }));
        }
        // Links in reusable content that no page uses are not shown.
        targets.retain(|target| !target.pages.is_empty());
        Ok(BrokenTargets { targets, is_complete: search.is_complete })
    }
}

/// A broken target of the links in one space.
#[derive(Default)]
struct TargetUses {
    anchor: Option<(PageId, String)>,
    pages: BTreeSet<PageId>,
}

/// A search for broken links with the rest of its budgets.
struct LinkSearch {
    links: usize,
    uses: usize,
    anchor_bytes: usize,
    is_complete: bool,
}

impl LinkSearch {
    const fn new() -> Self {
        let (links, uses) = (MAX_EXAMINED_LINKS, MAX_EXAMINED_USES);
        Self { links, uses, anchor_bytes: MAX_ANCHOR_TEXT, is_complete: true }
    }

    /// Reads the next links in a state. Returns the position of the last one if more may follow.
    async fn read(
        &mut self,
        view: &View,
        standing: LinkState,
        after: Option<&Key>,
    ) -> Result<(Vec<(Key, Link)>, Option<Key>)> {
        let range = LinkRange { standing, source: None };
        let limit = LINKS_PER_READ.min(self.links + 1);
        let mut rows = view.links(&range, after.map(|key| &**key), limit).await?;
        if rows.len() > self.links {
            rows.truncate(self.links);
            self.is_complete = false;
        }
        self.links -= rows.len();
        yield_to_others().await;
        let last = rows.last().filter(|_| rows.len() == LINKS_PER_READ).map(|(key, _)| Key::clone(key));
        Ok((rows, last))
    }

    /// Returns the links whose targets are missing in their own revision.
    async fn missing(&mut self, view: &View) -> Result<Vec<Link>> {
        let mut links = Vec::new();
        let mut after = None;
        loop {
            let (rows, last) = self.read(view, LinkState::Broken, after.as_ref()).await?;
            links.extend(rows.into_iter().map(|(_, link)| link));
            match last {
                Some(last) => after = Some(last),
                None => return Ok(links),
            }
        }
    }

    /// Returns the links to missing anchors, and to content outside the revision that does not exist for the actor.
    async fn unresolved(&mut self, view: &View, outside: ExternalTargets<'_>) -> Result<Vec<Link>> {
        let mut outside = outside.with_anchor_budget(self.anchor_bytes);
        let mut links = Vec::new();
        for standing in [LinkState::Anchor, LinkState::Outside] {
            let mut after = None;
            loop {
                let (rows, last) = self.read(view, standing, after.as_ref()).await?;
                outside.load_all(&rows).await?;
                links.extend(rows.into_iter().map(|(_, link)| link).filter(|link| !outside.exists(link)));
                match last {
                    Some(last) => after = Some(last),
                    None => break,
                }
            }
        }
        self.anchor_bytes = outside.anchor_budget();
        self.is_complete &= self.anchor_bytes > 0;
        Ok(links)
    }

    /// Groups the broken links of a space by destination.
    async fn targets(&mut self, view: &View, links: Vec<Link>) -> Result<BTreeMap<String, TargetUses>> {
        let mut targets: BTreeMap<String, TargetUses> = BTreeMap::new();
        let mut pages_of: HashMap<ReusableId, BTreeSet<PageId>> = HashMap::new();
        for (grouped, link) in links.into_iter().enumerate() {
            yield_after_each(YIELD_INTERVAL, grouped + 1).await;
            let (destination, anchor) = target_of(&link);
            let target = targets.entry(destination).or_default();
            target.anchor = anchor;
            match link.source {
                LinkSource::Page(page) => drop(target.pages.insert(page)),
                LinkSource::Reusable(id) => {
                    if !pages_of.contains_key(&id) {
                        pages_of.insert(id.clone(), self.pages_with(view, &id).await?);
                    }
                    target.pages.extend(pages_of.get(&id).into_iter().flatten().cloned());
                }
            }
        }
        Ok(targets)
    }

    /// Returns the pages that use a reusable content block, also within other blocks.
    async fn pages_with(&mut self, view: &View, id: &ReusableId) -> Result<BTreeSet<PageId>> {
        let mut pages = BTreeSet::new();
        let mut known = HashSet::from([id.clone()]);
        let mut open = vec![id.clone()];
        while let Some(block) = open.pop() {
            let mut found = view.backlinks(&LinkTarget::Reusable(block), None, self.uses + 1).await?;
            if found.len() > self.uses {
                found.truncate(self.uses);
                self.is_complete = false;
            }
            self.uses -= found.len();
            for (source, _) in found {
                match source {
                    LinkSource::Page(page) => drop(pages.insert(page)),
                    LinkSource::Reusable(outer) => {
                        if known.insert(outer.clone()) {
                            open.push(outer);
                        }
                    }
                }
            }
        }
        Ok(pages)
    }
}

/// Returns the destination of a broken link, and the page and the anchor if the page exists. If the page is missing,
/// all links to its anchors have the same destination.
fn target_of(link: &Link) -> (String, Option<(PageId, String)>) {
    match (link.page_anchor(), &link.reference) {
        (Some((page, anchor)), _) if link.standing == LinkState::Anchor => {
            let reference =
                ContentRef::Anchor { anchor: anchor.to_owned(), page: Some(page.clone()), space: None };
            (reference::destination(&reference), Some((page.clone(), anchor.to_owned())))
        }
        (_, ContentRef::Anchor { page: Some(page), space, .. }) => {
            let reference = ContentRef::Page { page: page.clone(), space: space.clone() };
            (reference::destination(&reference), None)
        }
        (_, reference) => (reference::destination(reference), None),
    }
}
