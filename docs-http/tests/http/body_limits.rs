//! Body size limits of requests by caller.

use std::{io, time::Duration};

use bytes::Bytes;
use docs_core::model::Role;
use docs_http::wire::budget::{AnonymousBodyLimit, BodyBudget};
use futures_util::{future::join_all, stream};
use poem::Body;
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

/// Sends a body of `bytes` in parts of 64 KiB.
async fn send_in_parts(s: &Server, path: &str, token: &str, bytes: usize) -> u16 {
    let text = json!({ "title": "A", "x": "x".repeat(bytes) }).to_string();
    let parts: Vec<_> = text.as_bytes().chunks(64 << 10).map(Bytes::copy_from_slice).collect();
    let body = Body::from_bytes_stream(stream::iter(parts.into_iter().map(Ok::<_, io::Error>)));
    let request = s.client.post(path).header("authorization", format!("Bearer {token}"));
    request.content_type("application/json").body(body).send().await.0.status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn unfinished_bodies_of_many_users_leave_memory_to_others() {
    let s = Server::new().await;
    let path = format!("/v1/orgs/{}/spaces", s.org);
    // Each user leaves as much as it takes, so that all together leave a share of one.
    let users = 48;
    let share = AnonymousBodyLimit::DEFAULT.0 + BodyBudget::DEFAULT_BYTES / (users + 1) - 2_000;
    let mut slow = Vec::new();
    for at in 0..users {
        let (_, token) = s.joining(&format!("Slow {at}"), Some(Role::Admin)).await;
        let request = s.client.post(&path).header("authorization", format!("Bearer {token}"));
        slow.push(request.content_type("application/json").body(unfinished(share)).send());
    }
    let mut slow = std::pin::pin!(join_all(slow));
    let ended = timeout(BodyBudget::SLOW + Duration::from_secs(1), &mut slow).await;
    assert!(ended.is_err(), "unfinished bodies are held: {:?}", ended.map(|all| all[0].0.status()));
    for bytes in [60_000, 500_000, 1_200_000, BODY_LIMIT - 1_000] {
        let sent = tokio::select! {
            sent = send_in_parts(&s, &path, &s.both, bytes) => sent,
            _ = &mut slow => panic!("slow bodies that need not end have ended"),
        };
        assert_eq!(sent, 201, "{bytes} bytes");
    }
}
