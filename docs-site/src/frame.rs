//! The content of a space as its pages need it: the tree, and where everything is.

use std::collections::HashMap;

use docs_core::model::{
    ContentRef, FileId, GitBlob, PageBase, PageCover, PageId, PageLayout, Revision, RevisionFile,
    RevisionPage, Timestamp,
};

use crate::address::encoded;

/// Bytes that an entry takes besides its texts, about.
const ENTRY: usize = 384;

/// What an entry of the tree of pages is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EntryKind {
    /// A page with content.
    Document,
    /// A titled group.
    Group,
    /// A link to something else.
    Link(ContentRef),
    /// Pages of a source that nobody here computes.
    Computed,
}

/// An entry of the tree of pages.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: PageId,
    pub(crate) kind: EntryKind,
    pub(crate) title: String,
    pub(crate) emoji: Option<String>,
    pub(crate) description: Option<String>,
    /// What the page shows of itself beside its content.
    pub(crate) look: PageLook,
    /// The path in the space; blank where there is none.
    pub(crate) path: String,
    pub(crate) updated_at: Option<Timestamp>,
    /// Names the text of the page; `None` for one without.
    pub(crate) text: Option<TextName>,
    pub(crate) git: Option<GitBlob>,
    /// The entry that it stands in.
    pub(crate) parent: Option<usize>,
    pub(crate) children: Vec<usize>,
    /// Left out of navigation, itself or by what it stands in.
    pub(crate) is_hidden: bool,
    /// Kept out of search.
    pub(crate) is_unlisted: bool,
    /// Kept out of search engines.
    pub(crate) is_unindexed: bool,
}

impl Entry {
    /// What the page is about, where that is not blank.
    pub(crate) fn about(&self) -> Option<&str> {
        self.description.as_deref().filter(|text| !text.trim().is_empty())
    }
}

/// What a page shows of itself beside its content.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageLook {
    pub(crate) layout: PageLayout,
    pub(crate) cover: Option<PageCover>,
    /// When it was changed, if it ever was.
    pub(crate) changed_at: Option<Timestamp>,
}

/// Names a text of one space: what it names is never another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextName([u8; 32]);

impl TextName {
    /// The name of the text that an id of a document leads to.
    pub(crate) fn of(id: &str) -> Self {
        Self(*blake3::hash(id.as_bytes()).as_bytes())
    }
}

/// The content of a space: what one visitor sees of one revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// The entries, each before what it holds.
    pub(crate) entries: Vec<Entry>,
    /// The entries of the top level.
    pub(crate) top: Vec<usize>,
    first: Option<usize>,
    /// The pages that navigation shows, in their order.
    navigated: Vec<usize>,
    files: HashMap<FileId, RevisionFile>,
    by_id: HashMap<PageId, usize>,
    by_path: HashMap<String, usize>,
}

impl Frame {
    /// The frame of a revision.
    pub(crate) fn of(revision: Revision) -> Self {
        let files = revision.files.into_iter().map(|file| (file.id.clone(), file)).collect();
        let mut frame = Self { files, ..Self::default() };
        // A stack, since nobody says how deep pages stand in one another.
        let mut stack: Vec<(RevisionPage, Option<usize>)> =
            revision.pages.into_iter().rev().map(|page| (page, None)).collect();
        while let Some((page, parent)) = stack.pop() {
            let at = frame.entries.len();
            let is_below_hidden = parent.is_some_and(|parent| frame.entries[parent].is_hidden);
            let (mut entry, below) = entry(page);
            entry.parent = parent;
            entry.is_hidden |= is_below_hidden;
            frame.by_id.insert(entry.id.clone(), at);
            if !entry.path.is_empty() {
                frame.by_path.entry(entry.path.to_lowercase()).or_insert(at);
            }
            match parent {
                Some(parent) => frame.entries[parent].children.push(at),
                None => frame.top.push(at),
            }
            frame.entries.push(entry);
            stack.extend(below.into_iter().rev().map(|page| (page, Some(at))));
        }
        frame.first = frame.found_first();
        frame.navigated = frame.documents().filter(|at| !frame.entries[*at].is_hidden).collect();
        frame
    }

    /// The entry of a page.
    pub(crate) fn page(&self, id: &PageId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The entry at a path, in any case; that of the first page for a blank path.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        if path.is_empty() { self.first() } else { self.by_path.get(&path.to_lowercase()).copied() }
    }

    /// The page that a space begins with: the first with content that is not left out of navigation, else the first.
    pub(crate) const fn first(&self) -> Option<usize> {
        self.first
    }

