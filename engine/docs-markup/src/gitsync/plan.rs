//! The plan of an import from a repository.

use std::collections::{HashMap, HashSet};

use docs_model::{MAX_PATH_BYTES, MAX_REUSABLES, MAX_SIBLINGS, MAX_SPACE_FILES, MAX_TITLE};
use serde_json::Value;

use super::{
    BookFormat, FormatError, LANGUAGES_FILE, MAX_CONFIG_BYTES, MAX_ITEMS, PlannedFile, Redirect, RepoConfig,
    RepoPath, RepoTree, Summary, SummaryItem, SummaryKind, Warning, book::output_path, infer,
    path::split_extension, report::Warnings, summary::humanise,
};
use crate::{UniqueNames, slugify};

/// Maximum number of pages with a Markdown file.
pub const MAX_PAGES: usize = 5_000;

/// The pages, files and reusable content blocks of an import.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportPlan {
    /// The content folder.
    pub root: RepoPath,
    /// The top-level pages, in order. The first document is the landing page.
    pub pages: Vec<PlannedPage>,
    /// The files: those under `.gitbook/assets`, followed by those that pages reference, in the order in which they
    /// were added.
    pub assets: Vec<PlannedAsset>,
    /// The reusable content blocks, sorted by path.
    pub includes: Vec<PlannedInclude>,
    /// The file with the variables of the space.
    pub variables: Option<PlannedFile>,
    /// The redirects to pages: those of the configuration, followed by those from the paths of pages in the HTML output
    /// of a book.
    pub redirects: Vec<Redirect>,
    /// Items that were left out, or interpreted differently than their author may expect.
    pub warnings: Vec<Warning>,
    /// Text files: pages and reusable content blocks.
    texts: HashSet<RepoPath>,
    /// The positions of the assets in the list.
    places: HashMap<RepoPath, usize>,
    /// The number of files beyond [`MAX_SPACE_FILES`].
    omitted_files: HashSet<RepoPath>,
    /// Names of assets in lower case, each with the last number given to a duplicate.
    names: HashMap<String, u32>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PlannedPage {
    /// The title, never empty. A heading at the top of the page's file takes precedence.
    pub title: String,
    /// The unique path in the space. Empty for links and generated pages.
    pub path: String,
    pub kind: PlannedKind,
    /// The children.
    pub pages: Vec<PlannedPage>,
}

