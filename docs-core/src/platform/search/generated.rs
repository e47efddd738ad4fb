//! The pages that are generated from OpenAPI specifications, in the index and in the results of searches.
//!
//! Their content depends on the latest versions of specifications, which are not part of a revision. The index
//! therefore records, for each space, the generated pages and a hash of their sources.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    found_page::{Audience, FoundPage},
    index_batch::IndexBatch,
    sections::split_sections,
};
use crate::{
    Result,
    content::{PageTree, TreePage, View, run_in_place},
    model::{OrgId, PageId, SearchAncestor, SpaceId},
    platform::{
        content::{
            computed::{self, GeneratedPage, GeneratedPages},
            openapi_specs::SpecAudience,
        },
        kernel::platform::Platform,
        publishing::visitors::ContentReader,
    },
    ports::{
        SearchIndex,
        search::{IndexChange, IndexedGeneratedPages, PageDocument, PageHit},
    },
    store::{Batches, key, records::SpaceRecord},
};

/// Number of spaces read per batch.
const SPACE_BATCH: u32 = 100;

impl Platform {
    /// Updates the index for the generated pages of a space. Returns the record of them, or `None` if the content has
    /// no place for generated pages.
    pub(super) async fn index_generated_pages(
        &self,
        index: &dyn SearchIndex,
        space: &SpaceRecord,
        view: &View,
        before: Option<&IndexedGeneratedPages>,
        pending: &mut IndexBatch,
    ) -> Result<Option<IndexedGeneratedPages>> {
        let tree = view.tree().await?;
        let old = before.map(|before| before.pages.as_slice()).unwrap_or_default();
        if !computed::has_computed_pages(&tree) {
            pending.extend(old.iter().map(|id| IndexChange::DropPage(space.id.clone(), id.clone())));
            return Ok(None);
        }
        let shown = indexed_places(&tree, |_, _| true);
        let places = self.computed_places(&space.organization, &tree, SpecAudience::Restricted).await?;
        let source = places.source_hash(&tree, &shown)?;
        if let Some(before) = before.filter(|before| before.source == source) {
            return Ok(Some(before.clone()));
        }
        let made = self.generated_pages_at(&tree, &places, &shown)?;
        let mut pages = Vec::new();
        for page in all_pages(&made) {
            pending.push(IndexChange::PutPage(Box::new(run_in_place(|| document(space, page)))));
            pages.push(page.id.clone());
            pending.apply_if_full(index).await?;
        }
        let new: BTreeSet<&PageId> = pages.iter().collect();
        let gone = old.iter().filter(|id| !new.contains(id));
        pending.extend(gone.map(|id| IndexChange::DropPage(space.id.clone(), id.clone())));
        Ok(Some(IndexedGeneratedPages { source, pages }))
    }

    /// Returns the spaces of an organization whose indexed content has places for generated pages.
    pub(super) async fn spaces_with_generated_pages(
        &self,
        index: &dyn SearchIndex,
        org: &OrgId,
    ) -> Result<Vec<SpaceId>> {
        let mut spaces = Vec::new();
        let mut batches = Batches::of(SpaceRecord::by_org(org).scan(SPACE_BATCH));
        while let Some(rows) = batches.next(&self.read().await?).await? {
            let ids = rows.iter().map(|(row, _)| key::last_segment(row).parse());
            let ids: Vec<SpaceId> = ids.filter_map(std::result::Result::ok).collect();
            let noted = index.indexed(&ids).await?;
            let has_any = noted.into_iter().flatten().filter(|noted| noted.generated.is_some());
            spaces.extend(has_any.map(|noted| noted.space));
        }
        Ok(spaces)
    }

