//! Import runs over HTTP.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Returns a request for a run into the change request of the names.
pub(crate) fn request(names: &BTreeMap<&'static str, String>) -> Value {
    json!({
        "source": { "type": "website", "url": "https://web.example/start" },
        "target": { "space": names["spaceId"], "changeRequest": names["changeRequestId"] },
    })
}

/// Starts a run that fails when it is executed. Returns its id.
pub(crate) async fn pending(s: &Server, names: &BTreeMap<&'static str, String>) -> String {
    let mut request = request(names);
    request["source"]["url"] = json!("https://web.example/gone");
    id(&s.post(&format!("/v1/org/{}/imports", s.org), 201, request).await.body)
}

fn website(target: Value) -> Value {
    json!({ "source": { "type": "website", "url": "https://web.example/start" }, "target": target })
}

/// Creates a space with editable live content. Returns its id.
async fn open_space(s: &Server) -> String {
    let space = s.space().await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "editMode": "live" })).await;
    space
}

#[tokio::test]
async fn import_run_is_executed_in_the_background() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let started = s.ask("POST", &runs, &s.editor, Some(website(json!({ "space": space })))).await;
    let location = started.header("location").map(str::to_owned);
    let run = started.is(201, "started");
    let path = format!("{runs}/{}", id(&run));
    assert_eq!(location, Some(format!("https://docs.example{path}")));
    assert_eq!(run["urls"]["location"], format!("https://docs.example{path}"));
    assert_eq!((&run["object"], &run["status"]), (&json!("import-run"), &json!("pending")));
    let source = json!({ "type": "website", "url": "https://web.example/start", "format": "website" });
    assert_eq!((&run["source"], &run["target"]), (&source, &json!({ "space": space })));
    assert_eq!(s.get(&path).await, run);
    s.platform.settle().await.expect("settled");
    let done = s.get(&path).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(done["completedAt"], done["updatedAt"]);
    let pages = s.get(&format!("/v1/spaces/{space}/content/pages")).await;
    assert_eq!(pages["pages"][0]["path"], "start");
    assert_eq!(s.get(&runs).await["items"], json!([done]));
    let job = s.get(&format!("/v1/spaces/{space}/jobs/{}", id(&run))).await;
    assert_eq!((&job["kind"], &job["state"]), (&json!("content_import"), &json!("done")));
    let ended = s.ask("POST", &format!("{path}/cancel"), &s.editor, None).await;
    assert_eq!(ended.refused(409, "ended"), "the import has ended already");
    s.check().await;
}

#[tokio::test]
async fn cancelled_run_stores_no_pages() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let content = format!("/v1/spaces/{space}/content");
    let before = s.get(&content).await;
    let run = s.post(&runs, 201, website(json!({ "space": space }))).await.body;
    let path = format!("{runs}/{}", id(&run));
    let cancelled = s.post(&format!("{path}/cancel"), 200, Value::Null).await.body;
    assert_eq!(cancelled["status"], "cancelled");
    assert!(cancelled.get("completedAt").is_none());
    s.platform.settle().await.expect("settled");
    assert_eq!(s.get(&path).await, cancelled);
    assert_eq!(s.get(&content).await, before);
    // A second request has no effect.
    assert_eq!(s.post(&format!("{path}/cancel"), 200, Value::Null).await.body, cancelled);
    let job = s.get(&format!("/v1/spaces/{space}/jobs/{}", id(&run))).await;
    assert_eq!(job["state"], "cancelled");
    s.check().await;
}

/// Returns the last segment of a path.
fn last_segment(path: &str) -> String {
    path.rsplit('/').next().expect("an id").to_owned()
}

/// Returns the ids of the items of a list.
fn listed(found: &Value) -> Vec<String> {
    found["items"].as_array().expect("a list").iter().map(id).collect()
}

