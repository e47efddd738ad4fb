//! Memory that a server reserves for large responses.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use docs_core::{BoxFuture, platform::AnswerMemory};
use docs_http::ResponseMemory;
use poem::http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{openapi_specs::computed, server::Server};

/// Number of operations that a document shows.
const SHOWN: usize = 200;

/// Records the requested bytes, and rejects the request if they exceed a limit.
#[derive(Clone, Default)]
struct Recorded {
    limit: usize,
    requested: Arc<AtomicUsize>,
}

impl AnswerMemory for Recorded {
    fn reserve(&self, bytes: usize) -> BoxFuture<'_, bool> {
        self.requested.fetch_add(bytes, Ordering::Relaxed);
        Box::pin(async move { bytes <= self.limit })
    }
}

/// Computes a document of a specification with this limit. Returns the status, the requested bytes and the number of
/// blocks.
async fn compute(s: &Server, space: &str, slug: &str, limit: usize) -> (StatusCode, usize, usize) {
    let memory = Recorded { limit, ..Recorded::default() };
    let mut body = computed("getComputedDocument", slug);
    body["source"]["props"]["page"] = json!("Default");
    let request = s.client.post(format!("/v1/spaces/{space}/content/computed/document")).body_json(&body);
    let request = request.header("authorization", format!("Bearer {}", s.admin));
    let response = request.data(ResponseMemory::new(memory.clone())).send().await.0;
    let status = response.status();
    let body = response.into_body().into_json::<Value>().await.expect("JSON");
    let blocks = body["nodes"].as_array().map_or(0, Vec::len);
    (status, memory.requested.load(Ordering::Relaxed), blocks)
}

#[tokio::test]
async fn long_computed_documents_are_cut_and_need_memory() {
    let s = Server::new().await;
    let space = s.space().await;
    let mut found = Vec::new();
    for number in [1, SHOWN - 1, SHOWN, SHOWN + 100] {
        let slug = format!("api-{number}");
        let paths: Map<String, Value> =
            (0..number).map(|at| (format!("/path-{at:03}"), json!({ "get": { "responses": {} } }))).collect();
        let text = json!({ "openapi": "3.1.0", "info": { "title": "API", "version": "1" }, "paths": paths });
        let new = json!({ "slug": slug, "source": { "text": text.to_string() } });
        s.post(&format!("/v1/orgs/{}/openapi", s.org), 201, new).await;
        s.platform.settle().await.expect("settled");
        let (status, requested, blocks) = compute(&s, &space, &slug, usize::MAX).await;
        assert_eq!((status, blocks), (StatusCode::OK, number.min(SHOWN)), "{number}");
        if requested > 0 {
            let refused = compute(&s, &space, &slug, requested - 1).await;
            assert_eq!(refused, (StatusCode::SERVICE_UNAVAILABLE, requested, 0), "{number}");
        }
        found.push(requested);
    }
    assert_eq!(found[0], 0, "a small document needs none");
    assert!(found[1] > 0 && found[2] == found[3], "{found:?}");
}

/// Reads content of a space with this limit. Returns the status and the requested bytes.
async fn read(s: &Server, space: &str, path: &str, limit: usize) -> (StatusCode, usize) {
    read_in_space(s, space, &format!("/content{path}"), limit).await
}

/// Reads a part of a space with this limit. Returns the status and the requested bytes.
async fn read_in_space(s: &Server, space: &str, path: &str, limit: usize) -> (StatusCode, usize) {
    let memory = Recorded { limit, ..Recorded::default() };
    let request = s.client.get(format!("/v1/spaces/{space}{path}"));
    let request = request.header("authorization", format!("Bearer {}", s.admin));
    let response = request.data(ResponseMemory::new(memory.clone())).send().await.0;
    (response.status(), memory.requested.load(Ordering::Relaxed))
}

