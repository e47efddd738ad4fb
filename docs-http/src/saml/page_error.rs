//! The refusal of a sign-in.

use docs_core::{Error, ErrorKind};
use poem::http::StatusCode;

use crate::wire::error::ApiError;

/// The reason of a refused sign-in.
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
        // A 401 requires a challenge, which a page is not.
        if error.kind() == ErrorKind::Unauthenticated {
            return Self::new(StatusCode::FORBIDDEN, error.message());
        }
        let error = ApiError::from(error);
        Self::new(error.status(), error.message())
    }
}
