//! Conversion of SQLite errors to store errors.

use docs_store::StoreError;
use rusqlite::{Error, ErrorCode};

/// The error of work on a connection.
#[derive(Debug)]
pub(super) enum Failure {
    /// An SQLite error that has not been converted.
    Sqlite(Error),
    Store(StoreError),
}

/// The result of work on a connection.
pub(super) type ConnectionResult<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Failure {
    /// Creates the failure for an error of the `COMMIT` statement itself.
    ///
    /// After a disk error, the commit may have been written without confirmation. A crash at this point would restore
    /// it; otherwise the next commit overwrites it.
    pub(super) fn from_commit(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::SystemIoFailure) => {
                Self::Store(StoreError::Unknown(format!("{error}; check the disk and the system log")))
            }
            _ => Self::Sqlite(error),
        }
    }

    /// Returns `true` if the connection must not be reused.
    pub(super) fn is_fatal(&self) -> bool {
        match self {
            Self::Store(error) => matches!(error, StoreError::Unknown(_)),
            Self::Sqlite(error) => !matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::DatabaseBusy
                        | ErrorCode::DatabaseLocked
                        | ErrorCode::DiskFull
                        | ErrorCode::TooBig
                        | ErrorCode::ConstraintViolation
                )
            ),
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        let error = match failure {
            Failure::Store(error) => return error,
            Failure::Sqlite(error) => error,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::TooBig) => Self::TooLarge("a value exceeds the size limit of SQLite"),
            Some(code) => match advice(code) {
                Some(advice) => Self::Unavailable(format!("{error}: {advice}")),
                None => Self::Corrupt(format!("{error}: {DAMAGED_ADVICE}")),
            },
            None => Self::Corrupt(format!("{error}: {DAMAGED_ADVICE}")),
        }
    }
}

const DAMAGED_ADVICE: &str = "the file was altered by another program or is damaged; stop the program, keep a copy \
                       of the file and its -wal, run `PRAGMA integrity_check` in the sqlite3 shell, and \
                       restore a backup if it reports errors";

/// Returns the remedy for a transient failure, or `None` for a permanent one.
pub(super) fn advice(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::DiskFull => "the disk is full; free some space, no restart is needed",
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            "another program has locked the database; if this persists, end the program with the open \
             transaction"
        }
        ErrorCode::ReadOnly => "the program needs write access to the file and to its folder",
        ErrorCode::SystemIoFailure => "the disk failed; check the disk and the system log",
        ErrorCode::CannotOpen => {
            "the file cannot be opened; check that it exists, that the program can read and write it and \
             its folder, and the limit of open files (`ulimit -n`)"
        }
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            "the program needs permission to read and write the file and its folder"
        }
        ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport => {
            "the file system does not support the file locks of SQLite; move the file to a local disk"
        }
        ErrorCode::OutOfMemory => "the machine is out of memory; give the program more",
        ErrorCode::OperationInterrupted | ErrorCode::OperationAborted | ErrorCode::SchemaChanged => {
            "try again"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(code: i32) -> Error {
        Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn transient_errors_are_unavailable_with_advice() {
        for code in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_NOMEM,
            ffi::SQLITE_PROTOCOL,
        ] {
            let told = StoreError::from(Failure::from(failure(code)));
            assert!(matches!(&told, StoreError::Unavailable(text) if text.len() > 40), "{told:?}");
        }
    }

    #[test]
    fn database_damage_is_reported_as_corrupt() {
        for code in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_ERROR] {
            let told = StoreError::from(Failure::from(failure(code)));
            assert!(matches!(told, StoreError::Corrupt(_)), "{told:?}");
        }
    }

    #[test]
    fn failed_fsync_at_commit_is_an_unknown_outcome() {
        let told = |code| StoreError::from(Failure::from_commit(failure(code)));
        assert!(matches!(told(ffi::SQLITE_IOERR_FSYNC), StoreError::Unknown(_)));
        assert!(matches!(told(ffi::SQLITE_FULL), StoreError::Unavailable(_)));
        assert!(matches!(told(ffi::SQLITE_BUSY), StoreError::Unavailable(_)));
    }

    #[test]
    fn only_fatal_errors_discard_the_connection() {
        for (code, spoils) in [
            (ffi::SQLITE_FULL, false),
            (ffi::SQLITE_BUSY, false),
            (ffi::SQLITE_IOERR_SHMMAP, true),
            (ffi::SQLITE_CORRUPT, true),
        ] {
            assert_eq!(Failure::from(failure(code)).is_fatal(), spoils, "{code}");
        }
    }
}
