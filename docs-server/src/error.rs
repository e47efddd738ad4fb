//! The error type of the server.

use std::{error::Error, io};

use docs_core::ErrorKind;

/// The reason that a server cannot start or continue.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A flag has an invalid value.
    #[error("{flag}: {why}")]
    Flag {
        /// Name of the flag, including its dashes.
        flag: &'static str,
        /// The problem with the value, and the correction. It never contains a secret.
        why: String,
    },
    /// A flag requires a feature that was disabled at build time.
    #[error("{flag}: this program was built without the feature `{feature}`")]
    Feature {
        /// Name of the flag, with its value if only that value requires the feature.
        flag: &'static str,
        /// The required feature of `docs-server`.
        feature: &'static str,
    },
    /// The server cannot listen on an address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: String,
        /// The error reported by the operating system.
        source: io::Error,
    },
    /// The platform returned an error.
    #[error(transparent)]
    Platform(#[from] docs_core::Error),
    /// Any other error.
    #[error(transparent)]
    Other(#[from] Box<dyn Error + Send + Sync>),
}

impl ServerError {
    /// Creates an error for a flag with an invalid value.
    pub(crate) fn for_flag(flag: &'static str, why: impl ToString) -> Self {
        Self::Flag { flag, why: why.to_string() }
    }

    /// Returns `true` if the message is self-contained. Otherwise the error's sources, such as a store error, add
    /// details.
    pub(crate) fn is_complete(&self) -> bool {
        let Self::Platform(error) = self else { return false };
        !matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable)
    }

    /// Creates an error from any other error.
    pub(crate) fn from_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}
