//! Failures of a store as errors of an operation.

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
    /// Only [`Error`](docs_model::error::Error) is an error of an operation.
    pub trait Sealed {}
    impl Sealed for docs_model::error::Error {}
}

/// An [`Error`] of which a store may be the cause. Nothing else implements it.
pub trait StoreFailure: sealed::Sealed {
    /// The store's own error, where that is what failed.
    fn store(&self) -> Option<&StoreError>;
}

impl StoreFailure for Error {
    fn store(&self) -> Option<&StoreError> {
        std::error::Error::source(self)?.downcast_ref()
    }
}
