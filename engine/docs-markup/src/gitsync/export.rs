//! Export into a repository: the inverse of an import.

mod front;
mod input;
mod item_paths;
mod outline;
mod paths;
mod text;
mod unsafe_names;
mod yaml_entries;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::OnceLock,
};

use docs_model::{FileId, GitBlob, PageId, ReusableId, Variables};
use serde_json::json;

pub use self::{
    input::{
        AdoptablePaths, FileTemplate, OmittedFile, Repository, SpaceFile, SpaceInclude, SpaceOutline,
        SpacePage, SpacePageKind, TemplateOrigin, TitleIn,
    },
    text::{PageContent, WrittenPage, title_line},
    unsafe_names::{is_program, name_problem},
};
use self::{
    item_paths::{ExportItem, ItemPaths},
    outline::SummaryWriter,
    paths::{FoldedPaths, PathChooser, Paths, places_before, places_known},
    text::{TextKind, TextWriter},
};
use super::{FormatError, ImportPlan, PlannedKind, RepoPath, summary::humanise, variables};
use crate::slugify;

/// The files that an export writes and removes, with their contents.
///
/// Unchanged items keep their paths and bytes. The paths of new pages are derived from their position in the tree, and
/// moving a page moves its file. Files of the repository that do not belong to the space are neither overwritten nor
/// removed.
#[derive(Debug)]
pub struct ExportPlan<'a> {
    repository: &'a Repository,
    now: &'a SpaceOutline,
    before: &'a SpaceOutline,
    places_before: ItemPaths,
    places_after: ItemPaths,
    /// The recorded locations of all items, independent of the repository. Used for items that are not written over a
    /// file of the repository.
    places_known: OnceLock<ItemPaths>,
    removed: BTreeSet<RepoPath>,
    claimed: BTreeSet<RepoPath>,
    omitted: Vec<OmittedFile>,
    pages: HashSet<&'a PageId>,
}

/// Maximum number of times that paths are chosen again because an import would assign other slugs.
const MAX_PATH_ROUNDS: usize = 4;

impl<'a> ExportPlan<'a> {
    /// Plans the export of a space. `before` is the state of the space at the last synchronization with the repository;
    /// its items own their files in the repository. It is empty if the space was never synchronized.
    ///
    /// # Errors
    /// [`FormatError::NoPages`] for a space without pages, and the errors of an import of the result.
    pub fn new(
        repository: &'a Repository,
        now: &'a SpaceOutline,
        before: &'a SpaceOutline,
        claims: &AdoptablePaths,
    ) -> Result<Self, FormatError> {
        if now.pages.is_empty() {
            return Err(FormatError::NoPages { folder: repository.config.root.clone() });
        }
        let places_before = places_before(repository, now, before);
        let there = FoldedPaths::from_paths(repository.tree.paths());
        let mut forced = HashSet::new();
        let mut round = 0;
        loop {
            let choice = PathChooser { repository, there: &there, now, before, forced: &forced, claims };
            let Paths { places, removed, claimed, omitted } = choice.paths();
            let written = places.values().cloned();
            let tree = repository.tree.with_changes(&removed, written);
            let mut places_after = ItemPaths::new(tree, repository);
            places.into_iter().for_each(|(thing, path)| places_after.put(thing, path));
            // Links to claimed files resolve to their new items.
            let mut places_before = places_before.clone();
            for path in &claimed {
                if let Some(thing) = places_after.things.get(path) {
                    places_before.things.insert(path.clone(), thing.clone());
                }
            }
            let plan = Self {
                repository,
                now,
                before,
                places_before,
                places_after,
                places_known: OnceLock::new(),
                removed: removed.into_iter().collect(),
                claimed,
                omitted,
                pages: now.pages.iter().map(|page| &page.id).collect(),
            };
            round += 1;
            let wrong = plan.of_another_slug()?;
            if round == MAX_PATH_ROUNDS || wrong.iter().all(|page| forced.contains(page)) {
                return Ok(plan);
            }
            forced.extend(wrong);
        }
    }

