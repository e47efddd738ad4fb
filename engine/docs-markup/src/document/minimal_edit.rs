//! Prints a changed document with minimal changes to the old text. Line breaks, column widths of tables and delimiters
//! are preserved, even within changed blocks.
//!
//! Both the old and the new document are printed, and their differences are applied to the old text at the
//! corresponding positions. Where the old text differs from its printed form, the new text takes precedence.

use docs_model::{Block, BlockKind, Document};

use super::{
    comparison::is_same,
    print::{self, VerbatimMode},
    source::parse,
    spelling,
};
use crate::diff::{LineChange, Lines, changes};

/// Maximum number of bytes for a comparison by words. Its time is superlinear in the length.
const MAX_COMPARED_BYTES: usize = 96 << 10;
/// Maximum number of removed and added lines for a comparison by words.
const MAX_COMPARED_LINES: usize = 500;

/// The printing mode for compared documents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpellingMode {
    /// With the spellings of the documents.
    Spelled,
    /// In canonical form, because an editor may have dropped the spellings of changed parts.
    Canonical,
}

/// Returns the old text with the changes of the new document, if the result parses to the new document. `end` is the
/// line ending.
pub(super) fn apply_changes(
    old: &str,
    before: &Document,
    after: &Document,
    way: SpellingMode,
    end: &str,
) -> Option<String> {
    let print = |document: &Document| {
        let text = match way {
            SpellingMode::Spelled => print::document(&document.nodes, VerbatimMode::Unchanged),
            SpellingMode::Canonical => {
                let blocks: Vec<Block> = document.nodes.iter().map(without_spellings).collect();
                print::document(&blocks, VerbatimMode::Unchanged)
            }
        };
        text.ok().map(|text| if end == "\n" { text } else { text.replace('\n', end) })
    };
    let (before, after_text) = (print(before)?, print(after)?);
    if before.len().max(after_text.len()) > MAX_COMPARED_BYTES {
        return None;
    }
    let written = merge_texts(&before, old, &after_text);
    is_same(&parse(&written), after).then_some(written)
}

/// The distance between two texts: first by the number of removed and added lines, then by the number of removed and
/// added words and punctuation characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    lines: usize,
    words: usize,
}

impl Distance {
    /// Returns `None` if the texts differ too much for a useful comparison.
    pub(super) fn measure(old: &str, new: &str) -> Option<Self> {
        if old.len().max(new.len()) > MAX_COMPARED_BYTES {
            return None;
        }
        let sum =
            |changes: Vec<LineChange>| changes.iter().map(|change| change.old.len() + change.new.len()).sum();
        let (mut lines, mut words) = (Lines::default(), Lines::default());
        let lines = sum(changes(&lines.number(old), &lines.number(new)));
        if lines > MAX_COMPARED_LINES {
            return None;
        }
        let words = sum(changes(&words.number_all(&split_words(old)), &words.number_all(&split_words(new))));
        Some(Self { lines, words })
    }

    /// Returns `true` for the minimum distance: one word in one line differs.
    pub(super) fn is_least(self) -> bool {
        self.lines <= 2 && self.words <= 2
    }
}

/// Returns a block without spellings, except verbatim parts.
fn without_spellings(block: &Block) -> Block {
    let mut bare = spelling::bare_block(block);
    bare.visit_mut(&mut |block| {
        if let BlockKind::Table(table) = &mut block.kind {
            spelling::clear_in(table);
        }
    });
    bare
}

/// Merges `own` with the changes from `base` to `new`.
fn merge_texts(base: &str, own: &str, new: &str) -> String {
    let mut words = Lines::default();
    let [base, own, new] = [base, own, new].map(split_words);
    let [base_ids, own_ids, new_ids] = [&base, &own, &new].map(|list| words.number_all(list));
    let (kept, changed) = (changes(&base_ids, &own_ids), changes(&base_ids, &new_ids));
    let (mut kept, mut changed) = (SideChanges::new(&kept), SideChanges::new(&changed));
    let (mut out, mut at) = (String::new(), 0);
    while let Some(start) = [kept.start(), changed.start()].into_iter().flatten().min() {
        out.extend(base[at..start].iter().copied());
        let (own_from, new_from) = (kept.place(start), changed.place(start));
        // An insertion at a position precedes a replacement of the text at that position.
        let (is_kept, is_changed) = match (kept.is_insertion_at(start), changed.is_insertion_at(start)) {
            (true, false) => (true, false),
            (false, true) => (false, true),
            _ => (kept.start() == Some(start), changed.start() == Some(start)),
        };
        let (mut end, mut is_new) = (start, is_changed);
        end = end.max(if is_kept { kept.take() } else { end });
        end = end.max(if is_changed { changed.take() } else { end });
        // A change within a range that the other side changed belongs to that range.
        loop {
            if kept.start().is_some_and(|next| next < end) {
                end = end.max(kept.take());
            } else if changed.start().is_some_and(|next| next < end) {
                (end, is_new) = (end.max(changed.take()), true);
            } else {
                break;
            }
        }
        match is_new {
            true => out.extend(new[new_from..changed.place(end)].iter().copied()),
            false => out.extend(own[own_from..kept.place(end)].iter().copied()),
        }
        at = end;
    }
    out.extend(base[at..].iter().copied());
    out
}

/// The remaining changes of one side of the merge.
struct SideChanges<'a> {
    left: &'a [LineChange],
    /// The offset between the side and the base after the consumed changes.
    ahead: isize,
}

impl<'a> SideChanges<'a> {
    fn new(changes: &'a [LineChange]) -> Self {
        Self { left: changes, ahead: 0 }
    }

    fn start(&self) -> Option<usize> {
        self.left.first().map(|change| change.old.start)
    }

    /// Returns `true` if the next change is a pure insertion at a base position.
    fn is_insertion_at(&self, at: usize) -> bool {
        self.left.first().is_some_and(|change| change.old == (at..at))
    }

    /// Consumes the next change and returns its end in the base.
    fn take(&mut self) -> usize {
        let Some((first, rest)) = self.left.split_first() else { return 0 };
        self.left = rest;
        self.ahead = first.new.end.cast_signed() - first.old.end.cast_signed();
        first.old.end
    }

    /// Converts a base position to a position of the side. The base position must be after all consumed changes.
    fn place(&self, base: usize) -> usize {
        base.saturating_add_signed(self.ahead)
    }
}

/// Splits `text` into words and single characters between them.
fn split_words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut left = text;
    while let Some(first) = left.chars().next() {
        let length = match first {
            '\r' if left.starts_with("\r\n") => 2,
            c if c.is_alphanumeric() => left.find(|c: char| !c.is_alphanumeric()).unwrap_or(left.len()),
            c => c.len_utf8(),
        };
        let (word, rest) = left.split_at(length);
        out.push(word);
        left = rest;
    }
    out
}
