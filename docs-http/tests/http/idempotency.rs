//! Retried requests: with an `Idempotency-Key`, a request takes effect once.

use std::time::Duration;

use docs_core::model::Role;
use docs_memstore::{CallKind, Fault, FaultPlan};
use serde_json::{Value, json};

use crate::{
    matrix::ready,
    refusals::{Op, World, bearer},
    server::{Answer, Server, id},
};

const KEY: &str = "8e03978e-40d5-43dd-bc93-6894a57f9324";
const REPLAYED: &str = "idempotency-replayed";

/// Operations that need no key: they read, delete, only count, or set the same state each time.
const NATURALLY_IDEMPOTENT: [&str; 22] = [
    "cancelImportRun",
    "getComputedDocument",
    "getComputedRevision",
    "joinOrganization",
    "joinOrganizationWithInvite",
    "moveCollection",
    "moveSiteSection",
    "moveSiteSectionGroup",
    "moveSiteSpace",
    "moveSpace",
    "prewarmSiteSearch",
    "publishSite",
    "resolvePublishedContentByUrl",
    "restoreSpace",
    "searchSiteContent",
    "setUserAsSSOMemberForOrganization",
    "sortSiteStructure",
    "trackEventsInSiteById",
    "transferCollection",
    "transferSpace",
    "unpublishSite",
    "updateOrganizationMemberLastSeenAt",
];

async fn send(w: &World, op: &Op, token: &str, key: &str) -> Answer {
    send_body(w, op, token, key, op.body.clone()).await
}

async fn send_body(w: &World, op: &Op, token: &str, key: &str, body: Option<Value>) -> Answer {
    let authorization = bearer(token);
    let headers = [("authorization", authorization.as_str()), ("idempotency-key", key)];
    let body = body.map(|body| ("application/json", body.to_string()));
    w.s.send_with(&op.method, &w.path(op), &headers, body).await
}

/// Returns a different valid body for an operation.
fn other(op: &Op) -> Value {
    let mut body = op.body.clone().unwrap_or_else(|| json!({}));
    match &mut body {
        Value::Object(fields) => drop(fields.insert("another".to_owned(), json!("request"))),
        file => *file = json!("another file"),
    }
    body
}

#[tokio::test]
async fn exactly_the_creating_operations_take_a_key() {
    let w = World::new().await;
    let ops = w.ops();
    let is_known = |id: &&str| ops.iter().any(|op| op.id == **id);
    assert!(NATURALLY_IDEMPOTENT.iter().all(is_known), "an operation has another id");
    for op in ops.iter() {
        let creates = op.method == "POST" && !NATURALLY_IDEMPOTENT.contains(&op.id.as_str());
        let creates = creates || op.id == "createOrganizationTeam";
        assert_eq!(op.takes_key, creates, "{} {}", op.method, op.id);
    }
}

