//! The audit log over HTTP.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::has,
};

fn log(s: &Server) -> String {
    format!("/v1/orgs/{}/audit-log", s.org)
}

/// Returns the operations of all matching entries, fetched page by page.
async fn operations(s: &Server, query: &str, limit: usize) -> Vec<String> {
    let (mut found, mut page) = (Vec::new(), String::new());
    loop {
        let body = s.get(&format!("{}?limit={limit}{query}{page}", log(s))).await;
        let items = body["items"].as_array().expect("a list");
        assert!(items.len() <= limit);
        found.extend(items.iter().map(|entry| entry["operation"].as_str().expect("a name").to_owned()));
        match body["next"]["page"].as_str() {
            Some(next) => page = format!("&page={next}"),
            None => return found,
        }
    }
}

#[tokio::test]
async fn audit_entry_has_user_operation_records_and_time() {
    let s = Server::new().await;
    s.clock.advance(Duration::from_secs(1));
    let space = s.space().await;
    let entry = s.get(&format!("{}?limit=1", log(&s))).await["items"][0].clone();
    let ada = id(&s.get("/v1/user").await);
    assert_eq!(entry["operation"], "space_create");
    assert_eq!(entry["user"], ada.as_str());
    assert_eq!(entry["organizations"], json!([s.org]));
    let records: Vec<&str> =
        entry["records"].as_array().expect("keys").iter().filter_map(Value::as_str).collect();
    assert!(records.iter().any(|key| key.ends_with(&space)), "{records:?}");
    assert_eq!(entry["changed"].as_u64(), Some(records.len() as u64));
    assert_eq!(entry["at"], s.get(&format!("/v1/spaces/{space}")).await["createdAt"]);
}

#[tokio::test]
async fn only_administrators_of_the_organization_read_its_audit_log() {
    let s = Server::new().await;
    for (who, token, status) in [
        ("an administrator", &s.admin, 200),
        ("an administrator of two organizations", &s.both, 200),
        ("an editor", &s.editor, 403),
        ("a reader", &s.reader, 403),
        ("a guest", &s.guest, 403),
        ("an administrator of another organization", &s.outsider, 404),
    ] {
        let answer = s.ask("GET", &log(&s), token, None).await;
        assert_eq!(answer.status, status, "{who}: {}", answer.body);
        assert_eq!(answer.body["items"].is_array(), status == 200, "{who}");
    }
    s.send("GET", &log(&s), None, None).await.refused(401, "nobody");
}

#[tokio::test]
async fn filters_narrow_the_audit_log_on_every_page() {
    let s = Server::new().await;
    let mut times = Vec::new();
    for _ in 0..3 {
        s.clock.advance(Duration::from_secs(1));
        let space = s.space().await;
        let path = format!("/v1/spaces/{space}");
        times.push(s.get(&path).await["createdAt"].as_str().expect("a time").to_owned());
        s.clock.advance(Duration::from_secs(1));
        s.ask("DELETE", &path, &s.both, None).await.is(204, "deleted");
    }
    let bea = id(&s.ask("GET", "/v1/user", &s.both, None).await.body);
    let (first, last) = (&times[0], &times[2]);
    let (create, delete) = ("space_create", "space_delete");
    for (query, expected) in [
        (format!("&since={first}"), vec![delete, create, delete, create, delete, create]),
        (format!("&since={first}&operation={create}"), vec![create; 3]),
        (format!("&since={first}&user={bea}"), vec![delete; 3]),
        (format!("&user={bea}&operation={create}"), vec![]),
        (format!("&since={first}&until={last}"), vec![delete, create, delete, create]),
        (format!("&since={last}&until={first}"), vec![]),
        ("&operation=nothing_of_the_kind".to_owned(), vec![]),
        ("&user=nobody-here".to_owned(), vec![]),
        ("&record=nothing".to_owned(), vec![]),
        ("&since=2199-12-31T00:00:00Z".to_owned(), vec![]),
    ] {
        for limit in [1, 2, 50] {
            assert_eq!(operations(&s, &query, limit).await, expected, "{query}, {limit} a page");
        }
    }
    let entry = s.get(&format!("{}?operation={delete}&limit=1", log(&s))).await["items"][0].clone();
    let mut records = entry["records"].as_array().expect("records").iter().filter_map(|key| key.as_str());
    let record = records.find(|key| key.starts_with("spc!")).expect("the space").replace('!', "%21");
    assert_eq!(operations(&s, &format!("&record={record}"), 1).await, [delete, create]);
}

