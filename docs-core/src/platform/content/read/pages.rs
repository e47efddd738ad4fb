//! Reads a page with its text and its descendants.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use docs_macros::boxed;

use super::{
    ContentOptions, MarkdownRefs, ReadableRevision,
    answer_size::AnswerSize,
    computed::sibling_slugs,
    page_steps::{CountedPage, StepMeter, step_limit},
    view::page_file,
};
use crate::{
    Error, Result,
    content::{
        Evaluated, PageEntry, Rendering, SharedDocument, UniqueNames, document,
        markdown::{self, MAX_LINKS, Resolution, rewrite_links},
        reference, run_blocking, run_in_place, yield_after_each,
    },
    model::{ContentFormat, ContentRef, Document, PageId, RevisionPage, Variables},
    platform::{
        content::computed::{GeneratedPage, OpenApiSource, PageLocation},
        kernel::{
            answer_memory::{AnswerMemory, UnlimitedMemory},
            json_answer::JsonAnswer,
            platform::Platform,
            tenant_queue::WorkPermit,
        },
        nouns::ContentHandle,
        publishing::visitors::ContentFilter,
    },
};

/// Maximum depth of returned pages. Content is never this deep.
const MAX_PAGE_DEPTH: usize = 128;
/// Number of descendants after which other tasks run.
const YIELD_INTERVAL: usize = 64;

/// The id or the path of a page.
#[derive(Clone, Copy)]
enum PageKey<'a> {
    Id(&'a PageId),
    Path(&'a str),
}

impl<'p> ContentHandle<'p> {
    /// Reads a page with its content and its descendants.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{ContentFormat, PageId, RevisionPage, SpaceId};
    /// # use docs_core::platform::{Caller, ContentOptions};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, page: &PageId) -> Result<()> {
    /// let options = ContentOptions { format: ContentFormat::Markdown, ..Default::default() };
    /// if let RevisionPage::Document(page) = me.space(space).content().get_page(page, options).await? {
    ///     println!("/{} {}", page.path, page.base.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn get_page(self, page: &'p PageId, shown: ContentOptions) -> Result<RevisionPage> {
        Ok(self.page_in_turn(PageKey::Id(page), shown, &UnlimitedMemory).await?.0)
    }

    /// Returns the JSON of [`get_page`](Self::get_page). Few large responses are in memory at the same time. Before a
    /// large one is built, memory is reserved.
    ///
    /// # Errors
    /// `NotFound`; `Unavailable` without free memory.
    #[boxed]
    pub async fn get_page_json(
        self,
        page: &'p PageId,
        shown: ContentOptions,
        memory: &'p dyn AnswerMemory,
    ) -> Result<JsonAnswer> {
        let (page, turn) = self.page_in_turn(PageKey::Id(page), shown, memory).await?;
        JsonAnswer::offload_in_turn(page, turn).await
    }

    /// Reads a page, with the permit to hold a large one in memory.
    async fn page_in_turn(
        self,
        page: PageKey<'_>,
        shown: ContentOptions,
        memory: &dyn AnswerMemory,
    ) -> Result<(RevisionPage, Option<WorkPermit>)> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let at = platform.locate_content(actor, &self.of.to_content_version()).await?;
        let found = match page {
            PageKey::Id(id) => at.view.page(id).await?.map(|entry| (id.clone(), entry)),
            PageKey::Path(path) => at.view.find(path).await?,
        };
        if let Some((id, entry)) = found {
            return platform.read_page(&at, &id, entry, shown, memory).await;
        }
        let lower = match page {
            PageKey::Id(_) => String::new(),
            PageKey::Path(path) => path.to_lowercase(),
        };
        let is_it = |made: &GeneratedPage| match page {
            PageKey::Id(id) => made.id == *id,
            PageKey::Path(_) => made.path == lower,
        };
        if let Some(made) = platform.find_generated_page(&at, &is_it, shown, memory).await? {
            return Ok((made, None));
        }
        match page {
            PageKey::Id(_) => Err(Error::not_found("page")),
            PageKey::Path(path) => {
                let moved = at.resolve_moved(path).await?;
                platform.read_page(&at, &moved.id, moved.entry, shown, memory).await
            }
        }
    }

    /// Reads a page with its content but without its descendants, for an answer with `most` remaining evaluation steps.
    /// A page within the limit is the same as for a larger limit.
    ///
    /// # Errors
    /// `NotFound`; `TooLarge` if the conditions and expressions of the page take more steps.
    #[boxed]
    pub async fn get_page_within(
        self,
        page: &'p PageId,
        shown: ContentOptions,
        most: u32,
    ) -> Result<CountedPage> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let at = platform.locate_content(actor, of).await?;
        let at = ReadableRevision { reader: at.reader.with_condition_steps(step_limit(most)), ..at };
        let mut meter = StepMeter::new(most);
        let read = match at.view.page(page).await? {
            Some(entry) => platform.read_page_alone(&at, page, entry, shown, &mut meter).await,
            None => {
                let is_it = |made: &GeneratedPage| made.id == *page;
                let made = platform.find_generated_page(&at, &is_it, shown, &UnlimitedMemory).await;
                made.and_then(|made| made.ok_or_else(|| Error::not_found("page")))
            }
        };
        meter.finish(at.reader.condition_steps(), read)
    }

    /// Reads a page by its path, case-insensitively, or by a path that redirects to it: a previous path of the page or
    /// of an ancestor, or a redirect defined in the repository. A current page takes precedence over redirects.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn get_page_by_path(self, path: &'p str, shown: ContentOptions) -> Result<RevisionPage> {
        Ok(self.page_in_turn(PageKey::Path(path), shown, &UnlimitedMemory).await?.0)
    }

    /// Returns the JSON of [`get_page_by_path`](Self::get_page_by_path). Few large responses are in memory at the same
    /// time. Before a large one is built, memory is reserved.
    ///
    /// # Errors
    /// `NotFound`; `Unavailable` without free memory.
    #[boxed]
    pub async fn get_page_by_path_json(
        self,
        path: &'p str,
        shown: ContentOptions,
        memory: &'p dyn AnswerMemory,
    ) -> Result<JsonAnswer> {
        let (page, turn) = self.page_in_turn(PageKey::Path(path), shown, memory).await?;
        JsonAnswer::offload_in_turn(page, turn).await
    }
}

