//! Responses to errors, and to requests that are rejected before a site handles them.

use docs_core::{Error, ErrorKind};
use poem::{
    Response,
    http::{HeaderValue, Method, StatusCode, header},
};

use super::SiteServer;
use crate::{
    page::bare_page,
    request::SiteRequest,
    response::{self, CachePolicy, HTML, SiteResponse},
};

impl SiteServer {
    pub(super) fn refuse_method(&self, method: &Method) -> Response {
        let allow = HeaderValue::from_static("GET, HEAD, OPTIONS");
        let status =
            if method == Method::OPTIONS { StatusCode::NO_CONTENT } else { StatusCode::METHOD_NOT_ALLOWED };
        let mut response = Response::builder().status(status).header(header::ALLOW, allow).finish();
        response::set_security_headers(response.headers_mut(), &self.policy);
        response
    }

    /// Returns the response to a body that is too large or incomplete.
    pub(super) fn refuse_size(&self) -> Response {
        let mut response = Response::builder().status(StatusCode::PAYLOAD_TOO_LARGE).finish();
        response::set_security_headers(response.headers_mut(), &self.policy);
        response
    }

    /// Returns the response to an error. It contains no details meant only for operators.
    pub(super) async fn error_response(&self, asked: &SiteRequest<'_>, error: &Error) -> Response {
        let kind = error.kind();
        let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (title, text) = match kind {
            ErrorKind::NotFound => {
                ("Page not found", "This page does not exist, or you do not have access to it.".to_owned())
            }
            ErrorKind::Unauthenticated => {
                ("Not signed in", "Your sign-in to this site is not valid. Sign in again.".to_owned())
            }
            ErrorKind::Unavailable => {
                ("Not available", "The server is busy. Try again in a moment.".to_owned())
            }
            ErrorKind::Internal => {
                tracing::error!(?error, path = self.loggable_path(asked), "failed to render page");
                ("Something went wrong", "The page could not be shown.".to_owned())
            }
            _ => ("Invalid request", error.to_string()),
        };
        let mut response = SiteResponse::new(HTML, bare_page(title, &text), CachePolicy::NoStore)
            .with_status(status)
            .without_indexing()
            .send(asked, &self.policy)
            .await;
        if kind == ErrorKind::Unauthenticated {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if kind == ErrorKind::Unavailable {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
