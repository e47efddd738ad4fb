//! Links and backlinks over HTTP: pagination, filters, cursors, and rejected requests.

use serde_json::{Value, json};

use crate::server::{Server, id};

/// A space whose pages contain all kinds of links, and a change request that breaks some of them.
struct Woven {
    s: Server,
    space: String,
    request: String,
    pages: Vec<String>,
    file: String,
}

impl Woven {
    async fn new() -> Self {
        let s = Server::new().await;
        let space = s.space().await;
        let first = s.request(&space).await;
        let file = json!({ "ref": "pic", "name": "a.txt", "base64": "YQ==", "contentType": "text/plain" });
        let page = |n: usize| json!({ "operation": "insert_page", "title": format!("P{n}"), "document": {} });
        let mut changes: Vec<Value> = (0..4).map(page).collect();
        changes.push(json!({ "operation": "insert_files", "files": [file] }));
        edit(&s, &first, json!(changes)).await;
        let content = s.get(&format!("{first}/content")).await;
        let pages: Vec<String> = content["pages"].as_array().expect("pages").iter().map(id).collect();
        let file = id(&content["files"][0]);
        let text = |n: usize| {
            format!(
                "## x\n\n## here\n\n[a](/pages/{}) [b](/pages/{}#x) ![f](/files/{file}) [lost](/nowhere/{n}) [w](https://w.example/{n}) \
                 [app](https://docs.example/app/s/{n}) [me](#here) [s](/spaces/none)",
                pages[(n + 1) % 4],
                pages[(n + 2) % 4],
            )
        };
        let set = |n: usize| json!({ "operation": "update_page", "page": pages[n], "document": { "markdown": text(n) } });
        edit(&s, &first, json!((0..4).map(set).collect::<Vec<_>>())).await;
        s.post(&format!("{first}/merge"), 200, json!({})).await;
        let request = s.request(&space).await;
        edit(&s, &request, json!([{ "operation": "delete_page", "page": pages[3] }])).await;
        Self { s, space: format!("/v1/spaces/{space}"), request, pages, file }
    }

    /// Returns the lists, each with its number of items.
    fn lists(&self) -> Vec<(String, usize)> {
        let Self { space, request, pages, file, .. } = self;
        let page = &pages[0];
        vec![
            (format!("{space}/links"), 32),
            (format!("{space}/links?status=broken"), 8),
            (format!("{space}/links?status=ok"), 20),
            (format!("{space}/links?status=in-app"), 4),
            (format!("{space}/content/page/{page}/links"), 8),
            (format!("{space}/content/page/{page}/links?status=broken"), 2),
            (format!("{space}/content/page/{page}/links?status=ok"), 5),
            (format!("{space}/content/page/{page}/links?status=in-app"), 1),
            (format!("{space}/content/page/{page}/backlinks"), 2),
            (format!("{space}/content/files/{file}/backlinks"), 4),
            // Two pages link to the deleted page.
            (format!("{request}/links"), 2),
            (format!("{request}/links?status=broken"), 2),
            (format!("{request}/links?brokenContext=change-request"), 2),
            (format!("{request}/links?brokenContext=space"), 6),
            (format!("{request}/links?brokenContext=space&status=broken"), 6),
            (format!("{request}/content/page/{page}/links"), 8),
            (format!("{request}/content/page/{}/links?status=broken", pages[2]), 3),
            (format!("{request}/content/page/{page}/backlinks"), 1),
            (format!("{request}/content/files/{file}/backlinks"), 3),
        ]
    }
}

async fn edit(s: &Server, request: &str, changes: Value) {
    s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
}

fn at(list: &str, query: &str) -> String {
    format!("{list}{}{query}", if list.contains('?') { '&' } else { '?' })
}

async fn walk(s: &Server, list: &str, limit: usize, mut between: impl AsyncFnMut()) -> Vec<Value> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for _ in 0..100 {
        let page = s.get(&at(list, &format!("limit={limit}{cursor}"))).await;
        let items = page["items"].as_array().expect("items");
        assert!(items.len() <= limit, "{list}");
        seen.extend(items.iter().cloned());
        match page.get("next") {
            None => return seen,
            Some(next) => cursor = format!("&page={}", next["page"].as_str().expect("a cursor")),
        }
        between().await;
    }
    panic!("{list}: the last page has no `next`");
}