impl PlannedPage {
    /// Returns the last segment of the path, unique among the siblings. Empty for links and generated pages.
    #[must_use]
    pub fn slug(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum PlannedKind {
    /// A page with text.
    Document {
        /// The file, or `None` for a page without text.
        file: Option<PlannedFile>,
        /// A shorter title for navigation.
        link_title: Option<String>,
    },
    /// A heading for a group of pages. Only at the top level.
    Group,
    Link {
        /// The destination as given in the source.
        url: String,
        /// The target in the repository: a page or an asset.
        file: Option<PlannedFile>,
    },
    /// A placeholder for generated pages.
    Computed {
        /// The source of the pages.
        value: Value,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedAsset {
    /// The name of the file, unique in the space ignoring case.
    pub name: String,
    pub file: PlannedFile,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedInclude {
    /// The slug, unique in the space.
    pub slug: String,
    /// A title derived from the file name. The title in the front matter takes precedence.
    pub title: String,
    pub file: PlannedFile,
}

/// Maximum number of languages that a warning names.
const MAX_NAMED_LANGUAGES: usize = 10;

/// Adds a warning for a book in several languages, because each language has its own table of contents.
fn warn_of_languages(config: &RepoConfig, tree: &RepoTree, warnings: &mut Warnings) {
    let list = config.root.child(LANGUAGES_FILE);
    if !tree.has(&list) {
        return;
    }
    let name = config.summary.name();
    let folders = tree.paths_in(&config.root).filter(|path| path.name() == name).map(RepoPath::folder);
    let languages = folders.filter(|folder| folder.folder() == config.root && !folder.is_root());
    let named: Vec<String> =
        languages.take(MAX_NAMED_LANGUAGES).map(|folder| format!("`{folder}`")).collect();
    if !named.is_empty() {
        let message = "lists the languages of a book; import each into a space of its own, with its folder as the \
                       project directory, such as";
        warnings.push(&list, None, format!("{message} {}", named.join(", ")));
    }
}

impl ImportPlan {
    /// Plans an import. `summary` is the text of the configured table of contents. Without it, the page tree is derived
    /// from the folders.
    ///
    /// If the table of contents is empty, the README is the only page.
    ///
    /// # Errors
    /// [`FormatError`] if there is no page, if there are more than [`MAX_PAGES`], if the table of contents is larger
    /// than [`MAX_SUMMARY_BYTES`](super::MAX_SUMMARY_BYTES), if it or the tree derived from the folders has more than
    /// [`MAX_ITEMS`] items, if the variables are larger than [`MAX_CONFIG_BYTES`], and if a required file is larger
    /// than [`MAX_FILE_BYTES`](docs_model::MAX_FILE_BYTES).
    ///
    /// # Example
    /// ```
    /// use docs_markup::gitsync::{CommitEntry, EntryKind, ImportPlan, RepoConfig, RepoPath, RepoTree};
    ///
    /// let files = ["README.md", "guides/first-steps.md"];
    /// let tree = RepoTree::new(files.map(|path| CommitEntry { path: path.into(), size: 10, kind: EntryKind::File }));
    /// let config = RepoConfig::read(None, &RepoPath::default())?;
    /// let summary = "* [Start](README.md)\n\n## Guides\n* [First](guides/first-steps.md)\n";
    /// let plan = ImportPlan::new(&config, &tree, Some(summary))?;
    /// assert_eq!(plan.pages[1].pages[0].path, "guides/first-steps");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(config: &RepoConfig, tree: &RepoTree, summary: Option<&str>) -> Result<Self, FormatError> {
        let mut warnings = Warnings::default();
        warnings.append(tree.warnings());
        warnings.append(config.warnings.iter().cloned());
        let outline = match summary {
            Some(text) => Summary::read(text, config, tree)?,
            None => infer(config, tree)?,
        };
        if summary.is_none() {
            warn_of_languages(config, tree, &mut warnings);
        }
        warnings.append(outline.warnings);
        let mut items = match outline.items {
            items if items.is_empty() => only_readme(config, tree, &mut warnings)?,
            items => items,
        };
        if summary.is_some() {
            add_readme(config, tree, &mut items, &mut warnings)?;
        }
        if items.iter().map(items_in).sum::<usize>() > MAX_ITEMS {
            return Err(FormatError::TooManyItems { file: config.root.clone(), limit: MAX_ITEMS });
        }
        let (readme, texts) = (&config.readme, HashSet::new());
        let mut builder = PageBuilder { readme, texts, omitted: OmittedItems::default() };
        let pages = builder.pages(items, "");
        builder.omitted.warn(&config.summary, &mut warnings);
        let count = builder.texts.len();
        if count > MAX_PAGES {
            return Err(FormatError::TooManyPages { count, limit: MAX_PAGES });
        }
        let mut plan = Self::empty(config, pages, builder.texts);
        plan.redirects = known_redirects(config, tree, &plan.texts, &mut warnings);
        if config.format != BookFormat::Native {
            // Paths of redirects ignore case. The first redirect of a path applies.
            let mut known: HashSet<String> = plan.redirects.iter().map(|it| it.from.to_lowercase()).collect();
            let output = plan.documents().filter_map(|page| output_redirect(&config.root, page));
            let output: Vec<_> = output.filter(|it| known.insert(it.from.to_lowercase())).collect();
            plan.redirects.extend(output);
        }
        plan.add_folders(tree, &mut warnings)?;
        plan.add_link_targets(tree)?;
        plan.warnings = warnings.finish();
        Ok(plan)
    }

    /// Adds a file that a page references, unless it is already part of the plan.
    ///
    /// Returns `None` if there is no file at the path, or a Markdown file: pages and reusable content blocks are not
    /// files, and unlisted Markdown is not imported.
    ///
    /// # Errors
    /// [`FormatError`] if the file is too large.
    pub fn refer(&mut self, tree: &RepoTree, path: &RepoPath) -> Result<Option<&PlannedAsset>, FormatError> {
        if self.texts.contains(path) || path.is_markdown() {
            return Ok(None);
        }
        if let Some(place) = self.places.get(path) {
            return Ok(self.assets.get(*place));
        }
        let Some(file) = tree.file(path)? else { return Ok(None) };
        Ok(if self.add_asset(file) { self.assets.last() } else { None })
    }

    /// Adds a file that a directive of a page includes, unless it is already part of the plan. Unlike
    /// [`refer`](Self::refer), this also adds Markdown that is not a page.
    ///
    /// # Errors
    /// Those of [`refer`](Self::refer).
    pub fn add_included(&mut self, tree: &RepoTree, path: &RepoPath) -> Result<(), FormatError> {
        if !self.texts.contains(path)
            && !self.places.contains_key(path)
            && let Some(file) = tree.file(path)?
        {
            self.add_asset(file);
        }
        Ok(())
    }

    /// Returns a sentence about the files omitted so far. [`refer`](Self::refer) may add more.
    #[must_use]
    pub fn file_warning(&self) -> Option<String> {
        let count = self.omitted_files.len();
        (count > 0).then(|| format!("skipped {count} files: a space has at most {MAX_SPACE_FILES}"))
    }

    /// Returns the landing page: the first document of the tree.
    #[must_use]
    pub fn landing(&self) -> Option<&PlannedPage> {
        self.documents().next()
    }

    /// Returns the total size in bytes of all text files: the files of all pages and reusable content blocks, counted
    /// once per use.
    ///
    /// An import holds all of them in memory at once, so this is its memory use.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        let pages = self.documents().filter_map(|page| match &page.kind {
            PlannedKind::Document { file, .. } => file.as_ref(),
            _ => None,
        });
        total(pages.chain(self.includes.iter().map(|include| &include.file)))
    }

    /// Returns the current number of pages, files and reusable content blocks.
    #[must_use]
    pub fn items(&self) -> usize {
        self.pages.iter().map(pages_in).sum::<usize>() + self.assets.len() + self.includes.len()
    }

    /// Returns the total size in bytes of the files added so far. [`refer`](Self::refer) may add more.
    #[must_use]
    pub fn asset_bytes(&self) -> u64 {
        total(self.assets.iter().map(|asset| &asset.file))
    }

    /// Returns all documents, parents before their children, in the order of the tree.
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
            omitted_files: HashSet::new(),
            names: HashMap::new(),
        }
    }

    /// Adds the files in the `.gitbook` folder.
    fn add_folders(&mut self, tree: &RepoTree, warnings: &mut Warnings) -> Result<(), FormatError> {
        let folder = self.root.child(".gitbook");
        for path in tree.paths_in(&folder.child("assets")) {
            if let Some(file) = tree.file(path)? {
                self.add_asset(file);
            }
        }
        let includes = folder.child("includes");
        let mut slugs = UniqueNames::default();
        for path in tree.paths_in(&includes).filter(|path| path.is_markdown() && path.folder() == includes) {
            let Some(file) = tree.file(path)? else { continue };
            if self.includes.len() == MAX_REUSABLES {
                let message = format!("skipped: a space has at most {MAX_REUSABLES} reusable contents");
                warnings.push(path, None, message);
                continue;
            }
            let slug = slugs.take_slug(slug_of(path.stem(), "content"), 1);
            self.texts.insert(path.clone());
            self.includes.push(PlannedInclude { slug, title: humanise(path), file });
        }
        self.variables = tree.file_within(&folder.child("vars.yaml"), MAX_CONFIG_BYTES)?;
        Ok(())
    }

    /// Adds the files that links in the table of contents point to, even if no page references them.
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

    /// Adds a file. Returns `false` if there are too many.
    fn add_asset(&mut self, file: PlannedFile) -> bool {
        if self.assets.len() == MAX_SPACE_FILES {
            self.omitted_files.insert(file.path);
            return false;
        }
        let (stem, extension) = split_extension(file.path.name());
        let mut name = file.path.name().to_owned();
        let first = name.to_lowercase();
        let mut number = self.names.get(&first).copied().unwrap_or_default();
        while self.names.contains_key(&name.to_lowercase()) {
            number += 1;
            name = format!("{stem} ({number}){extension}");
        }
        self.names.insert(name.to_lowercase(), 0);
        if number > 0 {
            self.names.insert(first, number);
        }
        self.places.insert(file.path.clone(), self.assets.len());
        self.assets.push(PlannedAsset { name, file });
        true
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
    let message = format!("the table of contents is empty; `{}` becomes the only page", config.readme);
    warnings.push(&config.summary, None, message);
    let kind = SummaryKind::Page { file: Some(file), link_title: None };
    Ok(vec![SummaryItem { line: None, title: humanise(&config.readme), kind, items: Vec::new() }])
}

