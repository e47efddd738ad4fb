//! The platform behind its HTTP routes for tests: users with several roles, requests, responses, and stored records.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use docs_core::{
    Platform,
    model::{OrgId, Role, UserId},
    platform::{NewToken, NewUser},
    ports::{
        Book, ConvertError, ConvertedPage, Converter, Document, FoundFile, GitError, Pdf, PdfError,
        UnpackedArchive, WebError,
    },
    store::{Key, MAX_SCAN, Mode, Scan, verify},
};
use docs_http::{HttpApp, HttpConfig, wire::payload::BodyLimit};
use docs_memstore::{FaultPlan, FaultStore, ManualClock, MemGit, MemObjects, MemSearch, MemWeb, SeededIds};
use poem::{
    http::{HeaderMap, Method},
    test::TestClient,
};
use serde_json::{Value, json};

use crate::{contract::Contract, openapi_specs, rewind::Rewind, saml_pages::Notes};

/// Maximum size of a request body in these tests, in bytes.
pub(crate) const BODY_LIMIT: usize = 2 * 1024 * 1024;

/// A platform behind its HTTP routes, with the tokens of its users.
pub(crate) struct Server {
    pub(crate) client: TestClient<HttpApp>,
    /// The OpenAPI document, which is the same for all servers.
    pub(crate) document: &'static Value,
    pub(crate) platform: Platform,
    pub(crate) objects: Arc<MemObjects>,
    pub(crate) store: Rewind,
    /// The store as seen by the platform, with fault injection.
    pub(crate) faults: FaultStore<Rewind>,
    pub(crate) clock: ManualClock,
    pub(crate) repository: MemGit,
    pub(crate) web: MemWeb,
    /// The organization used by most tests.
    pub(crate) org: String,
    pub(crate) other_org: String,
    /// The token of an administrator of the organization.
    pub(crate) admin: String,
    /// The token of a member with the role `edit`.
    pub(crate) editor: String,
    /// The token of a member with the role `read`.
    pub(crate) reader: String,
    /// The token of a guest.
    pub(crate) guest: String,
    /// The token of an administrator of the other organization, who is not a member of the first one.
    pub(crate) outsider: String,
    /// The token of an administrator of both organizations.
    pub(crate) both: String,
    /// The ids of all called operations.
    pub(crate) asked: Mutex<BTreeSet<String>>,
    /// Names of other documents, with the ids of the operations whose responses were validated against them.
    pub(crate) held: Mutex<BTreeSet<(String, String)>>,
}

/// A response. The body is JSON, or null if it is empty.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    /// Asserts that the response is an error in the common format. Returns its message.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, what: &str) -> &str {
        assert_eq!(self.status, status, "{what}: {:?}", self.body);
        assert_eq!(self.header("content-type"), Some("application/json"), "{what}");
        let message = self.body["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(self.body, json!({ "error": { "code": status, "message": message } }), "{what}");
        assert!(!message.is_empty(), "{what}: a message says what is wrong");
        message
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16, what: &str) -> Value {
        assert_eq!(self.status, status, "{what}: {:?}", self.body);
        self.body
    }
}

impl Server {
    pub(crate) async fn new() -> Self {
        Self::at("https://docs.example").await
    }

