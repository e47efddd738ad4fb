//! The server with a real identity provider on the loopback interface: users sign in with a browser and use their
//! sessions.
//!
//! The provider uses Debian's packages of pysaml2 and xmlsec1. Without them, the tests print a message and do not run.

mod browser;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use crate::{
    client::{Client, id},
    process::{Process, TOKEN},
};
use browser::{Browser, Form};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Debian's Python, which finds Debian's Python packages.
const PYTHON: &str = "/usr/bin/python3";
const CERTIFICATE: &str = include_str!("saml/provider.crt");

/// Returns `true` if the provider's dependencies are installed. Otherwise prints that the test does not run.
fn has_provider() -> bool {
    let quiet = |mut command: Command| {
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let mut python = Command::new(PYTHON);
    python.args(["-c", "import saml2.server"]);
    let mut xmlsec = Command::new("xmlsec1");
    xmlsec.arg("--version");
    let found = quiet(python) && quiet(xmlsec);
    if !found {
        let name = thread::current().name().unwrap_or_default().to_owned();
        let line = format!("{name} was not run: there is no python3-pysaml2 or no xmlsec1 on this machine\n");
        std::io::stderr().write_all(line.as_bytes()).expect("a line");
    }
    found
}

/// A running provider. It stops when dropped.
struct Provider {
    child: Child,
    base: String,
    _folder: TempDir,
}

impl Provider {
    /// Starts a provider with the metadata of the service. `signs` selects the elements that it signs.
    fn start(metadata: &str, signs: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("service.xml");
        std::fs::write(&file, metadata).expect("a file");
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/saml");
        let mut child = Command::new(PYTHON)
            .arg(own.join("provider.py"))
            .args([file, own.join("provider.key"), own.join("provider.crt")])
            .arg(signs)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the provider starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says its address");
        let base = line.trim().to_owned();
        assert!(base.starts_with("http://127.0.0.1:"), "{base}");
        Self { child, base, _folder: folder }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // Errors are ignored, because the process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server with an organization and its provider. `signs` selects the elements that the provider signs.
struct World {
    server: Process,
    provider: Provider,
    admin: Client,
    org: String,
    /// API path of the provider.
    path: String,
    /// URL that starts a sign-in.
    start: String,
}

impl World {
    async fn new(signs: &str) -> Self {
        let server = Process::with(&["--bind", "127.0.0.1:0"]).await;
        let admin = Client::new(&server.base, TOKEN);
        let org = id(&admin.get("/orgs").await["items"][0]);
        let providers = format!("/orgs/{org}/saml");
        let new = json!({ "label": "Staff", "defaultRole": "edit" });
        let made = admin.post(&providers, new).await;
        let service = &made["service"];
        let metadata = Browser::new().open(service["entityID"].as_str().expect("an address")).await;
        assert_eq!(metadata.status, 200, "{}", metadata.body);
        let provider = Provider::start(&metadata.body, signs);
        let rest = json!({
            "ssoURL": format!("{}/sso", provider.base), "entityID": format!("{}/metadata", provider.base),
            "certificate": CERTIFICATE,
        });
        let path = format!("{providers}/{}", id(&made));
        let answer = admin.call("PATCH", &path, rest).await.expect("the server runs");
        assert_eq!((answer.status, &answer.body["status"]), (200, &json!("active")), "{}", answer.body);
        let start = service["startURL"].as_str().expect("an address").to_owned();
        Self { server, provider, admin, org, path, start }
    }

    /// Returns the provider's response form, which the browser would submit next.
    async fn answer(&self, browser: &mut Browser, user: &str, password: &str) -> Form {
        let shown = browser.open(&self.start).await;
        let mut form = shown.form();
        if form.fields.contains_key("password") {
            form.fields.insert("user".to_owned(), user.to_owned());
            form.fields.insert("password".to_owned(), password.to_owned());
            form = browser.send(&form).await.form();
        }
        assert!(form.fields.contains_key("SAMLResponse"), "{form:?}");
        form
    }

    async fn client_of(&self, browser: &mut Browser) -> Client {
        let answer = self.answer(browser, "Grace@Example.com", "hopper").await;
        let shown = browser.send(&answer).await;
        assert_eq!(shown.status, 200, "{}", shown.body);
        assert!(
            shown.body.contains("You are signed in") && !shown.body.contains("<script"),
            "{}",
            shown.body
        );
        Client::new(&self.server.base, &shown.form().fields["token"])
    }
}

async fn status(client: &Client, method: &str, path: &str) -> (u16, Value) {
    let answer = client.call(method, path, Value::Null).await.expect("the server runs");
    (answer.status, answer.body)
}

#[tokio::test(flavor = "multi_thread")]
async fn saml_browser_sign_in_grants_api_access() {
    if !has_provider() {
        return;
    }
    for signs in ["ASSERTION", "RESPONSE", "BOTH"] {
        let w = World::new(signs).await;
        let mut browser = Browser::new();
        let grace = w.client_of(&mut browser).await;
        let me = grace.get("/user").await;
        assert_eq!(
            (&me["email"], &me["displayName"]),
            (&json!("grace@example.com"), &json!("Grace Hopper <&> Ä"))
        );
        let member = w.admin.get(&format!("/orgs/{}/members/{}", w.org, id(&me))).await;
        assert_eq!((&member["role"], &member["sso"]), (&json!("edit"), &json!(true)), "{signs}");
        let space = w.admin.post(&format!("/orgs/{}/spaces", w.org), json!({ "title": "Docs" })).await;
        grace.post(&format!("/spaces/{}/change-requests", id(&space)), json!({})).await;
        // The provider now has a session for this browser.
        let again = w.client_of(&mut browser).await;
        assert_eq!(id(&again.get("/user").await), id(&me));
    }
}

/// A response from another browser, a modified response and a repeated one are rejected. The audit log contains each
/// refusal.
#[tokio::test(flavor = "multi_thread")]
async fn saml_response_is_accepted_once_unmodified_same_browser() {
    if !has_provider() {
        return;
    }
    let w = World::new("ASSERTION").await;
    let mut browser = Browser::new();
    let answer = w.answer(&mut browser, "Grace@Example.com", "hopper").await;
    let stranger = Browser::new().send(&answer).await;
    assert_eq!(stranger.status, 403);
    assert!(stranger.body.contains("answers no request of this browser"), "{}", stranger.body);
    let mut forged = answer.clone();
    forged.fields.entry("SAMLResponse".to_owned()).and_modify(|text| {
        let xml = data_encoding::BASE64.decode(text.as_bytes()).expect("base64");
        let xml = String::from_utf8(xml).expect("text").replace("Grace@Example.com", "ada@example.com");
        *text = data_encoding::BASE64.encode(xml.as_bytes());
    });
    let refused = browser.send(&forged).await;
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("it was changed after it was signed"), "{}", refused.body);
    let mut same = browser.clone();
    assert_eq!(browser.send(&answer).await.status, 200);
    let replayed = same.send(&answer).await;
    assert_eq!(replayed.status, 403);
    assert!(replayed.body.contains("was used before"), "{}", replayed.body);
    let log = w.admin.get(&format!("/orgs/{}/audit-log", w.org)).await;
    let operations: Vec<&str> = log["items"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|entry| entry["operation"].as_str())
        .collect();
    assert_eq!(
        operations[..4],
        ["saml_login_refuse", "saml_login", "saml_login_refuse", "saml_login_refuse"],
        "{operations:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn idp_initiated_sign_in_requires_the_provider_setting() {
    if !has_provider() {
        return;
    }
    let w = World::new("ASSERTION").await;
    let mut browser = Browser::new();
    w.client_of(&mut browser).await;
    let service = w.start.trim_end_matches("/start");
    let begin = format!("{}/begin?service={service}&acs={service}/acs", w.provider.base);
    let answer = browser.open(&begin).await.form();
    let refused = browser.send(&answer).await;
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("must not start a sign-in"), "{}", refused.body);
    let changed =
        w.admin.call("PATCH", &w.path, json!({ "idpInitiated": true })).await.expect("the server runs");
    assert_eq!(changed.body["idpInitiated"], true, "{}", changed.body);
    let answer = browser.open(&begin).await.form();
    assert_eq!(browser.send(&answer).await.status, 200);
    assert_eq!(browser.send(&answer).await.status, 403, "was used before");
}

/// An organization that requires sign-in through its provider still accepts its administrators' tokens.
#[tokio::test(flavor = "multi_thread")]
async fn required_sso_accepts_sessions_until_sign_out_or_removal() {
    if !has_provider() {
        return;
    }
    let w = World::new("BOTH").await;
    let mut browser = Browser::new();
    let grace = w.client_of(&mut browser).await;
    let org = format!("/orgs/{}", w.org);
    let change = w.admin.call("PATCH", &org, json!({ "sso": true })).await.expect("the server runs");
    assert_eq!(change.status, 200, "{}", change.body);
    assert_eq!(status(&grace, "GET", &org).await.0, 200, "a session");
    assert_eq!(status(&w.admin, "GET", &org).await.0, 200, "an administrator");
    // Signing out ends the session, and so does deleting the provider.
    let page = browser.send(&w.answer(&mut browser.clone(), "", "").await).await;
    assert_eq!(page.status, 403, "of another way: {}", page.body);
    let answer = w.answer(&mut browser, "", "").await;
    let page = browser.send(&answer).await;
    let token = page.form().fields["token"].clone();
    let out = browser.send(&page.form()).await;
    assert!(out.body.contains("You are signed out"), "{}", out.body);
    assert_eq!(status(&Client::new(&w.server.base, &token), "GET", "/user").await.0, 401);
    let providers = w.admin.get(&format!("{org}/saml")).await;
    let gone = format!("{org}/saml/{}", id(&providers["items"][0]));
    assert_eq!(status(&w.admin, "DELETE", &gone).await.0, 204);
    assert_eq!(status(&grace, "GET", "/user").await.0, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn saml_off_disables_saml_endpoints() {
    let server = Process::with(&["--bind", "127.0.0.1:0", "--saml", "off"]).await;
    let admin = Client::new(&server.base, TOKEN);
    let org = id(&admin.get("/orgs").await["items"][0]);
    let made = admin.post(&format!("/orgs/{org}/saml"), json!({ "label": "Staff" })).await;
    let shown = Browser::new().open(made["service"]["entityID"].as_str().expect("an address")).await;
    assert_eq!(shown.status, 404, "{}", shown.body);
}
