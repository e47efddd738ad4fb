//! The size limit of page content.

/// Maximum size of the Markdown of a page or a reusable content block, in UTF-8 bytes. Front matter and title are
/// excluded.
pub const MAX_PAGE_BYTES: usize = 1_000_000;

/// The error for page content larger than [`MAX_PAGE_BYTES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be at most {MAX_PAGE_BYTES} bytes of Markdown, has {has}")]
pub struct PageTooLong {
    /// The size of the content in bytes.
    pub has: usize,
}

/// Checks the Markdown size of a page or a reusable content block.
///
/// # Errors
/// [`PageTooLong`] if the Markdown is larger than [`MAX_PAGE_BYTES`] (1,000,000 bytes).
///
/// # Example
/// ```
/// use docs_model::{MAX_PAGE_BYTES, check_page_size};
///
/// assert!(check_page_size(&"a".repeat(MAX_PAGE_BYTES)).is_ok());
/// let error = check_page_size(&"a".repeat(MAX_PAGE_BYTES + 1)).unwrap_err();
/// assert_eq!(error.to_string(), "must be at most 1000000 bytes of Markdown, has 1000001");
/// ```
pub const fn check_page_size(markdown: &str) -> Result<(), PageTooLong> {
    if markdown.len() <= MAX_PAGE_BYTES { Ok(()) } else { Err(PageTooLong { has: markdown.len() }) }
}
