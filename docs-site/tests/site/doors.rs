//! Access to sites, and their URLs.

use docs_core::model::{SiteVisibility, SpaceId};
use poem::http::{Method, StatusCode};
use serde_json::json;

use crate::world::{World, path_of, token};

async fn guide(w: &World) -> SpaceId {
    let space = w.space("Guide").await;
    w.page(&space, "First", "The secret text.").await;
    w.page(&space, "Second", "More.").await;
    space
}

#[tokio::test]
async fn a_space_without_pages_links_to_the_site() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let (site, path) = w.site("Docs", &space).await;
    let empty = w.space("Changelog").await;
    w.place(&site, &empty).await;
    let way = |to: &str| format!("<a class=\"button primary\" href=\"{to}\">");
    for missing in ["changelog/", "nothing"] {
        let got = w.get(&format!("{path}{missing}")).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND);
        assert!(got.body.contains(&way(&path)), "{missing}: {}", got.body);
    }
    let (_, path) = w.site("Empty", &empty).await;
    let got = w.get(&path).await;
    assert!(got.status == StatusCode::NOT_FOUND && !got.body.contains("button primary"), "{}", got.body);
}

#[tokio::test]
async fn dot_segments_between_sites_resolve_as_in_urls() {
    let w = World::new().await;
    let (mine, other) = (w.space("Mine").await, w.space("Other").await);
    w.page(&mine, "First", "What is mine.").await;
    w.page(&other, "First", "What is of others.").await;
    w.page(&other, "Second", "More of others.").await;
    let (_, mine) = w.site("Mine", &mine).await;
    let (_, other) = w.site("Other", &other).await;
    let name = other.trim_end_matches('/').rsplit('/').next().expect("a name").to_owned();
    for dots in ["..", "%2e%2E", "x/../.."] {
        let got = w.get(&format!("{mine}{dots}/{name}/second")).await;
        assert!(got.body.contains("More of others."), "{dots}: {got:?}");
    }
    assert!(w.html(&mine).await.contains("What is mine."));
    assert!(w.html(&other).await.contains("What is of others."));
}

#[tokio::test]
async fn unpublished_site_returns_404() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    assert!(w.html(&path).await.contains("The secret text."));
    w.me().org(&w.org).site(&site).unpublish().await.expect("taken back");
    for path in [path.clone(), format!("{path}second"), format!("{path}second.md"), format!("{path}llms.txt")]
    {
        let got = w.get(&path).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND);
        assert!(!got.body.contains("secret") && !got.body.contains("Docs"), "{got:?}");
    }
}

#[tokio::test]
async fn a_share_link_opens_a_site_until_it_is_revoked() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    w.show(&site, SiteVisibility::ShareLink).await;
    assert_eq!(w.get(&path).await.status, StatusCode::NOT_FOUND);
    let new = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let link = w.me().org(&w.org).site(&site).share_links().create(new).await.expect("a link");
    let opened = path_of(link.urls.published.as_deref().expect("an address"));
    let got = w.get(&opened).await;
    assert!(got.body.contains("The secret text."), "{got:?}");
    assert_eq!(got.header("cache-control"), "private, no-cache");
    assert_eq!(got.header("x-robots-tag"), "noindex");
    assert!(got.body.contains(&format!("href=\"{opened}second\"")), "links lead through the share link");
    w.me().org(&w.org).site(&site).share_link(&link.id).delete().await.expect("revoked");
    let got = w.get(&opened).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert!(!got.body.contains("secret"));
}

#[tokio::test]
async fn a_visitor_signs_in_and_stays_signed_in_by_a_cookie() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    let change =
        serde_json::from_value(json!({ "backend": "custom", "fallbackURL": "https://login.test/in?a=b" }));
    let auth = w.me().org(&w.org).site(&site);
    auth.update_publishing_auth(change.expect("a change")).await.expect("changed");
    w.show(&site, SiteVisibility::VisitorAuth).await;

    let got = w.get(&format!("{path}second")).await;
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT);
    assert!(got.header("location").starts_with("https://login.test/in?a=b&location="), "{got:?}");
    assert_eq!(got.header("cache-control"), "no-store");

    let end = w.seconds() + 600;
    let good = token(&w.key(&site).await, &json!({ "exp": end, "name": "Grace" }));
    let got = w.get(&format!("{path}second?q=1&jwt_token={good}")).await;
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(got.header("location"), format!("{path}second?q=1"));
    let cookie = got.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Lax", &format!("Path={}", path.trim_end_matches('/'))] {
        assert!(cookie.contains(part), "{cookie} lacks {part}");
    }
    assert!(!cookie.contains("Secure"), "the platform of this test has no TLS");

    let kept = format!("other=1; docs-visitor={good}");
    let got = w.ask(Method::GET, &path, &[("cookie", &kept)]).await;
    assert!(got.body.contains("The secret text."), "{got:?}");
    assert_eq!(got.header("cache-control"), "private, no-cache");

    let got = w.get(&format!("{path}?jwt_token=x.y.z")).await;
    assert_eq!(got.status, StatusCode::UNAUTHORIZED, "one that is wrong leads nowhere, or round in circles");
    let got = w.ask(Method::GET, &path, &[("cookie", "docs-visitor=x.y.z")]).await;
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT, "one that was kept is asked for anew");

    w.me().org(&w.org).site(&site).regenerate_publishing_auth().await.expect("a new key");
    let got = w.ask(Method::GET, &path, &[("cookie", &kept)]).await;
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT);
}

