//! The tree of the pages of a space.

use std::collections::HashSet;

use maud::PreEscaped;

use super::{
    Scene,
    parts::{CONTENT, TREE, write_named},
};
use crate::{
    frame::{Entry, EntryKind, Frame},
    html::{Html, Named},
};

/// Most entries of a tree that is shown as a whole. Of a larger one only the way to the page is, and what stands
/// beside it.
const MAX_WHOLE: usize = 300;
/// Deepest entries that are shown.
const MAX_DEPTH: usize = 12;

/// A tree as navigation has it, on no page in particular.
#[derive(Debug)]
pub(crate) struct Tree {
    written: Named,
    /// For each entry where the marks of the page that is shown go.
    marks: Vec<Marks>,
}

/// Where marks of an entry go.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// That it is the page that is shown.
    current: Option<usize>,
    /// That what it holds is shown.
    open: Option<usize>,
}

/// Writes the tree of a space beside a page.
pub(super) fn write_side(html: &mut Html, scene: &Scene<'_>, current: Option<usize>) {
    match scene.whole_tree() {
        Some(tree) => tree.write(html, &scene.frame, current),
        None => {
            let open = current.into_iter().flat_map(|at| scene.frame.above(at).chain([at])).collect();
            Tree::of(scene, Some(open)).write(html, &scene.frame, current);
        }
    }
}

impl Tree {
    /// The whole tree of a space; `None` where that is too large for a page.
    pub(super) fn whole(scene: &Scene<'_>) -> Option<Self> {
        (scene.frame.entries.len() <= MAX_WHOLE).then(|| Self::of(scene, None))
    }

    /// The tree with what some entries hold, or all of them.
    fn of(scene: &Scene<'_>, open: Option<HashSet<usize>>) -> Self {
        let marks = vec![Marks::default(); scene.frame.entries.len()];
        let mut writer = Writer { scene, open, html: Html::default(), marks };
        writer.side();
        Self { written: Named::new(PreEscaped(writer.html.into_string())), marks: writer.marks }
    }

    /// Writes the tree as a page has it.
    fn write(&self, html: &mut Html, frame: &Frame, current: Option<usize>) {
        let marks = |at: usize| self.marks.get(at).copied().unwrap_or_default();
        let way = current.into_iter().flat_map(|at| frame.above(at).chain([at]));
        let open = way.filter_map(|at| Some((marks(at).open?, " open")));
        let here = current.and_then(|at| Some((marks(at).current?, " aria-current=\"page\"")));
        let mut all: Vec<(usize, &'static str)> = open.chain(here).collect();
        all.sort_unstable();
        let mut name = blake3::Hasher::new();
        name.update(self.written.name().as_bytes());
        for (at, mark) in &all {
            name.update(&(*at as u64).to_le_bytes()).update(mark.as_bytes());
        }
        html.under(&name.finalize(), |html| {
            let mut done = 0;
            for (at, mark) in all {
                html.piece(&self.written, done..at);
                html.tags(mark);
                done = at;
            }
            html.piece(&self.written, done..self.written.as_str().len());
        });
    }

    /// How many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        self.written.as_str().len() + self.marks.len() * size_of::<Marks>()
    }
}

/// A tree that is being written.
struct Writer<'t> {
    scene: &'t Scene<'t>,
    /// Entries whose inner ones are shown; `None` for all.
    open: Option<HashSet<usize>>,
    html: Html,
    marks: Vec<Marks>,
}

impl<'t> Writer<'t> {
    fn side(&mut self) {
        let words = self.scene.words;
        let html = &mut self.html;
        html.tags("<aside class=\"side\"").attribute(" aria-label=\"", words.menu);
        // On narrow screens the tree is shown while the address names it.
        html.tags("><a class=\"open-tree\"").attribute(" href=\"#", TREE).tags(">").text(words.menu);
        html.tags("</a><nav class=\"tree\"").attribute(" id=\"", TREE);
        html.attribute(" aria-label=\"", words.menu).tags("><a class=\"close-tree\"");
        html.attribute(" href=\"#", CONTENT).attribute(" aria-label=\"", words.skip).tags(">✕</a>");
        let frame = &self.scene.frame;
        self.list(&frame.top, 0);
        self.html.tags("</nav></aside>");
    }

    fn list(&mut self, entries: &'t [usize], depth: usize) {
        self.html.tags("<ul>");
        for at in entries {
            let entry = &self.scene.frame.entries[*at];
            if !entry.is_hidden {
                self.entry((*at, entry), depth);
            }
        }
        self.html.tags("</ul>");
    }

    fn entry(&mut self, (at, entry): (usize, &'t Entry), depth: usize) {
        let frame = &self.scene.frame;
        let has_below =
            depth < MAX_DEPTH && entry.children.iter().any(|child| !frame.entries[*child].is_hidden);
        match &entry.kind {
            EntryKind::Group => {
                self.html.tags("<li class=\"group\"><span class=\"head\" dir=\"auto\">");
                write_named(&mut self.html, entry);
                self.html.tags("</span>");
                if has_below {
                    self.list(&entry.children, depth + 1);
                }
                self.html.tags("</li>");
            }
            EntryKind::Document if has_below => self.branch((at, entry), depth),
            EntryKind::Document => {
                self.html.tags("<li>");
                self.link(at, entry);
                self.html.tags("</li>");
            }
            EntryKind::Link(target) => {
                let to = self.scene.addresses.target(target);
                let html = &mut self.html;
                match &to.href {
                    // It would lead elsewhere from each page: what it was meant for is not there.
                    Some(href) if is_relative(href) => {
                        html.tags("<li><span class=\"gone\" dir=\"auto\">");
                        write_named(html, entry);
                        html.tags("</span></li>");
                    }
                    Some(href) => {
                        html.tags("<li><a").attribute(" href=\"", href);
                        html.attribute_if(" rel=\"", to.is_outside.then_some("noopener"))
                            .tags(" dir=\"auto\">");
                        write_named(html, entry);
                        if to.is_outside {
                            html.tags("<span class=\"out\" aria-hidden=\"true\"> ↗</span>");
                        }
                        html.tags("</a></li>");
                    }
                    None => {}
                }
            }
            EntryKind::Computed => {}
        }
    }

    /// A page that holds others.
    fn branch(&mut self, (at, entry): (usize, &'t Entry), depth: usize) {
        if self.open.as_ref().is_some_and(|open| !open.contains(&at)) {
            self.html.tags("<li class=\"branch closed\">");
            self.link(at, entry);
            self.html.tags("</li>");
            return;
        }
        self.html.tags("<li class=\"branch\">");
        self.link(at, entry);
        self.html.tags("<details");
        self.marks[at].open = Some(self.html.len());
        self.html.tags("><summary").attribute(" aria-label=\"", &entry.title).tags("></summary>");
        self.list(&entry.children, depth + 1);
        self.html.tags("</details></li>");
    }

    fn link(&mut self, at: usize, entry: &Entry) {
        let addresses = &self.scene.addresses;
        let href = addresses.of_entry(&addresses.space, &self.scene.frame, at);
        self.html.tags("<a").attribute_if(" href=\"", href.as_deref());
        self.marks[at].current = Some(self.html.len());
        self.html.tags(" dir=\"auto\">");
        write_named(&mut self.html, entry);
        self.html.tags("</a>");
    }
}

/// Tells whether an address leads elsewhere from each page.
fn is_relative(href: &str) -> bool {
    !href.starts_with(['/', '#', '?']) && !href.contains(':')
}
