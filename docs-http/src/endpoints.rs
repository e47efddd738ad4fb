//! Endpoints next to the API: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`. They require no token. An application
//! that must hide them mounts the API alone.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use poem::{
    Endpoint, IntoResponse as _, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};

use crate::{
    metrics::Metrics,
    representation::{RequestConditions, TagPolicy},
    wire::{
        error::{ApiError, outcome_response},
        reply::JSON,
    },
};

type ProbeFuture = Pin<Box<dyn Future<Output = docs_core::Result<()>> + Send>>;
type Probe = dyn Fn() -> ProbeFuture + Send + Sync;

/// A health check, run on every `GET /healthz` or `GET /readyz`.
///
/// ```
/// use docs_http::HealthCheck;
/// let check = HealthCheck::new(|| async { Ok(()) });
/// # let _ = check;
/// ```
#[derive(Clone)]
pub struct HealthCheck(Arc<Probe>);

impl HealthCheck {
    /// Creates a check. Its error determines the status and message of the response, so that a load balancer selects
    /// another server. The recommended error kind is [`Unavailable`](docs_core::ErrorKind::Unavailable).
    pub fn new<F, O>(probe: F) -> Self
    where
        F: Fn() -> O + Send + Sync + 'static,
        O: Future<Output = docs_core::Result<()>> + Send + 'static,
    {
        Self(Arc::new(move || -> ProbeFuture { Box::pin(probe()) }))
    }
}

impl Default for HealthCheck {
    /// A check that always succeeds.
    fn default() -> Self {
        Self::new(|| async { Ok(()) })
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HealthCheck")
    }
}

/// Responds to a method that an endpoint does not implement: `OPTIONS` returns the allowed methods, all others 405.
pub(crate) fn method_response(method: &Method, allow: HeaderValue) -> Response {
    if method == Method::OPTIONS {
        Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish()
    } else {
        ApiError::method_not_allowed(allow).into_response()
    }
}

/// Wraps a read-only endpoint: `GET`, `HEAD` and `OPTIONS`. `HEAD` runs `GET` and drops the body; the inner endpoint
/// may check the method to skip producing it.
pub(crate) struct ReadOnly<E>(pub(crate) E);

impl<E: Endpoint<Output = Response>> Endpoint for ReadOnly<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let method = request.method().clone();
        if method != Method::GET && method != Method::HEAD {
            return Ok(method_response(&method, HeaderValue::from_static("GET, HEAD, OPTIONS")));
        }
        let asked = RequestConditions::from_request(&request);
        let response = outcome_response(self.0.call(request).await);
        let mut response = asked.represent(response, TagPolicy::Existing).await;
        if method == Method::HEAD {
            response.set_body(());
        }
        Ok(response)
    }
}

/// `/healthz` and `/readyz`: `{"status":"ok"}`, or the error of the check.
pub(crate) struct HealthEndpoint(pub(crate) HealthCheck);

impl Endpoint for HealthEndpoint {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        (self.0.0)().await.map_err(ApiError::from)?;
        Ok(Response::builder().content_type(JSON).body(r#"{"status":"ok"}"#))
    }
}

/// `/metrics`.
pub(crate) struct MetricsEndpoint {
    pub(crate) metrics: Arc<Metrics>,
    /// Updates the gauges that are computed on demand.
    pub(crate) measure: HealthCheck,
}

impl Endpoint for MetricsEndpoint {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        // Render the counters even if this fails: they matter most while the store is unavailable.
        if let Err(error) = (self.measure.0)().await {
            tracing::warn!(error = ?error, "failed to measure some metrics");
        }
        let text = self.metrics.render();
        Ok(Response::builder().content_type("text/plain; version=0.0.4; charset=utf-8").body(text))
    }
}

/// Serves constant bytes, with a hash as their ETag.
pub(crate) struct StaticEndpoint {
    bytes: Bytes,
    media_type: &'static str,
    tag: String,
}

impl StaticEndpoint {
    pub(crate) fn new(bytes: impl Into<Bytes>, media_type: &'static str) -> Self {
        let bytes = bytes.into();
        let tag = format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..32]);
        Self { bytes, media_type, tag }
    }
}

/// Returns `true` if the client has cached the state with this tag.
pub(crate) fn is_not_modified(request: &Request, tag: &str) -> bool {
    // A list may be split over several header lines.
    let lists = request.headers().get_all(header::IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    let mut known = lists.flat_map(|list| list.split(',')).map(str::trim);
    known.any(|it| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag)
}

impl Endpoint for StaticEndpoint {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        let response =
            Response::builder().header(header::ETAG, &self.tag).header(header::CACHE_CONTROL, "no-cache");
        Ok(response.content_type(self.media_type).body(self.bytes.clone()))
    }
}
