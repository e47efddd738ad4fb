//! Parser of the table of contents `SUMMARY.md`.

pub(super) mod scanner;

use std::collections::HashSet;

use docs_model::{MAX_COMPUTED_PLACES, MAX_PAGE_LEVELS};
use serde_json::Value;

use self::scanner::{RawItem, RawKind};
use super::{
    BookFormat, FormatError, PathError, PlannedFile, RepoConfig, RepoPath, RepoTree, Warning,
    inline::{self, Inline},
    report::{Warnings, check_size},
    target::{self, DestinationKind, Local},
    yaml::{self, YamlLimits},
};

/// Maximum nesting of pages. Deeper items are moved to this depth, with a warning.
pub const MAX_SUMMARY_DEPTH: usize = MAX_PAGE_LEVELS - 1;

/// Maximum size of a table of contents, in bytes: 4 MiB.
pub const MAX_SUMMARY_BYTES: u64 = 4 << 20;

/// Maximum number of items in a tree: groups, pages and links, including those left out.
pub const MAX_ITEMS: usize = 20_000;

/// YAML limits for a computed item.
const COMPUTED_LIMITS: YamlLimits = YamlLimits { nodes: 1_000, text_bytes: 64 << 10, ..yaml::FILE };

/// Maximum size in bytes of the Markdown of one item. The rest is left out with a warning.
const MAX_ITEM_BYTES: usize = 8 << 10;

/// A page tree from a table of contents or from the folders of a repository.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// The top-level items, in order.
    pub items: Vec<SummaryItem>,
    /// Items that were left out, or interpreted differently than their author may expect.
    pub warnings: Vec<Warning>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SummaryItem {
    /// The line of the item, counted from 1, or `None` without a table of contents.
    pub line: Option<usize>,
    /// The title without marks, including an emoji. Empty if there is none.
    pub title: String,
    pub kind: SummaryKind,
    /// The children. Only groups and pages can have some.
    pub items: Vec<SummaryItem>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SummaryKind {
    /// A heading for a group of pages. Only at the top level.
    Group {
        /// The slug given in the heading.
        slug: Option<String>,
    },
    Page {
        /// The file, or `None` for a page that only contains other pages.
        file: Option<PlannedFile>,
        /// A shorter title for navigation.
        link_title: Option<String>,
    },
    Link {
        /// The destination as given in the source.
        url: String,
        /// The target in the repository.
        file: Option<PlannedFile>,
    },
    /// A placeholder for generated pages.
    Computed {
        /// The source of the pages.
        value: Value,
    },
}

impl SummaryKind {
    /// Returns `true` if items of this kind can have children.
    #[must_use]
    pub const fn is_parent(&self) -> bool {
        matches!(self, Self::Group { .. } | Self::Page { .. })
    }
}

impl Summary {
    /// Parses a table of contents: the text of the configured file.
    ///
    /// List items are pages, nested by the columns of their bullets. Headings begin groups, and a rule (`***`) ends
    /// one. An item with a web URL, an anchor on a listed page, or a missing target is a link. Each file becomes one
    /// page: further items with the same file are left out.
    ///
    /// In the format of mdBook, a link without a bullet is a page outside of any group. In the formats of mdBook and
    /// HonKit, an item with a missing file is a page without text.
    ///
    /// # Errors
    /// [`FormatError`] if the text is larger than [`MAX_SUMMARY_BYTES`] or has more than [`MAX_ITEMS`] items, and if
    /// a listed file is too large.
    pub fn read(text: &str, config: &RepoConfig, tree: &RepoTree) -> Result<Self, FormatError> {
        check_size(&config.summary, text, MAX_SUMMARY_BYTES)?;
        let mut warnings = Warnings::default();
        // One more item may be the title; two more exceed the limit.
        let raw = scanner::read(text, (&config.summary, config.format), MAX_ITEMS + 2, &mut warnings);
        let has_title = raw.first().is_some_and(|item| item.kind == RawKind::Heading(1));
        if raw.len() - usize::from(has_title) > MAX_ITEMS {
            return Err(FormatError::TooManyItems { file: config.summary.clone(), limit: MAX_ITEMS });
        }
        let listed = listed(&raw, config, tree)?;
        let mut outline = OutlineBuilder::new(config, listed, warnings);
        let mut raw = raw.into_iter().peekable();
        while let Some(item) = raw.next() {
            let below = match raw.peek() {
                Some(next) if is_below(next, &item) => ItemChildren::Items,
                _ => ItemChildren::None,
            };
            outline.add(item, below, config, tree)?;
        }
        let (items, warnings) = outline.finish();
        Ok(Self { items, warnings })
    }
}

/// Builds a tree from items in order, each with its depth.
#[derive(Default)]
pub(super) struct TreeBuilder {
    done: Vec<SummaryItem>,
    open: Vec<(usize, SummaryItem)>,
}

impl TreeBuilder {
    /// Adds an item as a child of the last item with a lower depth.
    pub(super) fn add(&mut self, depth: usize, item: SummaryItem) {
        self.close(depth);
        self.open.push((depth, item));
    }

    pub(super) fn finish(mut self) -> Vec<SummaryItem> {
        self.close(0);
        self.done
    }

    fn close(&mut self, depth: usize) {
        while self.open.last().is_some_and(|(other, _)| *other >= depth) {
            let Some((_, item)) = self.open.pop() else { return };
            match self.open.last_mut() {
                Some((_, parent)) => parent.items.push(item),
                None => self.done.push(item),
            }
        }
    }
}

/// Minimum number of columns between the bullet of an item and that of its parent.
const MIN_INDENT_STEP: usize = 2;

/// Returns the files that are listed without an anchor, if any item has an anchor.
fn listed(
    items: &[RawItem<'_>],
    config: &RepoConfig,
    tree: &RepoTree,
) -> Result<HashSet<RepoPath>, FormatError> {
    let mut listed = HashSet::new();
    if items.iter().any(|item| item.text.contains('#')) {
        for item in items {
            if let ItemTarget::File { file, anchor: false, .. } =
                leads_to(item.kind, &item.inline(), config, tree)?
            {
                listed.insert(file.path);
            }
        }
    }
    Ok(listed)
}

impl RawItem<'_> {
    /// Parses the text up to the limit.
    fn inline(&self) -> Inline {
        inline::read(&self.text[..self.text.floor_char_boundary(MAX_ITEM_BYTES)])
    }
}

fn is_below(next: &RawItem<'_>, item: &RawItem<'_>) -> bool {
    match (next.kind, item.kind) {
        (RawKind::Bullet(next), RawKind::Bullet(column)) => next >= column + MIN_INDENT_STEP,
        (RawKind::Bullet(_), RawKind::Heading(_)) => true,
        (RawKind::Heading(_) | RawKind::Rule | RawKind::Chapter, _)
        | (_, RawKind::Rule | RawKind::Chapter) => false,
    }
}

/// An item with its resolved destination.
struct ResolvedItem {
    line: usize,
    kind: RawKind,
    inline: Inline,
    block: Option<Box<scanner::Block>>,
    to: ItemTarget,
    below: ItemChildren,
}

/// `true` if an item has children.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemChildren {
    None,
    Items,
}

