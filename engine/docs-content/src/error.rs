//! Errors of content operations.

use docs_model::{check_page_size, error::Error};
use docs_store::{Hash, StoreError};

/// The error of a content operation.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContentError {
    /// The object store failed. Objects that were already written are unreferenced.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An object is missing in this domain: it was never stored, or it was garbage-collected.
    #[error("the content `{0}` does not exist")]
    NotFound(Hash),
    /// The request is invalid.
    #[error("change {index}: `{field}` {message}")]
    Invalid {
        /// The zero-based index of the edit or import item.
        index: usize,
        field: &'static str,
        /// The reason. It completes a sentence that begins with the field.
        message: String,
    },
    /// The result of a merge would exceed a content limit.
    #[error("the merged content {0}")]
    TooLarge(String),
    /// Stored content violates its invariants.
    #[error("stored content is damaged: {0}")]
    Corrupt(String),
}

impl ContentError {
    /// Sets the index of the item in the batch.
    #[must_use]
    pub(crate) fn at_index(self, position: usize) -> Self {
        match self {
            Self::Invalid { field, message, .. } => Self::Invalid { index: position, field, message },
            other => other,
        }
    }
}

impl From<ContentError> for Error {
    fn from(error: ContentError) -> Self {
        match error {
            ContentError::Store(error) => error.into(),
            ContentError::Invalid { index, field, message } => {
                Self::invalid(&format!("changes[{index}].{field}"), message)
            }
            ContentError::TooLarge(_) => Self::conflict(format!("{error}; reduce it, then merge again")),
            // A missing or malformed object that a record references is never the fault of the caller.
            other => Self::internal(other),
        }
    }
}

/// Rejects text that is too long for a page or a reusable content block.
pub(crate) fn check_text(text: &str) -> Result<(), ContentError> {
    check_page_size(text).map_err(|error| invalid("document", error.to_string()))
}

/// The result of a content operation.
pub type ContentResult<T> = Result<T, ContentError>;

/// Creates an error without an index. [`ContentError::at_index`] sets the index later.
pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> ContentError {
    ContentError::Invalid { index: 0, field, message: message.into() }
}
