//! What an export writes into a repository: the inverse of an import.

mod emit;
mod front;
mod outline;
mod paths;
mod places;
mod safe;
mod text;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::OnceLock,
};

use docs_model::{ContentRef, FileId, GitBlob, PageId, ReusableId, Variables};
use serde_json::Value;

pub use self::text::{PageContent, WrittenPage};
use self::{
    outline::Outline,
    paths::{Choice, Folded, Paths, places_before, places_known},
    places::{Places, Thing},
    text::{TextKind, Writer},
};
use super::{
    FormatError, ImportPlan, PlannedKind, RepoConfig, RepoPath, RepoTree, summary::humanise, variables,
};
use crate::slugify;

/// What the commit has that an export is written on; everything may be empty.
#[derive(Clone, Debug)]
pub struct Repository {
    /// Its files.
    pub tree: RepoTree,
    /// The object ids of its files, by path.
    pub oids: HashMap<String, String>,
    /// Its configuration.
    pub config: RepoConfig,
    /// The text of its table of contents.
    pub summary: Option<String>,
}

/// What a space has, without its texts.
#[derive(Clone, Debug, Default)]
pub struct SpaceOutline {
    /// The pages in reading order: a page comes before those below it.
    pub pages: Vec<SpacePage>,
    /// The files.
    pub files: Vec<SpaceFile>,
    /// The reusable contents.
    pub includes: Vec<SpaceInclude>,
}

/// A page of a space.
#[derive(Clone, Debug)]
pub struct SpacePage {
    /// The page.
    pub id: PageId,
    /// The page it stands below.
    pub parent: Option<PageId>,
    /// What it is.
    pub kind: SpacePageKind,
    /// Its title.
    pub title: String,
    /// Its slug; empty for links and generated pages.
    pub slug: String,
    /// Its emoji.
    pub emoji: Option<String>,
    /// Where Git keeps it.
    pub git: Option<GitBlob>,
    /// Tells whether a document needs a file: one without text that came from the table of contents alone has none.
    pub has_file: bool,
}

/// What a page of a space is.
#[derive(Clone, PartialEq, Debug)]
pub enum SpacePageKind {
    /// A page to read.
    Document,
    /// A heading above pages.
    Group,
    /// A link.
    Link {
        /// Where it leads.
        target: ContentRef,
    },
    /// A place where generated pages appear.
    Computed {
        /// What they are made from.
        value: Value,
    },
}

/// A file of a space.
#[derive(Clone, Debug)]
pub struct SpaceFile {
    /// The file.
    pub id: FileId,
    /// Its name.
    pub name: String,
    /// Where Git keeps it.
    pub git: Option<GitBlob>,
}

/// A reusable content of a space.
#[derive(Clone, Debug)]
pub struct SpaceInclude {
    /// The reusable content.
    pub id: ReusableId,
    /// Its title.
    pub title: String,
    /// Where Git keeps it.
    pub git: Option<GitBlob>,
}

/// The text that a file is written over: what it says the same keeps its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Template<'t> {
    /// The text.
    pub text: &'t str,
    /// Where it is from.
    pub origin: TemplateOrigin,
}

/// Where a template is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TemplateOrigin {
    /// A file of the repository.
    Repository,
    /// The file that the space was last in sync with, which the repository need not have.
    Space,
}

/// Where the title of a page is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TitleIn {
    /// In its file.
    File,
    /// In the table of contents alone.
    Summary,
    /// The page is as it was, and so is what the table of contents says of it.
    Unread,
}

/// Which files that are in the repository an export may take for the space's own, although it did not know of them.
///
/// An export that is done again, because nobody heard of its end, finds what it has written so: where it would write
/// a new file there is one that says the same. Whoever plans starts with all, and refuses those that say something
/// else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claims {
    /// All but these.
    AllBut(BTreeSet<RepoPath>),
    /// None.
    Nothing,
}

impl Claims {
    fn allow(&self, path: &RepoPath) -> bool {
        matches!(self, Self::AllBut(refused) if !refused.contains(path))
    }
}

