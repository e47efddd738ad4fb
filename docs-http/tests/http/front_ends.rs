//! Reads of published front ends, which have the token of a visitor of a site.

use serde_json::{Value, json};

use crate::{
    openapi_specs::spec,
    server::{Server, id},
};

/// Creates a published site with a space, and returns the path of the site and the space.
async fn published(s: &Server, visibility: &str) -> (String, String) {
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    s.patch(&site, json!({ "visibility": visibility })).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    (site, space)
}

/// Returns the token with which a visitor reads the content at a URL.
pub(crate) async fn token(s: &Server, url: &Value) -> String {
    let ask = json!({ "url": url }).to_string();
    let found = s.send("POST", "/v1/urls/published", None, Some(("application/json", ask))).await;
    found.is(200, "resolved")["apiToken"].as_str().expect("a token").to_owned()
}

async fn site_token(s: &Server, site: &str) -> String {
    token(s, &s.get(site).await["urls"]["published"]).await
}

/// Merges a new page into the live content of a space.
async fn merge_page(s: &Server, space: &str) {
    let request = s.request(space).await;
    let page = json!({ "changes": [{ "operation": "insert_page", "document": { "markdown": "# Page\n" } }] });
    s.post(&format!("{request}/content"), 200, page).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
}

#[tokio::test]
async fn content_token_is_short_and_changes_with_the_content() {
    let s = Server::new().await;
    let (site, space) = published(&s, "public").await;
    let first = site_token(&s, &site).await;
    assert!(first.len() < 200, "{} bytes", first.len());
    assert_eq!(site_token(&s, &site).await, first, "nothing changed");
    s.request(&space).await;
    assert_eq!(site_token(&s, &site).await, first, "a change request is not live content");
    merge_page(&s, &space).await;
    let merged = site_token(&s, &site).await;
    assert_ne!(merged, first);
    s.patch(&site, json!({ "title": "Manual" })).await;
    assert_ne!(site_token(&s, &site).await, merged);
    for token in [&first, &merged] {
        s.ask("GET", &format!("/v1/spaces/{space}"), token, None).await.is(200, "valid until it expires");
    }
    let (shared, _) = published(&s, "share-link").await;
    let link = s.post(&format!("{shared}/share-links"), 201, json!({ "name": "Press" })).await.body;
    let token = token(&s, &link["urls"]["published"]).await;
    assert!(token.len() < 200, "{} bytes", token.len());
    s.ask("GET", &format!("{shared}/published"), &token, None).await.is(200, "published");
}

#[tokio::test]
async fn visitors_read_the_names_of_members_that_pages_mention() {
    let s = Server::new().await;
    let (site, _) = published(&s, "public").await;
    let visitor = site_token(&s, &site).await;
    let ada = s.get("/v1/user").await;
    assert!(ada["email"].is_string());
    let path = format!("/v1/users/{}", id(&ada));
    let shown = s.ask("GET", &path, &visitor, None).await.is(200, &path);
    assert_eq!((&shown["displayName"], shown.get("email")), (&ada["displayName"], None));
    let outsider = s.ask("GET", "/v1/user", &s.outsider, None).await.is(200, "themselves");
    let path_of_other = format!("/v1/users/{}", id(&outsider));
    s.ask("GET", &path_of_other, &visitor, None).await.refused(404, "not a member of the organization");
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    s.ask("GET", &path, &visitor, None).await.refused(404, "the site is not published");
}

