//! The table of contents of an export. Only changed lines of the existing one are rewritten.

use std::collections::{HashMap, HashSet, VecDeque};

use docs_model::{ContentRef, PageId};
use serde_json::Value;

use super::{
    Repository, SpaceOutline, SpacePage, SpacePageKind, TitleIn,
    item_paths::{ExportItem, ItemPaths, relative},
    text::escape,
    yaml_entries,
};
use crate::{
    document::{is_divider, underline},
    gitsync::{
        BookFormat, ImportPlan, PlannedKind, PlannedPage, Summary, SummaryItem, SummaryKind,
        inline::collapse_space,
        summary::scanner::{bullet, is_link, split_indent},
    },
    markdown::{LinkKind, links},
    reference::{destination, parse_exact},
    slugify,
};

pub(super) struct SummaryWriter<'a> {
    pub(super) repository: &'a Repository,
    pub(super) now: &'a SpaceOutline,
    pub(super) before: &'a SpaceOutline,
    pub(super) places_before: &'a ItemPaths,
    pub(super) places_after: &'a ItemPaths,
    pub(super) titles: &'a HashMap<PageId, TitleIn>,
}

/// An item of the existing table of contents.
struct OldItem<'t> {
    /// The lines of the item, without the following gap.
    lines: Vec<&'t str>,
    /// Blank lines and rules after the item.
    gap: Vec<&'t str>,
    parent: Option<usize>,
    item: SummaryItem,
}

/// The existing table of contents.
#[derive(Default)]
struct ExistingSummary<'t> {
    preamble: String,
    items: Vec<OldItem<'t>>,
    style: Style,
    /// The items by page.
    of: HashMap<PageId, usize>,
}

/// The style of new lines.
#[derive(Clone, Copy)]
struct Style {
    eol: &'static str,
    /// The marker of a list item.
    mark: char,
}

impl Default for Style {
    fn default() -> Self {
        Self { eol: "\n", mark: '*' }
    }
}

/// A line of the output.
struct SummaryLine {
    text: String,
    old: Option<usize>,
    /// The group of the line. For a heading, the group itself.
    group: Option<PageId>,
    is_heading: bool,
}

