//! What goes wrong in the file of an index, and what it means.

use docs_ports::SearchError;
use rusqlite::{Error, ErrorCode, types::FromSqlError};

/// A failure on the way to the caller.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// SQLite failed.
    #[error(transparent)]
    Sqlite(#[from] Error),
    /// The file does not hold what an index writes.
    #[error("{0}")]
    Damaged(String),
    /// The file is not the one any more that was to be read.
    #[error("it is just being made anew")]
    Replaced,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// Something in the file is not what an index writes.
    pub(crate) fn damaged(what: impl ToString) -> Self {
        Self::Damaged(what.to_string())
    }

    /// Tells whether the file has to be made anew. Otherwise it may be used again once its surroundings are well: there
    /// is room on the disk, the file may be read.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Replaced => false,
            Self::Sqlite(error) => match error.sqlite_error_code() {
                // `Unknown` is an error in a statement: a table or a column is missing. A constraint that is not met
                // tells that tables contradict each other.
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
        Self::damaged(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::damaged(error)
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
    fn only_what_the_file_holds_is_damage_and_not_what_happens_around_it() {
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
