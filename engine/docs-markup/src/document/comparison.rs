//! Comparison of documents.

use docs_model::Document;

use super::normal;

/// Returns `true` if two documents have the same content: keys, computed data, spellings and paragraphs without text
/// are ignored.
#[must_use]
pub fn is_same(a: &Document, b: &Document) -> bool {
    normal::each_same(&normal::full(&a.nodes), &normal::full(&b.nodes), |a, b| normal::is_same(a, b))
}
