//! Errors of content operations.

use docs_model::{check_page_size, error::Error};
use docs_store::{Hash, StoreError};

/// The error of a content operation.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContentError {
    /// The object store failed. Objects already written are unreferenced.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An object is not in this domain: it was never stored, or it was garbage-collected.
    #[error("the content `{0}` does not exist")]
    NotFound(Hash),
    /// The request is invalid.
    #[error("change {index}: `{field}` {message}")]
    Invalid {
        /// The index of the edit or imported item, counted from 0.
        index: usize,
        field: &'static str,
        /// The reason, as the end of a sentence that starts with the field.
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
    /// Returns the error with the position of its item in the batch.
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
            // An object that a live record references is missing or malformed: never the caller's fault.
            other => Self::internal(other),
        }
    }
}

/// Rejects a text that is too long for a page or a reusable content.
pub(crate) fn check_text(text: &str) -> Result<(), ContentError> {
    check_page_size(text).map_err(|error| invalid("document", error.to_string()))
}

/// The result of a content operation.
pub type ContentResult<T> = Result<T, ContentError>;

/// Creates an error without a position in the batch; [`ContentError::at_index`] sets it.
pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> ContentError {
    ContentError::Invalid { index: 0, field, message: message.into() }
}