    /// Creates a server with this base URL.
    pub(crate) async fn at(base: &str) -> Self {
        let clock = ManualClock::default();
        let (repository, web) = (repository(), web());
        let objects = Arc::new(MemObjects::with_clock(Arc::new(clock.clone())));
        let store = Rewind::default();
        let faults = FaultStore::new(Arc::new(store.clone()), FaultPlan::none());
        let platform = Platform::builder(Arc::new(faults.clone()), objects.clone())
            .clock(clock.clone())
            .ids(SeededIds::new(11))
            .git(Arc::new(repository.clone()))
            .web(Arc::new(web.clone()))
            .converter(Arc::new(Lines))
            .spec_reader(Arc::new(docs_openapi::OpenApiReader))
            .search(Arc::new(MemSearch::new()))
            .pdf(Arc::new(Press))
            .saml(Arc::new(Notes))
            .base_url(base)
            .build();
        let ada = person(&platform, "Ada").await;
        let org = organization(&platform, "Engines", &ada.0).await;
        let zoe = person(&platform, "Zoe").await;
        let other = organization(&platform, "Elsewhere", &zoe.0).await;
        let eve = member(&platform, &org, "Eve", Some(Role::Edit)).await;
        let rob = member(&platform, &org, "Rob", Some(Role::Read)).await;
        let gus = member(&platform, &org, "Gus", None).await;
        let bea = member(&platform, &org, "Bea", Some(Role::Admin)).await;
        platform.as_platform().org(&other).member(&bea.0).put(Some(Role::Admin)).await.expect("a member");
        let config = HttpConfig { body_limit: BodyLimit(BODY_LIMIT), ..HttpConfig::default() };
        let app = docs_http::routes(&platform, config).expect("routes");
        static DOCUMENT: OnceLock<Value> = OnceLock::new();
        let read = || serde_json::from_str(app.document()).expect("the document is JSON");
        let document = DOCUMENT.get_or_init(read);
        let client = TestClient::new(app);
        Self {
            client,
            document,
            platform,
            objects,
            store,
            faults,
            clock,
            repository,
            web,
            org: org.to_string(),
            other_org: other.to_string(),
            admin: ada.1,
            editor: eve.1,
            reader: rob.1,
            guest: gus.1,
            outsider: zoe.1,
            both: bea.1,
            asked: Mutex::default(),
            held: Mutex::default(),
        }
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| ("application/json", body.to_string()));
        self.send(method, path, Some(&format!("Bearer {token}")), body).await
    }

    /// Sends a request, and validates the response against the document.
    pub(crate) async fn send(
        &self,
        name: &str,
        path: &str,
        authorization: Option<&str>,
        body: Option<(&str, String)>,
    ) -> Answer {
        let headers: Vec<_> = authorization.map(|value| ("authorization", value)).into_iter().collect();
        self.send_with(name, path, &headers, body).await
    }

    /// Sends a request with headers, and validates the response against the document.
    pub(crate) async fn send_with(
        &self,
        name: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<(&str, String)>,
    ) -> Answer {
        let method = Method::from_bytes(name.as_bytes()).expect("a method");
        let mut request = self.client.request(method, path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some((media_type, body)) = body {
            request = request.content_type(media_type).body(body);
        }
        let response = request.send().await.0;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.into_body().into_bytes().await.expect("a body");
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).expect("JSON") };
        let contract = Contract::of(self.document);
        if let Some(operation) = contract.operation(name, path) {
            contract.check(operation, status, &body);
            // Other documents declare neither the rejection of idempotency keys nor unchanged resources.
            if status != 422 && status != 304 {
                self.check_with_others(name, path, status, &body);
            }
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(operation.id.clone());
        }
        Answer { status, headers, body }
    }

    #[track_caller]
    fn check_with_others(&self, name: &str, path: &str, status: u16, body: &Value) {
        for contract in Contract::of_others() {
            let Some(operation) = contract.operation(name, path) else { continue };
            if status < 400 {
                let held = (contract.name.clone(), operation.id.clone());
                self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(held);
            }
            let faults = contract.differences(operation, status, body);
            let document = &contract.name;
            assert!(faults.is_empty(), "{} {status} of {document}: {faults:#?}\n{body:#}", operation.id);
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ask("GET", path, &self.admin, None).await.is(200, path)
    }

    pub(crate) async fn post(&self, path: &str, status: u16, body: Value) -> Answer {
        let answer = self.ask("POST", path, &self.admin, Some(body)).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        answer
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Value {
        self.ask("PATCH", path, &self.admin, Some(body)).await.is(200, path)
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Value {
        self.ask("PUT", path, &self.admin, Some(body)).await.is(200, path)
    }

    /// Asserts that a request is rejected with 400 and changes nothing, and that the message names the field. Returns
    /// the message.
    pub(crate) async fn invalid(&self, method: &str, path: &str, body: Value, field: &str) -> String {
        let what = || format!("{method} {path} {:.300}", body.to_string());
        let before = self.stored().await;
        let answer = self.ask(method, path, &self.admin, Some(body.clone())).await;
        let message = answer.refused(400, &what()).to_owned();
        assert!(message.starts_with(field), "{}: `{message}` begins with {field}", what());
        assert_eq!(before, self.stored().await, "{}: nothing changed", what());
        message
    }

    /// Creates a member. Returns their id and token.
    pub(crate) async fn joining(&self, name: &str, role: Option<Role>) -> (UserId, String) {
        member(&self.platform, &self.org.parse().expect("an id"), name, role).await
    }

    /// Creates a user who is not a member. Returns their id and token.
    pub(crate) async fn user(&self, name: &str) -> (UserId, String) {
        person(&self.platform, name).await
    }

    pub(crate) async fn space(&self) -> String {
        let path = format!("/v1/orgs/{}/spaces", self.org);
        id(&self.post(&path, 201, json!({ "title": "Guide" })).await.body)
    }

    /// Creates a change request. Returns its path.
    pub(crate) async fn request(&self, space: &str) -> String {
        let path = format!("/v1/spaces/{space}/change-requests");
        let request = self.post(&path, 201, json!({ "subject": "Work" })).await.body;
        format!("{path}/{}", id(&request))
    }

    /// Creates a site with these spaces. Returns its path.
    pub(crate) async fn site(&self, title: &str, spaces: &[&str]) -> String {
        let path = format!("/v1/orgs/{}/sites", self.org);
        let site = self.post(&path, 201, json!({ "title": title, "spaces": spaces })).await.body;
        format!("{path}/{}", id(&site))
    }

    /// Returns all entries of the store.
    pub(crate) async fn stored(&self) -> Stored {
        let tx = self.platform.store().begin(Mode::Read, &[]).await.expect("a snapshot");
        let mut stored = BTreeMap::new();
        let mut from: Key = "!".into();
        loop {
            let scan = Scan { from: from.clone(), to: "~".into(), rev: false, limit: MAX_SCAN };
            let rows = tx.scan(&[scan]).await.expect("a scan").pop().expect("one range");
            let Some((last, _)) = rows.last() else { return Stored(stored) };
            from = format!("{last}\u{1}").into();
            stored.extend(rows);
        }
    }

    /// Checks that all index rows and counters are consistent with the records.
    pub(crate) async fn check(&self) {
        let drift = verify(self.platform.store().as_ref()).await.expect("the store can be read");
        assert!(drift.is_none(), "{drift:?}");
    }
}

/// All entries of a store at one point in time. Values are compared as JSON.
pub(crate) struct Stored(BTreeMap<Key, docs_core::store::Value>);

impl Stored {
    /// Iterates over the keys with their values as text.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|(key, value)| (key.to_string(), shown(value)))
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs.all(|((a, one), (b, two))| a == b && is_same(one, two))
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.shown()).finish()
    }
}

