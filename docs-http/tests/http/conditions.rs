//! Conditional requests: responses have an ETag, and a conditional write applies only to the state that was read.

use std::sync::Arc;

use docs_core::Platform;
use docs_http::HttpConfig;
use docs_memstore::MemObjects;
use poem::test::TestClient;
use serde_json::{Value, json};

use crate::{
    matrix::ready,
    refusals::{Op, World, bearer},
    server::{Answer, Server, id},
};

/// Operations that create new data on each read.
const NEW_EACH_TIME: [&str; 2] = ["getChangeRequestPDF", "getSpacePDF"];

async fn send(w: &World, op: &Op, headers: &[(&str, &str)]) -> Answer {
    // Only the user in the path can change their account.
    let authorization = bearer(if op.id == "updateUserById" { &w.s.admin } else { &w.s.both });
    let headers = [&[("authorization", authorization.as_str())][..], headers].concat();
    let body = op.body.as_ref().map(|body| ("application/json", body.to_string()));
    w.s.send_with(&op.method, &w.path(op), &headers, body).await
}

/// Reads the resource that the operation would change.
async fn read(s: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    let authorization = bearer(&s.both);
    s.send_with("GET", path, &[&[("authorization", authorization.as_str())][..], headers].concat(), None)
        .await
}

fn tag(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("etag").expect("a tag").to_owned()
}

#[tokio::test]
async fn every_readable_mutable_resource_takes_preconditions() {
    let w = World::new().await;
    let ops = w.ops();
    let reads: Vec<String> = ops.iter().filter(|op| op.method == "GET").map(|op| w.path(op)).collect();
    for op in ops.iter().filter(|op| ["PATCH", "PUT"].contains(&op.method.as_str())) {
        // Lists have no state that could be replaced.
        let is_list = op.id.contains("Team")
            || ["updateGlossaryEntries", "bulkUpsertSiteRedirects"].contains(&op.id.as_str());
        let is_read = reads.contains(&w.path(op)) && !is_list || op.id == "updateTeamInOrganizationById";
        assert_eq!(op.takes_condition, is_read, "{} {}", op.method, op.id);
    }
    let edit = ops.iter().find(|op| op.id == "updateChangeRequestContent").expect("the operation");
    assert!(edit.takes_condition, "the content of a change request is read at the same path");
}

#[tokio::test]
async fn conditional_change_applies_only_to_the_state_read() {
    let w = World::new().await;
    let start = w.s.store.save();
    let (mut taken, mut moved) = (0, 0);
    for op in w.ops().iter().filter(|op| op.takes_condition) {
        taken += 1;
        w.s.store.rewind(&start);
        ready(&w, op).await;
        let ready = w.s.store.save();
        let path = w.path(op);
        let seen = tag(&read(&w.s, &path, &[]).await);
        let before = w.s.stored().await;
        let weak = format!("W/{seen}");
        for (header, value, status) in [
            ("if-match", "\"another\"", 412),
            ("if-match", weak.as_str(), 412),
            ("if-match", "\"another\", \"third\"", 412),
            ("if-match", "", 412),
            ("if-none-match", &seen, 412),
            ("if-none-match", &weak, 412),
            ("if-none-match", "*", 412),
            ("if-match", "unquoted", 400),
            ("if-match", "*, \"a\"", 400),
            ("if-none-match", "\"open", 400),
        ] {
            let what = format!("{} {header}: {value}", op.id);
            let message = send(&w, op, &[(header, value)]).await.refused(status, &what).to_owned();
            assert!(message.to_lowercase().starts_with(header), "{what}: {message}");
        }
        assert_eq!(w.s.stored().await, before, "{}: nothing is changed", op.id);
        let encoded = format!("{}-gzip\"", seen.trim_end_matches('"'));
        let several = format!("\"another\", {seen}");
        for (header, value) in [
            ("if-match", "*"),
            ("if-match", several.as_str()),
            ("if-match", &encoded),
            ("if-none-match", "\"another\""),
            ("if-match", &seen),
        ] {
            w.s.store.rewind(&ready);
            let done = send(&w, op, &[(header, value)]).await;
            assert!(done.status < 300, "{} {header}: {value}: {done:?}", op.id);
            if let Some(new) = done.header("etag") {
                assert_eq!(new, tag(&read(&w.s, &path, &[]).await), "{}: the tag of the new state", op.id);
            }
        }
        if op.method == "DELETE" || tag(&read(&w.s, &path, &[]).await) == seen {
            continue;
        }
        // Of two changes based on the same state, the second one is rejected.
        moved += 1;
        let answer = send(&w, op, &[("if-match", &seen)]).await;
        // A deleted resource cannot be deleted again, whatever the condition.
        let refused = if op.id == "updateChangeRequestContent" { 400 } else { 412 };
        answer.refused(refused, &op.id);
    }
    assert!(moved >= 10, "{moved} operations changed something");
    assert!(taken >= 20, "{taken} operations take a condition");
}

