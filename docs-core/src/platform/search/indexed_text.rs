//! The text of a page in the index.

use crate::{
    Error, Result,
    content::{PageEntry, PageKind},
    store::Hash,
};

/// Returns `true` if the page is indexed.
pub(super) fn is_indexed(entry: &PageEntry) -> bool {
    entry.kind == PageKind::Document && !entry.no_index
}

/// Returns the hash of a page's text.
pub(super) fn text_hash(entry: &PageEntry) -> Result<Hash> {
    let text = match entry.expansions {
        None => serde_json::to_vec(&entry.body),
        Some(expansions) => serde_json::to_vec(&(&entry.body, expansions)),
    };
    Ok(Hash::compute(&text.map_err(Error::internal)?))
}
