//! Search over HTTP.

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Creates a space with pages of these titles and texts. Returns the path of the space's search.
async fn filled(s: &Server, pages: &[(&str, &str)]) -> (String, String) {
    let space = s.space().await;
    for (title, markdown) in pages {
        let request = s.request(&space).await;
        let insert =
            json!({ "operation": "insert_page", "title": title, "document": { "markdown": markdown } });
        s.post(&format!("{request}/content"), 200, json!({ "changes": [insert] })).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
    }
    s.platform.settle().await.expect("settled");
    let path = format!("/v1/spaces/{space}/search");
    (space, path)
}

fn titles(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().expect("items").iter();
    items.map(|item| item["title"].as_str().expect("a title")).collect()
}

/// Percent-encodes a query.
fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
async fn search_returns_pages_with_sections_and_urls() {
    let s = Server::new().await;
    let markdown = "Hello.\n\n## Set up\n\nPaste the *secret* here.\n";
    let (space, path) = filled(&s, &[("Webhooks", markdown), ("Other", "Nothing.")]).await;
    let found = s.get(&format!("{path}?query=secret")).await;
    let app = format!("https://docs.example/app/s/{space}/webhooks");
    let page = found["items"][0].clone();
    let page_id = id(&page);
    let expected = json!({ "items": [{
        "id": page_id, "title": "Webhooks", "description": "", "path": "webhooks", "urls": { "app": app },
        "score": page["score"], "rank": 1, "resultType": "section", "ancestors": [],
        "sections": [{
            "id": format!("{page_id}/1"), "title": "Set up", "path": "webhooks#set-up",
            "score": page["score"], "resultType": "section",
            "body": "Paste the secret here.", "urls": { "app": format!("{app}#set-up") },
        }],
    }] });
    assert_eq!(found, expected);
    assert!(page["score"].as_u64().is_some_and(|score| score > 0), "{page}");
    let by_title = s.get(&format!("{path}?query=webhook")).await;
    assert_eq!((titles(&by_title), by_title["items"][0].get("sections")), (vec!["Webhooks"], None));
    let in_org = s.get(&format!("/v1/orgs/{}/search?query=secret", s.org)).await;
    let group = json!({
        "type": "space", "id": space, "title": "Guide", "score": page["score"], "pages": [page],
    });
    assert_eq!(in_org, json!({ "items": [group] }));
    let site = s.site("Docs", &[&space]).await;
    let search = format!("{site}/search");
    let all = json!({ "query": "secret", "mode": "all" });
    s.ask("POST", &search, &s.admin, Some(all.clone())).await.refused(404, "not published yet");
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    assert_eq!(s.post(&search, 200, all).await.body, in_org);
}

#[tokio::test]
async fn ranks_continue_on_the_next_page_of_results() {
    let s = Server::new().await;
    let names: Vec<String> = (0..5).map(|n| format!("Page {n}")).collect();
    let pages: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "secret")).collect();
    let (_, path) = filled(&s, &pages).await;
    let mut ranks = Vec::new();
    let mut next = String::new();
    loop {
        let found = s.get(&format!("{path}?query=secret&limit=2{next}")).await;
        let items = found["items"].as_array().expect("items").iter();
        ranks.extend(items.map(|item| item["rank"].as_u64().expect("a rank")));
        let Some(cursor) = found["next"]["page"].as_str() else { break };
        next = format!("&page={cursor}");
    }
    assert_eq!(ranks, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn ancestors_of_a_result_are_ordered_from_the_top() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let changes = json!([
        { "operation": "insert_page", "type": "group", "title": "Guides", "ref": "group" },
        { "operation": "insert_page", "title": "Start", "into": "group", "ref": "start", "document": {} },
        { "operation": "insert_page", "title": "Deep", "into": "start", "description": "Far below",
          "document": { "markdown": "secret" } },
    ]);
    s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    s.platform.settle().await.expect("settled");
    let found = s.get(&format!("/v1/spaces/{space}/search?query=secret")).await;
    let page = &found["items"][0];
    assert_eq!(page["ancestors"], json!([{ "title": "Guides" }, { "title": "Start" }]));
    assert_eq!((&page["description"], &page["resultType"]), (&json!("Far below"), &json!("section")));
    let by_title = s.get(&format!("/v1/spaces/{space}/search?query=deep")).await;
    assert_eq!(by_title["items"][0]["resultType"], "page");
}

