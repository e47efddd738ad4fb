//! Markdown and documents: the text of a page as a tree, and the tree as text.
//!
//! What is stored is Markdown. [`parse`] makes a [`Document`] of it, [`print()`] writes a document as Markdown in the
//! usual way, and [`update`] writes a changed document so that blocks that did not change keep their bytes.
//!
//! - Nothing is lost: what is not understood (tags and HTML that are not known, or half open) is text that is written
//!   as it was. A paragraph of that kind has the spelling `verbatim`.
//! - Where Markdown has several ways to say the same, the tree keeps the one that was used in fields named `spelling`,
//!   unless it is the usual one. A spelling never changes what is said: one that does not fit is passed over.
//! - A block's key is made of what it says, all blocks in it included: 16 characters of the hash, of equal blocks the
//!   second and later ones of the hash and a number. So editing a block changes the keys of it and of the blocks
//!   around it, and of no other.
//! - Reading is linear, and never fails. Blocks are read to a depth of 20 and to a number of 20,000; what goes beyond
//!   is kept as it is, and so is a block whose bytes would have to be taken apart too often, and blocks that together
//!   would take more than 20 times the bytes of the text as a tree. Any text may have some megabytes beside that, so
//!   that it takes thousands of the smallest blocks to come to it.
//! - What was read can be written, and reads the same again. Blocks that do not, beside those around them, are kept as
//!   they are, as one paragraph with what they are mistaken for; all others stay what they are.

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

/// A document that is none: a block or an element stands where it cannot.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Invalid {
    /// Where: `nodes[3].nodes[0]`.
    pub place: String,
    /// What is wrong there.
    pub message: String,
}

/// Reads Markdown. Front matter and the title of the page are not part of it.
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

/// Writes a document as Markdown, so that reading it gives the document.
///
/// # Errors
///
/// Names the first block that cannot stand where it stands, or whose data cannot be written.
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

/// Tells whether a document can be written.
///
/// # Errors
///
/// As [`print()`].
pub fn check(document: &Document) -> Result<(), Invalid> {
    print(document).map(|_| ())
}

/// What was written must read as the document.
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

/// Tells whether two documents say the same: keys, computed data and spellings are passed over, and so are paragraphs
/// without text.
#[must_use]
pub fn is_same(a: &Document, b: &Document) -> bool {
    normal::each_same(&normal::full(&a.nodes), &normal::full(&b.nodes), |a, b| normal::is_same(a, b))
}

/// Writes a new document in place of an old text. Blocks that say what they said keep their bytes, and those that say
/// something else the way in which they are written, as far as it can be kept; without a change the text is the old
/// one.
///
/// # Errors
///
/// As [`print()`].
pub fn update(old: &str, new: &Document) -> Result<String, Invalid> {
    source::update_closely(old, new)
}

/// The same for a text that was read, of which there has to be no more than what each of its blocks said; `None` where
/// what changed and what did not read as one, side by side.
///
/// # Errors
///
/// As [`print()`].
pub(crate) fn edited(
    read: (&Source<'_>, &str),
    before: &[String],
    new: &Document,
) -> Result<Option<String>, Invalid> {
    source::edited(read, before, new)
}

/// What each block of a document says: some characters that tell one from another.
pub(crate) fn said(document: &Document) -> Vec<String> {
    source::said(document)
}

/// Writes what readers are shown of a text in place of it. Blocks that say what they said keep their bytes, all others
/// are written anew: of what is left out nothing remains.
///
/// # Errors
///
/// As [`print()`].
pub fn update_blocks(old: &str, new: &Document) -> Result<String, Invalid> {
    source::update(old, new)
}

/// The text of a block by its key, cut to a preview; `None` when the text has no such block.
#[must_use]
pub fn block_text(markdown: &str, key: &str) -> Option<String> {
    block_texts(markdown, &BTreeSet::from([key])).remove(key)
}

/// The texts of blocks by their keys, cut to previews; those that are not there are left out. Reads the text once.
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

/// Takes back in `current` what was done to blocks since `base`: one that was added goes, one that was deleted comes
/// back, one that was changed or moved is as it was. All other blocks keep their bytes.
///
/// # Errors
///
/// Names the first key that is in neither text.
pub fn revert_blocks(current: &str, base: &str, keys: &[String]) -> Result<String, Invalid> {
    revert::revert(current, base, keys)
}

/// A text without the byte order marks at its beginning.
fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}
