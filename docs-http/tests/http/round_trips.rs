//! Sending a resource back unchanged after reading it has no effect, for any caller.

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::server::{Server, id};

/// Returns every level that content can have.
fn levels() -> impl Iterator<Item = Value> {
    let roles = Role::ALL.iter().map(|role| json!(role.as_str()));
    roles.chain([json!("inherit"), Value::Null])
}

/// Reads a resource and sends it back completely.
async fn send_back(s: &Server, path: &str, token: &str) {
    let read = s.ask("GET", path, token, None).await.is(200, path);
    let before = s.stored().await;
    let answer = s.ask("PATCH", path, token, Some(read.clone())).await.is(200, path);
    assert_eq!(answer, read, "{path}: what is answered is what was read");
    assert_eq!(before, s.stored().await, "{path}: nothing changed");
}

#[tokio::test]
async fn spaces_and_collections_are_unchanged_when_sent_back() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    // Cat manages through her role in the organization, Rea through an explicit role, Tom through a role of his team.
    let (_, cat) = s.joining("Cat", Some(Role::Create)).await;
    let (rea_id, rea) = s.joining("Rea", Some(Role::Read)).await;
    let (tom_id, tom) = s.joining("Tom", Some(Role::Comment)).await;
    let team = json!({ "title": "Writers", "members": [tom_id] });
    let team = s.ask("PUT", &format!("{org}/teams"), &s.admin, Some(team)).await.is(201, "a team");
    let outer = id(&s.post(&format!("{org}/collections"), 201, json!({ "title": "Outer" })).await.body);
    let inner = json!({ "title": "Inner", "parent": outer });
    let inner = id(&s.post(&format!("{org}/collections"), 201, inner).await.body);
    let space = json!({ "title": "Guide", "parent": inner });
    let space = format!("/v1/spaces/{}", id(&s.post(&format!("{org}/spaces"), 201, space).await.body));
    let (outer, inner) = (format!("/v1/collections/{outer}"), format!("/v1/collections/{inner}"));
    let give = json!({ "role": "create", "users": [rea_id], "teams": [id(&team)] });
    s.post(&format!("{outer}/permissions"), 204, give).await;
    let looks = [json!({}), json!({ "emoji": "🚀" }), json!({ "icon": "https://x.example/a.png" })];
    for above in levels() {
        s.patch(&outer, json!({ "defaultLevel": above })).await;
        for (own, look) in levels().zip(looks.iter().cycle()) {
            s.patch(&space, look.clone()).await;
            for path in [&space, &inner] {
                let set = json!({ "defaultLevel": own, "title": "Guide" });
                assert_eq!(s.patch(path, set).await["defaultLevel"], own, "what is set is what is read");
                for token in [&s.admin, &cat, &rea, &tom] {
                    let seen = s.ask("GET", path, token, None).await;
                    if seen.status == 200 && seen.body["permissions"]["admin"] == json!(true) {
                        send_back(&s, path, token).await;
                    }
                }
            }
        }
    }
    s.check().await;
}