/// Covers every operation that accepts an `Idempotency-Key`.
#[tokio::test(start_paused = true)]
async fn retries_after_a_lost_response_take_effect_once() {
    let w = World::new().await;
    let start = w.s.store.save();
    let mut failed = Vec::new();
    for op in w.ops().iter().filter(|op| op.takes_key) {
        w.s.store.rewind(&start);
        ready(&w, op).await;
        let before = w.s.store.save();
        let applied = w.s.faults.applied();
        let undisturbed = send(&w, op, &w.s.both, KEY).await;
        assert!(undisturbed.status < 300, "{}: {undisturbed:?}", op.id);
        assert_eq!(undisturbed.header(REPLAYED), None, "{}", op.id);
        let commits = w.s.faults.applied() - applied;
        if commits == 0 {
            failed.push(format!("{}: wrote nothing, so there is nothing to keep", op.id));
            continue;
        }
        // The write is stored and its response lost. Then the store becomes unavailable.
        w.s.store.rewind(&before);
        let (commit, applied) = (w.s.faults.calls(CallKind::Commit), w.s.faults.applied());
        let lost = FaultPlan::none().with_fault(CallKind::Commit, commit + commits, Fault::UnknownApplied);
        w.s.faults.set_plan(lost.with_outage_after(applied + commits));
        let answer = send(&w, op, &w.s.both, KEY).await;
        w.s.faults.set_plan(FaultPlan::none());
        let message = answer.refused(503, &op.id);
        assert!(message.ends_with("with the same `Idempotency-Key` is safe"), "{}: {message}", op.id);
        let done = w.s.stored().await;
        for _ in 0..2 {
            let again = send(&w, op, &w.s.both, KEY).await;
            if (again.status, again.header(REPLAYED)) != (undisturbed.status, Some("true")) {
                failed.push(format!("{}: {} {}", op.id, again.status, again.body));
                break;
            }
            assert_eq!(again.header("location").is_some(), undisturbed.header("location").is_some());
            assert_eq!(w.s.stored().await, done, "{}: nothing is done again", op.id);
        }
        // A different request with the same key is rejected without effects.
        let refused = send_body(&w, op, &w.s.both, KEY, Some(other(op))).await;
        assert!(refused.refused(422, &op.id).starts_with("Idempotency-Key: "), "{}", op.id);
        assert_eq!(w.s.stored().await, done, "{}: nothing is done", op.id);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test]
async fn repeated_request_replays_the_first_response() {
    let w = World::new().await;
    let start = w.s.store.save();
    for op in w.ops().iter().filter(|op| op.takes_key) {
        w.s.store.rewind(&start);
        ready(&w, op).await;
        let first = send(&w, op, &w.s.both, KEY).await;
        let again = send(&w, op, &w.s.both, KEY).await;
        assert_eq!((first.status, &first.body), (again.status, &again.body), "{}", op.id);
        assert_eq!(first.header("location"), again.header("location"), "{}", op.id);
        assert_eq!((first.header(REPLAYED), again.header(REPLAYED)), (None, Some("true")), "{}", op.id);
        // Another user's request with the same key is independent.
        let theirs = send(&w, op, &w.s.admin, KEY).await;
        assert_eq!(theirs.header(REPLAYED), None, "{}: {}", op.id, theirs.body);
        w.s.check().await;
    }
}

#[tokio::test]
async fn replay_needs_the_right_that_the_operation_needs() {
    let w = World::new().await;
    let authorization = bearer(&w.s.both);
    let me = w.s.send_with("GET", "/v1/user", &[("authorization", &authorization)], None).await;
    let user = id(&me.body).parse().expect("an id");
    let org = w.s.org.to_string().parse().expect("an id");
    let start = w.s.store.save();
    let mut failed = Vec::new();
    // Creating an organization requires no membership in another one, and feedback about a public site none at all.
    let needs_role = |op: &&Op| op.takes_key && op.id != "createOrganization" && !op.is_feedback();
    for op in w.ops().iter().filter(needs_role) {
        w.s.store.rewind(&start);
        ready(&w, op).await;
        let first = send(&w, op, &w.s.both, KEY).await;
        assert!(first.status < 300, "{}: {first:?}", op.id);
        let done = w.s.store.save();
        for (left, role) in [("removed", None), ("guest", Some(None)), ("reader", Some(Some(Role::Read)))] {
            w.s.store.rewind(&done);
            let member = w.s.platform.as_platform().org(&org).member(&user);
            match role {
                None => drop(member.remove().await.expect("removed")),
                Some(role) => member.put(role).await.expect("changed"),
            }
            let again = send(&w, op, &w.s.both, KEY).await;
            if again.header(REPLAYED).is_some() || ![403, 404].contains(&again.status) {
                failed.push(format!("{} {left}: {} {}", op.id, again.status, again.body));
            }
        }
        // Once the permission is restored, the response is replayed.
        w.s.store.rewind(&done);
        let again = send(&w, op, &w.s.both, KEY).await;
        assert_eq!(again.header(REPLAYED), Some("true"), "{}: {}", op.id, again.body);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test]
async fn concurrent_requests_with_one_key_apply_once() {
    let w = World::new().await;
    let ops = w.ops();
    let op = ops.iter().find(|op| op.id == "createSpace").expect("the operation");
    let count = async || w.s.get(&format!("/v1/orgs/{}/spaces", w.s.org)).await["count"].as_u64();
    let before = count().await.expect("a count");
    // Both requests look up the stored response before either creates anything.
    let commits = w.s.faults.calls(CallKind::Commit);
    let held = FaultPlan::none().with_fault(CallKind::Commit, commits + 1, Fault::HoldBefore);
    w.s.faults.set_plan(held.with_fault(CallKind::Commit, commits + 2, Fault::HoldBefore));
    let release = async {
        w.s.faults.wait_until_held(2).await;
        w.s.faults.release(2);
    };
    let (one, two, ()) = tokio::join!(send(&w, op, &w.s.both, KEY), send(&w, op, &w.s.both, KEY), release);
    assert_eq!((one.status, two.status), (201, 201), "{} {}", one.body, two.body);
    assert_eq!(one.body, two.body);
    let replayed = [&one, &two].iter().filter(|answer| answer.header(REPLAYED) == Some("true")).count();
    assert_eq!(replayed, 1);
    assert_eq!(count().await, Some(before + 1));
}

#[tokio::test]
async fn idempotency_key_is_retained_for_a_day() {
    let s = Server::new().await;
    let path = format!("/v1/orgs/{}/spaces", s.org);
    let authorization = bearer(&s.admin);
    let headers = [("authorization", authorization.as_str()), ("idempotency-key", KEY)];
    let ask = async || {
        let body = Some(("application/json", json!({ "title": "Guide" }).to_string()));
        s.send_with("POST", &path, &headers, body).await
    };
    let kept = async || s.stored().await.shown().filter(|(key, _)| key.starts_with("idm!")).count();
    let first = ask().await;
    s.clock.advance(Duration::from_secs(24 * 3600 - 1));
    s.platform.tidy().await.expect("tidied");
    let again = ask().await;
    assert_eq!((id(&first.body), again.header(REPLAYED)), (id(&again.body), Some("true")));
    s.clock.advance(Duration::from_secs(1));
    let anew = ask().await;
    assert_eq!((anew.status, anew.header(REPLAYED)), (201, None));
    assert_ne!(id(&first.body), id(&anew.body));
    assert_eq!(kept().await, 1, "the new answer takes the place of the old one");
    s.clock.advance(Duration::from_secs(24 * 3600 + 1));
    s.platform.tidy().await.expect("tidied");
    assert_eq!(kept().await, 0);
    s.check().await;
}

#[tokio::test]
async fn a_key_is_1_to_255_visible_ascii_characters_given_once() {
    let s = Server::new().await;
    let path = format!("/v1/orgs/{}/spaces", s.org);
    let authorization = bearer(&s.admin);
    let ask = async |keys: &[&str]| {
        let mut headers = vec![("authorization", authorization.as_str())];
        headers.extend(keys.iter().map(|key| ("idempotency-key", *key)));
        s.send_with("POST", &path, &headers, None).await
    };
    let before = s.stored().await;
    let long = "x".repeat(256);
    for wrong in [&["two words"][..], &[""], &["é"], &[long.as_str()], &["a", "b"], &["a", "a"]] {
        let answer = ask(wrong).await;
        let message = answer.refused(400, &format!("{wrong:?}"));
        assert!(message.starts_with("Idempotency-Key: "), "{wrong:?}: {message}");
    }
    assert_eq!(s.stored().await, before);
    for right in ["!", "~", "\"quoted\"", &long[1..]] {
        assert_eq!(ask(&[right]).await.status, 201, "{right}");
    }
}

#[tokio::test]
async fn rejections_are_not_stored_and_secrets_not_in_plaintext() {
    let s = Server::new().await;
    let authorization = bearer(&s.admin);
    let headers = [("authorization", authorization.as_str()), ("idempotency-key", KEY)];
    let path = format!("/v1/orgs/{}/spaces", s.org);
    let ask = async |path: &str, body: Value| {
        s.send_with("POST", path, &headers, Some(("application/json", body.to_string()))).await
    };
    ask(&path, json!({ "title": "x".repeat(51) })).await.refused(400, "too long");
    let created = ask(&path, json!({ "title": "Guide" })).await;
    assert_eq!((created.status, created.header(REPLAYED)), (201, None), "another body, as nothing was done");
    let site = s.site("Docs", &[&id(&created.body)]).await;
    let other = [("authorization", authorization.as_str()), ("idempotency-key", "another")];
    let body = Some(("application/json", json!({ "name": "Friends" }).to_string()));
    let link = s.send_with("POST", &format!("{site}/share-links"), &other, body).await;
    let url = link.body["urls"]["published"].as_str().expect("an address");
    let secret = url.trim_end_matches('/').rsplit('/').next().expect("a key");
    for (key, value) in s.stored().await.shown() {
        assert!(!value.contains(secret) && !key.contains(secret), "{key}");
        assert!(!value.contains("another") && !value.contains(KEY), "{key}: a key may be a secret too");
    }
}