/// Which files an export writes and removes, and what is in them.
///
/// What was not edited keeps its path and its bytes. New pages are put where their place in the tree says, moved ones
/// move their files; what is in the repository and not the space's is neither written over nor removed.
#[derive(Debug)]
pub struct ExportPlan<'a> {
    repository: &'a Repository,
    now: &'a SpaceOutline,
    before: &'a SpaceOutline,
    places_before: Places,
    places_after: Places,
    /// Where everything is as the space knows it, whatever the repository has: for what is not written over a file
    /// of it.
    places_known: OnceLock<Places>,
    removed: BTreeSet<RepoPath>,
    claimed: BTreeSet<RepoPath>,
    pages: HashSet<&'a PageId>,
}

/// How often paths are chosen anew, where an import would give pages other slugs.
const ROUNDS: usize = 4;

impl<'a> ExportPlan<'a> {
    /// Plans the export of a space. `before` is what the space had when it was last in sync with the repository:
    /// whatever is in it is the space's own in the repository. An empty one means that it never was.
    ///
    /// # Errors
    /// [`FormatError::NoPages`] for a space without pages; [`FormatError::Unsafe`]; and what an import of the result
    /// would fail with.
    pub fn new(
        repository: &'a Repository,
        now: &'a SpaceOutline,
        before: &'a SpaceOutline,
        claims: &Claims,
    ) -> Result<Self, FormatError> {
        if now.pages.is_empty() {
            return Err(FormatError::NoPages { folder: repository.config.root.clone() });
        }
        let places_before = places_before(repository, now, before);
        let there = Folded::of(repository.tree.paths());
        let mut forced = HashSet::new();
        let mut round = 0;
        loop {
            let choice = Choice { repository, there: &there, now, before, forced: &forced, claims };
            let Paths { places, removed, claimed } = choice.paths();
            let written = places.values().cloned();
            let tree = repository.tree.changed(&removed, written);
            let mut places_after = Places::new(tree, &repository.config);
            places.into_iter().for_each(|(thing, path)| places_after.put(thing, path));
            // What is claimed leads where it will lead.
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
                pages: now.pages.iter().map(|page| &page.id).collect(),
            };
            round += 1;
            let wrong = plan.of_another_slug()?;
            if round == ROUNDS || wrong.iter().all(|page| forced.contains(page)) {
                return Ok(plan);
            }
            forced.extend(wrong);
        }
    }

    /// Where the file of a page is after the export; none where it has none.
    #[must_use]
    pub fn page_path(&self, page: &PageId) -> Option<&RepoPath> {
        self.path(&Thing::Page(page.clone()))
    }

    /// Where a file is after the export.
    #[must_use]
    pub fn file_path(&self, file: &FileId) -> Option<&RepoPath> {
        self.path(&Thing::File(file.clone()))
    }

    /// Where a reusable content is after the export.
    #[must_use]
    pub fn include_path(&self, include: &ReusableId) -> Option<&RepoPath> {
        self.path(&Thing::Include(include.clone()))
    }

    /// The path that is written to for one of the paths above: another one where a symbolic link leads there.
    ///
    /// # Errors
    /// [`FormatError`] for a link that leads out of the repository or in a circle, and a file that is not written into
    /// repositories.
    pub fn written_to(&self, path: &RepoPath) -> Result<RepoPath, FormatError> {
        safe::check(path)?;
        let source = self.repository.tree.file(path)?.map_or_else(|| path.clone(), |file| file.source);
        safe::check(&source)?;
        Ok(source)
    }

    /// What is removed.
    #[must_use]
    pub fn removed(&self) -> &BTreeSet<RepoPath> {
        &self.removed
    }

    /// What is there and is taken for the space's own. What an export would write to one of these paths must be there
    /// already; otherwise the path is refused, and the export is planned anew.
    #[must_use]
    pub fn claimed(&self) -> &BTreeSet<RepoPath> {
        &self.claimed
    }

    /// Tells whether something that texts may lead to is not where it was, or is gone.
    #[must_use]
    pub fn moves_targets(&self) -> bool {
        let after = &self.places_after.paths;
        let is_other = |(thing, path): (&Thing, &RepoPath)| after.get(thing) != Some(path);
        self.places_before.paths.iter().any(is_other) || after.len() != self.places_before.paths.len()
    }

    /// The text of a page's file, written over the one that is at its path in Git.
    #[must_use]
    pub fn page(
        &self,
        page: &SpacePage,
        template: Option<Template<'_>>,
        content: PageContent<'_>,
    ) -> WrittenPage {
        let thing = Thing::Page(page.id.clone());
        self.write((TextKind::Page, &thing), page.git.as_ref(), template, content)
    }

    /// The text of a reusable content's file; of the fields, the title and the rest of the front matter count.
    #[must_use]
    pub fn include(
        &self,
        include: &SpaceInclude,
        template: Option<Template<'_>>,
        content: PageContent<'_>,
    ) -> WrittenPage {
        let thing = Thing::Include(include.id.clone());
        self.write((TextKind::Include, &thing), include.git.as_ref(), template, content)
    }

    /// The text of the table of contents: that of the repository where it says the same.
    #[must_use]
    pub fn summary(&self, titles: &HashMap<PageId, TitleIn>) -> String {
        self.outline(titles).write()
    }

    /// The path of the file with the variables of the space.
    #[must_use]
    pub fn variables_path(&self) -> RepoPath {
        self.repository.config.root.child(".gitbook/vars.yaml")
    }

    /// The text of the file with the variables, written over the one that is there; none where it has none to say.
    ///
    /// # Errors
    /// [`FormatError`] when the file is larger than a file of variables may be.
    pub fn variables(
        &self,
        template: Option<&str>,
        values: &Variables,
    ) -> Result<Option<String>, FormatError> {
        let keys = |values: &Variables| -> front::Keys {
            values.iter().map(|(name, value)| (name.clone(), front::variable(value))).collect()
        };
        let path = self.variables_path();
        let Some(template) = template else {
            return Ok((!values.is_empty()).then(|| front::fresh(&keys(values), "\n")));
        };
        // What is not YAML says nothing, and cannot be changed a little.
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
        let text = front::edited(template, &keys(&before), &keys(values), eol);
        let is_right = variables(&text, &path).is_ok_and(|(found, _)| found == *values);
        Ok(Some(if is_right { text } else { front::fresh(&keys(values), "\n") }))
    }

    fn path(&self, thing: &Thing) -> Option<&RepoPath> {
        self.places_after.paths.get(thing)
    }

    fn outline<'p>(&'p self, titles: &'p HashMap<PageId, TitleIn>) -> Outline<'p> {
        Outline {
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
        (kind, thing): (TextKind, &Thing),
        git: Option<&GitBlob>,
        template: Option<Template<'_>>,
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
        Writer { kind, before, after, from, to, plain_title, is_page: &is_page }.write(text, content)
    }

    /// The pages to which an import of the result would give another slug.
    fn of_another_slug(&self) -> Result<Vec<PageId>, FormatError> {
        let titles = HashMap::new();
        let summary = self.outline(&titles).write();
        let plan = ImportPlan::new(&self.repository.config, &self.places_after.tree, Some(&summary))?;
        let slugs: HashMap<&PageId, &str> =
            self.now.pages.iter().map(|page| (&page.id, page.slug.as_str())).collect();
        let mut fileless =
            self.now.pages.iter().filter(|page| page.is_document() && self.page_path(&page.id).is_none());
        let mut wrong = Vec::new();
        for planned in plan.documents() {
            let page = match &planned.kind {
                PlannedKind::Document { file: Some(file), .. } => {
                    match self.places_after.things.get(&file.path) {
                        Some(Thing::Page(page)) if file.path != self.repository.config.readme => page,
                        _ => continue,
                    }
                }
                _ => match fileless.next() {
                    Some(page) => &page.id,
                    None => continue,
                },
            };
            let slug = slugs.get(page).copied().unwrap_or_default();
            // No file can give a page a slug that is none.
            if planned.slug() != slug && slugify(slug) == slug {
                wrong.push(page.clone());
            }
        }
        Ok(wrong)
    }
}