impl Platform {
    /// Reads a page with its text, and its descendants without text. Also returns the permit to hold a large response
    /// in memory.
    pub(super) async fn read_page(
        &self,
        at: &ReadableRevision,
        id: &PageId,
        entry: PageEntry,
        shown: ContentOptions,
        memory: &dyn AnswerMemory,
    ) -> Result<(RevisionPage, Option<WorkPermit>)> {
        let (filter, shown) = (at.content_filter().await?, at.page_options(shown));
        filter.require(id, &entry).await?;
        let path = at.view.path_of(id).await?.unwrap_or_default();
        let size = page_size(at, &filter, id, &entry, shown).await?;
        let turn = self.answer_turn(at.space(), size, memory).await?;
        let below = self.read_descendants(at, &filter, id, &path, shown).await?;
        let page = self.page_view(at.space(), id, &entry, &path, below, shown)?;
        let page = at.with_content(page, &filter, &path, &entry, shown, &mut StepMeter::default()).await?;
        Ok((page, turn))
    }

    /// Reads a page with its text, without its descendants.
    pub(super) async fn read_page_alone(
        &self,
        at: &ReadableRevision,
        id: &PageId,
        entry: PageEntry,
        shown: ContentOptions,
        meter: &mut StepMeter,
    ) -> Result<RevisionPage> {
        let (filter, shown) = (at.content_filter().await?, at.page_options(shown));
        filter.require(id, &entry).await?;
        let path = at.view.path_of(id).await?.unwrap_or_default();
        let page = self.page_view(at.space(), id, &entry, &path, Vec::new(), shown)?;
        at.with_content(page, &filter, &path, &entry, shown, meter).await
    }

