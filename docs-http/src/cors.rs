//! Cross-origin resource sharing: which web pages of other origins may call the API.
//!
//! For a page of another origin, a browser first sends a preflight request without the token, and hides the response
//! from the page unless its origin is allowed. poem's `Cors` writes the headers, but it would reject every request with
//! an origin that is not allowed, including those of the application's own pages. Here such a request is answered
//! without the headers, and the browser hides the response.

use std::{fmt, str::FromStr, sync::Arc};

use poem::{
    Endpoint, EndpointExt, Middleware, Request, Response,
    http::{HeaderName, HeaderValue, Method, header},
    middleware::{Cors as PoemCors, CorsEndpoint},
};
use url::{Origin as UrlOrigin, Url};

use crate::{
    idempotency::REPLAYED_HEADER,
    middleware::REQUEST_ID,
    preference::APPLIED_HEADER,
    rate::{LIMIT, REMAINING, RESET},
    wire::{error::outcome_response, ignored},
};

/// Maximum age of a preflight response in a browser's cache: two hours, in seconds. This is the maximum that all
/// browsers honour.
const MAX_AGE: i32 = 7_200;

/// The methods of the API.
const ALLOWED_METHODS: [Method; 6] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The request headers that a page may set.
const REQUEST_HEADERS: [HeaderName; 7] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("prefer"),
    REQUEST_ID,
];

/// The response headers that a page may read, in addition to those that CORS always exposes.
const RESPONSE_HEADERS: [HeaderName; 13] = [
    header::LOCATION,
    header::LINK,
    header::ETAG,
    header::RETRY_AFTER,
    APPLIED_HEADER,
    header::CONTENT_DISPOSITION,
    REQUEST_ID,
    REPLAYED_HEADER,
    ignored::PARAMETERS_HEADER,
    ignored::FIELDS_HEADER,
    LIMIT,
    REMAINING,
    RESET,
];

/// The origins whose web pages may call the API.
///
/// # Example
///
/// ```
/// use docs_http::Cors;
///
/// let cors = Cors::from_origins(["https://docs.example.com".parse()?, "http://localhost:3000".parse()?]);
/// assert!("docs.example.com".parse::<docs_http::CorsOrigin>().is_err());
/// # let _ = cors;
/// # Ok::<(), docs_http::OriginError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cors(Vec<CorsOrigin>);

impl Cors {
    /// Allows the pages of these origins.
    #[must_use]
    pub fn from_origins(origins: impl IntoIterator<Item = CorsOrigin>) -> Self {
        Self(origins.into_iter().collect())
    }

    /// Allows pages of any origin. They still need a token, which browsers do not send automatically.
    #[must_use]
    pub fn any() -> Self {
        Self(vec![CorsOrigin(AllowedOrigin::Any)])
    }

    fn allows(&self, origin: &HeaderValue) -> bool {
        self.0.iter().any(|allowed| match &allowed.0 {
            AllowedOrigin::Any => true,
            AllowedOrigin::Origin(allowed) => allowed.as_bytes().eq_ignore_ascii_case(origin.as_bytes()),
        })
    }
}

/// An origin whose pages may call the API: scheme, host and port, such as `https://docs.example.com`; or `*` for any
/// origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CorsOrigin(AllowedOrigin);

#[derive(Clone, PartialEq, Eq, Debug)]
enum AllowedOrigin {
    Any,
    /// In the form that browsers send: lower case, without the default port of the scheme.
    Origin(String),
}

/// The error for a malformed origin.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not an origin; use a scheme and a host, like https://docs.example.com, or `*`")]
pub struct OriginError(String);