/// Adds the README as the first page if the table of contents does not list it. mdBook shows listed files only.
fn add_readme(
    config: &RepoConfig,
    tree: &RepoTree,
    items: &mut Vec<SummaryItem>,
    warnings: &mut Warnings,
) -> Result<(), FormatError> {
    let Some(file) = tree.file(&config.readme)?.filter(|_| config.format != BookFormat::MdBook) else {
        return Ok(());
    };
    if items.iter().any(|item| lists(item, &file)) {
        return Ok(());
    }
    let message = format!("`{}` is not listed; it becomes the first page", config.readme);
    warnings.push(&config.summary, None, message);
    let kind = SummaryKind::Page { file: Some(file), link_title: None };
    items.insert(0, SummaryItem { line: None, title: humanise(&config.readme), kind, items: Vec::new() });
    Ok(())
}

fn lists(item: &SummaryItem, file: &PlannedFile) -> bool {
    matches!(&item.kind, SummaryKind::Page { file: Some(own), .. } if own.path == file.path)
        || item.items.iter().any(|item| lists(item, file))
}

/// Returns the redirects to existing pages. Other redirects are left out with a warning.
fn known_redirects(
    config: &RepoConfig,
    tree: &RepoTree,
    pages: &HashSet<RepoPath>,
    warnings: &mut Warnings,
) -> Vec<Redirect> {
    let mut known = Vec::with_capacity(config.redirects.len());
    for redirect in &config.redirects {
        let is_root = redirect.to == config.root;
        let to = if is_root { tree.file(&config.readme) } else { tree.locate_linked(&redirect.to) };
        let problem = match to {
            Ok(Some(file)) if pages.contains(&file.path) => {
                known.push(Redirect { to: file.path, ..redirect.clone() });
                continue;
            }
            Ok(_) if is_root => "its target is not a page".to_owned(),
            Ok(_) => format!("its target `{}` is not a page", redirect.to),
            Err(problem) => problem.to_string(),
        };
        warnings.push(&config.file, None, format!("skipped redirect from `{}`: {problem}", redirect.from));
    }
    known
}