#[tokio::test]
async fn import_runs_are_filtered() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let request = last_segment(&s.request(&space).await);
    let content = format!("/v1/spaces/{space}/content");
    let start = json!({ "url": "https://web.example/start", "source": "html" });
    s.post(&format!("{content}/import"), 201, start).await;
    let page = id(&s.get(&content).await["pages"][0]);
    let site = last_segment(&s.site("Docs", &[&space]).await);
    let other = s.space().await;
    let new_site = last_segment(&s.site("New", &[&s.space().await]).await);
    let mut ids = Vec::new();
    let other_request = last_segment(&s.request(&other).await);
    let mut in_other = website(json!({ "space": other, "changeRequest": other_request }));
    in_other["site"] = json!(new_site);
    for body in [
        website(json!({ "space": space, "page": page })),
        website(json!({ "space": space, "changeRequest": request })),
        in_other,
    ] {
        s.clock.advance(std::time::Duration::from_millis(1));
        ids.insert(0, id(&s.post(&runs, 201, body).await.body));
    }
    s.post(&format!("{runs}/{}/cancel", ids[1]), 200, Value::Null).await;
    let all = s.get(&runs).await;
    let first = listed(&all).pop().expect("the import of a document");
    assert_eq!(listed(&all)[..3], ids);
    assert_eq!(all["items"][0]["site"], new_site);
    assert_eq!(all["items"][1]["site"], site);
    assert_eq!(all["items"][3]["source"]["format"], "html");
    for (query, expected) in [
        (format!("space={other}"), vec![&ids[0]]),
        (format!("changeRequest={request}"), vec![&ids[1]]),
        (format!("site={site}"), vec![&ids[1], &ids[2], &first]),
        (format!("site={new_site}"), vec![&ids[0]]),
        ("status=active".to_owned(), vec![&ids[0], &ids[2]]),
        ("status=pending".to_owned(), vec![&ids[0], &ids[2]]),
        ("status=in-progress".to_owned(), vec![]),
        ("status=completed".to_owned(), vec![&first]),
        ("status=cancelled".to_owned(), vec![&ids[1]]),
        ("status=failed".to_owned(), vec![]),
        ("space=nothing".to_owned(), vec![]),
        ("site=nothing".to_owned(), vec![]),
    ] {
        let found = s.get(&format!("{runs}?{query}")).await;
        assert_eq!(listed(&found).iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let page = s.get(&format!("{runs}?limit=1&status=active")).await;
    let next = page["next"]["page"].as_str().expect("a cursor");
    let page = s.get(&format!("{runs}?limit=1&status=active&page={next}")).await;
    assert_eq!(listed(&page), [ids[2].clone()]);
    let wrong = s.ask("GET", &format!("{runs}?status=failed&page={next}"), &s.admin, None).await;
    wrong.refused(400, "a cursor of another filter");
    s.platform.settle().await.expect("settled");
    let pages = s.get(&format!("/v1/spaces/{space}/content/pages")).await;
    assert_eq!(pages["pages"][0]["pages"][0]["path"], "start/start");
    s.check().await;
}

#[tokio::test]
async fn invalid_import_run_names_the_field_and_changes_nothing() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let target = json!({ "space": space });
    let with = |field: &str, value: Value| {
        let mut body = website(target.clone());
        body[field] = value;
        body
    };
    let url = |url: &str| with("source", json!({ "type": "website", "url": url }));
    for (body, message) in [
        (url("ftp://web.example/"), "source: must be an absolute http or https URL"),
        (url("https://me:secret@web.example/"), "source.url: must not contain credentials"),
        (with("source", json!({ "type": "other" })), "source"),
        (with("enhance", json!(true)), "enhance: must be false, because the platform has no AI model"),
        (with("target", json!({})), "target.space"),
    ] {
        s.invalid("POST", &runs, body, message).await;
    }
    let before = s.stored().await;
    for (body, what) in [
        (with("target", json!({ "space": "missing" })), "no such space"),
        (with("target", json!({ "space": space, "changeRequest": "77" })), "no such change request"),
        (with("target", json!({ "space": space, "page": "missing" })), "no such page"),
        (with("site", json!("missing")), "no such site"),
    ] {
        s.ask("POST", &runs, &s.admin, Some(body)).await.refused(404, what);
    }
    s.patch(&format!("/v1/spaces/{space}"), json!({ "editMode": "locked" })).await;
    assert_ne!(before, s.stored().await);
    let before = s.stored().await;
    s.ask("POST", &runs, &s.admin, Some(website(target))).await.refused(409, "locked");
    assert_eq!(before, s.stored().await);
}

#[tokio::test]
async fn failed_run_has_its_reason() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let mut body = website(json!({ "space": space }));
    body["source"]["url"] = json!("https://web.example/gone");
    let run = s.post(&runs, 201, body).await.body;
    s.platform.settle().await.expect("settled");
    let failed = s.get(&format!("{runs}/{}", id(&run))).await;
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["reason"], "url: cannot be fetched: the host responded with 404");
    s.check().await;
}

#[tokio::test]
async fn import_runs_are_shown_to_editors_of_the_space() {
    let s = Server::new().await;
    let (runs, space) = (format!("/v1/org/{}/imports", s.org), open_space(&s).await);
    let run = s.post(&runs, 201, website(json!({ "space": space }))).await.body;
    let path = format!("{runs}/{}", id(&run));
    assert_eq!(s.ask("GET", &runs, &s.editor, None).await.is(200, "listed")["items"], json!([run]));
    assert_eq!(s.ask("GET", &runs, &s.reader, None).await.is(200, "hidden")["items"], json!([]));
    s.ask("GET", &path, &s.reader, None).await.refused(403, "a reader");
    s.ask("POST", &format!("{path}/cancel"), &s.reader, None).await.refused(403, "a reader");
    s.ask("GET", &path, &s.outsider, None).await.refused(404, "an outsider");
    // The run belongs to the organization of the space.
    let elsewhere = format!("/v1/org/{}/imports/{}", s.other_org, id(&run));
    for token in [&s.admin, &s.outsider] {
        s.ask("GET", &elsewhere, token, None).await.refused(404, "another organization");
        s.ask("POST", &format!("{elsewhere}/cancel"), token, None).await.refused(404, "another organization");
    }
    s.platform.settle().await.expect("settled");
    assert_eq!(s.get(&path).await["status"], "completed");
}