#[tokio::test]
async fn every_link_list_paginates_with_any_page_size() {
    let w = Woven::new().await;
    for (list, n) in w.lists() {
        let whole = w.s.get(&at(&list, "limit=1000")).await;
        let items = whole["items"].as_array().expect("items");
        assert_eq!(items.len(), n, "{list}");
        assert!(whole.get("count").is_none_or(|count| *count == n), "{list}: {}", whole["count"]);
        for (i, item) in items.iter().enumerate() {
            assert!(!items[..i].contains(item), "{list}: each once");
        }
        for limit in [1, 2, 3, 7] {
            assert_eq!(walk(&w.s, &list, limit, async || ()).await, *items, "{list} by {limit}");
        }
    }
    w.s.check().await;
}

#[tokio::test]
async fn status_filter_limits_items_but_not_stats() {
    let w = Woven::new().await;
    let (space, request) = (&w.space, &w.request);
    for status in ["ok", "broken", "in-app"] {
        let list = w.s.get(&format!("{space}/links?status={status}&limit=1000")).await;
        let shown = list["items"].as_array().expect("items");
        assert!(shown.iter().all(|link| link["status"] == status), "{status}: {shown:#?}");
        assert_eq!(list["stats"], json!({ "total": 32, "broken": { "total": 8 } }));
    }
    let all = w.s.get(&format!("{space}/links?limit=1000")).await;
    let relations = |relation: &str| {
        all["items"].as_array().expect("items").iter().filter(|link| link["relation"] == relation).count()
    };
    assert_eq!((relations("reference"), relations("dependsOn")), (28, 4));
    let of_request = w.s.get(&format!("{request}/links")).await;
    // A page with eight links, two of them broken, is deleted. Two other pages link to it.
    let stats = json!({ "total": 24, "broken": { "total": 8, "changeRequest": 2 } });
    assert_eq!(of_request["stats"], stats);
    let page = w.s.get(&format!("{request}/content/page/{}/links", w.pages[2])).await;
    assert_eq!(page["stats"], json!({ "total": 8, "broken": { "total": 3, "changeRequest": 1 } }));
}

#[tokio::test]
async fn collection_link_is_broken_only_without_access() {
    let s = Server::new().await;
    let space = s.space().await;
    let collections = format!("/v1/orgs/{}/collections", s.org);
    let shown = id(&s.post(&collections, 201, json!({ "title": "Handbooks" })).await.body);
    let hidden = id(&s.post(&collections, 201, json!({ "title": "Secrets" })).await.body);
    s.patch(&format!("/v1/collections/{hidden}"), json!({ "defaultLevel": null })).await;
    let text =
        format!("[shown](/collections/{shown}) [hidden](/collections/{hidden}) [gone](/collections/none)");
    let request = s.request(&space).await;
    edit(&s, &request, json!([{ "operation": "insert_page", "document": { "markdown": text } }])).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let list = format!("/v1/spaces/{space}/links");
    let all = s.get(&list).await;
    let to = |list: &Value, collection: &str| {
        let items = list["items"].as_array().expect("items").iter();
        let found = items.filter(|link| link["targetReference"]["collection"]["id"] == collection);
        found.cloned().collect::<Vec<_>>()
    };
    assert_eq!(all["stats"], json!({ "total": 3, "broken": { "total": 1 } }));
    let [link] = &*to(&all, &shown) else { panic!("{all:#}") };
    assert_eq!((&link["status"], &link["relation"]), (&json!("ok"), &json!("reference")));
    let target = &link["targetReference"];
    assert_eq!(target["kind"], "collection");
    assert_eq!(target["organization"]["id"], s.org);
    assert_eq!(target["collection"], s.get(&format!("/v1/collections/{shown}")).await);
    // Without access to the collection, only the reference as written is returned.
    let seen = s.ask("GET", &list, &s.reader, None).await.is(200, &list);
    assert_eq!(seen["stats"], json!({ "total": 3, "broken": { "total": 2 } }));
    assert_eq!((to(&seen, &shown).len(), to(&seen, &hidden).len()), (1, 0));
    s.ask("DELETE", &format!("/v1/collections/{shown}"), &s.admin, None).await.is(204, "deleted");
    assert_eq!(s.get(&list).await["stats"]["broken"]["total"], 2, "a collection that is gone");
}