#[tokio::test]
async fn permission_is_checked_before_the_condition() {
    let w = World::new().await;
    let before = w.s.stored().await;
    let path = format!("/v1/spaces/{}", w.name("spaceId"));
    for (who, status) in [(&w.s.reader, 403), (&w.s.outsider, 404)] {
        let authorization = bearer(who);
        let headers = [("authorization", authorization.as_str()), ("if-match", "\"another\"")];
        let body = Some(("application/json", json!({ "title": "New" }).to_string()));
        w.s.send_with("PATCH", &path, &headers, body).await.refused(status, who);
    }
    assert_eq!(w.s.stored().await, before);
}

#[tokio::test]
async fn unsupported_precondition_is_rejected() {
    let w = World::new().await;
    let before = w.s.stored().await;
    for op in w.ops().iter().filter(|op| op.method != "GET" && !op.takes_condition) {
        for header in ["if-match", "if-none-match"] {
            let message = send(&w, op, &[(header, "*")]).await.refused(400, &op.id).to_owned();
            assert!(message.contains("is not supported by this operation"), "{}: {message}", op.id);
        }
    }
    assert_eq!(w.s.stored().await, before);
}

#[tokio::test]
async fn every_read_returns_304_for_a_known_etag() {
    let w = World::new().await;
    for op in w.ops().iter().filter(|op| op.method == "GET") {
        let path = w.path(op);
        let first = read(&w.s, &path, &[]).await;
        let seen = tag(&first);
        if NEW_EACH_TIME.contains(&op.id.as_str()) {
            continue;
        }
        let weak = format!("W/{seen}");
        let several = format!("\"another\" , {seen}");
        for known in [seen.as_str(), &weak, &several, "*"] {
            let answer = read(&w.s, &path, &[("if-none-match", known)]).await;
            assert_eq!((answer.status, &answer.body), (304, &Value::Null), "{} {known}", op.id);
            assert_eq!(answer.header("etag"), Some(seen.as_str()), "{}", op.id);
            assert_eq!(answer.header("cache-control"), first.header("cache-control"), "{}", op.id);
            assert_eq!(answer.header("content-type"), None, "{}", op.id);
        }
        for unknown in ["\"another\"", "unquoted", "\"another\", W/\"third\""] {
            let answer = read(&w.s, &path, &[("if-none-match", unknown)]).await;
            assert_eq!((answer.status, &answer.body), (200, &first.body), "{} {unknown}", op.id);
        }
        read(&w.s, &path, &[("if-match", "\"another\"")]).await.refused(412, &op.id);
        assert_eq!(tag(&read(&w.s, &path, &[("if-match", &seen)]).await), seen, "{}", op.id);
        let head = w.s.client.head(&path).header("authorization", bearer(&w.s.both)).send().await.0;
        assert_eq!(head.header("etag"), Some(seen.as_str()), "{}", op.id);
    }
}

