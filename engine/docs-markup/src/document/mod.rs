//! Conversion between Markdown and documents: the text of a page as a tree, and the tree as text.
//!
//! Markdown is the stored form. [`parse`] converts it to a [`Document`], [`print()`] writes a document as Markdown in
//! the default style, and [`update`] writes a changed document so that unchanged blocks keep their bytes.
//!
//! - Lossless: unsupported syntax (unknown or unbalanced tags and HTML) is text that is written unchanged. A
//!   paragraph of that kind has the spelling `verbatim`.
//! - Alternative Markdown syntaxes for the same content are recorded in fields named `spelling`, unless the default
//!   is used. A spelling never changes the content: an inapplicable one is ignored.
//! - The key of a block is derived from its content, including its descendants: 16 characters of the hash, and for
//!   the second and later equal blocks of the hash and a number. Editing a block changes the keys of the block and
//!   its ancestors, and no other.
//! - Parsing is linear and never fails. Blocks are parsed to a depth of 20 and a number of 20,000; anything beyond is
//!   preserved verbatim, and so is a block whose bytes would have to be parsed too often, and blocks whose trees
//!   together would exceed 20 times the bytes of the text. Any text is granted some megabytes in addition, so only
//!   thousands of the smallest blocks reach this limit.
//! - A parsed document can be written, and parses to the same document again. Blocks for which this fails in their
//!   context are preserved verbatim, as one paragraph together with the lines they would merge with; all other blocks
//!   are unaffected.

mod atoms;
mod blocks;
mod builder;
mod chunks;
mod close;
mod emoji;
mod escape;
mod figures;
mod html;
mod inlines;
mod keys;
mod lines;
mod marks;
mod memory;
mod nesting;
mod normal;
mod notes;
mod pairs;
mod pipes;
mod print;
mod read;
mod revert;
mod rich;
mod source;
mod spelling;
mod tables;
mod tagged;
mod tags;
mod targets;
#[cfg(test)]
mod tests;
mod texts;
mod weight;
mod whole;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use docs_model::Document;

use self::print::Raw;

pub use self::{
    memory::memory,
    print::is_verbatim,
    source::Source,
    texts::{OutlineItem, Section, outline, plain_text, sections},
};

/// The error of a document with a block or element in an invalid position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Invalid {
    /// The position: `nodes[3].nodes[0]`.
    pub place: String,
    pub message: String,
}

/// Parses Markdown. The text must not include front matter and the title of the page.
///
/// ```
/// use docs_markup::document::{parse, print};
/// let text = "Hello *there*.\n\n{% hint style=\"info\" %}\nMind the gap.\n{% endhint %}\n";
/// let document = parse(text);
/// assert_eq!(document.nodes.len(), 2);
/// assert_eq!(print(&document).unwrap(), text);
/// ```
#[must_use]
pub fn parse(markdown: &str) -> Document {
    Source::new(markdown).document
}

/// Writes a document as Markdown that parses to the document.
///
/// # Errors
///
/// Names the first block in an invalid position, or whose data cannot be written.
pub fn print(document: &Document) -> Result<String, Invalid> {
    let has_kept = document.nodes.iter().any(is_verbatim);
    if has_kept
        && let Ok(written) = print::document(&document.nodes, Raw::Kept)
        && verified(&written, document).is_ok()
    {
        return Ok(written);
    }
    let written = print::document(&document.nodes, Raw::Checked)?;
    verified(&written, document)?;
    Ok(written)
}

/// Checks that a document can be written.
///
/// # Errors
///
/// The errors of [`print()`].
pub fn check(document: &Document) -> Result<(), Invalid> {
    print(document).map(|_| ())
}

/// Checks that the written text parses to the document.
fn verified(written: &str, document: &Document) -> Result<(), Invalid> {
    let read = parse(written).nodes;
    let (read, own) = (normal::full(&read), normal::full(&document.nodes));
    let same = own.iter().zip(&read).take_while(|(own, read)| normal::is_same(own, read)).count();
    if same == own.len() && same == read.len() {
        return Ok(());
    }
    let first = same;
    Err(Invalid { place: format!("nodes[{first}]"), message: "cannot be written as Markdown".to_owned() })
}

/// Returns `true` if two documents have the same content: keys, computed data, spellings and paragraphs without text
/// are ignored.
#[must_use]
pub fn is_same(a: &Document, b: &Document) -> bool {
    normal::each_same(&normal::full(&a.nodes), &normal::full(&b.nodes), |a, b| normal::is_same(a, b))
}

/// Writes a new document over an old text. Blocks with unchanged content keep their bytes, and changed blocks keep
/// their spelling as far as possible; without a change the old text is returned.
///
/// # Errors
///
/// The errors of [`print()`].
pub fn update(old: &str, new: &Document) -> Result<String, Invalid> {
    source::update_closely(old, new)
}

/// Updates a parsed text like [`update`], given only a fingerprint of each of its blocks; returns `None` if the changed
/// and the unchanged blocks next to each other do not parse to the document.
///
/// # Errors
///
/// The errors of [`print()`].
pub(crate) fn edited(
    read: (&Source<'_>, &str),
    before: &[String],
    new: &Document,
) -> Result<Option<String>, Invalid> {
    source::edited(read, before, new)
}

/// Returns a fingerprint of the content of each block, for comparing blocks.
pub(crate) fn said(document: &Document) -> Vec<String> {
    source::said(document)
}

/// Writes the part of a text that readers can see over that text. Blocks with unchanged content keep their bytes, all
/// others are written from scratch: nothing of the omitted content remains.
///
/// # Errors
///
/// The errors of [`print()`].
pub fn update_blocks(old: &str, new: &Document) -> Result<String, Invalid> {
    source::update(old, new)
}

/// Returns the text of a block by its key, truncated to a preview; `None` if the text has no such block.
#[must_use]
pub fn block_text(markdown: &str, key: &str) -> Option<String> {
    block_texts(markdown, &BTreeSet::from([key])).remove(key)
}

/// Returns the texts of blocks by their keys, truncated to previews; missing blocks are left out. Parses the text
/// once.
#[must_use]
pub fn block_texts(markdown: &str, wanted: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let document = parse(markdown);
    let mut found = BTreeMap::new();
    for block in &document.nodes {
        keys::visit(block, &mut |block| {
            if let Some(key) = block.key.as_deref().filter(|key| wanted.contains(key)) {
                found.insert(key.to_owned(), texts::preview(block));
            }
        });
    }
    found
}

/// Reverts the changes of blocks in `current` since `base`: an added block is removed, a deleted one restored, a
/// changed or moved one reset. All other blocks keep their bytes.
///
/// # Errors
///
/// Names the first key that is in neither text.
pub fn revert_blocks(current: &str, base: &str, keys: &[String]) -> Result<String, Invalid> {
    revert::revert(current, base, keys)
}

/// Returns a text without leading byte order marks.
fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}
