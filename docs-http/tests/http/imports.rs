//! Imports and templates over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Creates a space with editable live content. Returns its path.
async fn open_space(s: &Server) -> String {
    let path = format!("/v1/spaces/{}", s.space().await);
    s.patch(&path, json!({ "editMode": "live" })).await;
    path
}

fn import(url: &str, source: &str) -> Value {
    json!({ "url": url, "source": source })
}

const START: &str = "https://web.example/start";

#[tokio::test]
async fn import_adds_pages_and_files_to_spaces_and_requests() {
    let s = Server::new().await;
    let space = open_space(&s).await;
    let request = s.request(space.rsplit('/').next().expect("an id")).await;
    for content in [format!("{space}/content"), format!("{request}/content")] {
        let before = s.get(&content).await;
        let done = s.ask("POST", &format!("{content}/import"), &s.editor, Some(import(START, "html"))).await;
        assert_eq!(done.header("location"), Some(format!("https://docs.example{content}").as_str()));
        let done = done.is(201, &content);
        // The page and one of its two images.
        assert_eq!((&done["importedResources"], &done["totalResources"]), (&json!(2), &json!(3)));
        let after = s.get(&content).await;
        assert_eq!((&after["id"], &after["type"]), (&done["revision"], &json!("edits")));
        assert_eq!(after["parents"], json!([before["id"]]));
        assert_eq!(after["pages"][0]["path"], "start");
        let page = s.get(&format!("{content}/page/{}", id(&after["pages"][0]))).await;
        let file = id(&after["files"][0]);
        assert_eq!(page["markdown"], format!("![](/files/{file})\n![](https://web.example/gone.png)\n"));
    }
    s.check().await;
}

#[tokio::test]
async fn invalid_import_names_the_field_and_changes_nothing() {
    let s = Server::new().await;
    let space = open_space(&s).await;
    let path = format!("{space}/content/import");
    for (body, message) in [
        (import("ftp://web.example/", "website"), "url: must be an absolute http or https URL"),
        (import("file:///etc/passwd", "markdown"), "url: must be"),
        (import(START, "confluence"), "source: `confluence` is not supported by this server; use website"),
        (import(START, "notion"), "source: `notion`"),
        (import(START, "google-docs"), "source: `google-docs`"),
        (import(START, "pdf"), "source"),
        (json!({ "source": "website" }), "url"),
        (json!({ "url": START }), "source"),
    ] {
        s.invalid("POST", &path, body, message).await;
    }
}

/// An import that has to fetch content runs as a job. The job's error equals the one in the response.
#[tokio::test]
async fn unfetchable_import_names_the_field_and_is_a_failed_job() {
    let s = Server::new().await;
    let space = open_space(&s).await;
    let before = s.get(&format!("{space}/content")).await;
    for (body, message) in [
        (
            import("https://web.example/gone", "website"),
            "url: cannot be fetched: the host responded with 404",
        ),
        (import("https://web.example/inside", "website"), "url: `10.0.0.1` is not for you"),
        (import("https://web.example/a.svg", "website"), "url: must be the address of an HTML page"),
        (import("https://web.example/a.svg", "html"), "url: must be the address of an HTML page"),
        (import(START, "zip"), "url: must be a zip archive"),
        (import("https://git.example/x", "github-wiki"), "url: must be the address of a wiki"),
    ] {
        s.clock.advance(Duration::from_millis(1));
        let answer = s.ask("POST", &format!("{space}/content/import"), &s.admin, Some(body)).await;
        let told = answer.refused(400, message);
        assert!(told.starts_with(message), "{told}");
        let job = &s.get(&format!("{space}/jobs")).await["items"][0];
        assert_eq!((&job["state"], &job["error"]), (&json!("failed"), &json!(told)));
    }
    assert_eq!(s.get(&format!("{space}/content")).await, before);
    s.check().await;
}

#[tokio::test]
async fn locked_spaces_and_archived_requests_reject_imports() {
    let s = Server::new().await;
    let space = format!("/v1/spaces/{}", s.space().await);
    let before = s.stored().await;
    for (path, body) in [("import", import(START, "html")), ("template", json!({ "id": "blank" }))] {
        let answer = s.ask("POST", &format!("{space}/content/{path}"), &s.admin, Some(body)).await;
        assert!(answer.refused(409, path).contains("`editMode`"), "{answer:?}");
    }
    assert_eq!(before, s.stored().await);
    let request = s.request(space.rsplit('/').next().expect("an id")).await;
    s.post(&format!("{request}/content/import"), 201, import(START, "html")).await;
    s.patch(&request, json!({ "status": "archived" })).await;
    let path = format!("{request}/content/import");
    s.ask("POST", &path, &s.admin, Some(import(START, "html"))).await.refused(409, "archived");
}

#[tokio::test]
async fn page_imports_add_child_pages() {
    let s = Server::new().await;
    let space = open_space(&s).await;
    let request = s.request(space.rsplit('/').next().expect("an id")).await;
    for content in [format!("{space}/content"), format!("{request}/content")] {
        s.post(&format!("{content}/import"), 201, import(START, "html")).await;
        let page = id(&s.get(&content).await["pages"][0]);
        let path = format!("{content}/page/{page}/import");
        let done = s.ask("POST", &path, &s.editor, Some(import(START, "html"))).await;
        assert_eq!(done.header("location"), Some(format!("https://docs.example{content}").as_str()));
        let done = done.is(201, &path);
        assert_eq!((&done["importedResources"], &done["totalResources"]), (&json!(2), &json!(3)));
        let after = s.get(&content).await;
        assert_eq!(after["id"], done["revision"]);
        assert_eq!(after["pages"][0]["pages"][0]["path"], "start/start");
        assert_eq!(after["pages"].as_array().map(Vec::len), Some(1));
        let before = s.get(&content).await;
        let missing = format!("{content}/page/missing/import");
        s.ask("POST", &missing, &s.editor, Some(import(START, "html"))).await.refused(404, "no such page");
        s.invalid("POST", &path, import(START, "notion"), "source: `notion`").await;
        assert_eq!(s.get(&content).await, before);
    }
    s.check().await;
}

#[tokio::test]
async fn a_template_is_applied_by_its_id() {
    let s = Server::new().await;
    let space = open_space(&s).await;
    let path = format!("{space}/content/template");
    for template in ["blank", "product-docs", "api-reference", "changelog", "handbook"] {
        let answer = s.ask("POST", &path, &s.editor, Some(json!({ "id": template }))).await;
        assert_eq!(answer.is(201, template), Value::Null, "there is no body");
    }
    let pages = s.get(&format!("{space}/content/pages")).await;
    assert_eq!(pages["pages"][0]["title"], "Welcome");
    let before = s.stored().await;
    let unknown = s.ask("POST", &path, &s.admin, Some(json!({ "id": "unknown" }))).await;
    assert_eq!(unknown.refused(404, "unknown"), "no such template");
    assert_eq!(before, s.stored().await);
    s.invalid("POST", &path, json!({}), "id").await;
    s.invalid("POST", &path, json!({ "id": "" }), "id").await;
    let wrong = json!({ "id": "blank", "params": { "contentRefs": { "a": { "kind": "nothing" } } } });
    s.invalid("POST", &path, wrong, "params.contentRefs.a").await;
}