enum ItemTarget {
    None,
    Web(String),
    File { file: PlannedFile, anchor: bool, is_exact: bool, written: String },
    Missing(String),
}

/// Resolves the destination of an item.
fn leads_to(
    kind: RawKind,
    inline: &Inline,
    config: &RepoConfig,
    tree: &RepoTree,
) -> Result<ItemTarget, FormatError> {
    let destination = inline.link.as_ref().map(|link| link.destination.trim()).unwrap_or_default();
    match (kind, target::read(destination)) {
        (RawKind::Heading(_) | RawKind::Rule, _) | (_, DestinationKind::Empty) => Ok(ItemTarget::None),
        (_, DestinationKind::Url) => Ok(ItemTarget::Web(destination.to_owned())),
        (_, DestinationKind::Anchor) => Ok(ItemTarget::Missing(destination.to_owned())),
        (_, DestinationKind::Local(local)) => local_target(&local, destination, config, tree),
    }
}

fn local_target(
    local: &Local,
    destination: &str,
    config: &RepoConfig,
    tree: &RepoTree,
) -> Result<ItemTarget, FormatError> {
    let here = config.summary.folder();
    for path in [&local.path, &local.written] {
        for folder in [&here, &config.root] {
            let Ok(path) = join(folder, &config.root, path) else { continue };
            if let Some(file) = tree.locate_linked(&path)? {
                let is_same = file.path == path || file.path.folder() == path;
                let is_exact = is_same || file.path.as_str().to_lowercase() != path.as_str().to_lowercase();
                let written = destination.to_owned();
                return Ok(ItemTarget::File { file, anchor: local.anchor.is_some(), is_exact, written });
            }
        }
    }
    Ok(ItemTarget::Missing(destination.to_owned()))
}

