//! A server right after startup, before its search index has been built from the store.

use std::sync::Arc;

use docs_core::{Platform, ports::SearchIndex};
use docs_http::HttpConfig;
use docs_memstore::{FaultSearch, MemSearch};
use poem::test::TestClient;
use serde_json::{Value, json};

use crate::{server::Server, toy::failure};

/// Fills a store with a page through one server. Returns the path of a search that finds the page.
async fn stored() -> (Server, String) {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let insert =
        json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": "a needle" } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [insert] })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    (s, format!("/v1/spaces/{space}/search?query=needle"))
}

/// Starts another server on the same store, with a separate index.
fn started(s: &Server, index: Arc<dyn SearchIndex>) -> (Platform, TestClient<docs_http::HttpApp>) {
    let platform = Platform::builder(Arc::clone(s.platform.store()), s.objects.clone())
        .clock(s.clock.clone())
        .search(index)
        .build();
    let app = docs_http::routes(&platform, HttpConfig::default()).expect("routes");
    (platform, TestClient::new(app))
}

async fn found(client: &TestClient<docs_http::HttpApp>, s: &Server, path: &str) -> usize {
    let response = client.get(path).header("authorization", format!("Bearer {}", s.admin)).send().await.0;
    assert_eq!(response.status(), 200);
    let body: Value = response.into_body().into_json().await.expect("JSON");
    body["items"].as_array().expect("a list").len()
}

#[tokio::test(start_paused = true)]
async fn search_and_readiness_fail_until_the_index_is_built() {
    let (s, path) = stored().await;
    let index = Arc::new(FaultSearch::new(MemSearch::new()));
    index.hold();
    let (platform, client) = started(&s, index.clone());
    let working = platform.clone();
    let worker = tokio::spawn(async move { working.work(std::future::pending()).await });

    let ask = || client.get(&path).header("authorization", format!("Bearer {}", s.admin)).send();
    let refused = ask().await.0;
    assert_eq!(refused.header("retry-after"), Some("1"));
    let why = failure(refused, 503).await;
    assert_eq!(why, "the search index is still being built; try again");
    let not_ready = client.get("/readyz").send().await.0;
    assert_eq!(not_ready.header("retry-after"), Some("1"));
    assert_eq!(failure(not_ready, 503).await, why);
    client.get("/healthz").send().await.assert_status_is_ok();

    index.release();
    assert_eq!(found(&client, &s, &path).await, 1, "it is waited for");
    client.get("/readyz").send().await.assert_status_is_ok();
    worker.abort();
}

#[tokio::test]
async fn search_indexes_stored_content_without_a_worker() {
    let (s, path) = stored().await;
    let (_, client) = started(&s, Arc::new(MemSearch::new()));
    failure(client.get("/readyz").send().await.0, 503).await;
    assert_eq!(found(&client, &s, &path).await, 1);
    client.get("/readyz").send().await.assert_status_is_ok();
}

#[tokio::test(start_paused = true)]
async fn persisted_search_index_is_ready_immediately() {
    let (s, path) = stored().await;
    let index = Arc::new(FaultSearch::new(MemSearch::new()));
    let (before, _) = started(&s, index.clone());
    before.settle().await.expect("settled");
    // After a restart, the server uses the existing index, to which nothing can be added for now.
    index.hold();
    let (_, client) = started(&s, index);
    client.get("/readyz").send().await.assert_status_is_ok();
    assert_eq!(found(&client, &s, &path).await, 1);
}
