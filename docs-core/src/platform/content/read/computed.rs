//! Replaces computed pages in responses by their generated pages.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::{ContentOptions, ReadableRevision, answer_size::AnswerSize, view::page_file};
use crate::{
    Error, Result,
    content::{PageEntry, PageTree, UniqueNames, View, parse_document, run_in_place},
    model::{ContentFormat, Document, DocumentPage, OrgId, PageId, PageUrls, RevisionPage},
    platform::{
        content::{
            computed::{
                self, ComputedPlaces, GeneratedPage, GeneratedPageCache, GeneratedPages, OpenApiSource,
                PageLocation,
            },
            openapi_specs::SpecAudience,
        },
        kernel::{
            answer_memory::{AnswerMemory, UnlimitedMemory},
            platform::Platform,
        },
        publishing::visitors::{ContentFilter, ContentReader},
    },
    store::records::SpaceRecord,
};

/// Generated pages, keyed by the id of the computed page they replace.
pub(super) type ReplacementPages = HashMap<PageId, Vec<RevisionPage>>;

impl Platform {
    /// Generates the pages that replace the computed pages visible to the reader.
    pub(super) async fn replacement_pages(
        &self,
        at: &ReadableRevision,
        tree: &Arc<PageTree>,
        filter: &ContentFilter,
        shown: ContentOptions,
    ) -> Result<ReplacementPages> {
        let mut replaced = ReplacementPages::new();
        if !shown.computed {
            return Ok(replaced);
        }
        let (space, audience) = (at.space(), at.spec_audience());
        for (at, made) in self.generated_pages(&space.organization, tree, filter, audience).await?.iter() {
            let Some(page) = tree.pages().get(*at) else { continue };
            let views = made.iter().map(|made| self.generated_page_view(space, &page.entry, made.clone()));
            replaced.insert(page.id.clone(), views.collect());
        }
        Ok(replaced)
    }

    /// Generates the pages of all computed pages visible to the reader.
    async fn generated_pages(
        &self,
        org: &OrgId,
        tree: &Arc<PageTree>,
        filter: &ContentFilter,
        audience: SpecAudience,
    ) -> Result<Arc<GeneratedPages>> {
        if !computed::has_computed_pages(tree) {
            return Ok(Arc::default());
        }
        let seen = filter.visible_pages(tree).await?;
        let places = self.computed_places(org, tree, audience).await?;
        let shown = computed::sources(tree).map(|(at, _)| at).filter(|at| seen.get(*at) == Some(&true));
        self.generated_pages_at(tree, &places, &shown.collect::<Vec<_>>())
    }

    /// Generates the pages of the computed pages at these indexes.
    pub(in crate::platform) fn generated_pages_at(
        &self,
        tree: &PageTree,
        places: &ComputedPlaces,
        shown: &[usize],
    ) -> Result<Arc<GeneratedPages>> {
        let cache = self.inner.memory.get_or_default::<GeneratedPageCache>();
        run_in_place(|| cache.get_or_make(tree, places, shown))
    }

    /// Returns the computed pages of content, or `None` if they are returned as stored.
    pub(super) async fn read_computed_places(
        &self,
        at: &ReadableRevision,
        shown: ContentOptions,
    ) -> Result<Option<ComputedPlaces>> {
        if !shown.computed {
            return Ok(None);
        }
        let tree = at.view.tree().await?;
        self.computed_places(&at.space().organization, &tree, at.spec_audience()).await.map(Some)
    }

    /// Generates the pages that replace one page among its siblings. Returns `None` if the page is not computed.
    pub(super) fn page_replacements(
        &self,
        space: &SpaceRecord,
        places: &ComputedPlaces,
        entry: &PageEntry,
        at: PageLocation<'_>,
    ) -> Option<Vec<RevisionPage>> {
        let made = places.generate(entry, at)?;
        Some(made.into_iter().map(|made| self.generated_page_view(space, entry, made)).collect())
    }

    pub(super) fn generated_page_view(
        &self,
        space: &SpaceRecord,
        entry: &PageEntry,
        made: GeneratedPage,
    ) -> RevisionPage {
        let (computed, base) = (made.computed(), made.base());
        let pages =
            made.pages.into_iter().map(|below| self.generated_page_view(space, entry, below)).collect();
        RevisionPage::Document(Box::new(DocumentPage {
            base,
            kind: Default::default(),
            urls: PageUrls { app: self.urls().page(&space.id, &made.path) },
            slug: made.slug,
            path: made.path,
            description: made.description,
            markdown: None,
            document: None,
            document_id: None,
            computed: Some(computed),
            computed_seed: Some(made.seed),
            pages,
            git: None,
            layout: Default::default(),
            cover: None,
            variables: None,
            hidden: entry.hidden,
            no_index: entry.no_index,
            no_robots_index: entry.no_robots_index,
            tags: Vec::new(),
        }))
    }

