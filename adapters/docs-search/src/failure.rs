//! Errors of an index file, and their classification.

use docs_ports::SearchError;
use rusqlite::{Error, ErrorCode, types::FromSqlError};

/// An internal error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Sqlite(#[from] Error),
    /// The content of the file is invalid.
    #[error("{0}")]
    Damaged(String),
    /// The file was replaced while it was being read.
    #[error("the index is being rebuilt")]
    Replaced,
}

pub(crate) type IndexResult<T> = Result<T, Failure>;

impl Failure {
    /// Returns a failure for invalid content.
    pub(crate) fn invalid_content(what: impl ToString) -> Self {
        Self::Damaged(what.to_string())
    }

    /// Returns `true` if the file must be rebuilt. Other failures are temporary, for example a full disk or missing
    /// permissions.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Replaced => false,
            Self::Sqlite(error) => match error.sqlite_error_code() {
                // `Unknown` is an error in a statement, such as a missing table or column. A violated constraint means
                // that tables are inconsistent.
                Some(
                    ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
                    | ErrorCode::Unknown,
                )
                | None => true,
                Some(_) => false,
            },
        }
    }
}

impl From<FromSqlError> for Failure {
    fn from(error: FromSqlError) -> Self {
        Self::invalid_content(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::invalid_content(error)
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
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn only_invalid_file_content_is_damage() {
        for (code, is_damage) in [
            (ffi::SQLITE_CORRUPT, true),
            (ffi::SQLITE_CORRUPT_INDEX, true),
            (ffi::SQLITE_NOTADB, true),
            (ffi::SQLITE_ERROR, true),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, true),
            (ffi::SQLITE_FULL, false),
            (ffi::SQLITE_BUSY, false),
            (ffi::SQLITE_READONLY, false),
            (ffi::SQLITE_CANTOPEN, false),
            (ffi::SQLITE_IOERR_READ, false),
            (ffi::SQLITE_NOMEM, false),
        ] {
            let failure = Failure::from(Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!(failure.is_damage(), is_damage, "{failure}");
        }
        assert!(Failure::from(Error::InvalidColumnIndex(7)).is_damage());
    }
}