/// Resolves a path in a folder. With a leading slash, it is relative to the content folder.
pub(super) fn join(folder: &RepoPath, root: &RepoPath, path: &str) -> Result<RepoPath, PathError> {
    match path.strip_prefix('/') {
        Some(rest) => root.join(rest.trim_start_matches('/')),
        None => folder.join(path),
    }
}

/// Builds a tree from resolved items.
struct OutlineBuilder<'a> {
    file: &'a RepoPath,
    format: BookFormat,
    warnings: Warnings,
    builder: TreeBuilder,
    /// Files that are listed without an anchor.
    listed: HashSet<RepoPath>,
    /// Files that already have a page.
    taken: HashSet<RepoPath>,
    /// The open bullets, each with its column and the depth of its children.
    open: Vec<(usize, usize)>,
    /// The depth of the items in the list: 1 within a group.
    base: usize,
    has_heading: bool,
    has_items: bool,
    is_too_deep: bool,
    /// The number of parsed blocks.
    blocks: usize,
}

impl<'a> OutlineBuilder<'a> {
    fn new(config: &'a RepoConfig, listed: HashSet<RepoPath>, warnings: Warnings) -> Self {
        Self {
            file: &config.summary,
            format: config.format,
            warnings,
            builder: TreeBuilder::default(),
            listed,
            taken: HashSet::new(),
            open: Vec::new(),
            base: 0,
            has_heading: false,
            has_items: false,
            is_too_deep: false,
            blocks: 0,
        }
    }

    fn add(
        &mut self,
        item: RawItem<'_>,
        below: ItemChildren,
        config: &RepoConfig,
        tree: &RepoTree,
    ) -> Result<(), FormatError> {
        if item.text.len() > MAX_ITEM_BYTES {
            let message = format!("item cut to {MAX_ITEM_BYTES} bytes");
            self.warn(item.line, message);
        }
        let inline = item.inline();
        let to = leads_to(item.kind, &inline, config, tree)?;
        let item = ResolvedItem { line: item.line, kind: item.kind, inline, block: item.block, to, below };
        match item.kind {
            RawKind::Heading(1) if !self.has_heading && !self.has_items => self.has_heading = true,
            RawKind::Heading(level) => self.group(item, level),
            RawKind::Bullet(column) => self.bullet(item, column),
            RawKind::Rule => self.rule(),
            RawKind::Chapter => {
                self.rule();
                self.open.clear();
                self.bullet(item, 0);
            }
        }
        Ok(())
    }

    fn group(&mut self, item: ResolvedItem, level: u8) {
        self.has_heading = true;
        self.open.clear();
        if item.inline.text.is_empty() {
            self.warn(item.line, "group without a title: its pages become top-level pages");
            self.base = 0;
            return;
        }
        if level > 2 && self.format == BookFormat::Native {
            self.warn(item.line, "groups must be at the top level; use `##`");
        }
        self.base = 1;
        let kind = SummaryKind::Group { slug: item.inline.id };
        self.builder
            .add(0, SummaryItem { line: Some(item.line), title: item.inline.text, kind, items: Vec::new() });
    }

    /// Ends the group. Items after a rule do not belong to a group.
    fn rule(&mut self) {
        if self.base > 0 {
            self.base = 0;
            self.open.clear();
        }
    }

    fn bullet(&mut self, item: ResolvedItem, column: usize) {
        self.has_items = true;
        while self.open.last().is_some_and(|(open, _)| column < open + MIN_INDENT_STEP) {
            self.open.pop();
        }
        let depth = self.open.last().map_or(self.base, |(_, below)| *below);
        let line = item.line;
        let Some(item) = self.item(item) else {
            self.open.push((column, depth));
            return;
        };
        let below = if item.kind.is_parent() { depth + 1 } else { depth };
        if below > MAX_SUMMARY_DEPTH && !self.is_too_deep {
            self.is_too_deep = true;
            let rest = "levels deep; deeper pages move up to that level";
            self.warn(line, format!("pages are nested at most {MAX_SUMMARY_DEPTH} {rest}"));
        }
        self.open.push((column, below.min(MAX_SUMMARY_DEPTH)));
        self.builder.add(depth, item);
    }

    fn item(&mut self, item: ResolvedItem) -> Option<SummaryItem> {
        let line = item.line;
        let link = item.inline.link.as_ref();
        let mut title = link.map_or(&item.inline.text, |link| &link.text).clone();
        let kind = match item.block {
            Some(block) => self.computed(line, &block)?,
            None => {
                let link_title = link.and_then(|link| link.title.clone());
                if title.is_empty() {
                    title = self.missing_title(line, &item.to)?;
                }
                self.page(line, item.to, link_title, item.below)?
            }
        };
        Some(SummaryItem { line: Some(line), title, kind, items: Vec::new() })
    }