    /// Returns the generated pages of a space with these ids, as members see them.
    pub(in crate::platform) async fn generated_pages_by_id(
        &self,
        space: &SpaceRecord,
        view: &View,
        ids: &BTreeSet<&PageId>,
    ) -> Result<Vec<GeneratedPage>> {
        let tree = view.tree().await?;
        let filter = ContentReader::Member.content_filter(view).await?;
        let audience = SpecAudience::Restricted;
        let pages = self.generated_pages(&space.organization, &tree, &filter, audience).await?;
        let mut found = Vec::new();
        let mut left: Vec<&GeneratedPage> = pages.iter().flat_map(|(_, made)| made.iter()).collect();
        while let Some(page) = left.pop() {
            left.extend(&page.pages);
            found.extend(ids.contains(&page.id).then(|| page.clone()));
        }
        Ok(found)
    }

    /// Finds a generated page with its content. Returns `None` if the reader sees no such page.
    pub(super) async fn find_generated_page(
        &self,
        at: &ReadableRevision,
        is_it: &(dyn Fn(&GeneratedPage) -> bool + Sync),
        shown: ContentOptions,
        memory: &dyn AnswerMemory,
    ) -> Result<Option<RevisionPage>> {
        let shown = at.page_options(shown);
        let Some((entry, text, made)) = self.find_generated(at, is_it, shown).await? else { return Ok(None) };
        let mut page = self.generated_page_view(at.space(), &entry, made);
        if let RevisionPage::Document(page) = &mut page {
            match shown.format {
                ContentFormat::Markdown if shown.file_for_visitors => {
                    page.markdown = Some(page_file(&page.base.title, &text));
                }
                ContentFormat::Markdown => page.markdown = Some(text),
                ContentFormat::Document if text.is_empty() => {}
                ContentFormat::Document => {
                    page.document = Some(self.parse_generated(at.space(), &text, memory).await?);
                }
            }
        }
        Ok(Some(page))
    }

    /// Returns the document of a generated page visible to the reader, or `None` if it has no content.
    pub(super) async fn generated_document(
        &self,
        at: &ReadableRevision,
        id: &PageId,
    ) -> Result<Option<Document>> {
        let found = self.find_generated(at, &|made| made.id == *id, ContentOptions::default()).await?;
        let (_, text, _) = found.ok_or_else(|| Error::not_found("page"))?;
        if text.is_empty() {
            return Ok(None);
        }
        self.parse_generated(at.space(), &text, &UnlimitedMemory).await.map(Some)
    }

    /// Parses the text of a generated page. A page can have all operations of a specification, so the text may be
    /// longer than that of a stored page.
    pub(super) async fn parse_generated(
        &self,
        space: &SpaceRecord,
        text: &str,
        memory: &dyn AnswerMemory,
    ) -> Result<Document> {
        let _turn = self.answer_turn(space, AnswerSize::from_text(text.len()), memory).await?;
        Ok(parse_document(text).await)
    }

    /// Finds a generated page with its Markdown and the computed page it replaces.
    pub(super) async fn find_generated(
        &self,
        at: &ReadableRevision,
        is_it: &(dyn Fn(&GeneratedPage) -> bool + Sync),
        shown: ContentOptions,
    ) -> Result<Option<(PageEntry, String, GeneratedPage)>> {
        if !shown.computed {
            return Ok(None);
        }
        let (tree, filter) = (at.view.tree().await?, at.content_filter().await?);
        let (org, audience) = (&at.space().organization, at.spec_audience());
        let pages = self.generated_pages(org, &tree, &filter, audience).await?;
        let found = pages.iter().find_map(|(place, made)| {
            let page = tree.pages().get(*place)?;
            Some((page, made.iter().find_map(|made| made.find(is_it))?))
        });
        let Some((page, made)) = found else { return Ok(None) };
        // A page can have all operations of a specification.
        let permit = self.build_turn(at.space()).await?;
        let text = run_in_place(|| made.markdown());
        drop(permit);
        Ok(Some((page.entry.clone(), text, made.clone())))
    }
}

/// Returns the slugs of sibling pages if one of them is computed, otherwise an empty set.
pub(super) fn sibling_slugs(pages: &[(PageId, PageEntry)]) -> UniqueNames {
    let mut slugs = UniqueNames::default();
    if pages.iter().any(|(_, entry)| OpenApiSource::from_entry(entry).is_some()) {
        slugs.extend(pages.iter().map(|(_, entry)| entry.slug.clone()));
    }
    slugs
}
