//! Which files and reusable contents a reader sees: those that something uses which they see.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use super::lens::Lens;
use crate::{
    Result,
    content::{
        Evaluated, LinkSource, LinkTarget, Parts, Rendering, View,
        document::{self, print},
    },
    model::{PageId, Variables},
};

/// Most sources of a target that are read in one go.
const CHUNK: usize = 200;

/// What was found out about the sources of a content.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pages: Mutex<HashMap<PageId, bool>>,
    /// What sources use as the reader sees them.
    seen: Mutex<HashMap<LinkSource, Arc<HashSet<LinkTarget>>>>,
}

impl Lens {
    /// Tells whether a page that the reader sees uses something, itself or by way of reusable contents. What nothing
    /// uses is seen by members only.
    pub(in crate::platform) async fn sees(&self, target: LinkTarget) -> Result<bool> {
        if !self.hides() {
            return Ok(true);
        }
        let mut known: HashSet<LinkTarget> = HashSet::from([target.clone()]);
        let mut open = vec![target];
        while let Some(target) = open.pop() {
            let mut after: Option<LinkSource> = None;
            loop {
                let sources = self.view().backlinks(&target, after.as_ref(), CHUNK).await?;
                for (source, is_conditional) in &sources {
                    let via = match source {
                        LinkSource::Page(page) if !self.sees_page(page).await? => continue,
                        LinkSource::Page(_) => None,
                        LinkSource::Reusable(id) => Some(LinkTarget::Reusable(id.clone())),
                    };
                    if via.as_ref().is_some_and(|via| known.contains(via))
                        || *is_conditional && !self.seen_in(source).await?.contains(&target)
                    {
                        continue;
                    }
                    let Some(via) = via else { return Ok(true) };
                    known.insert(via.clone());
                    open.push(via);
                }
                match sources.last() {
                    Some((last, _)) if sources.len() == CHUNK => after = Some(last.clone()),
                    _ => break,
                }
            }
        }
        Ok(false)
    }

    /// Tells whether the reader sees a page.
    async fn sees_page(&self, id: &PageId) -> Result<bool> {
        let known = |uses: &Uses| uses.pages.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied();
        if let Some(sees) = known(self.uses()) {
            return Ok(sees);
        }
        let sees = match self.view().page(id).await? {
            Some(entry) => self.shows(id, &entry).await?,
            None => false,
        };
        self.uses().pages.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), sees);
        Ok(sees)
    }

    /// What a source uses as the reader sees it, its conditions decided.
    async fn seen_in(&self, source: &LinkSource) -> Result<Arc<HashSet<LinkTarget>>> {
        let known =
            |uses: &Uses| uses.seen.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
        if let Some(seen) = known(self.uses()) {
            return Ok(seen);
        }
        let seen = Arc::new(self.read_seen(self.view(), source).await?);
        let mut all = self.uses().seen.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(source.clone(), Arc::clone(&seen));
        Ok(seen)
    }

    async fn read_seen(&self, view: &View, source: &LinkSource) -> Result<HashSet<LinkTarget>> {
        let (parts, variables) = match source {
            LinkSource::Page(id) => match view.page(id).await? {
                Some(entry) => (Parts::from(&entry), entry.variables),
                None => return Ok(HashSet::new()),
            },
            LinkSource::Reusable(id) => match view.reusable(id).await? {
                Some(entry) => (Parts::from(&entry), Variables::new()),
                None => return Ok(HashSet::new()),
            },
        };
        let text = view.text(&parts.body, Rendering::Request).await?;
        let shown = self.document(document::parse(&text), &variables, Evaluated::No).await?;
        // What cannot be written shows nothing.
        let text = print(&shown).unwrap_or_default();
        Ok(parts.targets(source, &text))
    }
}
