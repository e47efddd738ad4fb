//! The navigation: the page tree of a space next to a page.
//!
//! A small tree is rendered once as a whole, and each page marks its own entry in it. For a larger tree, a page shows
//! its ancestors, a limited number of siblings of each, and links to the lists of the others. The size of the
//! navigation is therefore limited, regardless of the number and depth of the entries in a space.

use std::{collections::HashMap, ops::Range};

use docs_core::model::ContentRef;
use maud::PreEscaped;

use super::{
    ListPart, PageContext,
    entry_label::{brief, write_brief},
    parts::{CONTENT, TREE},
    written_tree::{Marks, WrittenTree},
};
use crate::{
    html::{Html, NamedMarkup, entity},
    page_tree::{EntryKind, PageTree, PageTreeEntry},
};

/// The maximum number of entries, and the maximum size in bytes, of a tree that is shown completely.
const MAX_WHOLE_ENTRIES: usize = 300;
const MAX_WHOLE_BYTES: usize = 96 * 1024;
/// The maximum depth of entries in the navigation.
const MAX_NAVIGATION_DEPTH: usize = 12;
/// The maximum number of siblings per level of a partial tree, and the maximum size in bytes of all its levels
/// together.
const MAX_SIBLINGS: usize = 50;
const MAX_PART_BYTES: usize = 48 * 1024;
/// The number of ancestors that a partial tree shows: the outermost, and those nearest to the page.
const TOP_ANCESTORS: usize = 2;
const NEAREST_ANCESTORS: usize = 8;
/// The size in bytes of a partial tree above which groups outside the path are collapsed.
const MAX_GROUP_BYTES: usize = 24 * 1024;

/// The maximum number of child pages that a page without content shows. The complete page list contains the others.
pub(super) const MAX_CARDS: usize = 60;

impl PageContext<'_> {
    /// Returns the page tree, or `None` if it is too large for a page.
    pub(super) fn whole_tree(&self) -> Option<&WrittenTree> {
        self.around.tree.get_or_init(|| render_whole_tree(self)).as_ref()
    }
}

/// Writes the page tree of a space, with a list below the current page.
pub(super) fn write_navigation(
    html: &mut Html,
    scene: &PageContext<'_>,
    current: Option<usize>,
    below: Option<&NamedMarkup>,
) {
    match scene.whole_tree() {
        Some(tree) => tree.write(html, &scene.frame, current, below),
        None => {
            let path = ExpandedPath::for_entry(&scene.frame, current);
            render_tree(scene, Some(path)).write(html, &scene.frame, current, below);
        }
    }
}

/// Returns `true` if the navigation of a space, or one of its pages, links to the complete page lists.
pub(crate) fn is_listed_in_parts(scene: &PageContext<'_>) -> bool {
    scene.whole_tree().is_none()
        || (0..scene.frame.entries.len()).any(|at| scene.frame.visible_children(Some(at)).len() > MAX_CARDS)
}

/// Renders the complete tree of a space. Returns `None` if it exceeds the limits.
fn render_whole_tree(scene: &PageContext<'_>) -> Option<WrittenTree> {
    let entries = &scene.frame.entries;
    let is_small = entries.len() <= MAX_WHOLE_ENTRIES
        && (0..entries.len()).all(|at| scene.frame.ancestors(at).nth(MAX_NAVIGATION_DEPTH).is_none())
        && entries.iter().map(|entry| entry_bytes(scene, entry)).sum::<usize>() <= MAX_WHOLE_BYTES;
    is_small.then(|| render_tree(scene, None))
}

/// Renders the complete tree, or the part around a path.
fn render_tree(scene: &PageContext<'_>, path: Option<ExpandedPath>) -> WrittenTree {
    let mut writer = TreeWriter { scene, path, html: Html::default(), marks: HashMap::new() };
    writer.write_aside();
    WrittenTree { written: NamedMarkup::new(PreEscaped(writer.html.into_string())), marks: writer.marks }
}

/// The expanded entries of a partial tree: the ancestors of the page and the page itself.
#[derive(Debug, Default)]
struct ExpandedPath {
    /// The entries, outermost first. If some are omitted, the gap is after the first [`TOP_ANCESTORS`] entries.
    open: Vec<usize>,
    is_cut: bool,
}

impl ExpandedPath {
    fn for_entry(frame: &PageTree, current: Option<usize>) -> Self {
        let mut open: Vec<usize> =
            current.into_iter().flat_map(|at| [at].into_iter().chain(frame.ancestors(at))).collect();
        open.reverse();
        // Descendants of a hidden entry are not shown in the navigation.
        let end = open.iter().position(|at| frame.entries[*at].is_hidden).unwrap_or(open.len());
        open.truncate(end);
        let is_cut = open.len() > TOP_ANCESTORS + NEAREST_ANCESTORS;
        if is_cut {
            open.drain(TOP_ANCESTORS..open.len() - NEAREST_ANCESTORS);
        }
        Self { open, is_cut }
    }

