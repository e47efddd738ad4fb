//! Updates of Markdown, and the texts of its blocks.

use std::collections::{BTreeMap, BTreeSet};

use docs_model::Document;

use super::{
    invalid::Invalid,
    print, revert,
    source::{Source, parse},
    texts, update as updates,
};

/// Writes a new document over an old text. Blocks with unchanged content keep their bytes, and changed blocks keep
/// their spelling as far as possible; without a change the old text is returned.
///
/// # Errors
///
/// The errors of [`print()`](super::print()).
pub fn update(old: &str, new: &Document) -> Result<String, Invalid> {
    updates::update_closely(old, new)
}

/// Updates a parsed text like [`update`], given only a fingerprint of each of its blocks; returns `None` if the changed
/// and the unchanged blocks next to each other do not parse to the document.
///
/// # Errors
///
/// The errors of [`print()`](super::print()).
pub(crate) fn edited(
    read: (&Source<'_>, &str),
    before: &[String],
    new: &Document,
) -> Result<Option<String>, Invalid> {
    updates::edited(read, before, new)
}

/// Returns a fingerprint of the content of each block, for comparing blocks.
pub(crate) fn said(document: &Document) -> Vec<String> {
    updates::said(document)
}

/// Writes the part of a text that readers can see over that text. Blocks with unchanged content keep their bytes, all
/// others are written from scratch: nothing of the omitted content remains.
///
/// If the document cannot be written as Markdown that parses to it, all blocks are written from scratch, and the plain
/// text of a block replaces one that cannot be written.
#[must_use]
pub fn update_blocks(old: &str, new: &Document) -> String {
    updates::update(old, new).unwrap_or_else(|_| print::readable(&new.nodes))
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
        block.visit(&mut |block| {
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
