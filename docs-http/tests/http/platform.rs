//! The platform over HTTP: a typical workflow, and rejected requests.

use poem::http::StatusCode;
use serde_json::{Value, json};

use crate::server::{Server, id};

#[tokio::test]
async fn a_page_goes_from_a_change_request_to_a_published_site() {
    let s = Server::new().await;
    let me = s.get("/v1/user").await;
    assert_eq!((me["object"].as_str(), me["displayName"].as_str()), (Some("user"), Some("Ada")));
    let orgs = s.get("/v1/orgs").await;
    assert_eq!((orgs["count"].as_u64(), orgs["items"][0]["id"].as_str()), (Some(1), Some(s.org.as_str())));

    let created = s.post(&format!("/v1/orgs/{}/spaces", s.org), 201, json!({ "title": "Guide" })).await;
    let space = id(&created.body);
    assert_eq!(created.header("location"), Some(format!("https://docs.example/v1/spaces/{space}").as_str()));
    let base = format!("/v1/spaces/{space}");
    let request = s.post(&format!("{base}/change-requests"), 201, json!({ "subject": "First" })).await;
    assert_eq!(request.body["status"], "draft");
    let changes = json!({ "changes": [
        { "operation": "insert_page", "document": { "markdown": "# Welcome\n\nHello.\n" } },
        { "operation": "insert_files", "files": [{ "name": "a.svg", "base64": "PHN2Zy8+", "contentType": "image/svg+xml" }] },
    ] });
    let edited = s.post(&format!("{base}/change-requests/1/content?compat=false"), 200, changes).await.body;
    assert_eq!(edited["changes"][0]["object"], "created_page");
    let page = id(&edited["changes"][0]["page"]);
    let shown = s.get(&format!("{base}/change-requests/1/content/page/{page}?format=markdown")).await;
    assert_eq!((shown["type"].as_str(), shown["markdown"].as_str()), (Some("document"), Some("Hello.\n")));
    let file = edited["insertedFiles"][0]["downloadURL"].as_str().expect("a URL").to_owned();
    let path = file.strip_prefix("https://docs.example").expect("our own");
    let response = s.client.get(path).send().await;
    response.assert_status(StatusCode::OK);
    response.assert_header("content-type", "image/svg+xml");
    response.assert_text("<svg/>").await;

    let merged = s.post(&format!("{base}/change-requests/1/merge"), 200, json!({})).await.body;
    assert_eq!(merged["result"], "merge");
    let revision = s.get(&format!("{base}/content")).await;
    assert_eq!(
        (revision["id"].clone(), revision["type"].as_str()),
        (merged["revision"].clone(), Some("merge"))
    );
    assert_eq!(revision["mergedFrom"]["number"], 1);
    assert_eq!(revision["pages"][0]["path"], "welcome");

    let site = s
        .post(&format!("/v1/orgs/{}/sites", s.org), 201, json!({ "title": "Docs", "spaces": [space] }))
        .await;
    let site = format!("/v1/orgs/{}/sites/{}", s.org, id(&site.body));
    assert_eq!(
        s.ask("GET", &format!("{site}/published"), &s.admin, None).await.status,
        404,
        "not published yet"
    );
    let published = s.post(&format!("{site}/publish"), 200, json!({})).await.body;
    assert_eq!(published["urls"]["published"], "https://docs.example/sites/docs/");
    let answer = s.get(&format!("{site}/published")).await;
    assert_eq!(answer["structure"]["type"], "siteSpaces");
    assert_eq!(answer["structure"]["structure"][0]["space"]["id"].as_str(), Some(space.as_str()));
    assert_eq!(answer["customizations"]["site"]["externalLinks"]["target"], "self");
    assert_eq!(s.get(&base).await["visibility"], "public", "a published space shows its site's visibility");
    let path = format!("{base}/content/path/welcome");
    assert_eq!(
        s.ask("GET", &path, &s.reader, None).await.body["markdown"],
        "Hello.\n",
        "read back by a reader"
    );
}

#[tokio::test]
async fn deleting_a_missing_resource_succeeds() {
    let s = Server::new().await;
    for path in ["/v1/spaces/unknown".to_owned(), format!("/v1/orgs/{}/sites/unknown", s.org)] {
        let answer = s.ask("DELETE", &path, &s.admin, None).await;
        assert_eq!((answer.status, answer.body), (204, Value::Null), "{path}");
    }
}

#[tokio::test]
async fn old_path_resolves_in_requests_spaces_and_revisions() {
    let s = Server::new().await;
    let space =
        id(&s.post(&format!("/v1/orgs/{}/spaces", s.org), 201, json!({ "title": "Guide" })).await.body);
    let base = format!("/v1/spaces/{space}");
    let edit = async |number: u32, change: Value| {
        s.post(&format!("{base}/change-requests"), 201, json!({})).await;
        let path = format!("{base}/change-requests/{number}/content?compat=false");
        s.post(&path, 200, json!({ "changes": [change] })).await.body
    };
    let merge = async |number: u32| {
        s.post(&format!("{base}/change-requests/{number}/merge"), 200, json!({})).await.body
    };
    let insert =
        json!({ "operation": "insert_page", "title": "Welcome", "document": { "markdown": "Hello." } });
    let page = id(&edit(1, insert).await["changes"][0]["page"]);
    let first = merge(1).await["revision"].as_str().expect("an id").to_owned();
    edit(2, json!({ "operation": "update_page", "page": page, "slug": "start" })).await;
    let found = async |content: &str, path: &str| s.get(&format!("{base}/{content}/path/{path}")).await;
    let found_at = async |content: &str, path: &str| {
        let found = found(content, path).await;
        assert_eq!(found["id"], page.as_str(), "{content}");
        found["path"].as_str().expect("a path").to_owned()
    };
    assert_eq!(found_at("change-requests/2/content", "Welcome").await, "start");
    assert_eq!(found_at("content", "welcome").await, "welcome");
    let second = merge(2).await["revision"].as_str().expect("an id").to_owned();
    assert_eq!(found_at("content", "welcome").await, "start");
    assert_eq!(found_at(&format!("revisions/{second}"), "welcome").await, "start");
    assert_eq!(found_at(&format!("revisions/{first}"), "welcome").await, "welcome");
    s.ask("GET", &format!("{base}/content/path/other"), &s.admin, None).await.refused(404, "page");
}
