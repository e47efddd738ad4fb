//! How long the text of a page may be.

/// Most bytes of the Markdown of a page or of a reusable content, in UTF-8. Front matter and title are not part of
/// it.
pub const MAX_PAGE_BYTES: usize = 1_000_000;

/// The text of a page or of a reusable content is too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be at most {MAX_PAGE_BYTES} bytes of Markdown, has {has}")]
pub struct PageTooLong {
    /// How many bytes it has.
    pub has: usize,
}

/// Checks the text of a page or of a reusable content.
///
/// # Errors
/// [`PageTooLong`] when it has more than [`MAX_PAGE_BYTES`].
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