    /// Returns the path of a page's file after the export, or `None` if the page has no file.
    #[must_use]
    pub fn page_path(&self, page: &PageId) -> Option<&RepoPath> {
        self.path(&ExportItem::Page(page.clone()))
    }

    /// Returns the path of a file after the export.
    #[must_use]
    pub fn file_path(&self, file: &FileId) -> Option<&RepoPath> {
        self.path(&ExportItem::File(file.clone()))
    }

    /// Returns the path of a reusable content block after the export.
    #[must_use]
    pub fn include_path(&self, include: &ReusableId) -> Option<&RepoPath> {
        self.path(&ExportItem::Include(include.clone()))
    }

    /// Returns the path to write for a path returned by the methods above. It differs if a symbolic link points
    /// elsewhere.
    ///
    /// # Errors
    /// [`FormatError`] for a link that points outside the repository or is circular, and for a file that Git
    /// interprets.
    pub fn written_to(&self, path: &RepoPath) -> Result<RepoPath, FormatError> {
        unsafe_names::check(path)?;
        let source = self.repository.tree.written_to(path)?;
        unsafe_names::check(&source)?;
        Ok(source)
    }

    /// Returns the paths of the files to remove.
    #[must_use]
    pub fn removed(&self) -> &BTreeSet<RepoPath> {
        &self.removed
    }

    /// Returns the existing files that the export adopts. The content to write to each of these paths must equal the
    /// existing content; otherwise the caller rejects the path and plans the export again.
    #[must_use]
    pub fn claimed(&self) -> &BTreeSet<RepoPath> {
        &self.claimed
    }

    /// Returns the files of the space that are not exported.
    #[must_use]
    pub fn omitted_files(&self) -> &[OmittedFile] {
        &self.omitted
    }

    /// Returns `true` if a possible link target was moved or deleted.
    #[must_use]
    pub fn moves_targets(&self) -> bool {
        let after = &self.places_after.paths;
        let is_other = |(thing, path): (&ExportItem, &RepoPath)| after.get(thing) != Some(path);
        self.places_before.paths.iter().any(is_other) || after.len() != self.places_before.paths.len()
    }

    /// Returns the new text of a page's file. Parts with the same content as in `template` keep its bytes.
    #[must_use]
    pub fn page(
        &self,
        page: &SpacePage,
        template: Option<FileTemplate<'_>>,
        content: PageContent<'_>,
    ) -> WrittenPage {
        let thing = ExportItem::Page(page.id.clone());
        self.write(TextKind::Page, &thing, page.git.as_ref(), template, content)
    }

    /// Returns the text of a reusable content block's file. Of the fields, only the title and the unknown front matter
    /// are used.
    #[must_use]
    pub fn include(
        &self,
        include: &SpaceInclude,
        template: Option<FileTemplate<'_>>,
        content: PageContent<'_>,
    ) -> WrittenPage {
        let thing = ExportItem::Include(include.id.clone());
        self.write(TextKind::Include, &thing, include.git.as_ref(), template, content)
    }

    /// Returns the text of the table of contents. It is the existing text if its content is unchanged.
    #[must_use]
    pub fn summary(&self, titles: &HashMap<PageId, TitleIn>) -> String {
        self.outline(titles).write()
    }

    /// Returns the path of the file with the variables of the space.
    #[must_use]
    pub fn variables_path(&self) -> RepoPath {
        self.repository.config.root.child(".gitbook/vars.yaml")
    }

    /// Returns the new text of the variables file, based on the existing text, or `None` if no file is needed.
    ///
    /// # Errors
    /// [`FormatError`] if the existing file exceeds the size limit of a variables file.
    pub fn variables(
        &self,
        template: Option<&str>,
        values: &Variables,
    ) -> Result<Option<String>, FormatError> {
        let keys = |values: &Variables| -> front::Keys {
            values.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
        };
        let path = self.variables_path();
        let Some(template) = template else {
            return Ok((!values.is_empty()).then(|| front::fresh(&keys(values), "\n")));
        };
        // A file that is not YAML has no values, and cannot be edited in place.
        let Ok((before, _)) = variables(template, &path) else {
            return Ok(Some(front::fresh(&keys(values), "\n")));
        };
        if before == *values {
            return Ok(Some(template.to_owned()));
        }
        if values.is_empty() {
            return Ok(None);
        }
        let eol = if template.contains("\r\n") { "\r\n" } else { "\n" };
        let text = front::edit_yaml(template, &keys(&before), &keys(values), eol);
        let is_right = variables(&text, &path).is_ok_and(|(found, _)| found == *values);
        Ok(Some(if is_right { text } else { front::fresh(&keys(values), "\n") }))
    }

