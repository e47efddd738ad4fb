//! Rate limits.

use std::{net::SocketAddr, num::NonZeroU32, sync::Arc, time::Duration};

use docs_core::ports::Clock as _;
use docs_http::{ApiInfo, HttpApp, HttpConfig, RateLimit, assemble};
use docs_memstore::ManualClock;
use poem::{
    Addr, Body, Endpoint as _, Request, RequestParts, Response,
    http::{self, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};

use crate::toy::{Reads, Tokens, failure};

const LIMIT: u32 = 3;

fn app() -> (HttpApp, ManualClock) {
    let clock = ManualClock::default();
    let limit = NonZeroU32::new(LIMIT).map(|limit| RateLimit::per_minute(limit).clock(clock.clone()));
    let config = HttpConfig { rate_limit: limit, ..HttpConfig::default() };
    let app = assemble(Reads, ApiInfo::new("x", "1"), config, Arc::new(Tokens)).expect("no problems");
    (app, clock)
}

/// Sends a request with a token, from an IP address whose last number is `from`.
async fn ask(app: &HttpApp, path: &str, token: Option<&str>, from: u8) -> Response {
    let mut request = http::Request::builder().uri(path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let address = SocketAddr::from(([192, 0, 2, from], 4711));
    let remote = RemoteAddr(Addr::SocketAddr(address));
    let parts = RequestParts::from((parts, LocalAddr::default(), remote, Scheme::HTTP));
    let request = Request::from_parts(parts, Body::empty());
    app.get_response(request).await
}

fn told(response: &Response) -> (u16, Option<u32>) {
    let left = response.header("x-ratelimit-remaining").map(|left| left.parse().expect("a number"));
    (response.status().as_u16(), left)
}

#[tokio::test]
async fn rate_limit_headers_report_remaining_and_reset() {
    let (app, clock) = app();
    clock.advance(Duration::from_millis(12_300));
    for left in [2, 1, 0] {
        let response = ask(&app, "/v1/spaces/a", Some("good"), 1).await;
        assert_eq!(told(&response), (200, Some(left)));
        assert_eq!(response.header("x-ratelimit-limit"), Some("3"));
        assert_eq!(response.header("x-ratelimit-reset"), Some("1735689660"));
    }
    let response = ask(&app, "/v1/spaces/a", Some("good"), 1).await;
    assert_eq!(told(&response), (429, Some(0)));
    assert_eq!(response.header("retry-after"), Some("48"));
    assert_eq!(response.header("x-ratelimit-reset"), Some("1735689660"));
    assert!(failure(response, 429).await.contains("at most 3 a minute"));
    clock.advance(Duration::from_secs(48));
    assert_eq!(clock.now().timestamp(), 1_735_689_660);
    let response = ask(&app, "/v1/spaces/a", Some("good"), 1).await;
    assert_eq!(told(&response), (200, Some(2)));
    assert_eq!(response.header("x-ratelimit-reset"), Some("1735689720"));
}

#[tokio::test]
async fn requests_are_rate_limited_by_token_or_by_address() {
    let (app, _) = app();
    // Token, client, expected status, and remaining requests.
    for (n, (token, from, status, left)) in [
        (Some("good"), 1, 200, 2),
        (Some("good"), 2, 200, 1),
        (Some("good"), 3, 200, 0),
        (Some("good"), 4, 429, 0),
        (None, 1, 401, 2),
        (None, 2, 401, 2),
        (None, 1, 401, 1),
        (None, 1, 401, 0),
        (None, 1, 429, 0),
        (None, 2, 401, 1),
    ]
    .into_iter()
    .enumerate()
    {
        let response = ask(&app, "/v1/spaces/a", token, from).await;
        assert_eq!(told(&response), (status, Some(left)), "{n}");
    }
}

#[tokio::test]
async fn invalid_tokens_are_rate_limited_separately() {
    let (app, clock) = app();
    assert_eq!(told(&ask(&app, "/v1/spaces/a", Some("good"), 1).await), (200, Some(2)));
    for guess in ["a", "b", "c"] {
        assert_eq!(ask(&app, "/v1/spaces/a", Some(guess), 1).await.status(), 401);
    }
    for guess in ["d", "e"] {
        assert_eq!(told(&ask(&app, "/v1/spaces/a", Some(guess), 1).await), (429, Some(0)));
    }
    assert_eq!(told(&ask(&app, "/v1/spaces/a", Some("good"), 1).await), (200, Some(1)));
    assert_eq!(ask(&app, "/v1/spaces/a", Some("d"), 2).await.status(), 401, "another address");
    clock.advance(Duration::from_secs(60));
    assert_eq!(told(&ask(&app, "/v1/spaces/a", Some("d"), 1).await), (401, Some(2)));
}

#[tokio::test]
async fn unverified_token_counts_against_the_client_address() {
    let (app, _) = app();
    for (guess, status) in [("a", 404), ("b", 404), ("c", 404), ("d", 429)] {
        assert_eq!(ask(&app, "/v1/no/such/path", Some(guess), 1).await.status(), status, "{guess}");
    }
}

#[tokio::test]
async fn only_the_api_is_rate_limited_and_only_with_a_limit() {
    let (limited, _) = app();
    let free = assemble(Reads, ApiInfo::new("x", "1"), HttpConfig::default(), Arc::new(Tokens));
    let free = free.expect("no problems");
    for _ in 0..2 * LIMIT {
        assert_eq!(told(&ask(&limited, "/healthz", None, 1).await), (200, None));
        assert_eq!(told(&ask(&free, "/v1/spaces/a", Some("good"), 1).await), (200, None));
    }
}

/// Creates an application with trusted proxies.
fn behind(proxies: &str) -> HttpApp {
    let config = HttpConfig {
        rate_limit: NonZeroU32::new(LIMIT)
            .map(|limit| RateLimit::per_minute(limit).clock(ManualClock::default())),
        trusted_proxies: proxies.parse().expect("networks"),
        ..HttpConfig::default()
    };
    assemble(Reads, ApiInfo::new("x", "1"), config, Arc::new(Tokens)).expect("no problems")
}

/// Returns the remaining requests of the client that an anonymous request is charged to.
async fn left(app: &HttpApp, peer: &str, headers: &[(&str, &str)]) -> Option<u32> {
    let mut request = http::Request::builder().uri("/v1/spaces/a");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    let address = SocketAddr::new(peer.parse().expect("an address"), 4711);
    let remote = RemoteAddr(Addr::SocketAddr(address));
    let parts = RequestParts::from((parts, LocalAddr::default(), remote, Scheme::HTTP));
    told(&app.get_response(Request::from_parts(parts, Body::empty())).await).1
}

#[tokio::test]
async fn client_address_header_requires_a_trusted_proxy() {
    let app = behind("10.0.0.0/8");
    // If the peer is not a trusted proxy, the client is identified by the address of the connection, whatever the
    // headers say.
    for (n, spoofed) in ["198.51.100.1", "198.51.100.2", "198.51.100.3"].into_iter().enumerate() {
        let headers = [("x-forwarded-for", spoofed), ("forwarded", "for=198.51.100.9")];
        assert_eq!(left(&app, "192.0.2.1", &headers).await, Some(2 - n as u32));
    }
    // Both kinds of proxy headers are accepted, and clients are counted separately.
    assert_eq!(left(&app, "10.0.0.1", &[("x-forwarded-for", "192.0.2.1")]).await, Some(0), "over the limit");
    assert_eq!(left(&app, "10.0.0.1", &[("x-forwarded-for", "198.51.100.1")]).await, Some(2));
    assert_eq!(left(&app, "10.9.9.9", &[("forwarded", "for=198.51.100.1;proto=https")]).await, Some(1));
    assert_eq!(left(&app, "10.0.0.1", &[("x-forwarded-for", "198.51.100.2:4711")]).await, Some(2));
    // Without a header, the proxy itself is the client.
    assert_eq!(left(&app, "10.0.0.1", &[]).await, Some(2));
    let trusts_nobody = behind("");
    for n in [2, 1, 0] {
        let headers = [("x-forwarded-for", "198.51.100.1")];
        assert_eq!(left(&trusts_nobody, "10.0.0.1", &headers).await, Some(n));
        assert_eq!(left(&trusts_nobody, "10.0.0.2", &[("forwarded", "for=198.51.100.1")]).await, Some(n));
    }
}

#[tokio::test]
async fn proxy_chain_ends_at_the_first_untrusted_from_the_right() {
    let app = behind("10.0.0.0/8, 2001:db8:a::/48");
    // Entries written by the client are further left and have no effect.
    for (n, chain) in [
        "198.51.100.1, 10.0.0.2",
        "203.0.113.7, 198.51.100.1, 10.0.0.2, 10.0.0.3",
        "nonsense, 198.51.100.1,2001:db8:a::2",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            left(&app, "10.0.0.1", &[("x-forwarded-for", chain)]).await,
            Some(2 - n as u32),
            "{chain}"
        );
    }
    // Several header lines form one list.
    let lines = [("x-forwarded-for", "203.0.113.7"), ("x-forwarded-for", "198.51.100.4, 10.0.0.2")];
    assert_eq!(left(&app, "10.0.0.1", &lines).await, Some(2));
    assert_eq!(left(&app, "10.0.0.1", &[("x-forwarded-for", "198.51.100.4")]).await, Some(1));
    // If all entries are trusted, the leftmost one is the client.
    assert_eq!(left(&app, "10.0.0.1", &[("x-forwarded-for", "10.7.7.7, 10.0.0.2")]).await, Some(2));
    assert_eq!(left(&app, "10.7.7.7", &[]).await, Some(1));
}

#[tokio::test]
async fn ipv6_clients_and_proxies_are_distinguished_like_ipv4() {
    let app = behind("2001:db8:a::/48,10.0.0.0/8");
    let proxy = "2001:db8:a::1";
    assert_eq!(left(&app, proxy, &[("forwarded", "for=\"[2001:db8:b::1]:4711\"")]).await, Some(2));
    assert_eq!(left(&app, proxy, &[("x-forwarded-for", "2001:db8:b::2")]).await, Some(1), "one network");
    assert_eq!(left(&app, proxy, &[("x-forwarded-for", "2001:db8:c::1")]).await, Some(2));
    assert_eq!(left(&app, "2001:db8:d::1", &[("x-forwarded-for", "2001:db8:c::1")]).await, Some(2));
    // The form of an IPv4 address on a dual-stack socket.
    assert_eq!(left(&app, "::ffff:10.0.0.1", &[("x-forwarded-for", "2001:db8:c::1")]).await, Some(1));
    assert_eq!(left(&app, "::ffff:10.0.0.1", &[("x-forwarded-for", "::ffff:198.51.100.1")]).await, Some(2));
    assert_eq!(left(&app, "10.0.0.1", &[("x-forwarded-for", "198.51.100.1")]).await, Some(1));
}

#[tokio::test]
async fn unusable_forwarded_headers_count_against_the_proxy() {
    for bad in [
        ("x-forwarded-for", ""),
        ("x-forwarded-for", "198.51.100.1, unknown"),
        ("x-forwarded-for", "198.51.100.1,"),
        ("x-forwarded-for", "198.51.100.1; 198.51.100.2"),
        ("forwarded", "for=_hidden"),
        ("forwarded", "proto=https"),
        ("forwarded", "for=\"198.51.100.1"),
        ("forwarded", "for=198.51.100.1, for=unknown"),
    ] {
        let app = behind("10.0.0.0/8");
        assert_eq!(left(&app, "10.0.0.1", &[bad]).await, Some(2), "{bad:?}");
        assert_eq!(left(&app, "10.0.0.1", &[]).await, Some(1), "{bad:?}");
    }
    // With both headers: a proxy writes one of them, and the other may come from the client.
    let app = behind("10.0.0.0/8");
    let agree = [("x-forwarded-for", "198.51.100.1"), ("forwarded", "for=198.51.100.1")];
    let differ = [("x-forwarded-for", "198.51.100.1"), ("forwarded", "for=198.51.100.2")];
    assert_eq!(left(&app, "10.0.0.1", &agree).await, Some(2));
    assert_eq!(left(&app, "10.0.0.1", &differ).await, Some(2));
    assert_eq!(left(&app, "10.0.0.1", &[]).await, Some(1));
}

/// Returns the application of a platform, with a rate limit.
fn platform_app(files_origin: Option<&str>) -> HttpApp {
    let limit =
        NonZeroU32::new(LIMIT).map(|limit| RateLimit::per_minute(limit).clock(ManualClock::default()));
    let (store, objects) =
        (Arc::new(docs_memstore::MemStore::new()), Arc::new(docs_memstore::MemObjects::new()));
    let mut builder = docs_core::Platform::builder(store, objects);
    if let Some(origin) = files_origin {
        builder = builder.files_origin(origin);
    }
    let config = HttpConfig { rate_limit: limit, ..HttpConfig::default() };
    docs_http::routes(&builder.build(), config).expect("no problems")
}

#[tokio::test]
async fn requests_for_files_are_counted_by_address() {
    let here = platform_app(None);
    let host = "files.example.com";
    let elsewhere = platform_app(Some(&format!("https://{host}")));
    for (app, base) in [(&here, String::new()), (&elsewhere, format!("https://{host}"))] {
        let paths =
            ["/files/a/b/c.png", "/files/a/pdf/b/c.pdf", "/files/a/openapi/b/c.json", "/files/a/openapi/b"];
        for (path, left) in paths.into_iter().zip([2, 1, 0]) {
            assert_eq!(
                told(&ask(app, &format!("{base}{path}"), None, 1).await),
                (404, Some(left)),
                "{base}{path}"
            );
        }
        for path in paths {
            assert_eq!(
                told(&ask(app, &format!("{base}{path}"), None, 1).await),
                (429, Some(0)),
                "{base}{path}"
            );
        }
        assert_eq!(told(&ask(app, &format!("{base}{}", paths[0]), None, 2).await), (404, Some(2)));
    }
    assert_eq!(told(&ask(&here, "/v1/user", None, 1).await), (401, Some(2)), "the API has another count");
}

#[tokio::test]
async fn webhook_deliveries_are_rate_limited_by_address() {
    let app = platform_app(None);
    let deliver = async |from| {
        let address = SocketAddr::from(([192, 0, 2, from], 4711));
        let (mut parts, ()) =
            http::Request::builder().uri("/webhooks/git/x").body(()).expect("a request").into_parts();
        parts.method = http::Method::POST;
        let remote = RemoteAddr(Addr::SocketAddr(address));
        let parts = RequestParts::from((parts, LocalAddr::default(), remote, Scheme::HTTP));
        told(&app.get_response(Request::from_parts(parts, Body::empty())).await)
    };
    for left in [2, 1, 0] {
        assert_eq!(deliver(1).await, (404, Some(left)));
    }
    assert_eq!(deliver(1).await, (429, Some(0)));
    assert_eq!(deliver(2).await, (404, Some(2)));
}
