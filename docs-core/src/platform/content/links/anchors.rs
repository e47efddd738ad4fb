//! Anchors on target pages, to validate links to them.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{
    Result,
    content::{
        Link, LinkState, PageEntry, PageKind, View,
        document::{Anchors, decode_anchor, reading_view},
        run_in_place,
    },
    model::{BlockKind, Document, PageId},
    store::Key,
};

/// Maximum total size, in bytes, of the pages that one request reads to find their anchors. Links to anchors on further
/// pages count as valid.
pub(super) const MAX_ANCHOR_TEXT: usize = 8 * 1024 * 1024;

/// The known anchors by page, and the remaining byte budget.
pub(super) struct PageAnchors {
    pages: HashMap<PageId, KnownAnchors>,
    bytes_left: usize,
}

impl Default for PageAnchors {
    fn default() -> Self {
        Self::with_budget(MAX_ANCHOR_TEXT)
    }
}

enum KnownAnchors {
    All(Anchors),
    /// The page has anchors outside its own text, or was not read.
    Some,
}

impl PageAnchors {
    /// Creates a cache that reads at most this many bytes of pages.
    pub(super) fn with_budget(bytes: usize) -> Self {
        Self { pages: HashMap::new(), bytes_left: bytes }
    }

    /// Returns the rest of the budget. It is 0 if a page exceeded it.
    pub(super) const fn budget(&self) -> usize {
        self.bytes_left
    }

    /// Reads the target pages of anchor links.
    pub(super) async fn load(&mut self, view: &View, links: &[(Key, Link)]) -> Result<()> {
        let named = links.iter().filter(|(_, link)| link.standing == LinkState::Anchor);
        let new: BTreeSet<&PageId> = named
            .filter_map(|(_, link)| link.page_anchor())
            .map(|(page, _)| page)
            .filter(|page| !self.pages.contains_key(*page))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let new: Vec<PageId> = new.into_iter().cloned().collect();
        let found = view.pages(&new).await?;
        for (id, entry) in new.into_iter().zip(found) {
            let known = match entry {
                Some(entry) => self.anchors(view, &entry).await?,
                None => KnownAnchors::Some,
            };
            self.pages.insert(id, known);
        }
        Ok(())
    }

    async fn anchors(&mut self, view: &View, entry: &PageEntry) -> Result<KnownAnchors> {
        if entry.kind != PageKind::Document || self.bytes_left == 0 {
            return Ok(KnownAnchors::Some);
        }
        let text = view.reader_text(&entry.body, entry.expansions).await?;
        if !self.take(text.len()) {
            return Ok(KnownAnchors::Some);
        }
        let document = view.document_of(&text).await;
        Ok(match has_embedded_content(&document) {
            true => KnownAnchors::Some,
            false => KnownAnchors::All(run_in_place(|| Anchors::new(&reading_view(&document)))),
        })
    }

    /// Deducts bytes from the budget. Returns `false` if they exceed it.
    const fn take(&mut self, bytes: usize) -> bool {
        let is_enough = bytes <= self.bytes_left;
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        is_enough
    }

    /// Returns `false` if the target page of a link is known to lack the anchor.
    pub(super) fn has(&self, link: &Link) -> bool {
        let Some((page, anchor)) = link.page_anchor() else { return true };
        match self.pages.get(page) {
            Some(KnownAnchors::All(anchors)) => {
                is_built_in(&decode_anchor(anchor)) || anchors.resolve(anchor).is_some()
            }
            Some(KnownAnchors::Some) | None => true,
        }
    }
}

/// Returns the target pages of anchor links whose text differs between two revisions.
pub(super) async fn edited_targets(
    before: &View,
    after: &View,
    links: &[(Key, Link)],
) -> Result<HashSet<PageId>> {
    let pages: BTreeSet<&PageId> =
        links.iter().filter_map(|(_, link)| link.page_anchor()).map(|(page, _)| page).collect();
    let pages: Vec<PageId> = pages.into_iter().cloned().collect();
    let (old, new) = (before.pages(&pages).await?, after.pages(&pages).await?);
    let text = |entry: &Option<PageEntry>| entry.as_ref().map(|entry| (entry.body.clone(), entry.expansions));
    let is_edited = old.iter().zip(&new).map(|(old, new)| text(old) != text(new));
    Ok(pages.into_iter().zip(is_edited).filter(|(_, is_edited)| *is_edited).map(|(page, _)| page).collect())
}

/// Returns `true` for anchors that work on every page: the top, elements of the page layout, and text fragments.
fn is_built_in(anchor: &str) -> bool {
    anchor.eq_ignore_ascii_case("top") || anchor.starts_with(['~', ':'])
}

/// Returns `true` if a document embeds reusable content or parts of OpenAPI specifications, which can contain anchors.
fn has_embedded_content(document: &Document) -> bool {
    let mut has = false;
    for block in &document.nodes {
        block.visit(&mut |block| {
            has |= matches!(
                block.kind,
                BlockKind::ReusableContent { .. }
                    | BlockKind::Swagger { .. }
                    | BlockKind::OpenapiOperation { .. }
                    | BlockKind::OpenapiWebhook { .. }
                    | BlockKind::OpenapiSchemas { .. }
            );
        });
    }
    has
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        content::LinkSource,
        model::{ContentRef, LinkRelation},
    };

    #[test]
    fn links_to_pages_beyond_the_bound_count_as_valid() {
        let mut anchors = PageAnchors::default();
        let taken = [MAX_ANCHOR_TEXT, 0, 1].map(|bytes| anchors.take(bytes));
        assert_eq!(taken, [true, true, false]);
        let id: PageId = "page".parse().expect("an id");
        let link = Link {
            source: LinkSource::Page(id.clone()),
            reference: ContentRef::Anchor { anchor: "a".to_owned(), page: None, space: None },
            relation: LinkRelation::Reference,
            times: 1,
            standing: LinkState::Anchor,
            is_conditional: false,
        };
        anchors.pages.insert(id.clone(), KnownAnchors::Some);
        assert!(anchors.has(&link));
        anchors.pages.insert(id, KnownAnchors::All(Anchors::default()));
        assert!(!anchors.has(&link));
    }
}
