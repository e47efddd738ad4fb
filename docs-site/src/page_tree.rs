//! The page tree of a space as seen by a visitor.
//!
//! Every page of a site needs the tree: for navigation, for URLs, and for links between pages. A tree is cached and
//! shared by all requests with the same view of the space, so entries are small, and each lookup takes at most
//! logarithmic time in the number of entries.

use std::{
    hash::{DefaultHasher, Hasher as _},
    ops::Range,
};

use docs_core::model::{
    ContentRef, GitBlob, PageBase, PageCover, PageId, PageLayout, RevisionPage, Timestamp,
};

use crate::{emoji::emoji_or_characters, encode::encode_path, references::DocumentReferences};

/// The estimated overhead in bytes of an allocation.
const ALLOCATION_BYTES: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EntryKind {
    /// A page with content.
    Document,
    /// A titled group.
    Group,
    /// A link to another resource.
    Link(Box<ContentRef>),
    /// Pages computed from a source that this server does not support.
    Computed,
}

#[derive(Clone, Debug)]
pub(crate) struct PageTreeEntry {
    pub(crate) id: PageId,
    pub(crate) kind: EntryKind,
    pub(crate) title: Box<str>,
    pub(crate) emoji: Option<Box<str>>,
    pub(crate) description: Option<Box<str>>,
    pub(crate) layout: PageLayout,
    pub(crate) cover: Option<Box<PageCover>>,
    /// The path in the space, or an empty string for an entry without a path.
    pub(crate) path: Box<str>,
    /// The time of the last change, or of the creation of an entry that was never changed.
    pub(crate) updated_at: Option<Timestamp>,
    /// The text of the page, or `None` for a page without text.
    pub(crate) text: Option<TextName>,
    pub(crate) git: Option<Box<GitBlob>>,
    /// `true` if the entry or an ancestor is hidden from navigation.
    pub(crate) is_hidden: bool,
    /// `true` if the entry is excluded from the site's search.
    pub(crate) is_unlisted: bool,
    /// `true` if the entry is excluded from search engines.
    pub(crate) is_unindexed: bool,
    /// `true` if `updated_at` is the time of a change rather than of creation.
    is_changed: bool,
    parent: Option<u32>,
    /// The index after the last descendant.
    end: u32,
    /// The children that navigation shows, as a range of `PageTree::shown`.
    shown: Range<u32>,
}

impl PageTreeEntry {
    /// Returns the description, if it is not blank.
    pub(crate) fn description_text(&self) -> Option<&str> {
        self.description.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// Returns the time of the last change, or `None` for an entry that was never changed.
    pub(crate) fn changed_at(&self) -> Option<Timestamp> {
        self.updated_at.filter(|_| self.is_changed)
    }
}

/// The unique name of a document within its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextName([u8; 32]);

impl TextName {
    /// Returns the name of the text that a document id refers to.
    pub(crate) fn from_document_id(id: &str) -> Self {
        Self(*blake3::hash(id.as_bytes()).as_bytes())
    }
}

/// The page tree of a revision as seen by a visitor. Entries are identified by their indices in reading order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageTree {
    /// The entries, each before its descendants.
    pub(crate) entries: Vec<PageTreeEntry>,
    /// The entries that navigation shows, grouped by parent.
    shown: Vec<u32>,
    /// The range of `shown` that contains the top-level entries.
    top: Range<u32>,
    first: Option<u32>,
    /// The pages with content.
    documents: Vec<u32>,
    /// The pages with content that navigation shows.
    navigated: Vec<u32>,
    /// All entries, ordered by their ids.
    by_id: Vec<u32>,
    /// The entries that have a path, ordered by the hash of its lower-case form.
    by_path: Vec<(u64, u32)>,
    /// The files and the pages of other spaces that links in the tree reference.
    pub(crate) linked: DocumentReferences,
}

impl PageTree {
    /// Builds the page tree of the pages of a revision.
    pub(crate) fn from_pages(pages: Vec<RevisionPage>) -> Self {
        let mut frame = Self::default();
        let mut links = DocumentReferences::default();
        // Uses an explicit stack instead of recursion, because a deep tree must not overflow the thread's stack.
        let mut stack: Vec<TraversalStep> =
            pages.into_iter().rev().map(|page| TraversalStep::Page(page, None)).collect();
        while let Some(step) = stack.pop() {
            let (page, parent) = match step {
                TraversalStep::Page(page, parent) => (page, parent),
                TraversalStep::End(at) => {
                    frame.entries[at].end = to_index(frame.entries.len());
                    continue;
                }
            };
            let at = frame.entries.len();
            let (mut entry, below) = split_page(page);
            entry.parent = parent.map(to_index);
            entry.is_hidden |= parent.is_some_and(|parent| frame.entries[parent].is_hidden);
            if let EntryKind::Link(target) = &entry.kind {
                links.add(target);
            }
            frame.entries.push(entry);
            stack.push(TraversalStep::End(at));
            stack.extend(below.into_iter().rev().map(|page| TraversalStep::Page(page, Some(at))));
        }
        frame.entries.shrink_to_fit();
        links.pages.remove(&None);
        frame.linked = links;
        frame.build_index();
        frame.group_by_parent();
        frame
    }