impl FromStr for CorsOrigin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let wrong = || OriginError(text.to_owned());
        if text == "*" {
            return Ok(Self(AllowedOrigin::Any));
        }
        let url = Url::parse(text).map_err(|_| wrong())?;
        let is_bare = url.username().is_empty() && url.password().is_none();
        // A host that contains a wildcard would match nothing.
        let has_star = url.host_str().is_some_and(|host| host.contains('*'));
        if !is_bare
            || has_star
            || url.query().is_some()
            || url.fragment().is_some()
            || !matches!(url.path(), "" | "/")
        {
            return Err(wrong());
        }
        match (url.origin(), url.host_str()) {
            (origin @ UrlOrigin::Tuple(..), _) => {
                Ok(Self(AllowedOrigin::Origin(origin.ascii_serialization())))
            }
            // Schemes of programs other than browsers, such as `app://localhost`.
            (UrlOrigin::Opaque(_), Some(host)) => {
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                Ok(Self(AllowedOrigin::Origin(format!(
                    "{}://{}{port}",
                    url.scheme(),
                    host.to_ascii_lowercase()
                ))))
            }
            (UrlOrigin::Opaque(_), None) => Err(wrong()),
        }
    }
}

impl fmt::Display for CorsOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            AllowedOrigin::Any => "*",
            AllowedOrigin::Origin(origin) => origin,
        })
    }
}

/// Wraps an endpoint so that pages of the allowed origins can call it.
pub(crate) struct CrossOriginEndpoint<E> {
    cors: Cors,
    /// The endpoint for requests from allowed origins.
    shared: CorsEndpoint<Arc<E>>,
    /// The endpoint for all other requests.
    inner: Arc<E>,
}

impl<E: Endpoint<Output = Response> + 'static> CrossOriginEndpoint<E> {
    pub(crate) fn new(cors: Cors, inner: E) -> Self {
        let inner = Arc::new(inner);
        let allowed = cors.clone();
        let middleware = PoemCors::new()
            .allow_origins_fn(move |origin| {
                HeaderValue::from_str(origin).is_ok_and(|origin| allowed.allows(&origin))
            })
            .allow_methods(ALLOWED_METHODS)
            .allow_headers(REQUEST_HEADERS)
            .expose_headers(RESPONSE_HEADERS)
            .max_age(MAX_AGE);
        Self { cors, shared: middleware.transform(Arc::clone(&inner)), inner }
    }

    /// Returns `true` for a request that a page of an allowed origin sends. `OPTIONS` counts only as a preflight
    /// request.
    fn is_allowed(&self, request: &Request) -> bool {
        let headers = request.headers();
        let is_plain_options = request.method() == Method::OPTIONS
            && !headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        !is_plain_options && headers.get(header::ORIGIN).is_some_and(|origin| self.cors.allows(origin))
    }
}

impl<E: Endpoint<Output = Response> + 'static> Endpoint for CrossOriginEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let mut response = if self.is_allowed(&request) {
            outcome_response(self.shared.call(request).await)
        } else {
            self.inner.get_response(request).await
        };
        // Caches must know that the response depends on the origin.
        let headers = response.headers_mut();
        if !headers.get_all(header::VARY).iter().any(|value| value.as_bytes().eq_ignore_ascii_case(b"origin"))
        {
            headers.append(header::VARY, HeaderValue::from_static("Origin"));
        }
        Ok(response)
    }
}

/// Wraps an endpoint if any origins are allowed.
pub(crate) fn with_cors<E>(cors: Option<Cors>, endpoint: E) -> poem::endpoint::BoxEndpoint<'static>
where
    E: Endpoint<Output = Response> + 'static,
{
    match cors {
        Some(cors) if !cors.0.is_empty() => CrossOriginEndpoint::new(cors, endpoint).boxed(),
        _ => endpoint.boxed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_normalized_to_the_form_browsers_send() {
        for (text, read) in [
            ("https://docs.example.com", "https://docs.example.com"),
            ("HTTPS://Docs.Example.com:443/", "https://docs.example.com"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("app://Localhost", "app://localhost"),
            ("*", "*"),
        ] {
            let origin: Result<CorsOrigin, _> = text.parse();
            assert_eq!(origin.map(|origin| origin.to_string()).as_deref(), Ok(read), "{text}");
        }
        for text in [
            "",
            "null",
            "docs.example.com",
            "https://",
            "https://a.example/path",
            "https://u@a.example",
            "https://a.example?x",
            "file:///tmp",
            "https://*.example.com",
            "mailto:a@b.example",
        ] {
            assert!(text.parse::<CorsOrigin>().is_err(), "{text}");
        }
    }
}
