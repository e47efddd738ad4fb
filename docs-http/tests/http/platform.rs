//! The platform over HTTP: the story, and what is refused.

use std::sync::Arc;

use docs_core::{Actor, Platform, model::Role, platform::NewUser};
use docs_http::{HttpApp, HttpConfig};
use docs_memstore::{ManualClock, MemObjects, MemStore, SeededIds};
use poem::{
    http::{Method, StatusCode},
    test::TestClient,
};
use serde_json::{Value, json};

/// A platform behind its routes, with an administrator and a reader.
pub(crate) struct Server {
    client: TestClient<HttpApp>,
    pub(crate) platform: Platform,
    pub(crate) org: String,
    pub(crate) admin: String,
    pub(crate) reader: String,
}

/// An answer: its status, its body as JSON (null when there is none), its location.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) location: Option<String>,
}

impl Server {
    pub(crate) async fn new() -> Self {
        let clock = ManualClock::default();
        let objects = Arc::new(MemObjects::with(Arc::new(clock.clone())));
        let builder = Platform::builder(Arc::new(MemStore::new()), objects);
        let platform = builder.clock(clock).ids(SeededIds::new(11)).base_url("https://docs.example").build();
        let ada = person(&platform, "Ada").await;
        let org = platform
            .create_org(&Actor::Platform, "Engines".parse().expect("a title"), &ada.0)
            .await
            .expect("org");
        let rob = person(&platform, "Rob").await;
        platform.put_member(&Actor::Platform, &org, &rob.0, Some(Role::Read)).await.expect("a member");
        let app = docs_http::routes(&platform, HttpConfig::default()).expect("routes");
        let (admin, reader) = (ada.1, rob.1);
        Self { client: TestClient::new(app), platform, org: org.to_string(), admin, reader }
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| ("application/json", body.to_string()));
        self.send(method, path, Some(&format!("Bearer {token}")), body).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        authorization: Option<&str>,
        body: Option<(&str, String)>,
    ) -> Answer {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.client.request(method, path);
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        if let Some((media_type, body)) = body {
            request = request.content_type(media_type).body(body);
        }
        let response = request.send().await.0;
        let status = response.status().as_u16();
        let location = response.header("location").map(str::to_owned);
        let bytes = response.into_body().into_bytes().await.expect("a body");
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).expect("JSON") };
        Answer { status, body, location }
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", path, &self.admin, None).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    pub(crate) async fn post(&self, path: &str, status: u16, body: Value) -> Answer {
        let answer = self.ask("POST", path, &self.admin, Some(body)).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        answer
    }

    pub(crate) async fn space(&self) -> String {
        let path = format!("/v1/orgs/{}/spaces", self.org);
        id(&self.post(&path, 201, json!({ "title": "Guide" })).await.body)
    }
}

async fn person(platform: &Platform, name: &str) -> (docs_core::model::UserId, String) {
    let email = format!("{}@example.com", name.to_lowercase());
    let new =
        NewUser { display_name: name.parse().expect("a name"), email: email.parse().expect("an address") };
    let user = platform.create_user(&Actor::Platform, new).await.expect("a user");
    let label = "test".parse().expect("a label");
    let token = platform.create_token(&Actor::Platform, &user.id, &label, None).await.expect("a token");
    (user.id, token.secret)
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_page_goes_from_a_change_request_to_a_published_site() {
    let s = Server::new().await;
    let me = s.get("/v1/user").await;
    assert_eq!((me["object"].as_str(), me["displayName"].as_str()), (Some("user"), Some("Ada")));
    let orgs = s.get("/v1/orgs").await;
    assert_eq!((orgs["count"].as_u64(), orgs["items"][0]["id"].as_str()), (Some(1), Some(s.org.as_str())));

    let created = s.post(&format!("/v1/orgs/{}/spaces", s.org), 201, json!({ "title": "Guide" })).await;
    let space = id(&created.body);
    assert_eq!(created.location, Some(format!("https://docs.example/v1/spaces/{space}")));
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
async fn deleting_what_is_not_there_is_no_error() {
    let s = Server::new().await;
    for path in ["/v1/spaces/unknown".to_owned(), format!("/v1/orgs/{}/sites/unknown", s.org)] {
        let answer = s.ask("DELETE", &path, &s.admin, None).await;
        assert_eq!((answer.status, answer.body), (204, Value::Null), "{path}");
    }
}
