//! What stands beside the API: `/healthz`, `/metrics`, `/openapi.json`. None of it asks for a token; a host that must
//! hide it mounts the API alone.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};

use crate::{
    metrics::Metrics,
    wire::{
        error::{ApiError, answer},
        reply::JSON,
    },
};

type Answering = Pin<Box<dyn Future<Output = docs_core::Result<()>> + Send>>;
type Probe = dyn Fn() -> Answering + Send + Sync;

/// Tells whether the platform can serve: asked by every `GET /healthz`.
///
/// ```
/// use docs_http::Readiness;
/// let readiness = Readiness::new(|| async { Ok(()) });
/// # let _ = readiness;
/// ```
#[derive(Clone)]
pub struct Readiness(Arc<Probe>);

impl Readiness {
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

impl Default for Readiness {
    /// Ready as soon as it answers at all.
    fn default() -> Self {
        Self::new(|| async { Ok(()) })
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readiness")
    }
}

/// An endpoint for reading: `GET`, and what follows from it. `HEAD` is what `GET` answers without its body; an endpoint
/// that looks at the method can save itself the body.
pub(crate) struct ReadOnly<E>(pub(crate) E);

impl<E: Endpoint<Output = Response>> Endpoint for ReadOnly<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let allow = HeaderValue::from_static("GET, HEAD, OPTIONS");
        let method = request.method().clone();
        if method == Method::OPTIONS {
            return Ok(Response::builder()
                .status(StatusCode::NO_CONTENT)
                .header(header::ALLOW, allow)
                .finish());
        }
        if method != Method::GET && method != Method::HEAD {
            return Err(ApiError::method_not_allowed(allow).into());
        }
        let mut response = answer(self.0.call(request).await);
        if method == Method::HEAD {
            response.set_body(());
        }
        Ok(response)
    }
}

/// `/healthz`: `{"status":"ok"}`, or the failure that the check found.
pub(crate) struct Health(pub(crate) Readiness);

impl Endpoint for Health {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        (self.0.0)().await.map_err(ApiError::from)?;
        Ok(Response::builder().content_type(JSON).body(r#"{"status":"ok"}"#))
    }
}

/// `/metrics`.
pub(crate) struct Counters(pub(crate) Arc<Metrics>);

impl Endpoint for Counters {
    type Output = Response;

    async fn call(&self, _: Request) -> poem::Result<Response> {
        Ok(Response::builder().content_type("text/plain; version=0.0.4; charset=utf-8").body(self.0.render()))
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

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let response =
            Response::builder().header(header::ETAG, &self.tag).header(header::CACHE_CONTROL, "no-cache");
        Ok(if is_known(&request, &self.tag) {
            response.status(StatusCode::NOT_MODIFIED).finish()
        } else {
            response.content_type(self.media_type).body(self.bytes.clone())
        })
    }
}
