//! A changed document, written over an old text so that little else changes than what is said: how lines are broken,
//! how wide the columns of a table are, and which signs are used stay as somebody wrote them, within blocks too.
//!
//! The old document and the new one are both written anew. What differs between these is put into the old text, at the
//! same place; where that text is not as it would be written, the new one goes before.

use docs_model::{Block, BlockKind, Document, Fragment, Node};

use super::{
    is_same,
    print::{self, Raw, is_verbatim},
    spelling,
};
use crate::diff::{Change, Lines, changes};

/// Longest text that is looked at word by word: that takes more time than the text is longer.
const MOST_BYTES: usize = 96 << 10;
/// Most lines that go and come in a text that is looked at word by word.
const MOST_LINES: usize = 500;

/// How the documents are written that are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By the spellings that they have.
    Spelled,
    /// In the usual way: an editor may have lost the spellings of what it changed.
    Usual,
}

/// The old text with what the new document says, if it reads as that. `end` is how its lines end.
pub(super) fn written(
    old: &str,
    (before, after): (&Document, &Document),
    (way, end): (Way, &str),
) -> Option<String> {
    let print = |document: &Document| {
        let text = match way {
            Way::Spelled => print::document(&document.nodes, Raw::Kept),
            Way::Usual => {
                let blocks: Vec<Block> = document.nodes.iter().map(plain).collect();
                print::document(&blocks, Raw::Kept)
            }
        };
        text.ok().map(|text| if end == "\n" { text } else { text.replace('\n', end) })
    };
    let (before, after_text) = (print(before)?, print(after)?);
    if before.len().max(after_text.len()) > MOST_BYTES {
        return None;
    }
    let written = united(&before, old, &after_text);
    is_same(&super::parse(&written), after).then_some(written)
}

/// How far two texts are from each other: how many lines go and come, and then how many words and signs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    lines: usize,
    words: usize,
}

impl Distance {
    /// None where so much is another that it is not worth the work to look closer.
    pub(super) fn between(old: &str, new: &str) -> Option<Self> {
        if old.len().max(new.len()) > MOST_BYTES {
            return None;
        }
        let sum =
            |changes: Vec<Change>| changes.iter().map(|change| change.old.len() + change.new.len()).sum();
        let (mut lines, mut words) = (Lines::default(), Lines::default());
        let lines = sum(changes(&lines.number(old), &lines.number(new)));
        if lines > MOST_LINES {
            return None;
        }
        let words = sum(changes(&words.number_all(&words_of(old)), &words.number_all(&words_of(new))));
        Some(Self { lines, words })
    }

    /// Tells whether nothing can be closer: one word of one line is another.
    pub(super) fn is_least(self) -> bool {
        self.lines <= 2 && self.words <= 2
    }
}

/// A block without spellings, but for what is kept as it is.
fn plain(block: &Block) -> Block {
    let fragment = |own: &Fragment| Fragment { nodes: own.nodes.iter().map(plain).collect(), ..own.clone() };
    let nodes = block.nodes.iter().map(|node| match node {
        Node::Block(block) => Node::Block(plain(block)),
        other => other.clone(),
    });
    let mut kind = block.kind.clone();
    if let BlockKind::Table(table) = &mut kind {
        spelling::clear_in(table);
    }
    Block {
        kind,
        spelling: block.spelling.clone().filter(|_| is_verbatim(block)),
        nodes: spelling::without(&nodes.collect::<Vec<_>>()),
        fragments: block.fragments.as_ref().map(|own| own.iter().map(fragment).collect()),
        ..block.clone()
    }
}

/// `own` with what changed from `base` to `new`.
fn united(base: &str, own: &str, new: &str) -> String {
    let mut words = Lines::default();
    let [base, own, new] = [base, own, new].map(words_of);
    let [base_ids, own_ids, new_ids] = [&base, &own, &new].map(|list| words.number_all(list));
    let (kept, changed) = (changes(&base_ids, &own_ids), changes(&base_ids, &new_ids));
    let (mut kept, mut changed) = (Side::of(&kept), Side::of(&changed));
    let (mut out, mut at) = (String::new(), 0);
    while let Some(start) = [kept.start(), changed.start()].into_iter().flatten().min() {
        out.extend(base[at..start].iter().copied());
        let (own_from, new_from) = (kept.place(start), changed.place(start));
        // What was put in before a place goes before what that became.
        let (is_kept, is_changed) = match (kept.is_put_in(start), changed.is_put_in(start)) {
            (true, false) => (true, false),
            (false, true) => (false, true),
            _ => (kept.start() == Some(start), changed.start() == Some(start)),
        };
        let (mut end, mut is_new) = (start, is_changed);
        end = end.max(if is_kept { kept.take() } else { end });
        end = end.max(if is_changed { changed.take() } else { end });
        // What lies in a part that the other side changed belongs to it.
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

/// The changes of one side that are left.
struct Side<'a> {
    left: &'a [Change],
    /// How far the side is ahead of the base behind those that were taken.
    ahead: isize,
}

impl<'a> Side<'a> {
    fn of(changes: &'a [Change]) -> Self {
        Self { left: changes, ahead: 0 }
    }

    fn start(&self) -> Option<usize> {
        self.left.first().map(|change| change.old.start)
    }

    /// Tells whether the next change puts something in at a place of the base, in place of nothing.
    fn is_put_in(&self, at: usize) -> bool {
        self.left.first().is_some_and(|change| change.old == (at..at))
    }

    /// Takes the next change; answers where it ends in the base.
    fn take(&mut self) -> usize {
        let Some((first, rest)) = self.left.split_first() else { return 0 };
        self.left = rest;
        self.ahead = first.new.end.cast_signed() - first.old.end.cast_signed();
        first.old.end
    }

    /// The place of the side that is a place of the base behind all that was taken.
    fn place(&self, base: usize) -> usize {
        base.saturating_add_signed(self.ahead)
    }
}

/// The words of a text, and each sign between them.
fn words_of(text: &str) -> Vec<&str> {
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