/// Returns the redirect to a page of a book from its path in the HTML output of the book, which depends on folders
/// only, not on parts and chapters. `None` if the paths are equal.
fn output_redirect(root: &RepoPath, page: &PlannedPage) -> Option<Redirect> {
    let PlannedKind::Document { file: Some(file), .. } = &page.kind else { return None };
    let from = output_path(root, &file.path)?;
    let is_new = !from.eq_ignore_ascii_case(&page.path) && from.len() <= MAX_PATH_BYTES;
    is_new.then(|| Redirect { from, to: file.path.clone(), anchor: None })
}

struct PageBuilder<'a> {
    readme: &'a RepoPath,
    texts: HashSet<RepoPath>,
    omitted: OmittedItems,
}

/// Items that exceed a limit: pages that are left out with their descendants, and truncated titles.
#[derive(Default)]
struct OmittedItems {
    siblings: OmittedPages,
    paths: OmittedPages,
    titles: OmittedPages,
}

/// A page count, with the titles of the first pages.
#[derive(Default)]
struct OmittedPages {
    count: usize,
    titles: Vec<String>,
}

/// Maximum number of titles in a warning, and of characters of each.
const MAX_NAMED_PAGES: usize = 5;
const MAX_NAMED_TITLE: usize = 60;

impl OmittedPages {
    fn add(&mut self, count: usize, title: &str) {
        self.count += count;
        if self.titles.len() < MAX_NAMED_PAGES {
            self.titles.push(format!("`{}`", title.chars().take(MAX_NAMED_TITLE).collect::<String>()));
        }
    }
}

