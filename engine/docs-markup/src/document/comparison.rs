//! Comparison of documents.

use docs_model::Document;

use super::normalize;

/// Returns `true` if two documents have the same content. Keys, computed data, spellings and paragraphs without text
/// are ignored.
#[must_use]
pub fn is_same(a: &Document, b: &Document) -> bool {
    normalize::each_same(
        &normalize::non_empty_blocks(&a.nodes),
        &normalize::non_empty_blocks(&b.nodes),
        |a, b| normalize::is_same(a, b),
    )
}