#[tokio::test]
async fn invalid_audit_filter_is_rejected_by_name() {
    let s = Server::new().await;
    for (query, name) in [
        ("since=yesterday", "since"),
        ("until=2030-13-01T00:00:00Z", "until"),
        ("since=", "since"),
        ("user=not%20an%20id", "user"),
        ("operation=", "operation"),
        ("record=", "record"),
        ("user=a&user=b", "user"),
        ("limit=1001", "limit"),
        ("limit=-1", "limit"),
        ("page=x", "page"),
    ] {
        let answer = s.ask("GET", &format!("{}?{query}", log(&s)), &s.admin, None).await;
        let message = answer.refused(400, query);
        assert!(message.starts_with(name), "{query}: {message}");
    }
    // A cursor is valid only for the filters it was created with.
    let next =
        s.get(&format!("{}?limit=1", log(&s))).await["next"]["page"].as_str().expect("a page").to_owned();
    let other = format!("{}?limit=1&operation=space_create&page={next}", log(&s));
    s.ask("GET", &other, &s.admin, None).await.refused(400, "the cursor of another list");
}

/// Calls every operation on audit events once.
pub(crate) async fn story(s: &Server) {
    let found = s.get(&format!("{}?limit=1", events(s))).await;
    let event = ["object", "id", "occurredAt", "action", "actor.id", "source", "target.id", "urls.location"];
    has(&found["items"][0], &event);
    let details = s.get(&format!("{}/{}", events(s), id(&found["items"][0]))).await;
    has(&details, &event);
    has(&details, &["schemaVersion", "payload.records", "payload.organizations", "payload.changed"]);
    let actions = s.get(&format!("/v1/orgs/{}/audit-event-actions", s.org)).await;
    has(&actions, &["items[].object", "items[].id", "items[].label"]);
    let known: BTreeSet<&str> = actions["items"]
        .as_array()
        .expect("actions")
        .iter()
        .filter_map(|action| action["id"].as_str())
        .collect();
    let recorded = s.get(&format!("{}?limit=1000", events(s))).await;
    for event in recorded["items"].as_array().expect("events") {
        assert!(known.contains(event["action"].as_str().expect("a name")), "{event}");
    }
}

fn events(s: &Server) -> String {
    format!("/v1/orgs/{}/audit-events", s.org)
}

/// Returns the actions of all matching events, fetched page by page.
async fn actions_of(s: &Server, query: &str) -> Vec<String> {
    let (mut found, mut page) = (Vec::new(), String::new());
    loop {
        let body = s.get(&format!("{}?limit=2{query}{page}", events(s))).await;
        let items = body["items"].as_array().expect("a list");
        found.extend(items.iter().map(|event| event["action"].as_str().expect("a name").to_owned()));
        match body["next"]["page"].as_str() {
            Some(next) => page = format!("&page={next}"),
            None => return found,
        }
    }
}