impl OmittedItems {
    /// Adds a warning for each exceeded limit.
    fn warn(&self, file: &RepoPath, warnings: &mut Warnings) {
        let all = [
            (&self.siblings, format!("pages skipped: a page has at most {MAX_SIBLINGS} child pages")),
            (&self.paths, format!("pages skipped: the path of a page has at most {MAX_PATH_BYTES} bytes")),
            (&self.titles, format!("titles cut to {MAX_TITLE} characters")),
        ];
        for (pages, message) in all.into_iter().filter(|(pages, _)| pages.count > 0) {
            let more = if pages.count > pages.titles.len() { " and others" } else { "" };
            let titles = pages.titles.join(", ");
            warnings.push(file, None, format!("{} {message} ({titles}{more})", pages.count));
        }
    }
}

impl PageBuilder<'_> {
    /// Creates the pages of one level. There are at most [`MAX_SUMMARY_DEPTH`](super::MAX_SUMMARY_DEPTH) + 1 levels.
    fn pages(&mut self, items: Vec<SummaryItem>, parent: &str) -> Vec<PlannedPage> {
        let mut slugs = UniqueNames::default();
        let mut pages = Vec::with_capacity(items.len().min(MAX_SIBLINGS));
        for item in items {
            if pages.len() == MAX_SIBLINGS {
                self.omitted.siblings.add(items_in(&item), &item.title);
                continue;
            }
            pages.extend(self.page(item, parent, &mut slugs));
        }
        pages
    }

    fn page(&mut self, item: SummaryItem, parent: &str, slugs: &mut UniqueNames) -> Option<PlannedPage> {
        let SummaryItem { mut title, kind, items, .. } = item;
        if let Some((end, _)) = title.char_indices().nth(MAX_TITLE) {
            title.truncate(end);
            self.omitted.titles.add(1, &title);
        }
        let (kind, slug) = match kind {
            SummaryKind::Group { slug } => {
                let slug = slug_of(slug.as_deref().unwrap_or(&title), "group");
                (PlannedKind::Group, slug)
            }
            SummaryKind::Page { file, link_title } => {
                let slug = self.slug_of_page(file.as_ref(), &title);
                (PlannedKind::Document { file, link_title }, slug)
            }
            SummaryKind::Link { url, file } => return Some(leaf(title, PlannedKind::Link { url, file })),
            SummaryKind::Computed { value } => {
                let title = if title.is_empty() { "API reference".to_owned() } else { title };
                return Some(leaf(title, PlannedKind::Computed { value }));
            }
        };
        let slug = slugs.take_slug(slug, 1);
        let path = if parent.is_empty() { slug } else { format!("{parent}/{slug}") };
        if path.len() > MAX_PATH_BYTES {
            self.omitted.paths.add(1 + items.iter().map(items_in).sum::<usize>(), &title);
            return None;
        }
        if let PlannedKind::Document { file: Some(file), .. } = &kind {
            self.texts.insert(file.path.clone());
        }
        let pages = self.pages(items, &path);
        Some(PlannedPage { title, path, kind, pages })
    }

    /// Derives the slug of a page from the name of its file, or of its folder for a README or `index.md`. The landing
    /// page uses the name of its file.
    fn slug_of_page(&self, file: Option<&PlannedFile>, title: &str) -> String {
        match file {
            Some(file) if file.path.is_folder_page(self.readme) && !file.path.folder().is_root() => {
                slug_of(file.path.folder().name(), title)
            }
            Some(file) => slug_of(file.path.stem(), title),
            None => slug_of(title, "page"),
        }
    }
}

/// Returns the sum of sizes, saturating at the maximum.
fn total<'a>(files: impl Iterator<Item = &'a PlannedFile>) -> u64 {
    files.fold(0, |sum, file| sum.saturating_add(file.size))
}

/// Returns the number of pages in a subtree.
fn pages_in(page: &PlannedPage) -> usize {
    1 + page.pages.iter().map(pages_in).sum::<usize>()
}

/// Returns the number of items in a subtree.
fn items_in(item: &SummaryItem) -> usize {
    1 + item.items.iter().map(items_in).sum::<usize>()
}

fn leaf(title: String, kind: PlannedKind) -> PlannedPage {
    PlannedPage { title, path: String::new(), kind, pages: Vec::new() }
}

/// Returns the slug of `text`, or of `other` if `text` has none.
fn slug_of(text: &str, other: &str) -> String {
    [text, other].into_iter().map(slugify).find(|slug| !slug.is_empty()).unwrap_or_else(|| "page".to_owned())
}

#[cfg(test)]
mod tests;