/// Inserts pages into a space.
async fn insert(s: &Server, space: &str, pages: Vec<Value>) {
    let request = s.request(space).await;
    s.post(&format!("{request}/content"), 200, json!({ "changes": pages })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
}

fn page(parent: Option<&str>, markdown: &str) -> Value {
    let mut page =
        json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": markdown } });
    if let Some(parent) = parent {
        page["into"] = json!(parent);
    }
    page
}

#[tokio::test]
async fn large_pages_need_free_memory() {
    let s = Server::new().await;
    let space = s.space().await;
    let long = "* item\n".repeat(10_000);
    insert(&s, &space, vec![page(None, "Short."), page(None, &long), page(None, "Short.")]).await;
    let shown = s.get(&format!("/v1/spaces/{space}/content/pages")).await;
    let id = |at: usize| shown["pages"][at]["id"].as_str().expect("an id");
    let (top, long, short) = (id(0), id(1), id(2));
    for _ in 0..5 {
        insert(&s, &space, vec![page(Some(top), ""); 50]).await;
    }
    let parsed = ["format=document", "format.markdown.refs=relative", "dereferenced=true"];
    let cases = parsed.map(|query| (long, query)).into_iter().chain([(top, "format=markdown")]);
    for (page, query) in cases {
        let path = format!("/page/{page}?{query}");
        let (status, requested) = read(&s, &space, &path, usize::MAX).await;
        assert_eq!(status, StatusCode::OK, "{query}");
        assert!(requested >= 250 * 1_024, "{query}: {requested} bytes");
        let rejected = (StatusCode::SERVICE_UNAVAILABLE, requested);
        assert_eq!(read(&s, &space, &path, requested - 1).await, rejected, "{query}");
    }
    // The source of a text is returned without being parsed.
    let small = parsed.map(|query| (short, query)).into_iter().chain([(long, "format=markdown")]);
    for (page, query) in small {
        let path = format!("/page/{page}?{query}");
        assert_eq!(read(&s, &space, &path, 0).await, (StatusCode::OK, 0), "{query}");
    }
}

#[tokio::test]
async fn large_documents_need_free_memory() {
    let s = Server::new().await;
    let space = s.space().await;
    let texts = ["* item\n".repeat(10_000), "Short.".to_owned()];
    let request = s.request(&space).await;
    let title = |text: &String| format!("{} bytes", text.len());
    let reusable = |text: &String| {
        let document = json!({ "markdown": text });
        json!({ "operation": "insert_reusable_content", "title": title(text), "document": document })
    };
    let changes: Vec<Value> =
        texts.iter().map(|text| page(None, text)).chain(texts.iter().map(reusable)).collect();
    s.post(&format!("{request}/content"), 200, json!({ "changes": changes })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let revision = s.get(&format!("/v1/spaces/{space}/content")).await;
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let of = format!("/revisions/{}", text(&revision["id"]));
    for (at, is_large) in [(0, true), (1, false)] {
        let page = &revision["pages"][at];
        let mut reusables = revision["reusableContents"].as_array().expect("a list").iter();
        let reusable = reusables.find(|own| own["title"] == title(&texts[at])).expect("reusable content");
        for path in [
            format!("/documents/{}", text(&page["documentId"])),
            format!("{of}/page/{}/document", text(&page["id"])),
            format!("{of}/page/{}/document?dereferenced=true", text(&page["id"])),
            format!("{of}/reusable-contents/{}/document", text(&reusable["id"])),
        ] {
            let (status, requested) = read_in_space(&s, &space, &path, usize::MAX).await;
            assert_eq!((status, requested > 0), (StatusCode::OK, is_large), "{path}: {requested} bytes");
            if is_large {
                let rejected = (StatusCode::SERVICE_UNAVAILABLE, requested);
                assert_eq!(read_in_space(&s, &space, &path, requested - 1).await, rejected, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn large_revisions_need_free_memory() {
    let s = Server::new().await;
    let space = s.space().await;
    assert_eq!(read(&s, &space, "", 0).await, (StatusCode::OK, 0), "a small revision needs none");
    for _ in 0..5 {
        insert(&s, &space, vec![page(None, ""); 50]).await;
    }
    let (status, requested) = read(&s, &space, "", usize::MAX).await;
    assert_eq!(status, StatusCode::OK);
    assert!(requested >= 250 * 1_024, "{requested} bytes");
    assert_eq!(read(&s, &space, "", requested - 1).await, (StatusCode::SERVICE_UNAVAILABLE, requested));
}
