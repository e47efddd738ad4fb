//! Conversion of store errors to operation errors.

use docs_model::error::{Error, ErrorKind};

use super::StoreError;

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let (kind, message) = match &error {
            StoreError::Conflict => {
                (ErrorKind::Unavailable, "too many changes to the same thing at once; try again")
            }
            StoreError::Unavailable(_) => {
                (ErrorKind::Unavailable, "the store cannot be used now; try again later")
            }
            StoreError::Unknown(_) => (
                ErrorKind::Unavailable,
                "it is not known whether the change was stored; look before trying again",
            ),
            StoreError::Exists(_) => (ErrorKind::Conflict, "this exists already"),
            StoreError::TooLarge(_) => (ErrorKind::TooLarge, "this is larger than the store accepts"),
            StoreError::Misuse(_) | StoreError::Corrupt(_) => {
                (ErrorKind::Internal, "the platform failed to do this; it has been logged")
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
    /// The underlying store error, if a store caused the failure.
    fn store(&self) -> Option<&StoreError>;
}

impl StoreFailure for Error {
    fn store(&self) -> Option<&StoreError> {
        std::error::Error::source(self)?.downcast_ref()
    }
}
