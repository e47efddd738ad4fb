//! Errors of an index folder, and their classification.

use std::{io, sync::Arc};

use docs_ports::SearchError;
use tantivy::{
    TantivyError,
    directory::error::{OpenDirectoryError, OpenReadError, OpenWriteError},
};

/// An internal error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Engine(#[from] TantivyError),
    /// The content of the folder is invalid.
    #[error("{0}")]
    Damaged(String),
    /// The folder was cleared while it was being read.
    #[error("the index is being rebuilt")]
    Replaced,
}

pub(crate) type IndexResult<T> = Result<T, Failure>;

impl Failure {
    /// Returns a failure for invalid content.
    pub(crate) fn invalid_content(what: impl ToString) -> Self {
        Self::Damaged(what.to_string())
    }

    /// Returns `true` if the folder must be cleared. Other failures are temporary, for example a full disk or missing
    /// permissions.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Replaced => false,
            Self::Engine(error) => is_damage(error),
        }
    }
}

fn is_damage(error: &TantivyError) -> bool {
    let is_invalid = |error: &Arc<io::Error>| {
        matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput
        )
    };
    match error {
        TantivyError::IoError(error)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. }) => is_invalid(error),
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { .. })
        | TantivyError::LockFailure(..)
        | TantivyError::SystemError(_)
        | TantivyError::ErrorInThread(_) => false,
        _ => true,
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Engine(error.into())
    }
}

impl From<Failure> for SearchError {
    fn from(failure: Failure) -> Self {
        if failure.is_damage() {
            Self::Damaged(failure.to_string())
        } else {
            Self::Unavailable(failure.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_invalid_content_is_damage() {
        for (kind, is_damage) in [
            (io::ErrorKind::InvalidData, true),
            (io::ErrorKind::UnexpectedEof, true),
            (io::ErrorKind::StorageFull, false),
            (io::ErrorKind::PermissionDenied, false),
            (io::ErrorKind::Interrupted, false),
        ] {
            assert_eq!(Failure::from(io::Error::from(kind)).is_damage(), is_damage, "{kind}");
        }
        assert!(Failure::from(TantivyError::SchemaError(String::new())).is_damage());
        assert!(!Failure::from(TantivyError::ErrorInThread(String::new())).is_damage());
    }
}