#[tokio::test]
async fn cursor_is_valid_only_for_its_own_list_and_filter() {
    let w = Woven::new().await;
    let lists = w.lists();
    for (list, n) in lists.iter().filter(|(_, n)| *n > 1) {
        let first = w.s.get(&at(list, &format!("limit={}", n - 1))).await;
        let cursor = first["next"]["page"].as_str().unwrap_or_else(|| panic!("{list}: there is more"));
        let (start, end) = cursor.split_at(cursor.len() / 2);
        let mut wrong: Vec<String> = ["", "x", "%00", start, end, &format!("{cursor}A")]
            .iter()
            .map(|damaged| at(list, &format!("page={damaged}")))
            .collect();
        // An equivalent filter returns the same list.
        let same = |other: &str| {
            other.replace("?status=broken", "").replace("&status=broken", "")
                == list.replace("?status=broken", "").replace("&status=broken", "")
        };
        wrong.extend(
            lists
                .iter()
                .filter(|(other, _)| !same(other))
                .map(|(other, _)| at(other, &format!("page={cursor}"))),
        );
        for path in wrong {
            let answer = w.s.ask("GET", &path, &w.s.admin, None).await;
            assert!(answer.refused(400, &path).starts_with("page: "), "{path}");
        }
        let rest = w.s.get(&at(list, &format!("page={cursor}"))).await;
        assert_eq!(rest["items"].as_array().expect("items").len(), 1, "{list}");
    }
}

#[tokio::test]
async fn link_pagination_is_stable_under_concurrent_edits() {
    let w = Woven::new().await;
    for list in [
        format!("{}/links", w.request),
        format!("{}/links?brokenContext=space", w.request),
        format!("{}/content/page/{}/links", w.request, w.pages[0]),
        format!("{}/content/files/{}/backlinks", w.request, w.file),
    ] {
        let place = |item: &Value| {
            let page = &item["locationReferences"][0]["page"]["id"];
            (
                page.clone(),
                item["status"].clone(),
                item["targetReference"]["url"].clone(),
                item["page"]["id"].clone(),
            )
        };
        let before: Vec<_> = w.s.get(&at(&list, "limit=1000")).await["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(place)
            .collect();
        let seen = walk(&w.s, &list, 1, async || {
            let text = json!({ "markdown": format!("![f](/files/{}) [lost](/elsewhere)", w.file) });
            edit(&w.s, &w.request, json!([{ "operation": "insert_page", "document": text }])).await;
        })
        .await;
        assert_eq!(seen.iter().map(place).collect::<Vec<_>>(), before, "{list}");
    }
}

#[tokio::test]
async fn missing_targets_return_404_and_link_filters_are_validated() {
    let w = Woven::new().await;
    let Woven { s, space, request, pages, .. } = &w;
    for of in [space, request] {
        for gone in ["page/none/links", "page/none/backlinks", "page/a%20b/links", "files/none/backlinks"] {
            let path = format!("{of}/content/{gone}");
            s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
        }
        for list in ["links", &format!("content/page/{}/links", pages[0])] {
            let path = format!("{of}/{list}");
            for wrong in ["missing", "OK", "in_app", ""] {
                let path = format!("{path}?status={wrong}");
                let answer = s.ask("GET", &path, &s.admin, None).await;
                assert!(answer.refused(400, &path).starts_with("status: "), "{path}");
            }
            s.ask("GET", &path, &s.reader, None).await.is(200, "readers see links");
            for token in [&s.guest, &s.outsider] {
                s.ask("GET", &path, token, None).await.refused(404, &path);
            }
        }
    }
    let path = format!("{request}/content/page/{}/links", pages[3]);
    s.ask("GET", &path, &s.admin, None).await.refused(404, "the request removed it");
    for wrong in
        ["brokenContext=site", "status=ok&brokenContext=space", "status=in-app&brokenContext=change-request"]
    {
        let path = format!("{request}/links?{wrong}");
        let answer = s.ask("GET", &path, &s.admin, None).await;
        assert!(answer.refused(400, &path).starts_with("brokenContext: "), "{path}");
    }
}