    /// Returns the generated pages among the hits that the audience sees, by id.
    pub(super) async fn found_generated_pages(
        &self,
        space: &SpaceRecord,
        view: &View,
        hits: &[&PageHit],
        audience: &Audience,
    ) -> Result<BTreeMap<PageId, FoundPage>> {
        let mut found = BTreeMap::new();
        if hits.is_empty() {
            return Ok(found);
        }
        let tree = view.tree().await?;
        if !computed::has_computed_pages(&tree) {
            return Ok(found);
        }
        let shown = match audience {
            Audience::Members => indexed_places(&tree, |_, _| true),
            Audience::Public(_) => indexed_places(&tree, |_, page| page.entry.condition.is_none()),
            Audience::Visitor(visitor, _) => {
                let filter = ContentReader::Visitor(Arc::clone(visitor)).content_filter(view).await?;
                let visible = filter.visible_pages(&tree).await?;
                indexed_places(&tree, |at, _| visible.get(at) == Some(&true))
            }
        };
        let places = self.computed_places(&space.organization, &tree, audience.of_specs()).await?;
        let wanted: BTreeSet<&PageId> = hits.iter().map(|hit| &hit.page).collect();
        let made = self.generated_pages_at(&tree, &places, &shown)?;
        for (at, pages) in made.iter() {
            let above = titles_above(&tree, *at);
            for page in pages {
                find_wanted(page, &above, &wanted, &mut found);
            }
        }
        Ok(found)
    }
}

/// Returns the titles of the pages above a page of the tree, the top page first.
fn titles_above(tree: &PageTree, at: usize) -> Vec<SearchAncestor> {
    let pages = tree.pages();
    let above = |page: &&TreePage| page.parent.and_then(|at| pages.get(at));
    let line = std::iter::successors(pages.get(at).and_then(|page| above(&page)), above);
    let mut titles: Vec<SearchAncestor> =
        line.map(|page| SearchAncestor { title: page.entry.title.clone() }).collect();
    titles.reverse();
    titles
}

/// Adds a generated page and the pages below it to `found`, as far as they are wanted.
fn find_wanted(
    page: &GeneratedPage,
    above: &[SearchAncestor],
    wanted: &BTreeSet<&PageId>,
    found: &mut BTreeMap<PageId, FoundPage>,
) {
    if wanted.contains(&page.id) {
        let shown = FoundPage {
            title: page.title.clone(),
            description: page.description.clone().unwrap_or_default(),
            ancestors: above.to_vec(),
            path: page.path.clone(),
            text: page.text_hash(),
        };
        found.insert(page.id.clone(), shown);
    }
    let mut below = above.to_vec();
    below.push(SearchAncestor { title: page.title.clone() });
    for child in &page.pages {
        find_wanted(child, &below, wanted, found);
    }
}

/// Returns all generated pages, in reading order.
fn all_pages(made: &GeneratedPages) -> Vec<&GeneratedPage> {
    made.iter().flat_map(|(_, made)| made).flat_map(GeneratedPage::with_descendants).collect()
}

/// Returns the indexes of the computed pages that, with all their ancestors, are indexed and fulfil a condition.
fn indexed_places(tree: &PageTree, is_shown: impl Fn(usize, &TreePage) -> bool) -> Vec<usize> {
    let mut shown: Vec<bool> = Vec::with_capacity(tree.len());
    for (at, page) in tree.pages().iter().enumerate() {
        let above = page.parent.is_none_or(|at| shown.get(at).copied().unwrap_or_default());
        shown.push(above && !page.entry.no_index && is_shown(at, page));
    }
    computed::sources(tree).map(|(at, _)| at).filter(|at| shown.get(*at) == Some(&true)).collect()
}

fn document(space: &SpaceRecord, page: &GeneratedPage) -> PageDocument {
    PageDocument {
        organization: space.organization.clone(),
        space: space.id.clone(),
        page: page.id.clone(),
        title: page.title.clone(),
        description: page.description.clone(),
        text: page.text_hash(),
        sections: split_sections(&page.prose()).into_iter().chain(page.reference_sections()).collect(),
    }
}