#[tokio::test]
async fn visitors_read_specifications_that_the_site_shows() {
    let s = Server::new().await;
    let version = spec(&s, "pets").await;
    let pets = format!("/v1/orgs/{}/openapi/pets", s.org);
    let content = format!("{pets}/versions/latest/content");
    let (open, _) = published(&s, "public").await;
    let visitor = site_token(&s, &open).await;
    s.ask("GET", &content, &visitor, None).await.refused(404, "private, on a site for everybody");
    let (shared, _) = published(&s, "share-link").await;
    let link = s.post(&format!("{shared}/share-links"), 201, json!({ "name": "Press" })).await.body;
    let guest = token(&s, &link["urls"]["published"]).await;
    let private = s.ask("GET", &content, &guest, None).await.is(200, "private, on a site with a secret");
    let full = s.get(&content).await;
    let files: Vec<&Value> = full["filesystem"].as_object().expect("files by name").values().collect();
    let shown = private["filesystem"].as_array().expect("front ends read an array");
    assert_eq!((shown.len(), &shown[0]["filename"]), (files.len(), &files[0]["filename"]));
    let info = &shown[0]["specification"]["info"];
    assert_eq!(info["title"], files[0]["specification"]["info"]["title"]);
    let tag = &shown[0]["specification"]["tags"][0];
    assert_eq!(tag["x-gitbook-description-html"], "<p>All of them.</p>", "{tag}");
    assert!(private["url"].as_str().is_some_and(|url| url.ends_with(&version)), "{}", private["url"]);
    let url = s.patch(&pets, json!({ "visibility": "public" })).await["urls"]["published"].clone();
    for token in [&visitor, &guest] {
        let public = s.ask("GET", &content, token, None).await.is(200, "public");
        assert_eq!((&public["filesystem"], &public["url"]), (&private["filesystem"], &url));
        for path in [&pets, &format!("{pets}/versions"), &format!("{pets}/versions/{version}/content")] {
            s.ask("GET", path, token, None).await.refused(404, path);
        }
    }
    let other = content.replace(&s.org, &s.other_org);
    s.ask("GET", &other, &visitor, None).await.refused(404, "another organization");
    s.post(&format!("{open}/unpublish"), 200, json!({})).await;
    s.ask("GET", &content, &visitor, None).await.refused(404, "the site is not published");
}

#[tokio::test]
async fn published_site_has_the_customization_of_each_space() {
    let s = Server::new().await;
    let (site, _) = published(&s, "public").await;
    let visitor = site_token(&s, &site).await;
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    let looks = async || {
        let shown = s.ask("GET", &format!("{site}/published"), &visitor, None).await;
        shown.is(200, "published")["customizations"].clone()
    };
    let bare = looks().await;
    assert_eq!(bare["siteSpaces"], json!({ place.as_str(): bare["site"] }));
    s.patch(&format!("{site}/site-spaces/{place}/customization"), json!({ "title": "Own" })).await;
    assert_eq!(looks().await["siteSpaces"][&place]["title"], "Own");
}

#[tokio::test]
async fn visitors_read_documents_without_markup() {
    let s = Server::new().await;
    let (site, space) = published(&s, "public").await;
    let visitor = site_token(&s, &site).await;
    let markdown = "<!-- Draft -->\n\n> [!NOTE]\n> Read this.\n\n<details><summary>More</summary>\n\nInside.\n\n</details>\n\n\
        Press <kbd>Enter</kbd>.[^1]\n\n<div align=\"center\"><img src=\"https://example.com/a.png\" width=\"20\"></div>\n\n\
        [label]: https://example.com\n\n[^1]: A note.\n";
    let request = s.request(&space).await;
    let page = json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": markdown } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let content = format!("/v1/spaces/{space}/content");
    let shown = s.ask("GET", &format!("{content}/pages"), &visitor, None).await.is(200, "pages");
    let (page, document) = (id(&shown["pages"][0]), shown["pages"][0]["documentId"].clone());
    let document = document.as_str().expect("an id");
    let revision = id(&s.ask("GET", &content, &visitor, None).await.is(200, "a revision"));
    let revision = format!("/v1/spaces/{space}/revisions/{revision}");
    let paths = [
        (format!("{content}/page/{page}?format=document"), "/document"),
        (format!("{revision}/page/{page}/document"), ""),
        (format!("{revision}/page/{page}/document?dereferenced=reusable-contents"), ""),
        (format!("/v1/spaces/{space}/documents/{document}"), ""),
    ];
    for (path, at) in paths {
        let read = async |token: &str| {
            let answer = s.ask("GET", &path, token, None).await.is(200, &path);
            answer.pointer(at).unwrap_or_else(|| panic!("{at}: {answer:#}")).to_string()
        };
        let shown = read(&visitor).await;
        for markup in ["<!--", "Draft", "[!NOTE]", "<details", "<kbd", "<div", "<img", "[label]", "[^1]"] {
            assert!(!shown.contains(markup), "{path} has {markup}: {shown}");
        }
        for text in ["Read this.", "More", "Inside.", "Enter", "A note.", "https://example.com/a.png"] {
            assert!(shown.contains(text), "{path} lacks {text}: {shown}");
        }
        // Members edit what they read.
        assert!(read(&s.admin).await.contains("<!-- Draft -->"), "{path}");
    }
}
