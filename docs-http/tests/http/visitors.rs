//! Visitors of published sites over HTTP.

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    site_settings,
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
async fn events_are_accepted_from_the_readers_of_a_published_site() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let path = format!("{site}/insights/events");
    let view = site_settings::events();
    s.ask("POST", &path, &s.admin, Some(view.clone())).await.refused(404, "it is not published");
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let before = s.stored().await;
    anybody(&s, "POST", &path, Some(view.clone())).await.is(204, "a public site");
    s.ask("POST", &path, &s.outsider, Some(view.clone())).await.is(204, "a public site");
    s.ask("POST", &path, &s.admin, Some(json!({ "events": [] }))).await.is(204, "no events");
    let wrong = |pointer: &str, value: Value| {
        let mut body = view.clone();
        *body.pointer_mut(pointer).expect("a field") = value;
        body
    };
    for (body, field) in [
        (json!({}), "events"),
        (wrong("/events/0/type", json!("page_read")), "events[0].type"),
        (wrong("/events/0/session", json!({})), "events[0].session"),
        (wrong("/events/0/session/cookies", json!([])), "events[0].session.cookies"),
        (wrong("/events/0/location/url", json!(null)), "events[0].location.url"),
        (json!({ "events": vec![view["events"][0].clone(); 1001] }), "events: must have at most 1000"),
    ] {
        s.invalid("POST", &path, body, field).await;
    }
    assert_eq!(before, s.stored().await, "nothing is stored");
    s.patch(&site, json!({ "visibility": "share-link" })).await;
    anybody(&s, "POST", &path, Some(view.clone())).await.refused(401, "without the key");
    let link = s.post(&format!("{site}/share-links"), 201, json!({ "name": "Friends" })).await.body;
    let key = link["urls"]["published"].as_str().expect("a URL").trim_end_matches('/').rsplit('/').next();
    let with_key = wrong("/events/0/location/siteShareKey", json!(key));
    anybody(&s, "POST", &path, Some(with_key)).await.is(204, "with the key");
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

#[tokio::test]
async fn the_most_open_site_of_a_space_determines_its_visibility() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    let shown = async || {
        let space = s.get(&path).await;
        let urls = (space["urls"].get("published").cloned(), space["urls"].get("public").cloned());
        (space["visibility"].clone(), urls)
    };
    let mut published = Vec::new();
    for (number, visibility) in ["visitor-auth", "share-link", "unlisted", "public"].into_iter().enumerate() {
        for _ in 0..30 {
            s.site("Draft", &[&space]).await;
        }
        let site = s.site("Docs", &[&space]).await;
        s.patch(&site, json!({ "visibility": visibility })).await;
        let url = s.post(&format!("{site}/publish"), 200, json!({})).await.body["urls"]["published"].clone();
        let public = (visibility == "public").then(|| url.clone());
        assert_eq!(shown().await, (json!(visibility), (Some(url.clone()), public)), "site {number}");
        published.push((site, url));
    }
    let list = s.get(&format!("/v1/orgs/{}/spaces", s.org)).await;
    assert_eq!(list["items"][0]["visibility"], "public");
    // A share key selects its site.
    let (site, url) = &published[1];
    let link = s.post(&format!("{site}/share-links"), 201, json!({ "name": "Friends" })).await.body;
    let shared = link["urls"]["published"].as_str().expect("an address");
    let key = shared.trim_end_matches('/').rsplit('/').next().expect("a key");
    let seen = s.get(&format!("{path}?shareKey={key}")).await;
    assert_eq!((&seen["visibility"], &seen["urls"]["published"]), (&json!("share-link"), &json!(shared)));
    assert_ne!(seen["urls"]["published"], *url);
    // Without the most open site, the next one counts.
    s.post(&format!("{}/unpublish", published[3].0), 200, json!({})).await;
    assert_eq!(shown().await, (json!("unlisted"), (Some(published[2].1.clone()), None)));
}

#[tokio::test]
async fn a_site_counts_the_spaces_that_its_reader_sees() {
    let s = Server::new().await;
    let (open, closed) = (s.space().await, s.space().await);
    s.patch(&format!("/v1/spaces/{closed}"), json!({ "defaultLevel": null })).await;
    let site = s.site("Docs", &[&open, &closed]).await;
    assert_eq!(s.get(&site).await["siteSpaces"], 2);
    let seen = s.ask("GET", &site, &s.reader, None).await.is(200, "a member without the second space");
    assert_eq!(seen["siteSpaces"], 1);
}

#[tokio::test]
async fn visitors_see_the_default_level_that_is_set() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    for level in [json!("inherit"), json!("edit"), json!(null)] {
        s.patch(&path, json!({ "defaultLevel": level })).await;
        let seen = anybody(&s, "GET", &path, None).await.is(200, "a visitor");
        assert_eq!(seen["defaultLevel"], level);
    }
}