    /// The path of an entry below its space, each segment written out; blank for the page that the space begins with.
    pub(crate) fn address(&self, at: usize) -> String {
        match self.entries.get(at) {
            Some(entry) if self.first != Some(at) => encoded(&entry.path),
            _ => String::new(),
        }
    }

    fn found_first(&self) -> Option<usize> {
        let mut pages = self.documents();
        let first = pages.next()?;
        if !self.entries[first].is_hidden {
            return Some(first);
        }
        Some(pages.find(|at| !self.entries[*at].is_hidden).unwrap_or(first))
    }

    /// The pages with content, in their order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = usize> + '_ {
        let is_document = |at: &usize| self.entries[*at].kind == EntryKind::Document;
        (0..self.entries.len()).filter(is_document)
    }

    /// The pages with content that lists name: neither left out of navigation nor kept out of search.
    pub(crate) fn listed(&self) -> impl Iterator<Item = usize> + '_ {
        self.documents().filter(|at| !self.entries[*at].is_hidden && !self.entries[*at].is_unlisted)
    }

    /// The first page with content that an entry holds, at whatever depth.
    pub(crate) fn first_below(&self, at: usize) -> Option<usize> {
        self.documents().find(|page| *page > at && self.above(*page).any(|above| above == at))
    }

    /// The entries that an entry stands in, the nearest first.
    pub(crate) fn above(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.entries[at].parent, |at| self.entries[*at].parent)
    }

    /// The pages before and behind a page, of those that navigation shows.
    pub(crate) fn beside(&self, at: usize) -> (Option<usize>, Option<usize>) {
        let before = self.navigated.partition_point(|page| *page < at);
        let behind = self.navigated.partition_point(|page| *page <= at);
        let page = |index: usize| self.navigated.get(index).copied();
        (before.checked_sub(1).and_then(page), page(behind))
    }

    /// A file.
    pub(crate) fn file(&self, id: &FileId) -> Option<&RevisionFile> {
        self.files.get(id)
    }

    /// About how many bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let texts = |entry: &Entry| {
            let cover = entry.look.cover.iter().flat_map(|cover| [&cover.reference, &cover.reference_dark]);
            let references = cover.flatten().chain(match &entry.kind {
                EntryKind::Link(target) => Some(target),
                EntryKind::Document | EntryKind::Group | EntryKind::Computed => None,
            });
            let addresses = references.map(|target| match target {
                ContentRef::Url { url } => url.len(),
                _ => ENTRY,
            });
            let git = entry.git.as_ref().map_or(0, |git| git.path.len() + git.oid.len());
            let texts = entry.title.len() + 3 * entry.path.len() + git;
            texts + entry.description.as_deref().map_or(0, str::len) + addresses.sum::<usize>()
        };
        let pages: usize = self.entries.iter().map(|entry| 2 * ENTRY + texts(entry)).sum();
        let files = self.files.values().map(|file| ENTRY + file.name.len() + file.download_url.len());
        pages + files.sum::<usize>()
    }
}

/// An entry, and the pages that it holds.
fn entry(page: RevisionPage) -> (Entry, Vec<RevisionPage>) {
    let of = |base: PageBase, kind: EntryKind| Entry {
        id: base.id,
        kind,
        title: base.title,
        emoji: base.emoji.map(|emoji| emoji.to_string()),
        description: None,
        path: String::new(),
        updated_at: base.updated_at.or(base.created_at),
        look: PageLook::default(),
        text: None,
        git: None,
        parent: None,
        children: Vec::new(),
        is_hidden: false,
        is_unlisted: false,
        is_unindexed: false,
    };
    match page {
        RevisionPage::Document(page) => {
            let changed_at = page.base.updated_at;
            let entry = Entry {
                look: PageLook { layout: page.layout, cover: page.cover, changed_at },
                description: page.description,
                path: page.path,
                text: page.document_id.as_deref().map(TextName::of),
                git: page.git,
                is_hidden: page.hidden,
                is_unlisted: page.no_index,
                is_unindexed: page.no_robots_index,
                ..of(page.base, EntryKind::Document)
            };
            (entry, page.pages)
        }
        RevisionPage::Group(page) => {
            let entry = Entry { path: page.path, is_hidden: page.hidden, ..of(page.base, EntryKind::Group) };
            (entry, page.pages)
        }
        RevisionPage::Link(page) => {
            (Entry { is_hidden: page.hidden, ..of(page.base, EntryKind::Link(page.target)) }, Vec::new())
        }
        RevisionPage::Computed(page) => (of(page.base, EntryKind::Computed), Vec::new()),
    }
}
