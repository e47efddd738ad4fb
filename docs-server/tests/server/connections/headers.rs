//! Headers of all responses.

use docs_server::ConnectionConfig;
use serde_json::json;

use super::{Raw, Running, brisk, patient};
use crate::{
    client::{Client, id},
    process::TOKEN,
};

/// Fails unless the next response has the status, and forbids browsers to guess its type.
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