#[tokio::test]
async fn revision_is_immutable_and_revalidates_without_a_read() {
    let w = World::new().await;
    // A server with the same records, but without the stored objects.
    let builder = Platform::builder(Arc::clone(w.s.platform.store()), Arc::new(MemObjects::new()));
    let blind = builder.clock(w.s.clock.clone()).base_url("https://docs.example").build();
    let blind = TestClient::new(docs_http::routes(&blind, HttpConfig::default()).expect("routes"));
    let mut lasting = 0;
    for op in w.ops().iter().filter(|op| op.method == "GET" && w.path(op).contains("/revisions/")) {
        // These also depend on the head of the space and on its sites.
        if ["getRevisionSemanticChanges", "listRevisionPageMetaLinks"].contains(&op.id.as_str()) {
            continue;
        }
        let path = w.path(op);
        let answer = read(&w.s, &path, &[]).await;
        let seen = tag(&answer);
        let kept = answer.header("cache-control").expect("how long it lasts").to_owned();
        let is_whole = op.id == "getRevisionById";
        let expected = if is_whole { "private, no-cache" } else { "private, max-age=31536000, immutable" };
        assert_eq!(kept, expected, "{}", op.id);
        assert_eq!(answer.header("vary"), Some("Authorization"), "{}", op.id);
        let ask = |known: &'static str| {
            let request = blind.get(&path).header("authorization", bearer(&w.s.both));
            if known.is_empty() {
                request.header("if-none-match", seen.clone())
            } else {
                request.header("if-none-match", known)
            }
        };
        let known = ask("").send().await.0;
        assert_eq!(known.status().as_u16(), 304, "{}", op.id);
        assert_eq!(known.header("cache-control"), Some(expected), "{}", op.id);
        assert_ne!(
            ask("\"another\"").send().await.0.status().as_u16(),
            200,
            "{}: the content is not there",
            op.id
        );
        lasting += usize::from(!is_whole);
    }
    assert!(lasting >= 8, "{lasting} operations read what never changes");
    // A caller without access is rejected even with a known ETag.
    let path = format!("/v1/spaces/{}/revisions/{}/pages", w.name("spaceId"), w.name("revisionId"));
    let seen = tag(&read(&w.s, &path, &[]).await);
    let authorization = bearer(&w.s.both);
    w.s.ask("DELETE", &format!("/v1/spaces/{}", w.name("spaceId")), &w.s.admin, None)
        .await
        .is(204, "deleted");
    let headers = [("authorization", authorization.as_str()), ("if-none-match", &seen)];
    w.s.send_with("GET", &path, &headers, None).await.refused(404, &path);
}

#[tokio::test]
async fn etag_of_a_revision_differs_between_users() {
    let s = Server::new().await;
    let space = s.space().await;
    let head = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let path = format!("/v1/spaces/{space}/revisions/{head}/files");
    let of = async |token: &str| {
        let answer = s.ask("GET", &path, token, None).await;
        answer.header("etag").expect("a tag").to_owned()
    };
    assert_eq!(of(&s.admin).await, of(&s.admin).await);
    assert_ne!(of(&s.admin).await, of(&s.reader).await, "addresses of files are made for one of them");
}

#[tokio::test]
async fn one_of_two_concurrent_conditional_changes_is_rejected() {
    let s = Server::new().await;
    let path = format!("/v1/spaces/{}", s.space().await);
    let seen = tag(&read(&s, &path, &[]).await);
    let change = async |title: &str| {
        let authorization = bearer(&s.both);
        let headers = [("authorization", authorization.as_str()), ("if-match", seen.as_str())];
        let body = Some(("application/json", json!({ "title": title }).to_string()));
        s.send_with("PATCH", &path, &headers, body).await.status
    };
    let change = &change;
    let all = (0..8).map(|n| async move { change(&format!("Title {n}")).await });
    let mut statuses: Vec<u16> = futures_util::future::join_all(all).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [&[200][..], &[412; 7]].concat());
}