    /// Builds the lookup tables.
    fn build_index(&mut self) {
        let entries = &self.entries;
        let is_document = |at: &u32| entries[*at as usize].kind == EntryKind::Document;
        self.documents = (0..to_index(entries.len())).filter(is_document).collect();
        let is_shown = |at: &&u32| !entries[**at as usize].is_hidden;
        self.navigated = self.documents.iter().filter(is_shown).copied().collect();
        self.first = self.navigated.first().or(self.documents.first()).copied();
        self.by_id = (0..to_index(entries.len())).collect();
        self.by_id.sort_unstable_by_key(|at| &entries[*at as usize].id);
        let with_path = entries.iter().enumerate().filter(|(_, entry)| !entry.path.is_empty());
        self.by_path = with_path.map(|(at, entry)| (path_hash(&entry.path), to_index(at))).collect();
        self.by_path.sort_unstable();
        for table in [&mut self.documents, &mut self.navigated] {
            table.shrink_to_fit();
        }
    }

    /// Groups the entries that navigation shows by parent.
    fn group_by_parent(&mut self) {
        let visible: Vec<(u32, Option<u32>)> = (0_u32..)
            .zip(&self.entries)
            .filter(|(_, entry)| !entry.is_hidden && entry.kind != EntryKind::Computed)
            .map(|(at, entry)| (at, entry.parent))
            .collect();
        let mut counts = vec![0_u32; self.entries.len() + 1];
        let slot = |parent: Option<u32>| parent.map_or(0, |parent| parent as usize + 1);
        visible.iter().for_each(|(_, parent)| counts[slot(*parent)] += 1);
        let mut start = 0;
        let mut next: Vec<u32> = counts
            .iter()
            .map(|count| {
                let own = start;
                start += count;
                own
            })
            .collect();
        self.top = 0..counts[0];
        for (entry, (start, count)) in self.entries.iter_mut().zip(next.iter().zip(&counts).skip(1)) {
            entry.shown = *start..start + count;
        }
        self.shown = vec![0; visible.len()];
        for (at, parent) in visible {
            let place = &mut next[slot(parent)];
            self.shown[*place as usize] = at;
            *place += 1;
        }
    }

    /// Returns the entry of a page.
    pub(crate) fn page(&self, id: &PageId) -> Option<usize> {
        let found = self.by_id.binary_search_by(|at| self.entries[*at as usize].id.cmp(id)).ok()?;
        Some(self.by_id[found] as usize)
    }

    /// Returns the entry at a path, ignoring case, or the first page for an empty path.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        if path.is_empty() {
            return self.first();
        }
        let (path, hash) = (path.to_lowercase(), path_hash(path));
        let start = self.by_path.partition_point(|(own, _)| *own < hash);
        let same = self.by_path[start..].iter().take_while(|(own, _)| *own == hash);
        same.map(|(_, at)| *at as usize).find(|at| self.entries[*at].path.to_lowercase() == path)
    }

    /// Returns the first page of the space: the first with content that navigation shows, otherwise the first with
    /// content.
    pub(crate) fn first(&self) -> Option<usize> {
        self.first.map(|at| at as usize)
    }

    /// Returns the percent-encoded path of an entry below its space, or an empty string for the first page of the
    /// space.
    pub(crate) fn address(&self, at: usize) -> String {
        match self.entries.get(at) {
            Some(entry) if self.first() != Some(at) => encode_path(&entry.path),
            _ => String::new(),
        }
    }

    /// Returns the pages with content, in order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = usize> + '_ {
        self.documents.iter().map(|at| *at as usize)
    }

    /// Returns the pages with content that appear in lists: neither hidden from navigation nor excluded from search.
    pub(crate) fn listed_pages(&self) -> impl Iterator<Item = usize> + '_ {
        self.navigated.iter().map(|at| *at as usize).filter(|at| !self.entries[*at].is_unlisted)
    }

    /// Returns the pages with content that the sitemap contains: neither hidden from navigation nor excluded from
    /// search engines.
    pub(crate) fn sitemap_pages(&self) -> impl Iterator<Item = usize> + '_ {
        self.navigated.iter().map(|at| *at as usize).filter(|at| !self.entries[*at].is_unindexed)
    }

    /// Returns the first descendant with content.
    pub(crate) fn first_descendant(&self, at: usize) -> Option<usize> {
        let next = self.documents.partition_point(|page| *page as usize <= at);
        self.documents.get(next).filter(|page| **page < self.entries[at].end).map(|page| *page as usize)
    }

    /// Returns the ancestors of an entry, nearest first.
    pub(crate) fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let parent = |at: usize| self.entries[at].parent.map(|parent| parent as usize);
        std::iter::successors(parent(at), move |at| parent(*at))
    }

    /// Returns the children of an entry, or of the root, that navigation shows.
    pub(crate) fn visible_children(&self, parent: Option<usize>) -> &[u32] {
        let range = parent.map_or(&self.top, |parent| &self.entries[parent].shown);
        self.shown.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// Returns the previous and next page in navigation.
    pub(crate) fn neighbors(&self, at: usize) -> (Option<usize>, Option<usize>) {
        let before = self.navigated.partition_point(|page| (*page as usize) < at);
        let after = self.navigated.partition_point(|page| *page as usize <= at);
        let page = |index: usize| self.navigated.get(index).map(|page| *page as usize);
        (before.checked_sub(1).and_then(page), page(after))
    }

    /// Returns the estimated memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        let entries: usize = self.entries.iter().map(PageTreeEntry::weight).sum();
        let tables = self.shown.len() + self.documents.len() + self.navigated.len() + self.by_id.len();
        let tables = tables * size_of::<u32>() + self.by_path.len() * size_of::<(u64, u32)>();
        entries + tables + self.linked.weight()
    }
}

