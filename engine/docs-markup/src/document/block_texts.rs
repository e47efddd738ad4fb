//! The text of individual blocks of a page.

use std::collections::{BTreeMap, BTreeSet};

use super::{source::parse, texts};

/// Returns the text of the block with the given key, truncated to a preview, or `None` if there is no such block.
#[must_use]
pub fn block_text(markdown: &str, key: &str) -> Option<String> {
    block_texts(markdown, &BTreeSet::from([key])).remove(key)
}

/// Returns the texts of the blocks with the given keys, truncated to previews. Missing blocks are omitted. The Markdown
/// is parsed once.
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