    /// Returns the entry to show below `at` instead of its children, if the levels in between are omitted.
    fn after_cut(&self, at: usize) -> Option<usize> {
        let is_before = self.is_cut && self.open.get(TOP_ANCESTORS - 1) == Some(&at);
        self.open.get(TOP_ANCESTORS).copied().filter(|_| is_before)
    }

    /// Returns the maximum size of a level in bytes.
    fn level_bytes(&self) -> usize {
        MAX_PART_BYTES / (self.open.len() + 1)
    }
}

/// The state of rendering a tree.
struct TreeWriter<'t> {
    scene: &'t PageContext<'t>,
    /// The path around which the tree is shown, or `None` for the complete tree.
    path: Option<ExpandedPath>,
    html: Html,
    marks: HashMap<usize, Marks>,
}

impl<'t> TreeWriter<'t> {
    fn write_aside(&mut self) {
        let words = self.scene.words;
        let html = &mut self.html;
        html.tags("<aside class=\"side\"").attribute(" aria-label=\"", words.menu);
        // On narrow screens, the tree is shown while it is the target of the URL fragment.
        html.tags("><a class=\"open-tree\"").attribute(" href=\"#", TREE).tags(">").text(words.menu);
        html.tags("</a><nav class=\"tree\"").attribute(" id=\"", TREE);
        html.attribute(" aria-label=\"", words.menu).tags("><a class=\"close-tree\"");
        html.attribute(" href=\"#", CONTENT).attribute(" aria-label=\"", words.skip).tags(">✕</a>");
        self.write_children(None, 0);
        self.html.tags("</nav></aside>");
    }

    /// Writes the children of an entry.
    fn write_children(&mut self, parent: Option<usize>, depth: usize) {
        let all = self.scene.frame.visible_children(parent);
        let window = self.window(all);
        self.html.tags("<ul>");
        if let Some(last) = window.start.checked_sub(1) {
            self.write_gap(ListPart::containing(parent, last), window.start);
        }
        for at in all.get(window.clone()).unwrap_or_default() {
            self.write_entry(*at as usize, depth);
        }
        if window.end < all.len() {
            self.write_gap(ListPart::containing(parent, window.end), all.len() - window.end);
        }
        self.html.tags("</ul>");
    }

    /// Returns the range of siblings to show: all in a complete tree, otherwise those around the entry on the path.
    fn window(&self, all: &[u32]) -> Range<usize> {
        let Some(path) = &self.path else { return 0..all.len() };
        let cost = |index: usize| {
            let entry = all.get(index).and_then(|at| self.scene.frame.entries.get(*at as usize))?;
            Some(entry_bytes(self.scene, entry))
        };
        let on_path = |at: &usize| all.binary_search_by(|own| (*own as usize).cmp(at)).ok();
        let focus = path.open.iter().find_map(on_path);
        let mut window = focus.map_or(0..0, |focus| focus..focus + 1);
        let mut left = path.level_bytes();
        loop {
            let before = window.start.checked_sub(1).and_then(cost);
            let after = cost(window.end);
            let mut grows = |size: Option<usize>, length: usize| {
                let is_room = length < MAX_SIBLINGS && size.is_some_and(|size| size <= left);
                left -= size.filter(|_| is_room).unwrap_or(0);
                is_room
            };
            let is_after = grows(after, window.len());
            window.end += usize::from(is_after);
            let is_before = grows(before, window.len());
            window.start -= usize::from(is_before);
            if !is_after && !is_before {
                return window;
            }
        }
    }

    /// Writes a link to the list of the omitted entries.
    fn write_gap(&mut self, part: ListPart, count: usize) {
        let href = part.address(self.scene);
        let label = format!("{} … {count}", self.scene.words.all_pages);
        self.html.tags("<li class=\"more\"><a").attribute(" href=\"", &href);
        self.html.attribute(" aria-label=\"", &label).tags(">… ").text(&count.to_string()).tags("</a></li>");
    }

    fn write_entry(&mut self, at: usize, depth: usize) {
        let entry = &self.scene.frame.entries[at];
        let has_below =
            depth < MAX_NAVIGATION_DEPTH && !self.scene.frame.visible_children(Some(at)).is_empty();
        match &entry.kind {
            EntryKind::Group if has_below && !self.opens_group(at) => {
                let href = ListPart::first(Some(at)).address(self.scene);
                self.html.tags("<li class=\"group closed\"><a class=\"head\"").attribute(" href=\"", &href);
                self.html.tags(" dir=\"auto\">");
                write_brief(&mut self.html, entry);
                self.html.tags("</a></li>");
            }
            EntryKind::Group => {
                self.html.tags("<li class=\"group\"><span class=\"head\" dir=\"auto\">");
                write_brief(&mut self.html, entry);
                self.html.tags("</span>");
                if has_below {
                    self.write_descendants(at, depth);
                }
                self.html.tags("</li>");
            }
            EntryKind::Document if has_below => self.write_branch(at, entry, depth),
            EntryKind::Document => {
                self.html.tags("<li>");
                self.write_page_link(at, entry);
                self.html.tags("</li>");
            }
            EntryKind::Link(target) => {
                write_link(&mut self.html, self.scene, entry, target);
            }
            EntryKind::Computed => {}
        }
    }

