//! Conversion of store errors to operation errors.

use docs_model::error::{Error, ErrorKind};

use super::StoreError;

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let (kind, message) = match &error {
            StoreError::Conflict => {
                (ErrorKind::Unavailable, "too many concurrent changes of the same resource; try again")
            }
            StoreError::Unavailable(_) => {
                (ErrorKind::Unavailable, "the store is unavailable; try again later")
            }
            StoreError::Unknown(_) => (
                ErrorKind::Unavailable,
                "the outcome of the change is unknown; read the current state before you try again",
            ),
            StoreError::Exists(_) => (ErrorKind::Conflict, "the resource already exists"),
            StoreError::TooLarge(_) => (ErrorKind::TooLarge, "the change exceeds the limits of the store"),
            StoreError::Misuse(_) | StoreError::Corrupt(_) => {
                (ErrorKind::Internal, "an internal error occurred; see the log of the server")
            }
        };
        Self::new(kind, message).caused_by(error)
    }
}

mod sealed {
    /// Restricts the trait to [`Error`](docs_model::error::Error).
    pub trait Sealed {}
    impl Sealed for docs_model::error::Error {}
}

/// Access to the store error that caused an [`Error`]. Implemented only for [`Error`].
pub trait StoreFailure: sealed::Sealed {
    /// Returns the underlying store error, if a store caused the failure.
    fn store(&self) -> Option<&StoreError>;
}

impl StoreFailure for Error {
    fn store(&self) -> Option<&StoreError> {
        std::error::Error::source(self)?.downcast_ref()
    }
}
