//! Visitors of published sites over HTTP.

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::has,
};

/// Sends a request without a token.
async fn anybody(s: &Server, method: &str, path: &str, body: Option<Value>) -> crate::server::Answer {
    let body = body.map(|body| ("application/json", body.to_string()));
    s.send(method, path, None, body).await
}

/// Calls every operation of these resources once.
pub(crate) async fn story(s: &Server, site: &str) {
    let shown = s.get(site).await;
    let url = shown["urls"]["published"].as_str().expect("an address");
    let ask = json!({ "url": format!("{url}start?q=1"), "visitor": { "unsignedClaims": { "eu": true } } });
    let found = anybody(s, "POST", "/v1/urls/published", Some(ask)).await.is(200, "resolved");
    has(
        &found,
        &["organization", "siteSpace", "space", "basePath", "siteBasePath", "apiToken", "canonicalUrl"],
    );
    assert_eq!((&found["site"], &found["pathname"]), (&shown["id"], &json!("/start")));
    let query = format!("/v1/urls/published?url={}", url.replace(':', "%3A").replace('/', "%2F"));
    let same = anybody(s, "GET", &query, None).await.is(200, "resolved");
    assert_eq!((&same["site"], &same["pathname"]), (&shown["id"], &json!("/")));
}

#[tokio::test]
async fn visitor_reads_with_url_token_and_public_without() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let page = json!({ "changes": [{ "operation": "insert_page", "document": { "markdown": "# Page\n\nHello.\n" } }] });
    s.post(&format!("{request}/content"), 200, page).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let site = s.site("Docs", &[&space]).await;
    let read = [
        format!("{site}/published"),
        format!("{site}/structure"),
        format!("{site}/site-spaces"),
        format!("/v1/spaces/{space}"),
        format!("/v1/spaces/{space}/content"),
        format!("/v1/spaces/{space}/content/pages"),
        format!("/v1/spaces/{space}/content/path/page?format=document&evaluated=deterministic-only"),
        format!("/v1/spaces/{space}/content/files"),
    ];
    for path in &read {
        anybody(&s, "GET", path, None).await.refused(401, path);
    }
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let url = s.get(&site).await["urls"]["published"].clone();
    let found =
        anybody(&s, "POST", "/v1/urls/published", Some(json!({ "url": url }))).await.is(200, "resolved");
    let token = found["apiToken"].as_str().expect("a token");
    for path in &read {
        let with = s.ask("GET", path, token, None).await.is(200, path);
        assert_eq!(anybody(&s, "GET", path, None).await.is(200, path), with, "{path}");
    }
    let revision = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let whole = format!("/v1/spaces/{space}/revisions/{revision}?metadata=true");
    let pages = s.ask("GET", &whole, token, None).await.is(200, "the revision")["pages"].clone();
    let document = format!(
        "/v1/spaces/{space}/revisions/{revision}/page/{}/document?evaluated=deterministic-only",
        id(&pages[0])
    );
    has(&s.ask("GET", &document, token, None).await.is(200, "the document"), &["nodes[].key"]);
    let search = format!("{site}/search");
    s.platform.settle().await.expect("settled");
    let hits = s.ask("POST", &search, token, Some(json!({ "query": "hello" }))).await.is(200, "found");
    assert_eq!(hits["items"][0]["pages"][0]["title"], "Page");
    for (method, path, status) in [
        ("GET", "/v1/user", 403),
        ("DELETE", &*format!("/v1/spaces/{space}"), 403),
        ("GET", &*format!("/v1/spaces/{space}/change-requests"), 404),
        ("GET", &*format!("/v1/orgs/{}/members", s.org), 404),
    ] {
        s.ask(method, path, token, None).await.refused(status, path);
    }
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    for path in &read {
        s.ask("GET", path, token, None).await.refused(404, path);
        anybody(&s, "GET", path, None).await.refused(401, path);
    }
}

#[tokio::test]
async fn invalid_url_or_visitor_is_rejected_with_its_field() {
    let s = Server::new().await;
    for (ask, field) in [
        (json!({}), "url"),
        (json!({ "url": "docs" }), "url"),
        (json!({ "url": "ftp://docs.example" }), "url"),
        (json!({ "url": "x".repeat(2_049) }), "url"),
        (json!({ "url": "https://a.b", "visitor": 1 }), "visitor"),
        (json!({ "url": "https://a.b", "visitor": { "jwtToken": 1 } }), "visitor.jwtToken"),
        (json!({ "url": "https://a.b", "visitor": { "unsignedClaims": [] } }), "visitor.unsignedClaims"),
    ] {
        let answer = anybody(&s, "POST", "/v1/urls/published", Some(ask.clone())).await;
        let message = answer.refused(400, &ask.to_string());
        assert!(message.starts_with(field), "{ask}: {message}");
    }
    anybody(&s, "GET", "/v1/urls/published", None).await.refused(400, "no address");
}
