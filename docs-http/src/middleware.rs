//! Middleware for every request.
//!
//! - Every request has an id: its `X-Request-Id` if that is a plain name, otherwise a new one. The response and all log
//!   entries of the request contain it.
//! - Panics and remaining errors become JSON error responses.
//! - Responses have `Cache-Control: no-store` unless they set the header themselves, because they depend on the caller
//!   and may be confidential.
//! - A 401 response contains the challenge ([`Authenticator::challenge`](crate::auth::Authenticator::challenge)).
//! - One log line per request contains method, path, operation, status and duration. The query and headers are omitted,
//!   because they may contain secrets.
//!
//! [`HttpConfig::cors`](crate::HttpConfig::cors) wraps this layer.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use docs_core::ports::{Ids, id_text};
use futures_util::FutureExt;
use poem::{
    Endpoint, Request, Response,
    http::{HeaderName, HeaderValue, Method, header},
};
use poem_openapi::OperationId;
use tracing::Instrument;

use crate::{
    openapi::{known_methods, panic_error},
    wire::error::{UsualChallenge, outcome_response},
};

/// The header of the request id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum number of characters of an id provided by the client.
const MAX_ID_CHARS: usize = 128;

/// The outermost endpoint.
pub(crate) struct RequestLayer<E> {
    inner: E,
    ids: Arc<dyn Ids>,
    challenge: HeaderValue,
}

impl<E> RequestLayer<E> {
    pub(crate) fn new(inner: E, ids: Arc<dyn Ids>, challenge: HeaderValue) -> Self {
        Self { inner, ids, challenge }
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for RequestLayer<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let id = client_request_id(&request).unwrap_or_else(|| id_text(self.ids.next()));
        let span = tracing::info_span!(
            "request",
            request.id = %id,
            http.method = %request.method(),
            http.path = loggable_path(request.uri().path()),
        );
        let mut response = self.handle(request).instrument(span).await;
        let says_usual = response.data::<UsualChallenge>().is_some();
        let headers = response.headers_mut();
        if says_usual && let Some(challenge) = headers.get_mut(header::WWW_AUTHENTICATE) {
            *challenge = self.challenge.clone();
        }
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Ok(response)
    }
}

impl<E: Endpoint<Output = Response>> RequestLayer<E> {
    async fn handle(&self, mut request: Request) -> Response {
        // No path implements TRACE, so it is rejected with the list of allowed methods. Unknown methods are handled
        // like TRACE.
        if !known_methods().contains(request.method()) {
            request.set_method(Method::TRACE);
        }
        let since = Instant::now();
        let outcome = AssertUnwindSafe(self.inner.call(request)).catch_unwind().await;
        let response = outcome_response(
            outcome.unwrap_or_else(|panic| Err(panic_error("a request", panic.as_ref()).into())),
        );
        tracing::info!(
            operation = response.data::<OperationId>().map_or("-", |id| id.0),
            http.status = response.status().as_u16(),
            duration.ms = since.elapsed().as_secs_f64() * 1000.0,
            "request answered"
        );
        response
    }
}

/// Returns the id provided by the client if it is safe to log.
fn client_request_id(request: &Request) -> Option<String> {
    let id = request.header(REQUEST_ID)?;
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
    (is_plain && !id.is_empty() && id.len() <= MAX_ID_CHARS).then(|| id.to_owned())
}

/// Returns the path for the log. A file URL grants access to the file, so it is not logged.
fn loggable_path(path: &str) -> &str {
    match path.find("/files/") {
        Some(at) if !path.contains("/v1/") => &path[..at + "/files/".len()],
        _ => path,
    }
}
