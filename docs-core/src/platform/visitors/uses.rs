//! Which files and reusable contents a reader sees: those that something uses which they see.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::reader::ContentFilter;
use crate::{
    Result,
    content::{AllBacklinks, Evaluated, LinkSource, LinkTarget, Parts, Rendering, document::print},
    model::{PageId, Variables},
};

/// Most sources of a target that are read in one go.
const SOURCES_AT_ONCE: usize = 200;

/// What was found out about the sources of a content.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// All backlinks of files and reusable contents, where all are asked for.
    all: OnceLock<AllBacklinks>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    targets: HashMap<LinkTarget, bool>,
    pages: HashMap<PageId, bool>,
    /// What sources use as the reader sees them.
    within: HashMap<LinkSource, Arc<HashSet<LinkTarget>>>,
}

impl Uses {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Some of what uses a target.
struct Sources {
    items: Vec<(LinkSource, bool)>,
    /// Whether there may be more.
    more: bool,
}

impl ContentFilter {
    /// Reads what uses anything in one go, for who goes on to ask of everything.
    pub(in crate::platform) async fn prepare(&self) -> Result<()> {
        if self.hides() && self.uses().all.get().is_none() {
            let all = self.view().all_backlinks().await?;
            self.uses().all.get_or_init(|| all);
        }
        Ok(())
    }

    /// Tells whether the reader sees a file or a reusable content: a page that they see uses it, itself or by way of
    /// reusable contents. A file that nothing uses is seen by members only; a reusable content that nothing uses in its
    /// own space may be used in others.
    pub(in crate::platform) async fn sees(&self, target: LinkTarget) -> Result<bool> {
        if !self.hides() {
            return Ok(true);
        }
        if let Some(sees) = self.uses().found().targets.get(&target) {
            return Ok(*sees);
        }
        let mut known: HashSet<LinkTarget> = HashSet::from([target.clone()]);
        let mut open = vec![target.clone()];
        while let Some(next) = open.pop() {
            if self.is_used(&next, (&mut known, &mut open)).await? {
                self.uses().found().targets.insert(target, true);
                return Ok(true);
            }
        }
        // Nothing leads from any of these to what is seen.
        self.uses().found().targets.extend(known.into_iter().map(|target| (target, false)));
        Ok(false)
    }

    /// Tells whether a page that the reader sees uses a target; the reusable contents that do are left to be looked at.
    async fn is_used(
        &self,
        target: &LinkTarget,
        (known, open): (&mut HashSet<LinkTarget>, &mut Vec<LinkTarget>),
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
                    || *is_conditional && !self.within(source).await?.contains(target)
                {
                    continue;
                }
                let Some(via) = via else { return Ok(true) };
                let sees = self.uses().found().targets.get(&via).copied();
                match sees {
                    Some(true) => return Ok(true),
                    // Not marked as known: it does not depend on this search.
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

    /// Some of what uses a target, after one.
    async fn sources(&self, target: &LinkTarget, after: Option<&LinkSource>) -> Result<Sources> {
        if let Some(all) = self.uses().all.get() {
            return Ok(Sources { items: all.get(target).cloned().unwrap_or_default(), more: false });
        }
        let items = self.view().backlinks(target, after, SOURCES_AT_ONCE).await?;
        let more = items.len() == SOURCES_AT_ONCE;
        Ok(Sources { items, more })
    }

    /// Tells whether the reader sees a page.
    async fn sees_page(&self, id: &PageId) -> Result<bool> {
        if let Some(sees) = self.uses().found().pages.get(id) {
            return Ok(*sees);
        }
        let sees = match self.view().page(id).await? {
            Some(entry) => self.shows(id, &entry).await?,
            None => false,
        };
        self.uses().found().pages.insert(id.clone(), sees);
        Ok(sees)
    }

    /// What a source uses as the reader sees it, its conditions decided.
    async fn within(&self, source: &LinkSource) -> Result<Arc<HashSet<LinkTarget>>> {
        if let Some(within) = self.uses().found().within.get(source) {
            return Ok(Arc::clone(within));
        }
        let within = Arc::new(self.read_within(source).await?);
        self.uses().found().within.insert(source.clone(), Arc::clone(&within));
        Ok(within)
    }

    async fn read_within(&self, source: &LinkSource) -> Result<HashSet<LinkTarget>> {
        let (parts, variables) = match source {
            LinkSource::Page(id) => match self.view().page(id).await? {
                Some(entry) => (Parts::from(&entry), entry.variables),
                None => return Ok(HashSet::new()),
            },
            LinkSource::Reusable(id) => match self.view().reusable(id).await? {
                Some(entry) => (Parts::from(&entry), Variables::new()),
                None => return Ok(HashSet::new()),
            },
        };
        let document = self.view().document(&parts.body, Rendering::Request).await?;
        let shown = self.document(document, &variables, Evaluated::No).await?;
        // What cannot be written shows nothing.
        let text = print(&shown).unwrap_or_default();
        Ok(parts.targets(source, &text))
    }
}
