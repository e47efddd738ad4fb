//! Visibility of files and reusable contents: a reader sees those used by something they see.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::reader::ContentFilter;
use crate::{
    Result,
    content::{AllBacklinks, Evaluated, LinkSource, LinkTarget, Parts, Rendering, document::update_blocks},
    model::{PageId, Variables},
};

/// Maximum number of sources of a target per read.
const SOURCES_AT_ONCE: usize = 200;

/// Cached results about the sources of a content.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// All backlinks of files and reusable contents, after [`ContentFilter::prepare`].
    all: OnceLock<AllBacklinks>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    targets: HashMap<LinkTarget, bool>,
    pages: HashMap<PageId, bool>,
    /// The targets that each source uses as the reader sees it.
    within: HashMap<LinkSource, Arc<HashSet<LinkTarget>>>,
}

impl Uses {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A batch of sources of a target.
struct Sources {
    items: Vec<(LinkSource, bool)>,
    /// There may be more.
    more: bool,
}

impl ContentFilter {
    /// Reads all backlinks at once, for callers that check every file and reusable content.
    pub(in crate::platform) async fn prepare(&self) -> Result<()> {
        if self.hides() && self.uses().all.get().is_none() {
            let all = self.view().all_backlinks().await?;
            self.uses().all.get_or_init(|| all);
        }
        Ok(())
    }

    /// Returns `true` if the reader sees a file or reusable content: a visible page uses it, directly or through
    /// reusable contents. An unused file is visible to members only. A reusable content without uses in its own space
    /// may be used in others.
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
            if self.is_used(&next, &mut known, &mut open).await? {
                self.uses().found().targets.insert(target, true);
                return Ok(true);
            }
        }
        // No visible page was reached, so these targets are all hidden.
        self.uses().found().targets.extend(known.into_iter().map(|target| (target, false)));
        Ok(false)
    }

    /// Returns `true` if a visible page uses the target. Reusable contents that use it are added to `open`.
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
                    || *is_conditional && !self.within(source).await?.contains(target)
                {
                    continue;
                }
                let Some(via) = via else { return Ok(true) };
                let sees = self.uses().found().targets.get(&via).copied();
                match sees {
                    Some(true) => return Ok(true),
                    // Not marked as known, because the answer does not depend on this search.
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

    /// Returns a batch of sources of a target, after a given one.
    async fn sources(&self, target: &LinkTarget, after: Option<&LinkSource>) -> Result<Sources> {
        if let Some(all) = self.uses().all.get() {
            return Ok(Sources { items: all.get(target).cloned().unwrap_or_default(), more: false });
        }
        let items = self.view().backlinks(target, after, SOURCES_AT_ONCE).await?;
        let more = items.len() == SOURCES_AT_ONCE;
        Ok(Sources { items, more })
    }

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

    /// Returns the targets that a source uses as the reader sees it, with its conditions evaluated.
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
        let text = update_blocks("", &shown);
        Ok(parts.targets(source, &text))
    }
}