#[tokio::test]
async fn a_query_has_1_to_512_characters() {
    let s = Server::new().await;
    let (space, path) = filled(&s, &[("Page", "text")]).await;
    let org = format!("/v1/orgs/{}/search", s.org);
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    for length in [0, 1, 2, 511, 512, 513] {
        for letter in ["a", "ä", "検", "*"] {
            let query = letter.repeat(length);
            let body = json!({ "query": query });
            let query = encoded(&query);
            for (method, path, body) in [
                ("GET", format!("{path}?query={query}"), None),
                ("GET", format!("{org}?query={query}"), None),
                ("POST", format!("{site}/search"), Some(body)),
            ] {
                let answer = s.ask(method, &path, &s.admin, body).await;
                if (1..=512).contains(&length) {
                    answer.is(200, &path);
                } else {
                    let message = answer.refused(400, &path);
                    assert!(message.starts_with("query: must be at"), "{message}");
                }
            }
        }
    }
    for path in [&path, &org] {
        let answer = s.ask("GET", path, &s.admin, None).await;
        assert_eq!(answer.refused(400, path), "query: is required");
    }
    s.invalid("POST", &format!("{site}/search"), json!({ "mode": "all" }), "query").await;
}

#[tokio::test]
async fn search_handles_arbitrary_query_strings() {
    let s = Server::new().await;
    let pages = [("全文検索", "検索エンジン AND more"), ("Café Straße", "naïve text, c++ and C#")];
    let (_, path) = filled(&s, &pages).await;
    for (query, found) in [
        ("\"", 0),
        ("\"\"\"", 0),
        ("\"naive text", 1),
        ("\"naive text\"", 1),
        ("\"text naive\"", 0),
        ("AND", 2),
        ("AND OR NOT", 0),
        ("(text", 1),
        ("text:*", 1),
        ("text^2~3", 0),
        ("\\", 0),
        ("+text -more", 0),
        ("[a TO z]", 0),
        ("cafe STRASSE", 1),
        ("café", 1),
        ("検索", 1),
        ("エンジ", 1),
        ("索エ", 1),
        ("擎", 0),
        ("\u{1F600}", 0),
        ("\u{301}", 0),
        ("\r\n\t", 0),
        ("'; drop table pages; --", 0),
        ("c++", 1),
    ] {
        let answer = s.get(&format!("{path}?query={}", encoded(query))).await;
        assert_eq!(titles(&answer).len(), found, "{query:?}: {answer}");
    }
    for wrong in ["%00", "a%00b", "%FF", "a&query=b"] {
        let path = format!("{path}?query={wrong}");
        let answer = s.ask("GET", &path, &s.admin, None).await;
        assert!(answer.refused(400, &path).starts_with("query: "), "{path}");
    }
}

#[tokio::test]
async fn search_results_are_paginated_by_cursor() {
    let s = Server::new().await;
    let pages: Vec<(String, String)> =
        (0..7).map(|n| (format!("Page {n}"), "needle ".repeat(n + 1))).collect();
    let pages: Vec<(&str, &str)> =
        pages.iter().map(|(title, text)| (title.as_str(), text.as_str())).collect();
    let (space, path) = filled(&s, &pages).await;
    filled(&s, &[("Page", "needle")]).await;
    let whole = s.get(&format!("{path}?query=needle&limit=1000")).await;
    assert_eq!((titles(&whole).len(), whole.get("next")), (7, None));
    let (mut walked, mut next) = (Vec::new(), String::new());
    loop {
        let page = s.get(&format!("{path}?query=needle&limit=3{next}")).await;
        walked.extend(page["items"].as_array().expect("items").clone());
        let Some(cursor) = page.get("next") else { break };
        next = format!("&page={}", cursor["page"].as_str().expect("a cursor"));
    }
    assert_eq!(json!(walked), whole["items"]);
    let org = format!("/v1/orgs/{}/search", s.org);
    for (path, field) in [
        (format!("{path}?query=needles{next}"), "page: "),
        (format!("{org}?query=needle{next}"), "page: "),
        (format!("{path}?query=needle&page=x"), "page: "),
        (format!("{path}?query=needle&limit=1001"), "limit: "),
        (format!("{org}?query=needle&limit=-1"), "limit: "),
    ] {
        let answer = s.ask("GET", &path, &s.admin, None).await;
        assert!(answer.refused(400, &path).starts_with(field), "{path}");
    }
    let none = s.get(&format!("{org}?query=needle&limit=0")).await;
    assert_eq!(none, json!({ "items": [] }));
    let first = s.get(&format!("{org}?query=needle&limit=1")).await;
    assert_eq!((titles(&first).len(), id(&first["items"][0])), (1, space));
    assert!(first["next"]["page"].is_string());
}