impl SummaryWriter<'_> {
    /// Returns the text of the table of contents, which is the existing text if the content is unchanged.
    pub(super) fn write(&self) -> String {
        let old = self.repository.summary.as_deref();
        if let Some(old) = old.filter(|text| self.imports_same_pages(text)) {
            return old.to_owned();
        }
        let woven = old.and_then(|text| self.parse_existing(text)).map(|old| self.text(&old));
        if let Some(woven) = woven.filter(|text| self.imports_same_pages(text)) {
            return woven;
        }
        self.text(&ExistingSummary {
            preamble: match self.format() {
                BookFormat::MdBook => "# Summary\n\n".to_owned(),
                BookFormat::Native | BookFormat::HonKit => "# Table of contents\n\n".to_owned(),
            },
            ..ExistingSummary::default()
        })
    }

    const fn format(&self) -> BookFormat {
        self.repository.config.format
    }

    /// Returns `true` if an import of `text` results in these pages.
    fn imports_same_pages(&self, text: &str) -> bool {
        let config = &self.repository.config;
        let Ok(plan) = ImportPlan::new(config, &self.places_after.tree, Some(text)) else { return false };
        // Both lists have parents before their children.
        let mut planned: Vec<(&PlannedPage, Option<usize>)> = Vec::new();
        let mut todo: Vec<(&PlannedPage, Option<usize>)> =
            plan.pages.iter().rev().map(|page| (page, None)).collect();
        while let Some((page, parent)) = todo.pop() {
            let number = planned.len();
            planned.push((page, parent));
            todo.extend(page.pages.iter().rev().map(|page| (page, Some(number))));
        }
        let numbers: HashMap<&PageId, usize> =
            self.now.pages.iter().enumerate().map(|(number, page)| (&page.id, number)).collect();
        planned.len() == self.now.pages.len()
            && planned.iter().zip(&self.now.pages).all(|((planned, parent), page)| {
                let above = page.parent.as_ref().and_then(|parent| numbers.get(parent));
                above == parent.as_ref() && self.matches_page(planned, page)
            })
    }

    /// Returns `true` if an item of the plan matches a page of the space.
    fn matches_page(&self, planned: &PlannedPage, page: &SpacePage) -> bool {
        let has_title = planned.title == collapse_space(&page.title);
        match (&planned.kind, &page.kind) {
            (PlannedKind::Document { file, .. }, SpacePageKind::Document) => {
                let path = self.places_after.paths.get(&ExportItem::Page(page.id.clone()));
                let is_free = path.is_some() && self.title_in(&page.id) != TitleIn::Summary;
                file.as_ref().map(|file| &file.path) == path && (has_title || is_free)
            }
            (PlannedKind::Group, SpacePageKind::Group) => {
                has_title && (planned.slug() == page.slug || slugify(&page.slug) != page.slug)
            }
            (PlannedKind::Link { url, .. }, SpacePageKind::Link { target }) => {
                has_title && self.target(url, self.places_after) == *target
            }
            (PlannedKind::Computed { value }, SpacePageKind::Computed { value: wanted }) => {
                has_title && value == wanted
            }
            _ => false,
        }
    }

    fn title_in(&self, page: &PageId) -> TitleIn {
        self.titles.get(page).copied().unwrap_or(TitleIn::Summary)
    }

    /// Returns the target that an import assigns to a link destination.
    fn target(&self, url: &str, places: &ItemPaths) -> ContentRef {
        let here = self.repository.config.summary.folder();
        let found = places.find(url, &here).or_else(|| places.find(url, &self.repository.config.root));
        found.or_else(|| parse_exact(url)).unwrap_or_else(|| ContentRef::Url { url: url.to_owned() })
    }

    fn parse_existing<'t>(&self, text: &'t str) -> Option<ExistingSummary<'t>> {
        let summary = Summary::read(text, &self.repository.config, &self.repository.tree).ok()?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut flat: Vec<(SummaryItem, Option<usize>)> = Vec::new();
        let mut todo: Vec<(SummaryItem, Option<usize>)> =
            summary.items.into_iter().rev().map(|item| (item, None)).collect();
        while let Some((mut item, parent)) = todo.pop() {
            let number = flat.len();
            let below = std::mem::take(&mut item.items);
            todo.extend(below.into_iter().rev().map(|item| (item, Some(number))));
            flat.push((item, parent));
        }
        let starts: Vec<usize> = flat.iter().map(|(item, _)| item.line.unwrap_or(1) - 1).collect();
        let first = starts.first().copied().unwrap_or(lines.len());
        let mut items = Vec::with_capacity(flat.len());
        for (number, (item, parent)) in flat.into_iter().enumerate() {
            let start = *starts.get(number)?;
            let end = starts.get(number + 1).copied().unwrap_or(lines.len());
            let mut own = lines.get(start..end)?.to_vec();
            let is_underlined = own.get(1).is_some_and(|line| underline(line.trim()).is_some())
                && matches!(item.kind, SummaryKind::Group { .. })
                && !own.first().is_some_and(|line| line.trim_start().starts_with('#'));
            let fixed = 1 + usize::from(is_underlined);
            let gap = own.iter().rposition(|line| !is_gap(line)).map_or(fixed, |last| fixed.max(last + 1));
            let gap = own.split_off(gap.min(own.len()));
            items.push(OldItem { lines: own, gap, parent, item });
        }
        let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut preamble: String = lines.get(..first)?.concat();
        if items.is_empty() && !preamble.is_empty() {
            preamble = format!("{}{eol}{eol}", preamble.trim_end());
        }
        let of = self.pages_of(&items);
        let bullets = items.iter().filter_map(|item| item.lines.first()?.trim_start().chars().next());
        let mark = bullets.into_iter().find(|mark| matches!(mark, '*' | '-' | '+')).unwrap_or('*');
        Some(ExistingSummary { preamble, items, style: Style { eol, mark }, of })
    }

    /// Returns the item of each page.
    fn pages_of(&self, items: &[OldItem<'_>]) -> HashMap<PageId, usize> {
        let mut known: HashMap<String, VecDeque<PageId>> = HashMap::new();
        let mut seen = HashSet::new();
        for page in self.before.pages.iter().chain(&self.now.pages).filter(|page| seen.insert(&page.id)) {
            if let Some(key) = key_of_page(page) {
                known.entry(key).or_default().push_back(page.id.clone());
            }
        }
        let there: HashSet<&PageId> = self.now.pages.iter().map(|page| &page.id).collect();
        let mut of = HashMap::new();
        for (number, old) in items.iter().enumerate() {
            let title = &old.item.title;
            let page = match &old.item.kind {
                SummaryKind::Page { file: Some(file), .. } => match self.places_before.things.get(&file.path)
                {
                    Some(ExportItem::Page(page)) => Some(page.clone()),
                    _ => None,
                },
                SummaryKind::Page { file: None, .. } => take(&mut known, &format!("page {title}")),
                SummaryKind::Group { slug } => {
                    let slug = slugify(slug.as_ref().unwrap_or(title));
                    take(&mut known, &format!("group {slug}"))
                }
                SummaryKind::Link { url, .. } => {
                    let target = destination(&self.target(url, self.places_before));
                    take(&mut known, &format!("link {title} {target}"))
                }
                SummaryKind::Computed { value } => take(&mut known, &format!("computed {value}")),
            };
            if let Some(page) = page.filter(|page| there.contains(page)) {
                of.entry(page).or_insert(number);
            }
        }
        of
    }

    /// Returns the text of all pages, reusing lines of the existing one.
    fn text(&self, old: &ExistingSummary<'_>) -> String {
        let mut below: HashMap<Option<&PageId>, Vec<&SpacePage>> = HashMap::new();
        for page in &self.now.pages {
            below.entry(page.parent.as_ref()).or_default().push(page);
        }
        let mut lines = Vec::with_capacity(self.now.pages.len());
        // A page, its column, and the enclosing group.
        let mut todo: Vec<(&SpacePage, usize, Option<&PageId>)> = Vec::new();
        let push = |todo: &mut Vec<_>, parent: Option<&SpacePage>, column: Option<usize>, group| {
            let pages = below.get(&parent.map(|page| &page.id)).map_or([].as_slice(), Vec::as_slice);
            let columns = self.columns(old, pages, parent, column);
            todo.extend(pages.iter().zip(columns).rev().map(|(page, column)| (*page, column, group)));
        };
        push(&mut todo, None, None, None);
        while let Some((page, column, group)) = todo.pop() {
            let is_heading = matches!(page.kind, SpacePageKind::Group);
            let group = if is_heading { Some(&page.id) } else { group };
            let number = old.of.get(&page.id).copied();
            let text = self.line(page, column, number.and_then(|number| old.items.get(number)), old.style);
            lines.push(SummaryLine { text, old: number, group: group.cloned(), is_heading });
            push(&mut todo, Some(page), (!is_heading).then_some(column), group);
        }
        join_lines(old, lines)
    }

    /// Returns the bullet columns of sibling items. Items with an unchanged parent keep their column.
    fn columns(
        &self,
        old: &ExistingSummary<'_>,
        pages: &[&SpacePage],
        parent: Option<&SpacePage>,
        column: Option<usize>,
    ) -> Vec<usize> {
        let above = parent.and_then(|page| old.of.get(&page.id)).copied();
        let is_same = match (parent, above.and_then(|above| old.items.get(above))) {
            (None, _) => true,
            (Some(_), Some(above)) => column.is_none() || column == above.column(),
            (Some(_), None) => false,
        };
        let kept: Vec<Option<usize>> = pages
            .iter()
            .map(|page| {
                let item = old.items.get(*old.of.get(&page.id)?)?;
                item.column().filter(|_| is_same && item.parent == above)
            })
            .collect();
        let style = kept.iter().flatten().next().copied();
        let new = style.unwrap_or_else(|| column.map_or(0, |column| column + 2));
        kept.into_iter().map(|column| column.unwrap_or(new)).collect()
    }

    /// Returns the lines of one page.
    fn line(&self, page: &SpacePage, column: usize, old: Option<&OldItem<'_>>, style: Style) -> String {
        let eol = style.eol;
        let pad = " ".repeat(column);
        let title = collapse_space(&page.title);
        match &page.kind {
            SpacePageKind::Group => {
                let is_same = old.filter(|old| {
                    let SummaryKind::Group { slug } = &old.item.kind else { return false };
                    old.item.title == title && slugify(slug.as_ref().unwrap_or(&title)) == page.slug
                });
                if let Some(old) = is_same {
                    return old.lines.concat();
                }
                let anchor = match slugify(&title) == page.slug || slugify(&page.slug) != page.slug {
                    true => String::new(),
                    false => format!(" <a href=\"#{0}\" id=\"{0}\"></a>", page.slug),
                };
                // The parts of mdBook have headings of the first level.
                let mark = if self.format() == BookFormat::MdBook { "#" } else { "##" };
                format!("{mark} {}{anchor}{eol}", escape(&title))
            }
            SpacePageKind::Computed { value } => {
                let is_same = old.filter(|old| {
                    old.item.title == title
                        && old.column() == Some(column)
                        && matches!(&old.item.kind, SummaryKind::Computed { value: old } if old == value)
                });
                is_same.map_or_else(|| computed(&title, value, column, style), |old| old.lines.concat())
            }
            SpacePageKind::Link { target } => {
                let written = old.and_then(|old| match &old.item.kind {
                    SummaryKind::Link { url, .. } => Some(url),
                    _ => None,
                });
                let kept = written.filter(|url| self.target(url, self.places_after) == *target);
                let to = kept.cloned().unwrap_or_else(|| self.link_destination(target));
                let is_same = kept.is_some();
                self.bullet(&Bullet { pad, title: &title, to: Some(to), is_same, is_free: false }, old, style)
            }
            SpacePageKind::Document => self.document(page, pad, old, style),
        }
    }

    fn document(&self, page: &SpacePage, pad: String, old: Option<&OldItem<'_>>, style: Style) -> String {
        let title = page.full_title();
        let here = self.repository.config.summary.folder();
        let path = self.places_after.paths.get(&ExportItem::Page(page.id.clone()));
        let to = path.map(|path| relative(&here, path));
        let is_same = old.is_some_and(|old| match &old.item.kind {
            SummaryKind::Page { file, .. } => file.as_ref().map(|file| &file.path) == path,
            _ => false,
        });
        // Custom link text is preserved, unless it was the title of the page and the title has changed.
        let is_free = path.is_some()
            && match self.title_in(&page.id) {
                TitleIn::Unread => true,
                TitleIn::Summary => false,
                TitleIn::File => {
                    let before = self.before.pages.iter().find(|before| before.id == page.id);
                    let was = |before: &SpacePage| {
                        let text = old.map(|old| old.item.title.as_str());
                        text == Some(&collapse_space(&before.title)) || text == Some(&before.full_title())
                    };
                    before.is_none_or(|before| before.full_title() == title || !was(before))
                }
            };
        self.bullet(&Bullet { pad, title: &title, to, is_same, is_free }, old, style)
    }

    /// Returns the destination of a link page that has no path of its own.
    fn link_destination(&self, target: &ContentRef) -> String {
        let here = self.repository.config.summary.folder();
        let has_path = match target {
            ContentRef::File { .. } => ExportItem::from_ref(target)
                .and_then(|(thing, _)| self.places_after.paths.get(&thing))
                .is_some_and(|path| !path.is_markdown()),
            // A page without an anchor would be listed twice.
            ContentRef::Anchor { .. } => true,
            _ => false,
        };
        let path = has_path.then(|| self.places_after.relative_path(target, &here)).flatten();
        path.unwrap_or_else(|| destination(target))
    }

    /// Returns a list item, where unchanged parts of the existing item are preserved.
    fn bullet(&self, new: &Bullet<'_>, old: Option<&OldItem<'_>>, style: Style) -> String {
        let Style { eol, mark } = style;
        let fresh = |link_title: Option<&String>| {
            let text = escape(new.title);
            match &new.to {
                None => format!("{}{mark} {text}{eol}", new.pad),
                Some(to) => {
                    let title = link_title
                        .map(|title| format!(" \"{}\"", title.replace('\\', "\\\\").replace('"', "\\\"")));
                    let title = title.unwrap_or_default();
                    format!("{}{mark} [{text}]({}{title}){eol}", new.pad, format_destination(to))
                }
            }
        };
        let Some(old) = old else { return fresh(None) };
        let has_title = new.is_free || old.item.title == collapse_space(new.title);
        let Some(first) = old.lines.first() else { return fresh(None) };
        let (column, rest) = split_indent(first);
        let pad = if column == new.pad.len() { &first[..first.len() - rest.len()] } else { &new.pad };
        let others = old.lines.get(1..).unwrap_or_default().concat();
        if has_title && new.is_same {
            return format!("{pad}{rest}{others}");
        }
        let link_title = match &old.item.kind {
            SummaryKind::Page { link_title, .. } => link_title.as_ref(),
            _ => None,
        };
        let text = (!has_title).then(|| escape(new.title));
        let to = new.to.as_deref().filter(|_| !new.is_same);
        match replace_link(rest, text.as_deref(), to) {
            Some(rest) if new.to.is_some() => format!("{pad}{rest}{others}"),
            _ => fresh(link_title),
        }
    }
}

