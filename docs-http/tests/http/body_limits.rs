//! Body size limits of requests by caller.

use std::time::Duration;

use docs_http::wire::budget::{AnonymousBodyLimit, BodyBudget};
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::timeout;

use crate::{
    git_sync::unfinished,
    server::{BODY_LIMIT, Server},
};

#[tokio::test]
async fn only_tokens_of_users_allow_large_bodies() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    s.patch(&site, json!({ "visibility": "public" })).await;
    let published = s.post(&format!("{site}/publish"), 200, json!({})).await.body;
    let found =
        s.post("/v1/urls/published", 200, json!({ "url": published["urls"]["published"] })).await.body;
    let visitor = format!("Bearer {}", found["apiToken"].as_str().expect("a token"));
    let (user, path) = (format!("Bearer {}", s.admin), format!("/v1/orgs/{}/spaces", s.org));
    let AnonymousBodyLimit(most) = AnonymousBodyLimit::DEFAULT;
    let large = || Some(("application/json", json!({ "title": "A", "x": "x".repeat(most) }).to_string()));
    for key in [None, Some(("idempotency-key", "abc"))] {
        let of = |token| [Some(("authorization", token)), key].into_iter().flatten().collect::<Vec<_>>();
        s.send_with("POST", &path, &of(&visitor), large()).await.refused(413, "a visitor");
        s.send_with("POST", &path, &of(&user), large()).await.is(201, "a user");
    }
    s.send("POST", &path, None, large()).await.refused(401, "an anonymous request");
    s.send("POST", "/v1/urls/published", None, large()).await.refused(413, "an anonymous request");
}

#[tokio::test(start_paused = true)]
async fn unfinished_bodies_of_a_user_leave_memory_to_others() {
    let s = Server::new().await;
    let path = format!("/v1/orgs/{}/spaces", s.org);
    let (size, most) = (BODY_LIMIT - 1_000, BodyBudget::DEFAULT_BYTES / BODY_LIMIT);
    let slow = (0..2 * most).map(|_| {
        let request = s.client.post(&path).header("authorization", format!("Bearer {}", s.admin));
        request.content_type("application/json").body(unfinished(size)).send()
    });
    let mut slow = std::pin::pin!(join_all(slow));
    assert!(timeout(Duration::from_millis(10), &mut slow).await.is_err(), "they are not finished");
    let large = |title: &str| json!({ "title": title, "x": "x".repeat(size / 2) }).to_string();
    for title in ["One", "Two", "Three"] {
        let token = format!("Bearer {}", s.both);
        let answer = s.send("POST", &path, Some(&token), Some(("application/json", large(title)))).await;
        answer.is(201, "another user");
        assert!(timeout(Duration::from_secs(5), &mut slow).await.is_err());
    }
    for _ in 0..most {
        let token = format!("Bearer {}", s.admin);
        let answer = s.send("POST", &path, Some(&token), Some(("application/json", large("Own")))).await;
        answer.is(201, "their sender itself: stalled bodies are ended");
    }
}
