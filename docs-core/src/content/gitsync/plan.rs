//! What an import makes of a repository.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    FormatError, PlannedFile, Redirect, RepoConfig, RepoPath, RepoTree, Summary, SummaryItem, SummaryKind,
    Warning, infer, path::split_extension, report::Warnings, summary::humanise,
};
use crate::content::{slug::numbered, slugify};

/// Most bytes of a file: 100 MB.
pub const MAX_FILE_BYTES: u64 = 100_000_000;

/// Most pages with a Markdown file.
pub const MAX_PAGES: usize = 5_000;

/// What becomes of the files of a repository.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportPlan {
    /// The content folder.
    pub root: RepoPath,
    /// The pages of the top level, in order. The first document is the landing page.
    pub pages: Vec<PlannedPage>,
    /// The files: those under `.gitbook/assets`, then those that pages refer to, in the order they were added.
    pub assets: Vec<PlannedAsset>,
    /// The reusable contents, ordered by path.
    pub includes: Vec<PlannedInclude>,
    /// The file with the variables of the space.
    pub variables: Option<PlannedFile>,
    /// The redirects whose target is a page.
    pub redirects: Vec<Redirect>,
    /// What was left out, or read in a way its author may not expect.
    pub warnings: Vec<Warning>,
    /// Files that are text: pages and reusable contents.
    texts: HashSet<RepoPath>,
    /// Where the assets are in their list.
    places: HashMap<RepoPath, usize>,
    /// Names of assets, in lower case.
    names: HashSet<String>,
}

/// A page of the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedPage {
    /// The title, never empty. A heading at the top of the page's file goes before.
    pub title: String,
    /// Its segment of the path, unique among its siblings. Empty for links and generated pages.
    pub slug: String,
    /// Its path in the space. Empty for links and generated pages.
    pub path: String,
    /// What it is.
    pub kind: PlannedKind,
    /// The pages below it.
    pub pages: Vec<PlannedPage>,
}

/// What a page of the plan is.
#[derive(Clone, PartialEq, Debug)]
pub enum PlannedKind {
    /// A page to read.
    Document {
        /// Its file; none for a page without text.
        file: Option<PlannedFile>,
        /// A shorter title for navigation.
        link_title: Option<String>,
    },
    /// A heading above pages, at the top level only.
    Group,
    /// A link.
    Link {
        /// Where it leads, as it is written.
        url: String,
        /// The file of the repository it leads to: a page or an asset.
        file: Option<PlannedFile>,
    },
    /// A place where generated pages appear.
    Computed {
        /// What they are made from.
        value: Value,
    },
}

/// A file of the plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedAsset {
    /// The name of the file, unique in the space whatever its case.
    pub name: String,
    /// The file.
    pub file: PlannedFile,
}

/// A reusable content of the plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedInclude {
    /// Its slug, unique in the space.
    pub slug: String,
    /// A title made from its name. The one in its front matter goes before.
    pub title: String,
    /// Its file.
    pub file: PlannedFile,
}