/// The target state of a list item.
struct Bullet<'a> {
    pad: String,
    title: &'a str,
    to: Option<String>,
    /// `true` if the destination is unchanged.
    is_same: bool,
    /// `true` if the text may differ from the title.
    is_free: bool,
}

impl OldItem<'_> {
    /// Returns the column of the bullet, or `None` for a heading.
    fn column(&self) -> Option<usize> {
        let (column, rest) = split_indent(self.lines.first()?);
        bullet(rest.trim_end()).map(|_| column)
    }
}

impl SpacePage {
    /// Returns the title with the emoji before it.
    fn full_title(&self) -> String {
        match &self.emoji {
            Some(emoji) => collapse_space(&format!("{emoji} {}", self.title)),
            None => collapse_space(&self.title),
        }
    }
}

/// Returns the key that identifies an item without a file.
fn key_of_page(page: &SpacePage) -> Option<String> {
    let title = collapse_space(&page.title);
    Some(match &page.kind {
        SpacePageKind::Document if page.git.is_none() => format!("page {title}"),
        SpacePageKind::Document => return None,
        SpacePageKind::Group => format!("group {}", page.slug),
        SpacePageKind::Link { target } => format!("link {title} {}", destination(target)),
        SpacePageKind::Computed { value } => format!("computed {value}"),
    })
}