#[tokio::test]
async fn audit_event_has_actor_action_target_and_details() {
    let s = Server::new().await;
    s.clock.advance(Duration::from_secs(1));
    let space = s.space().await;
    let event = s.get(&format!("{}?limit=1", events(&s))).await["items"][0].clone();
    let entry = s.get(&format!("{}?limit=1", log(&s))).await["items"][0].clone();
    let ada = id(&s.get("/v1/user").await);
    let location = event["urls"]["location"].as_str().expect("an address").to_owned();
    assert_eq!(event["action"], "space_create");
    assert_eq!(event["actor"], json!({ "type": "user", "id": ada }));
    assert_eq!(event["target"], json!({ "type": "space", "id": space }));
    assert_eq!(event["source"], "api");
    assert_eq!(event["occurredAt"], entry["at"]);
    let path = location.strip_prefix("https://docs.example").expect("an address here");
    let mut details = s.get(path).await;
    let payload = details["payload"].take();
    assert_eq!(payload["records"], entry["records"]);
    assert_eq!(payload["organizations"], json!([s.org]));
    assert_eq!(payload["changed"], entry["changed"]);
    let all = details.as_object_mut().expect("an event");
    all.remove("payload");
    assert_eq!(all.remove("schemaVersion"), Some(json!(1)));
    assert_eq!(details, event);
}

#[tokio::test]
async fn audit_event_of_a_job_has_the_platform_as_actor() {
    let s = Server::new().await;
    let space = s.space().await;
    s.ask("DELETE", &format!("/v1/spaces/{space}"), &s.admin, None).await.is(204, "deleted");
    s.clock.advance(Duration::from_secs(8 * 24 * 3600));
    s.platform.settle().await.expect("settled");
    let event = s.get(&format!("{}?limit=1&actor=platform", events(&s))).await["items"][0].clone();
    assert_eq!(event["action"], "space_purge");
    assert_eq!(event["actor"], json!({ "type": "system", "id": "platform" }));
    assert_eq!(event["source"], "workflow");
}

#[tokio::test]
async fn audit_event_filters_apply_on_every_page() {
    let s = Server::new().await;
    let (mut times, mut spaces) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        s.clock.advance(Duration::from_secs(1));
        let space = s.space().await;
        let path = format!("/v1/spaces/{space}");
        times.push(s.get(&path).await["createdAt"].as_str().expect("a time").to_owned());
        s.clock.advance(Duration::from_secs(1));
        s.ask("DELETE", &path, &s.both, None).await.is(204, "deleted");
        spaces.push(space);
    }
    let bea = id(&s.ask("GET", "/v1/user", &s.both, None).await.body);
    let (first, last) = (&times[0], &times[2]);
    let (create, delete) = ("space_create", "space_delete");
    for (query, expected) in [
        (format!("&from={first}"), vec![delete, create, delete, create, delete, create]),
        (format!("&from={first}&action={create}"), vec![create; 3]),
        (format!("&from={first}&actor={bea}"), vec![delete; 3]),
        (format!("&target={}", spaces[1]), vec![delete, create]),
        (format!("&target={}&action={delete}", spaces[1]), vec![delete]),
        (format!("&from={last}&to={last}"), vec![create]),
        ("&action=space_restore".to_owned(), Vec::new()),
        ("&target=unknown".to_owned(), Vec::new()),
    ] {
        assert_eq!(actions_of(&s, &query).await, expected, "{query}");
    }
    for (query, field) in [("from=yesterday", "from"), ("action=", "action"), ("target=", "target")] {
        let answer = s.ask("GET", &format!("{}?{query}", events(&s)), &s.admin, None).await;
        assert!(answer.refused(400, query).starts_with(field), "{query}");
    }
}

#[tokio::test]
async fn audit_event_is_found_only_in_its_organization() {
    let s = Server::new().await;
    s.space().await;
    let event = id(&s.get(&format!("{}?limit=1", events(&s))).await["items"][0]);
    let other = format!("/v1/orgs/{}/audit-events/{event}", s.other_org);
    s.ask("GET", &other, &s.both, None).await.refused(404, "of another organization");
    let unknown = format!("{}/00000000-0000-0000-0000-000000000000", events(&s));
    s.ask("GET", &unknown, &s.admin, None).await.refused(404, "unknown");
    s.ask("GET", &format!("{}/{event}", events(&s)), &s.editor, None).await.refused(403, "an editor");
}