impl ImportPlan {
    /// Plans an import. `summary` is the text of the file the configuration names; without one the tree of pages is
    /// made from the folders.
    ///
    /// A table of contents that lists nothing leaves the README as the only page.
    ///
    /// # Errors
    /// [`FormatError`] when there is no page at all, when there are more than [`MAX_PAGES`], and when a file that is
    /// needed is behind a symbolic link that leaves the repository or loops, or is larger than [`MAX_FILE_BYTES`].
    ///
    /// # Example
    /// ```
    /// use docs_core::content::gitsync::{Entry, EntryKind, ImportPlan, RepoConfig, RepoPath, RepoTree};
    ///
    /// let files = ["README.md", "guides/first-steps.md"];
    /// let tree = RepoTree::new(files.map(|path| Entry { path: path.into(), size: 10, kind: EntryKind::File }));
    /// let config = RepoConfig::read(None, &RepoPath::default())?;
    /// let plan = ImportPlan::new(&config, &tree, Some("* [Start](README.md)\n\n## Guides\n* [First](guides/first-steps.md)\n"))?;
    /// assert_eq!(plan.pages[1].pages[0].path, "guides/first-steps");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(config: &RepoConfig, tree: &RepoTree, summary: Option<&str>) -> Result<Self, FormatError> {
        let mut warnings = Warnings::default();
        warnings.append(tree.warnings());
        let outline = match summary {
            Some(text) => Summary::read(text, config, tree)?,
            None => infer(config, tree)?,
        };
        warnings.append(outline.warnings);
        let items = match outline.items {
            items if items.is_empty() => only_readme(config, tree, &mut warnings)?,
            items => items,
        };
        let mut builder = PageBuilder { readme: &config.readme, texts: HashSet::new() };
        let pages = builder.pages(items, "");
        let count = builder.texts.len();
        if count > MAX_PAGES {
            return Err(FormatError::TooManyPages { count, limit: MAX_PAGES });
        }
        let mut plan = Self::empty(config, pages, builder.texts);
        plan.redirects = known_redirects(config, tree, &plan.texts, &mut warnings)?;
        plan.add_folders(tree)?;
        plan.add_link_targets(tree)?;
        plan.warnings = warnings.finish();
        Ok(plan)
    }

    /// Adds a file that a page refers to, unless it is part of the plan already.
    ///
    /// `None` when the path leads to no file, or to Markdown: pages and reusable contents are not files, and Markdown
    /// that is not listed is nothing at all.
    ///
    /// # Errors
    /// [`FormatError`] when the file is behind a symbolic link that leaves the repository or loops, or too large.
    pub fn refer(&mut self, tree: &RepoTree, path: &RepoPath) -> Result<Option<&PlannedAsset>, FormatError> {
        if self.texts.contains(path) || path.is_markdown() {
            return Ok(None);
        }
        if let Some(place) = self.places.get(path) {
            return Ok(self.assets.get(*place));
        }
        let Some(file) = tree.file(path)? else { return Ok(None) };
        self.add_asset(file);
        Ok(self.assets.last())
    }

    /// The landing page: the first document of the tree.
    #[must_use]
    pub fn landing(&self) -> Option<&PlannedPage> {
        self.documents().next()
    }

    /// All documents, parents before the pages below them, in the order of the tree.
    pub fn documents(&self) -> impl Iterator<Item = &PlannedPage> {
        let mut todo: Vec<_> = self.pages.iter().rev().collect();
        std::iter::from_fn(move || {
            while let Some(page) = todo.pop() {
                todo.extend(page.pages.iter().rev());
                if matches!(page.kind, PlannedKind::Document { .. }) {
                    return Some(page);
                }
            }
            None
        })
    }

    fn empty(config: &RepoConfig, pages: Vec<PlannedPage>, texts: HashSet<RepoPath>) -> Self {
        Self {
            root: config.root.clone(),
            pages,
            assets: Vec::new(),
            includes: Vec::new(),
            variables: None,
            redirects: Vec::new(),
            warnings: Vec::new(),
            texts,
            places: HashMap::new(),
            names: HashSet::new(),
        }
    }

    /// What stands in `.gitbook`.
    fn add_folders(&mut self, tree: &RepoTree) -> Result<(), FormatError> {
        let folder = self.root.child(".gitbook");
        for path in tree.below(&folder.child("assets")) {
            if let Some(file) = tree.file(path)? {
                self.add_asset(file);
            }
        }
        let includes = folder.child("includes");
        let mut slugs = HashSet::new();
        for path in tree.below(&includes).filter(|path| path.is_markdown() && path.folder() == includes) {
            let Some(file) = tree.file(path)? else { continue };
            let slug = unique_slug(slug_of(path.stem(), "content"), &mut slugs);
            self.texts.insert(path.clone());
            self.includes.push(PlannedInclude { slug, title: humanise(path), file });
        }
        self.variables = tree.file(&folder.child("vars.yaml"))?;
        Ok(())
    }

    /// Links of the table of contents may lead to files that no page refers to.
    fn add_link_targets(&mut self, tree: &RepoTree) -> Result<(), FormatError> {
        let mut todo: Vec<_> = self.pages.iter().collect();
        let mut targets = Vec::new();
        while let Some(page) = todo.pop() {
            todo.extend(&page.pages);
            if let PlannedKind::Link { file: Some(file), .. } = &page.kind {
                targets.push(file.path.clone());
            }
        }
        targets.sort();
        for path in targets {
            self.refer(tree, &path)?;
        }
        Ok(())
    }

    fn add_asset(&mut self, file: PlannedFile) {
        let (stem, extension) = split_extension(file.path.name());
        let mut name = file.path.name().to_owned();
        let mut number = 0_u32;
        while !self.names.insert(name.to_lowercase()) {
            number += 1;
            name = format!("{stem} ({number}){extension}");
        }
        self.places.insert(file.path.clone(), self.assets.len());
        self.assets.push(PlannedAsset { name, file });
    }
}

