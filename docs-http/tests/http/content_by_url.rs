//! The content at a URL, and embeds.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Server, id};

fn encoded(url: &str) -> String {
    url.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn find(s: &Server, url: &str, token: &str) -> Answer {
    s.ask("GET", &format!("/v1/urls/content?url={}", encoded(url)), token, None).await
}

/// Creates a published site with a page in a space. Returns the paths of the site and the space, and the id of the
/// page.
async fn published(s: &Server) -> (String, String, String) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let page = json!({ "operation": "insert_page", "title": "Start", "document": {} });
    let set_up = json!({ "operation": "insert_page", "title": "Set up", "document": {} });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page, set_up] })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let page = id(&s.get(&format!("/v1/spaces/{space}/content")).await["pages"][1]);
    (site, space, page)
}

#[tokio::test]
async fn urls_of_the_application_and_sites_resolve_to_content() {
    let s = Server::new().await;
    let (site, space, page) = published(&s).await;
    let request = s.request(&space).await;
    let revision = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let number = s.get(&request).await["number"].clone();
    let app = format!("https://docs.example/app/s/{space}");
    for (url, in_request, has_page) in [
        ("https://docs.example/sites/docs/".to_owned(), false, false),
        ("https://docs.example/sites/docs/set-up?q=1#top".to_owned(), false, true),
        (app.clone(), false, false),
        (format!("{app}/set-up"), false, true),
        (format!("{app}/~/changes/{number}"), true, false),
        (format!("{app}/~/changes/{number}/set-up"), true, true),
        (format!("{app}/~/revisions/{revision}/set-up"), false, true),
    ] {
        let found = find(&s, &url, &s.admin).await.is(200, &url);
        assert_eq!(found["space"]["id"], space, "{url}");
        let named = |field: &str| found.get(field).map(|it| it["id"].clone());
        assert_eq!(named("page"), has_page.then(|| json!(page)), "{url}");
        assert_eq!(named("changeRequest").is_some(), in_request, "{url}");
    }
    let collection =
        s.post(&format!("/v1/orgs/{}/collections", s.org), 201, json!({ "title": "All" })).await.body;
    let url = collection["urls"]["app"].as_str().expect("a URL");
    assert_eq!(find(&s, url, &s.admin).await.is(200, url)["collection"]["id"], collection["id"]);
    for unknown in [
        "https://other.example/".to_owned(),
        "https://docs.example/sites/other/".to_owned(),
        "https://docs.example/sites/docs/none".to_owned(),
        "https://docs.example/app/".to_owned(),
        "https://docs.example/app/s/none".to_owned(),
        format!("{app}/none"),
        format!("{app}/~/changes/99"),
    ] {
        find(&s, &unknown, &s.admin).await.refused(404, &unknown);
    }
    for wrong in ["", "docs.example", "ftp://docs.example/", "https://user@docs.example/"] {
        let message = find(&s, wrong, &s.admin).await.refused(400, wrong).to_owned();
        assert!(message.starts_with("url"), "{message}");
    }
    // A page of a public site is visible to other users, and nothing else.
    let public = "https://docs.example/sites/docs/set-up";
    let seen = find(&s, public, &s.outsider).await.is(200, "a public site");
    assert_eq!(seen["page"]["id"], page);
    find(&s, &format!("{app}/~/changes/{number}"), &s.outsider).await.refused(404, "a change request");
    find(&s, url, &s.outsider).await.refused(404, "a collection");
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    find(&s, public, &s.admin).await.refused(404, "an unpublished site");
    find(&s, &app, &s.outsider).await.refused(404, "a private space");
}

#[tokio::test]
async fn embeds_have_the_title_of_visible_content_or_the_url() {
    let s = Server::new().await;
    let (site, space, _) = published(&s).await;
    let url = "https://docs.example/sites/docs/set-up";
    let embed = |path: &str, url: &str| format!("{path}?url={}", encoded(url));
    let own = json!({ "type": "link", "title": "Set up", "site": "docs.example" });
    let foreign =
        json!({ "type": "link", "title": "video.example:8080/watch/Über", "site": "video.example:8080" });
    let in_space = format!("/v1/spaces/{space}/embed");
    for path in ["/v1/urls/embed", &in_space] {
        assert_eq!(s.get(&embed(path, url)).await, own, "{path}");
        let video = embed(path, "https://video.example:8080/watch/%C3%9Cber?t=1#x");
        assert_eq!(s.get(&video).await, foreign, "{path}");
        s.ask("GET", &embed(path, "video"), &s.admin, None).await.refused(400, path);
    }
    let anonymous = async |path: &str| s.send("GET", &embed(path, url), None, None).await;
    assert_eq!(anonymous(&in_space).await.is(200, "a public site"), own);
    anonymous("/v1/urls/embed").await.refused(401, "without a token");
    let home = s.get(&embed(&in_space, "https://docs.example/sites/docs/")).await;
    assert_eq!(home["title"], "Guide");
    // The title of content that is not visible is not revealed.
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    let hidden: Value =
        s.ask("GET", &embed("/v1/urls/embed", url), &s.outsider, None).await.is(200, "hidden");
    assert_eq!(hidden["title"], "docs.example/sites/docs/set-up");
    s.ask("GET", &embed(&in_space, url), &s.outsider, None).await.refused(404, "a private space");
}

#[tokio::test]
async fn embeds_describe_web_pages_that_members_request() {
    let s = Server::new().await;
    let (_, space, _) = published(&s).await;
    let in_space = format!("/v1/spaces/{space}/embed");
    let url = "https://web.example/film";
    let page = "<title>Film</title><meta name=description content='A &amp; B'><meta property=og:site_name content=Films>";
    s.web.put(url, "text/html", page);
    let embed = |path: &str, url: &str| format!("{path}?url={}", encoded(url));
    let plain = json!({ "type": "link", "title": "web.example/film", "site": "web.example" });
    let full = json!({ "type": "link", "title": "Film", "description": "A & B", "site": "Films" });
    let anonymous = async || s.send("GET", &embed(&in_space, url), None, None).await.is(200, "a visitor");
    assert_eq!(anonymous().await, plain, "a visitor causes no fetch");
    assert_eq!(s.get(&embed("/v1/urls/embed", &format!("{url}#part"))).await, full);
    assert_eq!(anonymous().await, full, "the cache is shared");
    s.web.put(url, "text/html", "<title>New</title>");
    assert_eq!(s.get(&embed(&in_space, url)).await, full);
    assert_eq!(s.web.urls(), [url], "one fetch without the fragment");
    s.clock.advance(Duration::from_secs(3_601));
    assert_eq!(s.get(&embed(&in_space, url)).await["title"], "New");
    // Pages of other types, that are too large or that the guard of the adapter rejects.
    s.web.put("https://web.example/large", "text/html", format!("<title>A</title>{}", " ".repeat(1 << 20)));
    for path in ["a.svg", "large", "inside", "none"] {
        let url = format!("https://web.example/{path}");
        assert_eq!(s.get(&embed(&in_space, &url)).await["title"], format!("web.example/{path}"));
    }
    // The server does not fetch itself.
    let before = s.web.urls().len();
    s.get(&embed(&in_space, "https://docs.example/other")).await;
    assert_eq!(s.web.urls().len(), before);
}