/// Following the cursors returns every result.
#[tokio::test]
async fn search_limit_applies_to_the_whole_response() {
    let s = Server::new().await;
    let markdown = "## Part\n\nA needle, and what stands around it.\n\n".repeat(8);
    let mut spaces = Vec::new();
    for _ in 0..3 {
        let space = s.space().await;
        let request = s.request(&space).await;
        let pages = (0..20).map(|n| {
            json!({ "operation": "insert_page", "title": format!("Page {n}"), "document": { "markdown": markdown } })
        });
        s.post(&format!("{request}/content"), 200, json!({ "changes": pages.collect::<Vec<_>>() })).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
        spaces.push(space);
    }
    s.platform.settle().await.expect("settled");
    let ids: Vec<&str> = spaces.iter().map(String::as_str).collect();
    let site = s.site("Docs", &ids).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let of_org = format!("/v1/orgs/{}/search?query=needle", s.org);
    let of_site = format!("{site}/search?x=y");
    for (method, path, body) in [("GET", of_org, None), ("POST", of_site, Some(json!({ "query": "needle" })))]
    {
        let (mut found, mut next) = (std::collections::BTreeSet::new(), String::new());
        loop {
            let path = format!("{path}&limit=5{next}");
            let answer = s.ask(method, &path, &s.admin, body.clone()).await.is(200, &path);
            let (mut pages, mut bytes) = (0, 0);
            for space in answer["items"].as_array().expect("items") {
                for page in space["pages"].as_array().expect("pages") {
                    assert!(found.insert((id(space), id(page))), "found twice: {page}");
                    bytes = bytes.max(page.to_string().len());
                    pages += 1;
                }
            }
            assert!((1..=5).contains(&pages), "{pages} pages");
            assert!(answer.to_string().len() < 5 * bytes + 1_000, "as long as its pages");
            let Some(cursor) = answer.get("next") else { break };
            next = format!("&page={}", cursor["page"].as_str().expect("a cursor"));
        }
        assert_eq!(found.len(), 60, "{path}: nothing is lost");
    }
}

#[tokio::test]
async fn site_search_scope_is_validated() {
    let s = Server::new().await;
    let (space, _) = filled(&s, &[("Page", "needle")]).await;
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let search = format!("{site}/search");
    for (body, field) in [
        (json!({ "mode": "some" }), "mode"),
        (json!({ "mode": "current" }), "siteSpaceId: "),
        (json!({ "mode": "specific" }), "siteSpaceIds: "),
        (json!({ "siteSpaceIds": [] }), "siteSpaceIds: "),
        (json!({ "siteSpaceIds": ["unknown"] }), "siteSpaceIds[0]: "),
        (json!({ "scope": { "mode": "some" } }), "scope"),
        (json!({ "scope": "all" }), "scope"),
        (json!({ "scope": { "mode": "specific" } }), "scope"),
    ] {
        let mut body = body;
        body["query"] = "needle".into();
        s.invalid("POST", &search, body, field).await;
    }
}

#[tokio::test]
async fn search_is_prewarmed_for_the_audience_of_a_published_site() {
    let s = Server::new().await;
    let (space, _) = filled(&s, &[("Page", "needle")]).await;
    let site = s.site("Docs", &[&space]).await;
    let prewarm = format!("{site}/search/prewarm");
    s.ask("POST", &prewarm, &s.admin, None).await.refused(404, "not published");
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    s.ask("POST", &prewarm, &s.admin, None).await.is(204, "a member");
    s.ask("POST", &prewarm, &s.outsider, None).await.is(204, "a visitor of a public site");
    s.patch(&site, json!({ "visibility": "share-link" })).await;
    s.ask("POST", &prewarm, &s.outsider, None).await.refused(404, "a visitor without a key");
    s.ask("POST", &format!("/v1/orgs/{}/sites/unknown/search/prewarm", s.org), &s.admin, None)
        .await
        .refused(404, "unknown");
}
