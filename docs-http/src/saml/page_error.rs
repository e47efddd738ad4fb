//! Errors of SAML sign-in pages.

use docs_core::{Error, ErrorKind};
use poem::http::StatusCode;

use crate::wire::error::ApiError;

/// The reason that a sign-in was refused.
#[derive(Debug)]
pub(crate) struct SamlPageError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl SamlPageError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl From<Error> for SamlPageError {
    fn from(error: Error) -> Self {
        // A 401 response requires a challenge, which does not apply to a page.
        if error.kind() == ErrorKind::Unauthenticated {
            return Self::new(StatusCode::FORBIDDEN, error.message());
        }
        let error = ApiError::from(error);
        Self::new(error.status(), error.message())
    }
}