    /// Reads the descendants of a page. The cost is proportional to the response, not to the space.
    async fn read_descendants(
        &self,
        at: &ReadableRevision,
        filter: &ContentFilter,
        top: &PageId,
        path: &str,
        shown: ContentOptions,
    ) -> Result<Vec<RevisionPage>> {
        struct PageLevel {
            page: Option<(PageId, PageEntry, String)>,
            path: String,
            slugs: UniqueNames,
            left: std::vec::IntoIter<(PageId, PageEntry)>,
            done: Vec<RevisionPage>,
        }
        let first = at.view.children(Some(top)).await?;
        let slugs = sibling_slugs(&first);
        let left = first.into_iter();
        let mut places = None;
        let mut stack = vec![PageLevel { page: None, path: path.to_owned(), slugs, left, done: Vec::new() }];
        let mut read: usize = 0;
        loop {
            read += 1;
            yield_after_each(YIELD_INTERVAL, read).await;
            let depth = stack.len();
            let Some(level) = stack.last_mut() else { return Ok(Vec::new()) };
            if let Some((id, entry)) = level.left.next() {
                if filter.meets([(&id, &entry)]).await? != [true] {
                    continue;
                }
                if places.is_none() && OpenApiSource::from_entry(&entry).is_some() {
                    places = self.read_computed_places(at, shown).await?;
                }
                let place = PageLocation { id: &id, above: &level.path, beside: &mut level.slugs };
                let replaced = places
                    .as_ref()
                    .and_then(|places| self.page_replacements(at.space(), places, &entry, place));
                if let Some(pages) = replaced {
                    level.done.extend(pages);
                    continue;
                }
                let path = join(&level.path, &entry.slug);
                let below =
                    if depth < MAX_PAGE_DEPTH { at.view.children(Some(&id)).await? } else { Vec::new() };
                stack.push(PageLevel {
                    page: Some((id, entry, path.clone())),
                    path,
                    slugs: sibling_slugs(&below),
                    left: below.into_iter(),
                    done: Vec::new(),
                });
                continue;
            }
            let Some(finished) = stack.pop() else { return Ok(Vec::new()) };
            let Some((id, entry, path)) = finished.page else { return Ok(finished.done) };
            let shown = self.page_view(at.space(), &id, &entry, &path, finished.done, shown)?;
            if let Some(above) = stack.last_mut() {
                above.done.push(shown);
            }
        }
    }
}

impl ReadableRevision {
    /// Adds the text to a page, as seen by the reader. `shown` are the options for this reader.
    async fn with_content(
        &self,
        mut page: RevisionPage,
        filter: &ContentFilter,
        path: &str,
        entry: &PageEntry,
        shown: ContentOptions,
        meter: &mut StepMeter,
    ) -> Result<RevisionPage> {
        if filter.hides() {
            without_conflicts(&mut page);
        }
        if let RevisionPage::Document(page) = &mut page {
            match shown.format {
                ContentFormat::Markdown
                    if shown.evaluated == Evaluated::No && !filter.hides() && !shown.dereferenced =>
                {
                    page.markdown = Some(self.view.text(&entry.body, Rendering::Markers).await?.to_string());
                }
                ContentFormat::Markdown => {
                    let text = self.view.reader_text(&entry.body, entry.expansions).await?;
                    let document = self.view.document_of(&text).await;
                    page.markdown = Some(match document.is_same_for_all() && !shown.dereferenced {
                        true => text.to_string(),
                        false => {
                            let document = self
                                .shown_document(filter, document, &entry.variables.value(), shown, meter)
                                .await?;
                            // Blocks without expressions keep their original text.
                            let shown = run_blocking(move || document::update_blocks(&text, &document)).await;
                            shown.ok_or_else(|| Error::internal("the Markdown was not written"))?
                        }
                    });
                }
                ContentFormat::Document if entry.body.is_empty() => {}
                ContentFormat::Document => {
                    let document = self.view.document(&entry.body, Rendering::Request).await?;
                    let document =
                        self.shown_document(filter, document, &entry.variables.value(), shown, meter).await?;
                    page.document = Some(self.answered(document));
                }
            }
            if let (Some(text), MarkdownRefs::Relative) = (&page.markdown, shown.refs) {
                page.markdown = Some(self.with_relative_links(filter, text, path).await?);
            }
            if let (Some(text), true) = (&page.markdown, shown.file_for_visitors) {
                page.markdown = Some(page_file(&page.base.title, text));
            }
        }
        Ok(page)
    }

    /// Returns a document as the reader sees it. Expands its reusable content blocks if the options request it.
    async fn shown_document(
        &self,
        filter: &ContentFilter,
        document: SharedDocument,
        of_page: &Variables,
        shown: ContentOptions,
        meter: &mut StepMeter,
    ) -> Result<Arc<Document>> {
        let mut allowance = meter.allowance();
        let given = allowance.steps.0;
        let document = filter.document_within(document, of_page, shown.evaluated, &mut allowance).await?;
        meter.charge(given, &allowance);
        match shown.dereferenced {
            true => self.expand_includes(filter, document, shown.evaluated, meter).await,
            false => Ok(document),
        }
    }

