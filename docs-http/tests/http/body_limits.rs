//! Body size limits of requests by caller.

use docs_http::wire::budget::AnonymousBodyLimit;
use serde_json::json;

use crate::server::Server;

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