    /// Returns `true` if the children of a group are shown. In a partial tree, this depends on the number of bytes
    /// written so far.
    fn opens_group(&self, at: usize) -> bool {
        let Some(path) = &self.path else { return true };
        path.open.contains(&at) || self.html.len() < MAX_GROUP_BYTES
    }

    /// Writes the children of an entry, or its next shown descendant if levels are omitted.
    fn write_descendants(&mut self, at: usize, depth: usize) {
        match self.path.as_ref().and_then(|path| path.after_cut(at)) {
            None => self.write_children(Some(at), depth + 1),
            Some(next) => {
                self.html.tags("<ul>");
                let count = self.scene.frame.visible_children(Some(at)).len();
                self.write_gap(ListPart::first(Some(at)), count);
                self.write_entry(next, depth + 1);
                self.html.tags("</ul>");
            }
        }
    }

    /// Writes a page with children.
    fn write_branch(&mut self, at: usize, entry: &'t PageTreeEntry, depth: usize) {
        if self.path.as_ref().is_some_and(|path| !path.open.contains(&at)) {
            self.html.tags("<li class=\"branch closed\">");
            self.write_page_link(at, entry);
            self.html.tags("</li>");
            return;
        }
        self.html.tags("<li class=\"branch\">");
        self.write_page_link(at, entry);
        self.html.tags("<details");
        self.marks.entry(at).or_default().open = Some(self.html.len());
        self.html.tags("><summary").attribute(" aria-label=\"", &brief(&entry.title)).tags("></summary>");
        self.write_descendants(at, depth);
        self.html.tags("</details></li>");
    }

    fn write_page_link(&mut self, at: usize, entry: &PageTreeEntry) {
        let addresses = &self.scene.addresses;
        let href = addresses.entry_address(&addresses.space, &self.scene.frame, at);
        self.html.tags("<a").attribute_if(" href=\"", href.as_deref());
        self.marks.entry(at).or_default().current = Some(self.html.len());
        self.html.tags(" dir=\"auto\">");
        write_brief(&mut self.html, entry);
        self.html.tags("</a>");
        self.marks.entry(at).or_default().below = Some(self.html.len());
    }
}

/// Writes an entry that links to another resource, as a list item.
pub(super) fn write_link(
    html: &mut Html,
    scene: &PageContext<'_>,
    entry: &PageTreeEntry,
    target: &ContentRef,
) {
    let to = scene.addresses.target(target);
    match &to.href {
        // A relative URL would resolve to a different URL on each page.
        Some(href) if is_relative(href) => {
            html.tags("<li><span class=\"gone\" dir=\"auto\">");
            write_brief(html, entry);
            html.tags("</span></li>");
        }
        Some(href) => {
            html.tags("<li><a").attribute(" href=\"", href);
            html.attribute_if(" rel=\"", to.is_outside.then_some("noopener")).tags(" dir=\"auto\">");
            write_brief(html, entry);
            if to.is_outside {
                html.tags("<span class=\"out\" aria-hidden=\"true\"> ↗</span>");
            }
            html.tags("</a></li>");
        }
        None => {}
    }
}

/// Returns the approximate size of an entry in a tree, in bytes, without its descendants.
fn entry_bytes(scene: &PageContext<'_>, entry: &PageTreeEntry) -> usize {
    /// The size of an entry's tags in bytes.
    const TAGS: usize = 128;
    let text = |text: &str| text.bytes().map(|byte| entity(byte).map_or(1, str::len)).sum::<usize>();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    let path =
        |path: &str| path.bytes().map(|byte| if is_plain(byte) { 1 } else { "%00".len() }).sum::<usize>();
    let address = match &entry.kind {
        EntryKind::Link(target) => match &**target {
            ContentRef::Url { url } => text(url),
            _ => TAGS,
        },
        EntryKind::Document | EntryKind::Group | EntryKind::Computed => {
            scene.base().len() + path(&entry.path)
        }
    };
    TAGS + 2 * text(&brief(&entry.title)) + address
}

/// Returns `true` if the meaning of a URL depends on the page that contains it.
fn is_relative(href: &str) -> bool {
    !href.starts_with(['/', '#', '?']) && !href.contains(':')
}
