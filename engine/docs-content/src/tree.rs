//! The complete page tree of a revision.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use docs_model::PageId;
use docs_store::Key;

use super::{ContentError, ContentResult, PageEntry, entry::decode, keys};

/// Estimated size of a page in a tree without texts, in bytes.
const PAGE_BYTES: u64 = 700;

#[derive(Clone, Debug)]
pub struct TreePage {
    pub id: PageId,
    /// The record without `extra`, which [`View::extra_fields`](super::View::extra_fields) returns.
    pub entry: PageEntry,
    /// The slugs from the top level down to the page, joined by `/`; empty for links and computed pages.
    pub path: String,
    /// The number of ancestors.
    pub depth: usize,
    /// The position of the parent.
    pub parent: Option<usize>,
    /// The positions of the children, in order.
    pub children: Vec<usize>,
}

/// All pages of a revision in reading order: a page precedes its descendants.
#[derive(Clone, Debug, Default)]
pub struct PageTree {
    pages: Vec<TreePage>,
    roots: Vec<usize>,
    by_id: HashMap<PageId, usize>,
    bytes: u64,
    /// The pages that have a path, ordered by path.
    by_path: Vec<usize>,
}

impl PageTree {
    /// Returns the pages in reading order. All positions in this type are indexes into this slice.
    #[must_use]
    pub fn pages(&self) -> &[TreePage] {
        &self.pages
    }

    /// Returns the positions of the top-level pages, in order.
    #[must_use]
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    #[must_use]
    pub fn get(&self, id: &PageId) -> Option<&TreePage> {
        self.by_id.get(id).and_then(|at| self.pages.get(*at))
    }

    /// Finds a page by its path, ignoring case and surrounding slashes.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&TreePage> {
        let path = normal_path(path);
        let after = self.by_path.partition_point(|at| self.pages[*at].path <= path);
        let at = after.checked_sub(1).and_then(|last| self.by_path.get(last))?;
        self.pages.get(*at).filter(|page| !path.is_empty() && page.path == path)
    }

    /// Returns the children of a page, or the top-level pages.
    pub fn children<'a>(&'a self, parent: Option<&'a TreePage>) -> impl Iterator<Item = &'a TreePage> {
        let positions = parent.map_or(self.roots.as_slice(), |page| page.children.as_slice());
        positions.iter().filter_map(|at| self.pages.get(*at))
    }

    /// Returns the ancestors of a page, nearest first.
    pub fn ancestors<'a>(&'a self, page: &'a TreePage) -> impl Iterator<Item = &'a TreePage> {
        std::iter::successors(page.parent.and_then(|at| self.pages.get(at)), |above| {
            above.parent.and_then(|at| self.pages.get(at))
        })
    }

    /// Returns the descendants of a page, in reading order.
    pub fn descendants<'a>(&'a self, page: &TreePage) -> impl Iterator<Item = &'a TreePage> {
        let depth = page.depth;
        let start = self.by_id.get(&page.id).map_or(self.pages.len(), |at| at + 1);
        self.pages.iter().skip(start).take_while(move |below| below.depth > depth)
    }

    /// Returns the approximate memory usage in bytes.
    pub(crate) const fn memory(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn build(records: &[(Key, Bytes)]) -> ContentResult<Self> {
        let mut below: HashMap<Option<PageId>, BTreeMap<(super::Rank, PageId), PageEntry>> = HashMap::new();
        let mut bytes = 0;
        for (key, value) in records {
            let mut entry: PageEntry = decode(key, value)?;
            let extra = std::mem::take(&mut entry.extra);
            bytes += (2 * key.len() + 2 * (value.len() - extra.bytes())) as u64;
            let id: PageId = keys::id(key)?;
            below.entry(entry.parent.clone()).or_default().insert((entry.rank.clone(), id), entry);
        }
        let mut tree = Self::default();
        // The stack is last-in, first-out, so siblings are pushed in reverse order.
        let mut stack: Vec<(PageId, PageEntry, Option<usize>)> = Vec::new();
        let mut push = |stack: &mut Vec<_>, id: Option<PageId>, parent: Option<usize>| {
            let children = below.remove(&id).unwrap_or_default();
            stack.extend(children.into_iter().rev().map(|((_, id), entry)| (id, entry, parent)));
        };
        push(&mut stack, None, None);
        while let Some((id, entry, parent)) = stack.pop() {
            let at = tree.add(id.clone(), entry, parent);
            push(&mut stack, Some(id), Some(at));
        }
        if tree.len() == records.len() {
            let pages = &tree.pages;
            tree.by_path = (0..pages.len()).filter(|at| !pages[*at].path.is_empty()).collect();
            tree.by_path.sort_by(|a, b| pages[*a].path.cmp(&pages[*b].path));
            tree.bytes = bytes + pages.iter().map(|page| page.path.len() as u64 + PAGE_BYTES).sum::<u64>();
            Ok(tree)
        } else {
            Err(ContentError::Corrupt("some pages are not reachable from the top level".into()))
        }
    }

    fn add(&mut self, id: PageId, entry: PageEntry, parent: Option<usize>) -> usize {
        let at = self.pages.len();
        let above = parent.and_then(|p| self.pages.get(p));
        let path = match above {
            _ if entry.slug.is_empty() => String::new(),
            Some(above) if !above.path.is_empty() => format!("{}/{}", above.path, entry.slug),
            _ => entry.slug.clone(),
        };
        let depth = above.map_or(0, |above| above.depth + 1);
        match parent.and_then(|p| self.pages.get_mut(p)) {
            Some(above) => above.children.push(at),
            None => self.roots.push(at),
        }
        self.by_id.insert(id.clone(), at);
        self.pages.push(TreePage { id, entry, path, depth, parent, children: Vec::new() });
        at
    }
}

/// Normalizes a path: lower case, Unicode NFC, no surrounding slashes.
pub(crate) fn normal_path(path: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    path.split('/').filter(|s| !s.is_empty()).collect::<Vec<_>>().join("/").to_lowercase().nfc().collect()
}
