//! A sequence of Markdown blocks in one string.

use crate::text::is_full;

/// The kind of a block, which determines the separation from its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Paragraph,
    List,
    Other,
}

/// A sequence of non-empty blocks.
#[derive(Default)]
pub(super) struct Blocks {
    text: String,
    /// The end offset and kind of each block.
    ends: Vec<(u32, BlockKind)>,
}

impl Blocks {
    /// Adds a block. Empty blocks are ignored.
    pub(super) fn push(&mut self, text: &str, kind: BlockKind) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.end(kind);
        }
    }

    /// Adds a block of kind [`BlockKind::Other`].
    pub(super) fn push_other(&mut self, text: &str) {
        self.push(text, BlockKind::Other);
    }

    /// Adds the output of `write` as a block.
    pub(super) fn push_block(&mut self, kind: BlockKind, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        if self.text.len() > start {
            self.end(kind);
        }
    }

    fn end(&mut self, kind: BlockKind) {
        self.ends.push((u32::try_from(self.text.len()).unwrap_or(u32::MAX), kind));
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if the blocks exceed the size of a page.
    pub(super) fn is_full(&self) -> bool {
        is_full(&self.text)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the kind of the last block.
    pub(super) fn last(&self) -> Option<BlockKind> {
        self.ends.last().map(|(_, kind)| *kind)
    }

    /// Returns the blocks in a range, with their kinds.
    pub(super) fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = (&str, BlockKind)> {
        let at = |end: u32| usize::try_from(end).unwrap_or(usize::MAX);
        let before = range.start.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.map_or(0, |(end, _)| at(*end));
        let own = self.ends.get(range).unwrap_or_default();
        own.iter().scan(start, move |start, (end, kind)| {
            let text = self.text.get(std::mem::replace(start, at(*end))..at(*end)).unwrap_or_default();
            Some((text, *kind))
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, BlockKind)> {
        self.range(0..self.len())
    }

    /// Returns all blocks, separated by blank lines.
    pub(super) fn join(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + 2 * self.len());
        join(self.iter(), &mut out);
        out
    }
}

/// Writes blocks, separated by blank lines.
pub(super) fn join<'t>(blocks: impl Iterator<Item = (&'t str, BlockKind)>, out: &mut String) {
    for (at, (text, _)) in blocks.enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(text);
        out.push('\n');
    }
}