    fn missing_title(&mut self, line: usize, to: &ItemTarget) -> Option<String> {
        match to {
            ItemTarget::File { file, .. } => Some(humanise(&file.path)),
            ItemTarget::Web(url) => Some(url.clone()),
            ItemTarget::None | ItemTarget::Missing(_) => {
                self.warn(line, "skipped item without a title and a page");
                None
            }
        }
    }

    fn page(
        &mut self,
        line: usize,
        to: ItemTarget,
        link_title: Option<String>,
        below: ItemChildren,
    ) -> Option<SummaryKind> {
        match to {
            ItemTarget::None => Some(SummaryKind::Page { file: None, link_title }),
            ItemTarget::Web(url) => {
                if below == ItemChildren::Items {
                    self.warn(line, "a link cannot have child pages; they become its siblings");
                }
                Some(SummaryKind::Link { url, file: None })
            }
            ItemTarget::Missing(url) if self.is_draft(&url, below) => {
                let rest = "does not exist; the item becomes a page without text";
                self.warn(line, format!("the file `{url}` {rest}"));
                Some(SummaryKind::Page { file: None, link_title })
            }
            ItemTarget::Missing(url) => {
                self.warn(line, format!("the file `{url}` does not exist; the item becomes a link"));
                Some(SummaryKind::Link { url, file: None })
            }
            ItemTarget::File { file, anchor, is_exact, written } => {
                if !is_exact {
                    self.warn(
                        line,
                        format!("the file `{written}` is spelled `{}` in the repository", file.path),
                    );
                }
                self.file_page(line, ListedFile { file, anchor, written }, link_title)
            }
        }
    }

    /// Returns `true` if an item with a missing target is a page without text. Other programs create the file.
    fn is_draft(&self, url: &str, below: ItemChildren) -> bool {
        below == ItemChildren::Items || (self.format != BookFormat::Native && !url.starts_with('#'))
    }

    fn file_page(
        &mut self,
        line: usize,
        listed: ListedFile,
        link_title: Option<String>,
    ) -> Option<SummaryKind> {
        let ListedFile { file, anchor, written } = listed;
        let is_place = anchor && (self.listed.contains(&file.path) || self.taken.contains(&file.path));
        if is_place || !file.path.is_markdown() {
            return Some(SummaryKind::Link { url: written, file: Some(file) });
        }
        if !self.taken.insert(file.path.clone()) {
            self.warn(line, format!("skipped item: `{}` is already listed", file.path));
            return None;
        }
        Some(SummaryKind::Page { file: Some(file), link_title })
    }

    fn computed(&mut self, line: usize, block: &scanner::Block) -> Option<SummaryKind> {
        if !matches!(block.language.as_str(), "yaml" | "yml") {
            self.warn(line, "skipped item: its block must be `yaml`");
            return None;
        }
        self.blocks += 1;
        if self.blocks > MAX_COMPUTED_PLACES {
            let message = "skipped item: generated pages have at most";
            self.warn(line, format!("{message} {MAX_COMPUTED_PLACES} insertion points"));
            return None;
        }
        match yaml::read_within(&block.body, COMPUTED_LIMITS) {
            Ok(value) if value.get("type").is_some_and(Value::is_string) => {
                Some(SummaryKind::Computed { value })
            }
            Ok(_) => {
                self.warn(line, "skipped item: generated pages require a `type`");
                None
            }
            Err(problem) => {
                self.warn(line, format!("skipped item: its block is not valid YAML: {problem}"));
                None
            }
        }
    }

    fn warn(&mut self, line: usize, message: impl Into<String>) {
        self.warnings.push(self.file, Some(line), message);
    }

    fn finish(self) -> (Vec<SummaryItem>, Vec<Warning>) {
        (self.builder.finish(), self.warnings.finish())
    }
}

struct ListedFile {
    file: PlannedFile,
    anchor: bool,
    written: String,
}

/// Derives a title from a path: from the name of the folder for a README, otherwise from the name of the file.
pub(super) fn humanise(path: &RepoPath) -> String {
    let folder = path.folder();
    let name = match path.is_readme() {
        true if folder.is_root() => "home",
        true => folder.name(),
        false => path.stem(),
    };
    humanise_name(name)
}

/// Converts `getting-started` to `Getting started`.
pub(super) fn humanise_name(name: &str) -> String {
    let words: Vec<_> = name.split(['-', '_', ' ']).filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
