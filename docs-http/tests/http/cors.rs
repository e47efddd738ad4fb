//! Cross-origin requests of web pages.

use std::{num::NonZeroU32, sync::Arc};

use docs_http::{ApiInfo, Cors, HttpApp, HttpConfig, RateLimit, assemble};
use poem::{Endpoint as _, Request, Response, http::Method};

use crate::toy::{Reads, Tokens};

const PAGE: &str = "https://app.example.com";

fn app(origins: &[&str]) -> HttpApp {
    with_limit(origins, None)
}

fn with_limit(origins: &[&str], requests: Option<u32>) -> HttpApp {
    let origins = origins.iter().map(|origin| origin.parse().expect("an origin"));
    let config = HttpConfig {
        cors: Some(Cors::from_origins(origins)),
        rate_limit: requests.and_then(NonZeroU32::new).map(RateLimit::per_minute),
        ..HttpConfig::default()
    };
    assemble(Reads, ApiInfo::new("x", "1"), config, Arc::new(Tokens)).expect("no problems")
}

async fn ask(app: &HttpApp, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = Request::builder().method(method).uri(path.parse().expect("a path"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.get_response(request.finish()).await
}

/// Returns the elements of a header list in lower case.
fn words(response: &Response, name: &str) -> Vec<String> {
    let list = response.header(name).unwrap_or_default().to_ascii_lowercase();
    list.split(',').map(|word| word.trim().to_owned()).collect()
}

#[tokio::test]
async fn preflight_needs_no_token_and_is_not_rate_limited() {
    let app = with_limit(&["https://other.example.com", PAGE], Some(2));
    for _ in 0..4 {
        let preflight = [
            ("origin", PAGE),
            ("access-control-request-method", "PATCH"),
            ("access-control-request-headers", "authorization, content-type, if-match, idempotency-key"),
        ];
        let response = ask(&app, Method::OPTIONS, "/v1/spaces/a", &preflight).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.header("access-control-allow-origin"), Some(PAGE));
        assert_eq!(response.header("access-control-allow-credentials"), None, "a token is no cookie");
        let methods = words(&response, "access-control-allow-methods");
        for method in ["get", "head", "post", "put", "patch", "delete"] {
            assert!(methods.iter().any(|it| it == method), "{method}: {methods:?}");
        }
        let headers = words(&response, "access-control-allow-headers");
        for header in ["authorization", "content-type", "if-match", "idempotency-key"] {
            assert!(headers.iter().any(|it| it == header), "{header}: {headers:?}");
        }
        assert!(response.header("access-control-max-age").is_some());
    }
}

#[tokio::test]
async fn allowed_origin_reads_responses_errors_and_headers() {
    let app = with_limit(&[PAGE], Some(2));
    let good = ("authorization", "Bearer good");
    let expect = [
        (&[("origin", PAGE), good][..], "/v1/spaces/a", 200),
        (&[("origin", PAGE)], "/v1/spaces/a", 401),
        (&[("origin", PAGE), good], "/v1/nowhere", 404),
        (&[("origin", PAGE), good], "/v1/spaces/a", 429),
        (&[("origin", PAGE)], "/openapi.json", 200),
    ];
    for (headers, path, status) in expect {
        let response = ask(&app, Method::GET, path, headers).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(response.header("access-control-allow-origin"), Some(PAGE), "{path} {status}");
        assert_eq!(words(&response, "vary"), ["origin"], "{path} {status}");
        let exposed = words(&response, "access-control-expose-headers");
        for header in [
            "location",
            "etag",
            "retry-after",
            "x-request-id",
            "idempotency-replayed",
            "ignored-parameters",
            "ignored-fields",
        ] {
            assert!(exposed.iter().any(|it| it == header), "{header}: {exposed:?}");
        }
    }
}

#[tokio::test]
async fn other_origin_gets_no_cors_headers() {
    let app = app(&[PAGE]);
    let good = ("authorization", "Bearer good");
    for origin in [
        "https://evil.example.com",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com.evil.example",
        "null",
    ] {
        let response = ask(&app, Method::GET, "/healthz", &[("origin", origin), good]).await;
        assert_eq!(
            response.status(),
            200,
            "{origin}: the pages of the application itself send an origin too"
        );
        assert_eq!(response.header("access-control-allow-origin"), None, "{origin}");
        assert_eq!(words(&response, "vary"), ["origin"], "{origin}");
        let preflight = [("origin", origin), ("access-control-request-method", "GET")];
        let response = ask(&app, Method::OPTIONS, "/v1/spaces/a", &preflight).await;
        assert_eq!(response.status(), 204, "{origin}");
        assert_eq!(response.header("access-control-allow-origin"), None, "{origin}");
    }
    // Without an `Origin` header, the response is the usual one.
    let response = ask(&app, Method::GET, "/healthz", &[]).await;
    assert_eq!((response.status().as_u16(), response.header("access-control-allow-origin")), (200, None));
}

#[tokio::test]
async fn preflight_for_unknown_route_is_a_common_error() {
    let app = app(&[PAGE]);
    for more in [
        [("access-control-request-method", "TRACE"), ("access-control-request-headers", "authorization")],
        [("access-control-request-method", "GET"), ("access-control-request-headers", "x-other")],
    ] {
        let headers = [&[("origin", PAGE)][..], &more].concat();
        let response = ask(&app, Method::OPTIONS, "/v1/spaces/a", &headers).await;
        let body = crate::toy::failure(response, 403).await;
        assert!(!body.is_empty());
    }
    // `OPTIONS` without a requested method is not a preflight request: the response only lists the methods.
    let response = ask(&app, Method::OPTIONS, "/v1/spaces/a", &[("origin", PAGE)]).await;
    assert_eq!(response.status(), 204);
}

#[tokio::test]
async fn wildcard_allows_any_origin_and_default_allows_none() {
    let any = app(&["*"]);
    for origin in [PAGE, "http://localhost:3000", "null"] {
        let response = ask(&any, Method::GET, "/healthz", &[("origin", origin)]).await;
        assert_eq!(response.header("access-control-allow-origin"), Some(origin));
    }
    let without = assemble(Reads, ApiInfo::new("x", "1"), HttpConfig::default(), Arc::new(Tokens));
    for app in [app(&[]), without.expect("no problems")] {
        let response = ask(&app, Method::GET, "/healthz", &[("origin", PAGE)]).await;
        assert_eq!(response.header("access-control-allow-origin"), None);
        assert_eq!(response.header("vary"), None);
    }
}