#[tokio::test]
async fn url_claims_apply_and_persist_in_a_cookie() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.\n\n{% if visitor.claims.unsigned.eu %}\nFor Europe.\n{% endif %}\n")
        .await;
    let (site, path) = w.site("Docs", &space).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let schema = json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "unsigned": { "type": "object", "description": "Unsigned claims of the site visitor.",
            "additionalProperties": false,
            "properties": { "eu": { "type": "boolean", "description": "Where" } } } } } });
    let schema = serde_json::from_value(schema).expect("a schema");
    w.me().org(&w.org).site(&site).set_adaptive_schema(schema).await.expect("set");
    assert!(!w.html(&path).await.contains("For Europe."));
    let got = w.get(&format!("{path}?q=1&visitor.eu=true")).await;
    let clean = format!("{}?q=1", path.trim_end_matches('/'));
    assert_eq!((got.status, got.header("location")), (StatusCode::TEMPORARY_REDIRECT, clean.as_str()));
    assert_eq!(w.get(&clean).await.status, StatusCode::OK);
    let cookie = got.header("set-cookie").to_owned();
    for part in ["gitbook-visitor-public={%22eu%22:true}; Path=/sites/docs;", "HttpOnly", "SameSite=Lax"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let kept = cookie.split(';').next().expect("a cookie");
    let got = w.ask(Method::GET, &path, &[("cookie", kept)]).await;
    assert!(got.body.contains("For Europe."), "{got:?}");
    assert_eq!(got.header("cache-control"), "private, no-cache");
    assert!(!w.html(&path).await.contains("For Europe."), "nobody else is told");
}

#[tokio::test]
async fn cookies_are_secure_if_the_platform_uses_https() {
    let w = World::at("https://docs.test").await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    w.show(&site, SiteVisibility::VisitorAuth).await;
    let good = token(&w.key(&site).await, &json!({ "exp": w.seconds() + 600 }));
    let got = w.get(&format!("{path}?jwt_token={good}")).await;
    assert!(got.header("set-cookie").contains("; Secure"), "{got:?}");
}

#[tokio::test]
async fn site_is_served_on_its_custom_hostname() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    let host = docs_core::model::SiteHostname::new("guide.example.org").expect("a host");
    w.platform.as_platform().org(&w.org).site(&site).set_hostname(Some(host)).await.expect("set");
    let got = w.ask(Method::GET, "/second", &[("host", "guide.example.org")]).await;
    assert_eq!(got.status, StatusCode::OK, "{got:?}");
    assert!(got.body.contains("href=\"/~site/site.") || got.body.contains("\"/~site/site."), "{}", got.body);
    assert!(got.body.contains("rel=\"canonical\" href=\"https://guide.example.org/second\""), "{}", got.body);
    let got = w.ask(Method::GET, "/v1/orgs", &[("host", "guide.example.org")]).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND, "there the site has all paths");
    // The same site can also be read on the platform's host.
    assert!(w.html(&path).await.contains("https://guide.example.org/"));
}

#[tokio::test]
async fn non_site_requests_pass_to_the_next_endpoint() {
    let w = World::new().await;
    for (method, path, host) in [
        (Method::GET, "/", "docs.test:4000"),
        (Method::GET, "/v1/orgs", "docs.test:4000"),
        (Method::POST, "/v1/orgs", "docs.test:4000"),
        (Method::GET, "/sites", "docs.test:4000"),
        (Method::GET, "/sitesx/a", "docs.test:4000"),
        (Method::GET, "/healthz", "127.0.0.1:4000"),
        (Method::GET, "/v1/orgs", "api.example.org"),
        (Method::POST, "/v1/orgs", "api.example.org"),
    ] {
        let got = w.ask(method.clone(), path, &[("host", host)]).await;
        assert_eq!(got.status, StatusCode::IM_A_TEAPOT, "{method} {path} of {host}");
    }
    assert_eq!(w.get("/sites/no-such-site/").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn sites_allow_only_get_head_and_options() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (_, path) = w.site("Docs", &space).await;
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        let got = w.ask(method.clone(), &path, &[]).await;
        assert_eq!(got.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(got.header("allow"), "GET, HEAD, OPTIONS");
    }
    assert_eq!(w.ask(Method::OPTIONS, &path, &[]).await.status, StatusCode::NO_CONTENT);
    let whole = w.get(&path).await;
    let head = w.ask(Method::HEAD, &path, &[]).await;
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
    for name in ["etag", "content-type", "content-length", "cache-control"] {
        assert_eq!(head.header(name), whole.header(name), "{name}");
    }
}

#[tokio::test]
async fn unchanged_page_returns_304_for_its_etag() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (_, path) = w.site("Docs", &space).await;
    let first = w.get(&path).await;
    assert_eq!(first.header("cache-control"), "public, no-cache");
    assert_eq!(first.header("vary"), "Accept", "cookies of others are no other page for shared caches");
    assert_ne!(w.get(&format!("{path}sitemap.xml")).await.header("vary"), "Accept");
    let tag = first.header("etag").to_owned();
    let again = w.ask(Method::GET, &path, &[("if-none-match", &tag)]).await;
    assert_eq!((again.status, again.body.as_str()), (StatusCode::NOT_MODIFIED, ""));
    assert_eq!(again.header("etag"), tag);
    w.page(&space, "Third", "New.").await;
    let changed = w.ask(Method::GET, &path, &[("if-none-match", &tag)]).await;
    assert_eq!(changed.status, StatusCode::OK, "the tree of pages is another");
    assert!(changed.body.contains("Third"));
    let packed = w.ask(Method::GET, &path, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_ne!(packed.header("etag"), changed.header("etag"));
    let page = w.html(&path).await;
    let start = page.find("/sites/docs/~site/site.").expect("a style sheet");
    let sheet = page[start..].split('"').next().expect("an address");
    let got = w.get(sheet).await;
    assert_eq!(got.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(got.header("content-type"), "text/css; charset=utf-8");
}