fn only_readme(
    config: &RepoConfig,
    tree: &RepoTree,
    warnings: &mut Warnings,
) -> Result<Vec<SummaryItem>, FormatError> {
    let Some(file) = tree.file(&config.readme)? else {
        return Err(FormatError::NoPages { folder: config.root.clone() });
    };
    let message = format!("nothing is listed; `{}` is the only page", config.readme);
    warnings.push(&config.summary, None, message);
    let kind = SummaryKind::Page { file: Some(file), link_title: None };
    Ok(vec![SummaryItem { line: None, title: humanise(&config.readme), kind, items: Vec::new() }])
}

/// The redirects that lead to a page. The others are left out with a warning.
fn known_redirects(
    config: &RepoConfig,
    tree: &RepoTree,
    pages: &HashSet<RepoPath>,
    warnings: &mut Warnings,
) -> Result<Vec<Redirect>, FormatError> {
    let mut known = Vec::with_capacity(config.redirects.len());
    for redirect in &config.redirects {
        match tree.locate(&redirect.to)? {
            Some(file) if pages.contains(&file.path) => {
                known.push(Redirect { to: file.path, ..redirect.clone() });
            }
            _ => {
                let message = format!(
                    "the redirect of `{}` leads to `{}`, which is no page; it is left out",
                    redirect.from, redirect.to
                );
                warnings.push(&config.file, None, message);
            }
        }
    }
    Ok(known)
}

struct PageBuilder<'a> {
    readme: &'a RepoPath,
    texts: HashSet<RepoPath>,
}

impl PageBuilder<'_> {
    /// The pages of one level. Levels are at most [`MAX_DEPTH`](super::MAX_DEPTH) and one.
    fn pages(&mut self, items: Vec<SummaryItem>, parent: &str) -> Vec<PlannedPage> {
        let mut slugs = HashSet::new();
        items.into_iter().map(|item| self.page(item, parent, &mut slugs)).collect()
    }

    fn page(&mut self, item: SummaryItem, parent: &str, slugs: &mut HashSet<String>) -> PlannedPage {
        let SummaryItem { title, kind, items, .. } = item;
        let (kind, slug) = match kind {
            SummaryKind::Group { slug } => {
                let slug = slug_of(slug.as_deref().unwrap_or(&title), "group");
                (PlannedKind::Group, slug)
            }
            SummaryKind::Page { file, link_title } => {
                let slug = self.slug_of_page(file.as_ref(), &title);
                if let Some(file) = &file {
                    self.texts.insert(file.path.clone());
                }
                (PlannedKind::Document { file, link_title }, slug)
            }
            SummaryKind::Link { url, file } => return leaf(title, PlannedKind::Link { url, file }),
            SummaryKind::Computed { value } => {
                let title = if title.is_empty() { "API reference".to_owned() } else { title };
                return leaf(title, PlannedKind::Computed { value });
            }
        };
        let slug = unique_slug(slug, slugs);
        let path = if parent.is_empty() { slug.clone() } else { format!("{parent}/{slug}") };
        let pages = self.pages(items, &path);
        PlannedPage { title, slug, path, kind, pages }
    }

    /// The name of the file; the name of the folder for its README. The landing page keeps the name of its file.
    fn slug_of_page(&self, file: Option<&PlannedFile>, title: &str) -> String {
        match file {
            Some(file)
                if file.path.is_readme() && file.path != *self.readme && !file.path.folder().is_root() =>
            {
                slug_of(file.path.folder().name(), title)
            }
            Some(file) => slug_of(file.path.stem(), title),
            None => slug_of(title, "page"),
        }
    }
}

fn leaf(title: String, kind: PlannedKind) -> PlannedPage {
    PlannedPage { title, slug: String::new(), path: String::new(), kind, pages: Vec::new() }
}

/// The slug of the first text that has one.
fn slug_of(text: &str, other: &str) -> String {
    [text, other].into_iter().map(slugify).find(|slug| !slug.is_empty()).unwrap_or_else(|| "page".to_owned())
}

fn unique_slug(slug: String, taken: &mut HashSet<String>) -> String {
    let mut unique = slug.clone();
    let mut number = 0_u64;
    while !taken.insert(unique.clone()) {
        number += 1;
        unique = numbered(&slug, number);
    }
    unique
}

#[cfg(test)]
mod tests;
