//! Headers common to all responses, and the host of all requests.

use docs_server::ConnectionConfig;
use serde_json::json;

use super::{
    Raw, Running, brisk,
    http2::{self, proxied},
    patient,
};
use crate::{
    client::{Client, id},
    process::TOKEN,
};

/// Asserts that the next response has the status, and forbids content sniffing.
async fn is_not_sniffed(client: &mut Raw, status: u16, what: &str) {
    let head = client.head().await;
    assert!(head.starts_with(&format!("http/1.1 {status} ")), "{what}: {head}");
    let values = head.lines().filter_map(|line| line.strip_prefix("x-content-type-options: "));
    assert_eq!(values.collect::<Vec<_>>(), ["nosniff"], "{what}: {head}");
}

#[tokio::test]
async fn browsers_guess_the_type_of_no_response() {
    let server = Running::with(ConnectionConfig { request_pace: brisk(), ..patient() }).await;
    let file = server.file(b"<p>text").await;
    let api = Client::new(&format!("http://{}", server.address), TOKEN);
    let org = id(&api.get("/orgs").await["items"][0]);
    let site = api.post(&format!("/orgs/{org}/sites"), json!({ "title": "Docs" })).await;
    let site = format!("/orgs/{org}/sites/{}", id(&site));
    let public = api.call("PATCH", &site, json!({ "visibility": "public" })).await;
    assert_eq!(public.expect("an answer").status, 200);
    let published = api.post(&format!("{site}/publish"), json!({})).await["urls"]["published"].clone();
    let published =
        published.as_str().and_then(|url| url.strip_prefix(&api.base)).expect("a path").to_owned();
    let root = if published.is_empty() { "/".to_owned() } else { published };
    for (method, path, status) in [
        ("GET", "/robots.txt", 200),
        ("HEAD", "/robots.txt", 200),
        ("GET", "/", 303),
        ("POST", "/", 405),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("GET", "/metrics", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/docs", 200),
        ("GET", "/v1/orgs", 401),
        ("OPTIONS", "/v1/orgs", 204),
        ("DELETE", "/healthz", 405),
        ("GET", "/saml/unknown", 404),
        ("POST", "/webhooks/git/unknown", 404),
        ("GET", "/missing", 404),
        ("GET", file.as_str(), 200),
        ("GET", root.as_str(), 404),
    ] {
        let mut client = server.connect().await;
        client.send(format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n\r\n", server.address).as_bytes()).await;
        is_not_sniffed(&mut client, status, &format!("{method} {path}")).await;
    }
    let mut slow = server.connect().await;
    slow.send(b"POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n").await;
    is_not_sniffed(&mut slow, 408, "a slow body").await;
}

/// HTTP/1 request lines and `Host` headers, with the beginning of the expected error message. An empty message means
/// status 200.
const HOSTS: &[(&str, &[&str], &str)] = &[
    ("GET /healthz HTTP/1.1", &["a"], ""),
    ("GET /healthz HTTP/1.1", &["a-b_c.Example.com."], ""),
    ("GET /healthz HTTP/1.1", &["a:80"], ""),
    ("GET /healthz HTTP/1.1", &["a:"], ""),
    ("GET /healthz HTTP/1.1", &["a:65535"], ""),
    ("GET /healthz HTTP/1.1", &["127.0.0.1:8080"], ""),
    ("GET /healthz HTTP/1.1", &["[::1]"], ""),
    ("GET /healthz HTTP/1.1", &["[::1]:8080"], ""),
    ("GET /healthz HTTP/1.0", &[], ""),
    ("GET /healthz HTTP/1.0", &["a"], ""),
    ("GET http://a/healthz HTTP/1.1", &["a"], ""),
    ("GET http://a/healthz HTTP/1.1", &["A:80"], ""),
    ("GET https://a:443/healthz HTTP/1.1", &["a"], ""),
    ("GET http://a:8080/healthz HTTP/1.1", &["a:8080"], ""),
    ("GET http://a/healthz HTTP/1.0", &[], ""),
    ("GET /healthz HTTP/1.1", &[], "Host: is required"),
    ("GET http://a/healthz HTTP/1.1", &[], "Host: is required"),
    ("GET /healthz HTTP/1.1", &["a", "a"], "Host: must be sent once"),
    ("GET /healthz HTTP/1.1", &["a", "b"], "Host: must be sent once"),
    ("GET /healthz HTTP/1.1", &["a", ""], "Host: must be sent once"),
    ("GET /healthz HTTP/1.0", &["a", "b"], "Host: must be sent once"),
    ("GET http://a/healthz HTTP/1.1", &["a", "b"], "Host: must be sent once"),
    ("GET /healthz HTTP/1.1", &[""], "Host: must have a host"),
    ("GET /healthz HTTP/1.0", &[""], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &[":80"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["user@a"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["user:password@a"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a b"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a\tb"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a, b"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a,b"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a/path"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a\\b"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a?query"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a#fragment"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["http://a"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["%61"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["\u{e4}"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["\"a\""], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["<a>"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a:65536"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a:99999999999999999999"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a:-1"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a:+80"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a:http"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a:80:80"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a::80"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["::1"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["[::1"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["[::1]a"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["[a]"], "Host: must have a host"),
    ("GET /healthz HTTP/1.1", &["a[::1]"], "Host: must have a host"),
    ("GET http://a/healthz HTTP/1.1", &["b"], "Host: must be the same"),
    ("GET http://a/healthz HTTP/1.0", &["b"], "Host: must be the same"),
    ("GET http://a/healthz HTTP/1.1", &["a:8080"], "Host: must be the same"),
    ("GET http://a:8080/healthz HTTP/1.1", &["a"], "Host: must be the same"),
    ("GET https://a:80/healthz HTTP/1.1", &["a"], "Host: must be the same"),
    ("GET http://a/healthz HTTP/1.1", &["a."], "Host: must be the same"),
    ("CONNECT a:80 HTTP/1.1", &["b:80"], "Host: must be the same"),
    ("GET http://user@a/healthz HTTP/1.1", &["a"], "the request target: must have a host"),
    ("GET http://a:65536/healthz HTTP/1.1", &["a:65536"], "the request target: must have a host"),
    ("GET a:80 HTTP/1.1", &["a:80"], "the request target: must be a path"),
];

#[tokio::test]
async fn a_request_must_name_one_valid_host() {
    let server = Running::with(patient()).await;
    for (line, hosts, expected) in HOSTS {
        let fields: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let mut client = server.connect().await;
        client.send(format!("{line}\r\n{fields}\r\n").as_bytes()).await;
        let (status, body) = client.response().await;
        let shown = format!("{line}, {hosts:?}: {status} {body}");
        if expected.is_empty() {
            assert_eq!(status, 200, "{shown}");
            continue;
        }
        assert_eq!(status, 400, "{shown}");
        assert!(body.contains(&format!("\"message\":\"{expected}")), "{shown}");
    }
    // The HTTP parser rejects control characters.
    for control in ["\0", "\u{1}", "\u{7f}"] {
        let mut client = server.connect().await;
        client.send(format!("GET /healthz HTTP/1.1\r\nHost: a{control}b\r\n\r\n").as_bytes()).await;
        assert_eq!(client.status().await, 400, "{control:?}");
    }
}

#[tokio::test]
async fn a_host_is_checked_before_every_route() {
    let server = Running::with(patient()).await;
    for path in
        ["/", "/v1/orgs", "/docs", "/metrics", "/openapi.json", "/files/a", "/saml/a", "/webhooks/git/a"]
    {
        for method in ["GET", "POST", "OPTIONS"] {
            let mut client = server.connect().await;
            let head = format!("{method} {path} HTTP/1.1\r\nhost: a\r\nhost: b\r\ncontent-length: 1\r\n\r\n");
            client.send(head.as_bytes()).await;
            is_not_sniffed(&mut client, 400, &format!("{method} {path}")).await;
        }
    }
}

#[tokio::test]
async fn an_http2_request_must_name_one_valid_host() {
    let server = proxied(patient()).await;
    for (authority, hosts, status) in [
        (Some("a"), &[][..], 200),
        (Some("a"), &["a"][..], 200),
        (Some("a:80"), &["A"], 200),
        (None, &["a"], 200),
        (None, &[], 400),
        (None, &["a", "a"], 400),
        (None, &["user@a"], 400),
        (Some("a"), &["b"], 400),
        (Some("a"), &["a:8080"], 400),
        (Some("a"), &["a", "a"], 400),
        (Some("a"), &["a", "b"], 400),
        (Some("a"), &[""], 400),
        (Some("user@a"), &[], 400),
        (Some("a:65536"), &[], 400),
    ] {
        let mut proxy = server.connect_from(2).await;
        proxy.begin_http2(65_535).await;
        proxy.send(&http2::request_with_hosts(1, authority, hosts)).await;
        assert_eq!(proxy.http2_status().await, status, "{authority:?} {hosts:?}");
    }
}