fn take(known: &mut HashMap<String, VecDeque<PageId>>, key: &str) -> Option<PageId> {
    known.get_mut(key)?.pop_front()
}

/// Replaces the text or destination of the first link in an item.
fn replace_link(item: &str, text: Option<&str>, to: Option<&str>) -> Option<String> {
    let (width, content) = bullet(item.trim_end()).unwrap_or((0, item.trim_end()));
    let site = links(content).into_iter().find(|site| site.kind == LinkKind::Link)?;
    let label = content[..site.range.start].rfind("](")?;
    let label = 1..label;
    if !content.starts_with('[') || content.get(label.clone())?.contains(']') {
        return None;
    }
    let to = match to {
        Some(to) => site.escape_destination(to),
        None => content[site.range.clone()].to_owned(),
    };
    let text = text.unwrap_or(&content[label.clone()]);
    let between = &content[label.end..site.range.start];
    let end = &item[width + site.range.end..];
    Some(format!("{}[{text}{between}{to}{end}", &item[..width]))
}

/// Formats a link destination.
fn format_destination(to: &str) -> String {
    let is_plain = !to.chars().any(|c| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>'));
    if is_plain { to.to_owned() } else { format!("<{}>", to.replace('<', "%3C").replace('>', "%3E")) }
}

fn computed(title: &str, value: &Value, column: usize, style: Style) -> String {
    let Style { eol, mark } = style;
    let pad = " ".repeat(column);
    let block = yaml_entries::block(value, column + 2);
    let text = match title {
        "API reference" => format!("{pad}{mark} ```yaml\n{block}{pad}  ```\n"),
        title => format!("{pad}{mark} {}\n\n{pad}  ```yaml\n{block}{pad}  ```\n", escape(title)),
    };
    if eol == "\n" { text } else { text.replace('\n', eol) }
}

fn is_gap(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || is_divider(line)
}

fn has_rule(gap: &[&str]) -> bool {
    gap.iter().any(|line| is_divider(line.trim()))
}

/// Concatenates all lines with their existing gaps, or with new ones.
fn join_lines(old: &ExistingSummary<'_>, lines: Vec<SummaryLine>) -> String {
    let eol = old.style.eol;
    let mut out = old.preamble.clone();
    let gap_of = |line: &SummaryLine| line.old.and_then(|number| old.items.get(number)).map(|item| &item.gap);
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        out.push_str(&line.text);
        let gap = gap_of(&line);
        let Some(next) = lines.peek() else {
            let is_last = line.old.is_some_and(|number| number + 1 == old.items.len());
            match gap.filter(|gap| is_last && !has_rule(gap)) {
                Some(gap) => out.push_str(&gap.concat()),
                None if !out.ends_with('\n') => out.push_str(eol),
                None => {}
            }
            break;
        };
        if !out.ends_with('\n') {
            out.push_str(eol);
        }
        // A chapter outside of the list ends a group, like a rule. A rule before a heading has no effect.
        let is_chapter = is_link(next.text.trim_end());
        let leaves_group = line.group.is_some() && next.group.is_none() && !is_chapter;
        let fits = |gap: &&Vec<&str>| is_chapter || next.is_heading || has_rule(gap) == leaves_group;
        let was_next = line.old.is_some() && line.old.map(|number| number + 1) == next.old;
        // The gap before an item remains there if a new item precedes it.
        let before = next.old.filter(|_| line.old.is_none()).and_then(|number| number.checked_sub(1));
        let before = before.and_then(|number| old.items.get(number)).map(|item| &item.gap);
        let gap = if was_next { gap } else { before.filter(|gap| has_rule(gap)) };
        match gap.filter(fits) {
            Some(gap) => out.push_str(&gap.concat()),
            None if leaves_group => out.push_str(&format!("{eol}***{eol}{eol}")),
            None if next.is_heading || line.is_heading => out.push_str(eol),
            None => {}
        }
    }
    out
}