    fn path(&self, thing: &ExportItem) -> Option<&RepoPath> {
        self.places_after.paths.get(thing)
    }

    fn outline<'p>(&'p self, titles: &'p HashMap<PageId, TitleIn>) -> SummaryWriter<'p> {
        SummaryWriter {
            repository: self.repository,
            now: self.now,
            before: self.before,
            places_before: &self.places_before,
            places_after: &self.places_after,
            titles,
        }
    }

    fn write(
        &self,
        kind: TextKind,
        thing: &ExportItem,
        git: Option<&GitBlob>,
        template: Option<FileTemplate<'_>>,
        content: PageContent<'_>,
    ) -> WrittenPage {
        let to = self.path(thing).cloned().unwrap_or_default();
        let is_known = template.is_some_and(|template| template.origin == TemplateOrigin::Space);
        let git = git.filter(|_| is_known || !self.claimed.contains(&to));
        let from = git.and_then(|git| RepoPath::new(&git.path).ok()).unwrap_or_else(|| to.clone());
        let plain_title = (kind == TextKind::Include).then(|| humanise(&to));
        let is_page = |page: &PageId| self.pages.contains(page);
        let (from, to) = (from.folder(), to.folder());
        let before = match is_known {
            true => self.places_known.get_or_init(|| places_known(self.repository, self.now)),
            false => &self.places_before,
        };
        let (after, text) = (&self.places_after, template.map(|template| template.text));
        let format = self.repository.config.format;
        TextWriter { kind, format, before, after, from, to, plain_title, is_page: &is_page }
            .write(text, content)
    }

    /// Returns the pages that would get a different slug if the result were imported.
    fn of_another_slug(&self) -> Result<Vec<PageId>, FormatError> {
        let titles = HashMap::new();
        let summary = self.outline(&titles).write();
        let plan = ImportPlan::new(&self.repository.config, &self.places_after.tree, Some(&summary))?;
        let slugs: HashMap<&PageId, &str> =
            self.now.pages.iter().map(|page| (&page.id, page.slug.as_str())).collect();
        let before: HashMap<&PageId, &SpacePage> =
            self.before.pages.iter().map(|page| (&page.id, page)).collect();
        let is_unchanged = |page: &SpacePage| {
            before.get(&page.id).is_some_and(|before| {
                (&before.slug, &before.title, &before.emoji) == (&page.slug, &page.title, &page.emoji)
            })
        };
        let unchanged: HashSet<&PageId> =
            self.now.pages.iter().filter(|page| is_unchanged(page)).map(|page| &page.id).collect();
        let mut fileless =
            self.now.pages.iter().filter(|page| page.is_document() && self.page_path(&page.id).is_none());
        let mut wrong = Vec::new();
        for planned in plan.documents() {
            let page = match &planned.kind {
                PlannedKind::Document { file: Some(file), .. } => {
                    match self.places_after.things.get(&file.path) {
                        // The slug of such a file is derived from a title, which is unchanged.
                        Some(ExportItem::Page(page))
                            if slugify(file.path.stem()).is_empty() && unchanged.contains(page) =>
                        {
                            continue;
                        }
                        Some(ExportItem::Page(page)) if file.path != self.repository.config.readme => page,
                        _ => continue,
                    }
                }
                _ => match fileless.next() {
                    Some(page) => &page.id,
                    None => continue,
                },
            };
            let slug = slugs.get(page).copied().unwrap_or_default();
            // No file name results in an invalid slug.
            if planned.slug() != slug && slugify(slug) == slug {
                wrong.push(page.clone());
            }
        }
        Ok(wrong)
    }
}