/// An unchanged record is usually the same object, and then need not be serialized for the comparison.
fn is_same(one: &docs_core::store::Value, two: &docs_core::store::Value) -> bool {
    use docs_core::store::Value::Live;
    matches!((one, two), (Live(a), Live(b)) if Arc::ptr_eq(a, b)) || shown(one) == shown(two)
}

fn shown(value: &docs_core::store::Value) -> String {
    match value {
        docs_core::store::Value::Live(record) => {
            String::from_utf8_lossy(&record.to_json().expect("a record as JSON")).into_owned()
        }
        other => format!("{other:?}"),
    }
}

async fn organization(platform: &Platform, title: &str, admin: &UserId) -> OrgId {
    let title = title.parse().expect("a title");
    platform.as_platform().orgs().create(title, admin).await.expect("an organization").id
}

async fn member(platform: &Platform, org: &OrgId, name: &str, role: Option<Role>) -> (UserId, String) {
    let person = person(platform, name).await;
    platform.as_platform().org(org).member(&person.0).put(role).await.expect("a member");
    person
}

async fn person(platform: &Platform, name: &str) -> (UserId, String) {
    let email = format!("{}@example.com", name.to_lowercase().replace(' ', "."));
    let new =
        NewUser { display_name: name.parse().expect("a name"), email: email.parse().expect("an address") };
    let user = platform.as_platform().users().create(new).await.expect("a user");
    let token = NewToken { label: "test".parse().expect("a label"), secret: None, expires_at: None };
    let token = platform.as_platform().user(&user.id).issue_token(token).await.expect("a token");
    (user.id, token.secret)
}

#[track_caller]
pub(crate) fn id(resource: &Value) -> String {
    resource["id"].as_str().expect("an id").to_owned()
}

/// A mock web with one page and one image.
fn web() -> MemWeb {
    let web = MemWeb::new();
    let page = "Start\nhttps://web.example/a.svg\nhttps://web.example/gone.png";
    web.put("https://web.example/start", "text/html", page);
    web.put("https://web.example/openapi.json", "application/json", openapi_specs::PETS);
    web.put("https://web.example/a.svg", "image/svg+xml", "<svg/>");
    web.fail("https://web.example/inside", WebError::Refused("`10.0.0.1` is not for you".to_owned()));
    web
}

/// A converter for pages that consist of a title line and lines with image URLs.
pub(crate) struct Lines;

#[async_trait]
impl Converter for Lines {
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError> {
        let text = String::from_utf8_lossy(&document.bytes).into_owned();
        let (title, images) = text.split_once('\n').unwrap_or((&text, ""));
        let images = images.lines().map(|url| FoundFile { url: url.to_owned(), name: "a.svg".to_owned() });
        let images: Vec<_> = images.collect();
        let markdown = images.iter().map(|image| format!("![]({})\n", image.url)).collect();
        Ok(ConvertedPage { title: title.to_owned(), markdown, images, ..ConvertedPage::default() })
    }

    async fn unpack(&self, _: Bytes) -> Result<UnpackedArchive, ConvertError> {
        Err(ConvertError::Unreadable("must be a zip archive".to_owned()))
    }
}

/// A repository whose files are defined by each test. Some of its URLs and refs fail.
fn repository() -> MemGit {
    let repository = MemGit::new();
    let broken = "https://me:hunter2@git.example/broken";
    repository.edit(|repository| {
        let fail = |name: &str, failure| (name.to_owned(), failure);
        repository.failures = BTreeMap::from([
            fail("refs/heads/nope", GitError::NoRef("refs/heads/nope".to_owned())),
            fail("https://git.example/none", GitError::NoRepository),
            fail("https://me:hunter2@git.example/locked", GitError::Credentials),
            // A library error that quotes its input.
            fail(broken, GitError::Broken(format!("{broken} is damaged"))),
        ]);
    });
    repository
}

/// A typesetter whose PDF files contain only page titles.
struct Press;

#[async_trait]
impl Pdf for Press {
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError> {
        let titles: Vec<&str> = book.pages.iter().map(|page| page.title.as_str()).collect();
        if titles.contains(&"Too much") {
            return Err(PdfError::TooLarge("this is too much".to_owned()));
        }
        Ok(format!("%PDF {}", titles.join("|")).into())
    }
}
