//! The canonical URLs of pages, and their versions in other languages.

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Creates a space in a language with pages of these titles. Returns its id.
async fn space(s: &Server, language: Option<&str>, titles: &[&str]) -> String {
    let new = json!({ "title": "Guide", "language": language });
    let new = if language.is_some() { new } else { json!({ "title": "Guide" }) };
    let space = id(&s.post(&format!("/v1/orgs/{}/spaces", s.org), 201, new).await.body);
    let request = s.request(&space).await;
    let insert = |title: &&str| json!({ "operation": "insert_page", "title": title, "document": {} });
    let changes: Vec<Value> = titles.iter().map(insert).collect();
    s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    space
}

/// Returns the pages of a space.
async fn pages(s: &Server, space: &str) -> Vec<Value> {
    s.get(&format!("/v1/spaces/{space}/content")).await["pages"].as_array().expect("pages").clone()
}

fn url(url: &str) -> Value {
    json!({ "kind": "url", "url": url })
}

#[tokio::test]
async fn meta_links_contain_the_url_and_other_languages_of_a_page() {
    let s = Server::new().await;
    let english = space(&s, Some("en"), &["Start", "Set up", "Only here"]).await;
    let german = space(&s, Some("de"), &["Start", "Set up"]).await;
    let older = space(&s, Some("de"), &["Start", "Set up"]).await;
    let unknown = space(&s, None, &["Start", "Set up"]).await;
    let found = pages(&s, &english).await;
    let links = |page: &Value| format!("/v1/spaces/{english}/content/page/{}/meta-links", id(page));
    assert_eq!(s.get(&links(&found[1])).await, json!({ "alternates": [] }), "it is not published");
    let site = s.site("Docs", &[&english, &german, &older, &unknown]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let set_up = id(&pages(&s, &german).await[1]);
    let expected = json!({
        "canonical": url("https://docs.example/sites/docs/set-up"),
        "alternates": [{ "kind": "page", "page": set_up, "space": german }],
    });
    assert_eq!(s.get(&links(&found[1])).await, expected);
    let anonymous = s.send("GET", &links(&found[1]), None, None).await;
    assert_eq!(anonymous.is(200, "a public site"), expected);
    let only = json!({ "canonical": url("https://docs.example/sites/docs/only-here"), "alternates": [] });
    assert_eq!(s.get(&links(&found[2])).await, only);
    let home = s.get(&links(&found[0])).await;
    assert_eq!(home["canonical"], url("https://docs.example/sites/docs/"));

    let request = s.request(&english).await;
    let path = format!("{request}/content/page/{}/meta-links", id(&found[1]));
    assert_eq!(s.get(&path).await, expected, "a change request");
    let rename = json!({ "operation": "update_page", "page": id(&found[1]), "slug": "begin" });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [rename] })).await;
    let renamed = json!({ "canonical": url("https://docs.example/sites/docs/begin"), "alternates": [] });
    assert_eq!(s.get(&path).await, renamed, "its future address");
    let revision = id(&s.get(&format!("/v1/spaces/{english}/content")).await);
    let path = format!("/v1/spaces/{english}/revisions/{revision}/page/{}/meta-links", id(&found[1]));
    assert_eq!(s.get(&path).await, expected, "a revision");
}

#[tokio::test]
async fn meta_links_follow_the_audience_of_the_site() {
    let s = Server::new().await;
    let (english, german) =
        (space(&s, Some("en"), &["Start"]).await, space(&s, Some("de"), &["Start"]).await);
    let site = s.site("Docs", &[&english, &german]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let links = format!("/v1/spaces/{english}/content/page/{}/meta-links", id(&pages(&s, &english).await[0]));
    let shared = s.patch(&site, json!({ "visibility": "share-link" })).await;
    assert_eq!(shared["visibility"], "share-link");
    assert_eq!(s.get(&links).await.get("canonical"), None, "the URL contains a key");
    s.send("GET", &links, None, None).await.refused(401, "a site for share links");
    s.patch(&site, json!({ "visibility": "public" })).await;
    assert_ne!(s.get(&links).await["alternates"], json!([]));
    let places = s.get(&format!("{site}/site-spaces")).await;
    let place = places["items"].as_array().expect("places").iter().find(|it| it["space"]["id"] == german);
    let place = format!("{site}/site-spaces/{}", id(place.expect("a place")));
    s.patch(&place, json!({ "draft": true })).await;
    assert_eq!(s.get(&links).await["alternates"], json!([]), "drafts do not count");
}

#[tokio::test]
async fn meta_links_search_a_bounded_number_of_variants() {
    let s = Server::new().await;
    let english = space(&s, Some("en"), &["Start"]).await;
    let mut spaces = vec![english.clone()];
    for _ in 0..19 {
        spaces.push(s.space().await);
    }
    spaces.push(space(&s, Some("de"), &["Start"]).await);
    spaces.push(space(&s, Some("fr"), &["Start"]).await);
    let site = s.site("Docs", &spaces.iter().map(String::as_str).collect::<Vec<_>>()).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let links = format!("/v1/spaces/{english}/content/page/{}/meta-links", id(&pages(&s, &english).await[0]));
    let found = s.get(&links).await;
    let named: Vec<&Value> =
        found["alternates"].as_array().expect("a list").iter().map(|it| &it["space"]).collect();
    assert_eq!(named, [&json!(spaces[20])]);
}
