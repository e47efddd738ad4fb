//! Why a server cannot start or go on.

use std::{error::Error, io};

use docs_core::ErrorKind;

/// Why a server cannot start or go on.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A flag has a value that cannot be used.
    #[error("{flag}: {why}")]
    Flag {
        /// The flag, as it is written.
        flag: &'static str,
        /// What is wrong with the value, and what would be right; never the value of a secret.
        why: String,
    },
    /// A flag needs a part that was left out when the program was built.
    #[error("{flag}: this program was built without the feature `{feature}`")]
    Feature {
        /// The flag, as it is written, with its value where that is what needs the feature.
        flag: &'static str,
        /// The feature of `docs-server`.
        feature: &'static str,
    },
    /// The address to listen on cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The platform refuses something.
    #[error(transparent)]
    Platform(#[from] docs_core::Error),
    /// Anything else.
    #[error(transparent)]
    Other(#[from] Box<dyn Error + Send + Sync>),
}

impl ServerError {
    /// A flag whose value cannot be used.
    pub(crate) fn flag(flag: &'static str, why: impl ToString) -> Self {
        Self::Flag { flag, why: why.to_string() }
    }

    /// Tells whether the sentence says all that helps: what the platform refuses has causes in the words of its store.
    pub(crate) fn says_all(&self) -> bool {
        let Self::Platform(error) = self else { return false };
        !matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable)
    }

    /// Anything else that fails.
    pub(crate) fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}
