//! Memory that a server reserves for large responses.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use docs_core::{BoxFuture, platform::AnswerMemory};
use docs_http::ResponseMemory;
use poem::http::StatusCode;
use serde_json::json;

use crate::server::Server;

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

/// Reads a space with this limit. Returns the status and the requested bytes.
async fn read(s: &Server, space: &str, limit: usize) -> (StatusCode, usize) {
    let memory = Recorded { limit, ..Recorded::default() };
    let request = s.client.get(format!("/v1/spaces/{space}/content"));
    let request = request.header("authorization", format!("Bearer {}", s.admin));
    let response = request.data(ResponseMemory::new(memory.clone())).send().await.0;
    (response.status(), memory.requested.load(Ordering::Relaxed))
}

#[tokio::test]
async fn large_revisions_need_free_memory() {
    let s = Server::new().await;
    let space = s.space().await;
    assert_eq!(read(&s, &space, 0).await, (StatusCode::OK, 0), "a small revision needs none");
    for _ in 0..5 {
        let request = s.request(&space).await;
        let insert = json!({ "operation": "insert_page", "title": "Page", "document": {} });
        s.post(&format!("{request}/content"), 200, json!({ "changes": vec![insert; 50] })).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
    }
    let (status, requested) = read(&s, &space, usize::MAX).await;
    assert_eq!(status, StatusCode::OK);
    assert!(requested >= 250 * 1_024, "{requested} bytes");
    assert_eq!(read(&s, &space, requested - 1).await, (StatusCode::SERVICE_UNAVAILABLE, requested));
}
