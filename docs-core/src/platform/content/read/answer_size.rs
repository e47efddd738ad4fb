//! Estimates of the memory of large responses.

use crate::{
    Result,
    content::{PageTree, TreePage},
    platform::content::files::Bearer,
};

/// Number of items up to which a response is small. Handing smaller work to another thread would take longer.
pub(super) const INLINE_ITEMS: usize = 200;
/// Estimated size of an item of a large response while it is built, in bytes.
const ITEM_BYTES: usize = 2_048;
/// Estimated size of the variables of pages and of their JSON per byte of their stored JSON.
const VARIABLE_BYTES: usize = 16;
/// Size of a text from which a response that parses it waits for memory and a permit, in bytes.
const LARGE_TEXT: usize = 64 << 10;
/// Estimated size of a document and of its JSON per byte of its text, in bytes.
const DOCUMENT_BYTES: usize = 32;

/// The estimated memory of a response while it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerSize {
    bytes: usize,
}

impl AnswerSize {
    /// Returns the size of a response with a number of items, such as pages.
    pub(super) const fn from_items(items: usize) -> Self {
        Self { bytes: items.saturating_mul(ITEM_BYTES) }
    }

    /// Returns the size of a response with all pages of a tree, with or without their variables.
    pub(super) fn from_pages(tree: &PageTree, variables: bool) -> Self {
        Self::from_items(0).with_pages(tree.pages().iter(), variables)
    }

    /// Adds a number of items.
    pub(super) const fn with_items(self, items: usize) -> Self {
        Self { bytes: self.bytes.saturating_add(Self::from_items(items).bytes) }
    }

    /// Adds pages without their texts, with or without their variables.
    pub(super) fn with_pages<'t>(self, pages: impl Iterator<Item = &'t TreePage>, variables: bool) -> Self {
        pages.fold(self, |size, page| {
            let variables = if variables { page.entry.variables.bytes() } else { 0 };
            let bytes = size.bytes.saturating_add(variables.saturating_mul(VARIABLE_BYTES));
            Self { bytes }.with_items(1)
        })
    }

    /// Returns the size of a response with the document of a text of a number of bytes, which is 0 for a short text.
    pub(super) const fn from_document(text: usize) -> Self {
        if text < LARGE_TEXT { Self::from_items(0) } else { Self::from_text(text) }
    }

    /// Returns the size of a response with a document that is parsed from a text of a number of bytes.
    pub(super) const fn from_text(bytes: usize) -> Self {
        Self { bytes: bytes.saturating_mul(DOCUMENT_BYTES) }
    }

    /// Adds the URLs of files.
    pub(super) fn with_files(self, files: usize, bearer: &Bearer) -> Result<Self> {
        let urls = files.saturating_mul(bearer.url_bytes()?);
        Ok(Self { bytes: self.bytes.saturating_add(urls) })
    }

    pub(super) const fn bytes(self) -> usize {
        self.bytes
    }

    /// Returns `true` if the response is built without waiting for memory or a permit.
    pub(super) const fn is_small(self) -> bool {
        self.bytes <= Self::from_items(INLINE_ITEMS).bytes
    }
}
