//! What stands beside the API: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`. None of it asks for a token; a host
//! that must hide it mounts the API alone.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use poem::{
    Endpoint, IntoResponse as _, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};

use crate::{
    metrics::Metrics,
    representation::{Asked, Tagging},
    wire::{
        error::{ApiError, answer},
        reply::JSON,
    },
};

type Answering = Pin<Box<dyn Future<Output = docs_core::Result<()>> + Send>>;
type Probe = dyn Fn() -> Answering + Send + Sync;

/// Whether something is as it should be: asked by every `GET /healthz` or `GET /readyz`.
///
/// ```
/// use docs_http::HealthCheck;
/// let check = HealthCheck::new(|| async { Ok(()) });
/// # let _ = check;
/// ```
#[derive(Clone)]
pub struct HealthCheck(Arc<Probe>);

impl HealthCheck {
    /// A check. An error makes the answer a failure with its status and message, so that a load balancer looks
    /// elsewhere; [`Unavailable`](docs_core::ErrorKind::Unavailable) is the fitting one.
    pub fn new<F, O>(probe: F) -> Self
    where
        F: Fn() -> O + Send + Sync + 'static,
        O: Future<Output = docs_core::Result<()>> + Send + 'static,
    {
        Self(Arc::new(move || -> Answering { Box::pin(probe()) }))
    }
}

impl Default for HealthCheck {
    /// Well as soon as it answers at all.
    fn default() -> Self {
        Self::new(|| async { Ok(()) })
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HealthCheck")
    }
}

/// Answers a method that an endpoint has no answer of its own for: `OPTIONS` with what it allows, others with 405.
pub(crate) fn other_method(method: &Method, allow: HeaderValue) -> Response {
    if method == Method::OPTIONS {
        Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish()
    } else {
        ApiError::method_not_allowed(allow).into_response()
    }
}

/// An endpoint for reading: `GET`, and what follows from it. `HEAD` is what `GET` answers without its body; an endpoint
/// that looks at the method can save itself the body.
pub(crate) struct ReadOnly<E>(pub(crate) E);

impl<E: Endpoint<Output = Response>> Endpoint for ReadOnly<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let method = request.method().clone();
        if method != Method::GET && method != Method::HEAD {
            return Ok(other_method(&method, HeaderValue::from_static("GET, HEAD, OPTIONS")));
        }
        let asked = Asked::of(&request);
        let response = answer(self.0.call(request).await);
        let mut response = asked.represent(response, Tagging::Given).await;
        if method == Method::HEAD {
            response.set_body(());
        }
        Ok(response)
    }
}

/// `/healthz` and `/readyz`: `{"status":"ok"}`, or the failure that the check found.
pub(crate) struct Checked(pub(crate) HealthCheck);

impl Endpoint for Checked {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        (self.0.0)().await.map_err(ApiError::from)?;
        Ok(Response::builder().content_type(JSON).body(r#"{"status":"ok"}"#))
    }
}

/// `/metrics`.
pub(crate) struct Counters {
    pub(crate) metrics: Arc<Metrics>,
    /// What reads the numbers that nobody counts as they change.
    pub(crate) measure: HealthCheck,
}

impl Endpoint for Counters {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        // Where the store is away, what was counted is wanted most.
        if let Err(error) = (self.measure.0)().await {
            tracing::warn!(error = ?error, "some numbers cannot be measured");
        }
        let text = self.metrics.render();
        Ok(Response::builder().content_type("text/plain; version=0.0.4; charset=utf-8").body(text))
    }
}

/// Bytes that never change while the program runs, told apart from those of another version by their hash.
pub(crate) struct Fixed {
    bytes: Bytes,
    media_type: &'static str,
    tag: String,
}

impl Fixed {
    pub(crate) fn new(bytes: impl Into<Bytes>, media_type: &'static str) -> Self {
        let bytes = bytes.into();
        let tag = format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..32]);
        Self { bytes, media_type, tag }
    }
}

/// Tells whether the client has what this tag names already.
pub(crate) fn is_known(request: &Request, tag: &str) -> bool {
    // A list may be sent as several headers, too.
    let lists = request.headers().get_all(header::IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    let mut known = lists.flat_map(|list| list.split(',')).map(str::trim);
    known.any(|it| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag)
}

impl Endpoint for Fixed {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        let response =
            Response::builder().header(header::ETAG, &self.tag).header(header::CACHE_CONTROL, "no-cache");
        Ok(response.content_type(self.media_type).body(self.bytes.clone()))
    }
}