impl PageTreeEntry {
    /// Returns the references of the cover.
    pub(crate) fn cover_targets(&self) -> impl Iterator<Item = &ContentRef> {
        self.cover.iter().flat_map(|cover| [&cover.reference, &cover.reference_dark]).flatten()
    }

    fn weight(&self) -> usize {
        let text = |text: &str| if text.is_empty() { 0 } else { ALLOCATION_BYTES + text.len() };
        let target = |target: &ContentRef| match target {
            ContentRef::Url { url } => url.len() + size_of::<ContentRef>(),
            _ => size_of::<ContentRef>() + 4 * ALLOCATION_BYTES,
        };
        let cover = self.cover.as_ref().map_or(0, |cover| {
            let pictures = [&cover.reference, &cover.reference_dark].into_iter().flatten();
            size_of::<PageCover>() + pictures.map(target).sum::<usize>()
        });
        let link = match &self.kind {
            EntryKind::Link(to) => ALLOCATION_BYTES + target(to),
            EntryKind::Document | EntryKind::Group | EntryKind::Computed => 0,
        };
        let git = self.git.as_ref().map_or(0, |git| 5 * ALLOCATION_BYTES + git.path.len() + git.oid.len());
        let texts = [Some(&self.title), Some(&self.path), self.emoji.as_ref(), self.description.as_ref()];
        let texts: usize = texts.into_iter().flatten().map(|own| text(own)).sum();
        size_of::<Self>() + 2 * ALLOCATION_BYTES + self.id.as_str().len() + texts + cover + link + git
    }
}

/// A step of the depth-first construction of the tree.
#[expect(
    clippy::large_enum_variant,
    reason = "the stack contains each page once, and boxing each would be slower"
)]
enum TraversalStep {
    /// A page with the index of its parent.
    Page(RevisionPage, Option<usize>),
    /// The end of an entry's descendants.
    End(usize),
}

/// Converts an index to its stored form. A revision never contains more than `u32::MAX` pages.
fn to_index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns the hash of a path, ignoring case.
fn path_hash(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(path.to_lowercase().as_bytes());
    hasher.finish()
}

/// Returns the entry of a page, and the children of the page.
fn split_page(page: RevisionPage) -> (PageTreeEntry, Vec<RevisionPage>) {
    let of = |base: PageBase, kind: EntryKind| PageTreeEntry {
        id: base.id,
        kind,
        title: base.title.into(),
        emoji: base.emoji.map(|code| emoji_or_characters(code.as_str()).into()),
        description: None,
        layout: PageLayout::default(),
        cover: None,
        path: Box::default(),
        updated_at: base.updated_at.or(base.created_at),
        text: None,
        git: None,
        is_hidden: false,
        is_unlisted: false,
        is_unindexed: false,
        is_changed: base.updated_at.is_some(),
        parent: None,
        end: 0,
        shown: 0..0,
    };
    match page {
        RevisionPage::Document(page) => {
            let entry = PageTreeEntry {
                layout: page.layout,
                cover: page.cover.map(Box::new),
                description: page.description.map(Into::into),
                path: page.path.into(),
                text: page.document_id.as_deref().map(TextName::from_document_id),
                git: page.git.map(Box::new),
                is_hidden: page.hidden,
                is_unlisted: page.no_index,
                is_unindexed: page.no_robots_index,
                ..of(page.base, EntryKind::Document)
            };
            (entry, page.pages)
        }
        RevisionPage::Group(page) => {
            let entry = PageTreeEntry {
                path: page.path.into(),
                is_hidden: page.hidden,
                ..of(page.base, EntryKind::Group)
            };
            (entry, page.pages)
        }
        RevisionPage::Link(page) => {
            let kind = EntryKind::Link(Box::new(page.target));
            (PageTreeEntry { is_hidden: page.hidden, ..of(page.base, kind) }, Vec::new())
        }
        RevisionPage::Computed(page) => (of(page.base, EntryKind::Computed), Vec::new()),
    }
}
