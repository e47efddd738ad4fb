//! Why a content operation failed.

use docs_model::{check_page_size, error::Error};
use docs_store::{Hash, StoreError};

/// Why a content operation failed.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContentError {
    /// The object store failed; nothing refers to what was written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An object is not in this domain: it was never stored, or it was collected as garbage.
    #[error("the content `{0}` does not exist")]
    NotFound(Hash),
    /// The caller asked for something that cannot be.
    #[error("change {index}: `{field}` {message}")]
    Invalid {
        /// Which of the edits or imported items, counted from 0.
        index: usize,
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it, as the end of a sentence that starts with the field.
        message: String,
    },
    /// The result of a merge would exceed a bound of content.
    #[error("the merged content {0}")]
    TooLarge(String),
    /// Stored content breaks its own rules.
    #[error("stored content is damaged: {0}")]
    Corrupt(String),
}

impl ContentError {
    /// The same error, told of another item of the batch.
    #[must_use]
    pub(crate) fn at(self, position: usize) -> Self {
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
            ContentError::TooLarge(_) => {
                Self::conflict(format!("{error}; make it smaller, then merge again"))
            }
            // An object that a living record refers to is missing, or breaks its form: never the caller's doing.
            other => Self::internal(other),
        }
    }
}

/// Refuses a text that is too long for a page or a reusable content.
pub(crate) fn check_text(text: &str) -> Result<(), ContentError> {
    check_page_size(text).map_err(|error| invalid("document", error.to_string()))
}

/// What a content operation answers.
pub type ContentResult<T> = Result<T, ContentError>;

/// A refusal whose place in the batch is not known yet; [`ContentError::at`] sets it.
pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> ContentError {
    ContentError::Invalid { index: 0, field, message: message.into() }
}