    /// Rewrites the links to visible pages of the same space as paths of Markdown files, relative to a page. Of a page
    /// with more than [`MAX_LINKS`] different links, only those are rewritten.
    async fn with_relative_links(&self, filter: &ContentFilter, text: &str, from: &str) -> Result<String> {
        let links = run_in_place(|| markdown::links(text));
        let mut targets: HashMap<String, (PageId, String)> = HashMap::new();
        for link in links {
            if targets.len() < MAX_LINKS
                && let Some(target) = reference::parse_exact(&link.destination).and_then(page_of)
            {
                targets.insert(link.destination, target);
            }
        }
        let pages: BTreeSet<&PageId> = targets.values().map(|(page, _)| page).collect();
        let pages: Vec<PageId> = pages.into_iter().cloned().collect();
        let paths = self.visible_paths(filter, &pages).await?;
        let files = targets.into_iter().filter_map(|(destination, (page, anchor))| {
            Some((destination, relative_file(from, paths.get(&page)?) + &anchor))
        });
        let files: HashMap<String, String> = files.collect();
        let resolve = |destination: &str| match files.get(destination) {
            Some(file) => Resolution::To(file.clone()),
            None => Resolution::Keep,
        };
        Ok(run_in_place(|| rewrite_links(text, |link| resolve(&link.destination)).into_owned()))
    }
}

/// Estimates the size of a response with a page and its descendants.
async fn page_size(
    at: &ReadableRevision,
    filter: &ContentFilter,
    id: &PageId,
    entry: &PageEntry,
    shown: ContentOptions,
) -> Result<AnswerSize> {
    let is_source = shown.format == ContentFormat::Markdown
        && shown.refs != MarkdownRefs::Relative
        && shown.evaluated == Evaluated::No
        && !shown.dereferenced
        && !filter.hides();
    let text = if is_source { 0 } else { at.view.text(&entry.body, Rendering::Request).await?.len() };
    let size = AnswerSize::from_document(text);
    if at.view.children_after(Some(id), None, 1).await?.is_empty() {
        return Ok(size);
    }
    let tree = at.view.tree().await?;
    Ok(match tree.get(id) {
        Some(page) => size.with_pages(tree.descendants(page), shown.variables),
        None => size,
    })
}

/// Returns the page of the same space that a reference targets, and the anchor to append to its address.
fn page_of(target: ContentRef) -> Option<(PageId, String)> {
    match target {
        ContentRef::Page { page, space: None } => Some((page, String::new())),
        ContentRef::Anchor { anchor, page: Some(page), space: None } => Some((page, format!("#{anchor}"))),
        _ => None,
    }
}

/// Returns the path of the Markdown file of a page, relative to that of another page. The first page has an empty path.
fn relative_file(from: &str, to: &str) -> String {
    let folder: Vec<&str> = from.split('/').take(from.matches('/').count()).collect();
    let to = if to.is_empty() { "README" } else { to };
    let target: Vec<&str> = to.split('/').collect();
    let shared =
        folder.iter().zip(&target[..target.len() - 1]).take_while(|(one, other)| one == other).count();
    let up = "../".repeat(folder.len() - shared);
    format!("{up}{}.md", target[shared..].join("/"))
}

/// Removes merge conflicts, which are relevant only to editors.
pub(super) fn without_conflicts(page: &mut RevisionPage) {
    let below = match page {
        RevisionPage::Document(page) => {
            page.base.conflicts.clear();
            &mut page.pages
        }
        RevisionPage::Group(page) => {
            page.base.conflicts.clear();
            &mut page.pages
        }
        RevisionPage::Link(page) => return page.base.conflicts.clear(),
        RevisionPage::Computed(page) => return page.base.conflicts.clear(),
    };
    below.iter_mut().for_each(without_conflicts);
}

fn join(path: &str, slug: &str) -> String {
    match (path, slug) {
        (_, "") => String::new(),
        ("", slug) => slug.to_owned(),
        (path, slug) => format!("{path}/{slug}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_files_are_relative_to_the_folder_of_the_page() {
        for (from, to, relative) in [
            ("", "guide", "guide.md"),
            ("guide", "", "README.md"),
            ("guide/install", "", "../README.md"),
            ("guide/install", "guide/linux", "linux.md"),
            ("guide/install", "guide", "../guide.md"),
            ("guide", "guide/install", "guide/install.md"),
            ("a/b/c", "a/x/y", "../x/y.md"),
            ("a/b/c", "d", "../../d.md"),
        ] {
            assert_eq!(relative_file(from, to), relative, "{from} to {to}");
        }
    }
}
