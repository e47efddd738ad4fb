//! Pages of the SAML sign-in: responses to browsers, and refused sign-ins.

use std::{io::Write as _, num::NonZeroU32};

use chrono::TimeDelta;
use data_encoding::BASE64;
use docs_core::{
    model::{SamlService, Timestamp},
    ports::{Saml, SamlIdentity, SamlRefused, SamlRequest, SamlTrust},
};
use docs_http::{ApiInfo, HttpApp, HttpConfig, RateLimit, SamlPages, assemble};
use docs_memstore::ManualClock;
use flate2::{Compression, write::DeflateEncoder};
use poem::test::{TestClient, TestResponse};
use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    toy::{Reads, Tokens},
};

/// A SAML adapter that accepts notes such as `grace@example.com _request`; `-` stands for no request.
pub(crate) struct Notes;

impl Saml for Notes {
    fn verify(&self, _: &SamlTrust, response: &str, now: Timestamp) -> Result<SamlIdentity, SamlRefused> {
        let (email, request) = response
            .split_once(' ')
            .ok_or_else(|| SamlRefused(format!("<script>{response}</script> is no note")))?;
        Ok(SamlIdentity {
            assertion: request.to_owned(),
            until: Timestamp::new(now.time() + TimeDelta::minutes(5)),
            session_until: None,
            in_response_to: Some(request).filter(|request| *request != "-").map(str::to_owned),
            email: email.to_owned(),
            first_name: Some("Grace <b>".to_owned()),
            last_name: None,
        })
    }

    fn check_certificate(&self, _: &str) -> Result<(), SamlRefused> {
        Ok(())
    }

    fn request(&self, request: &SamlRequest) -> Result<String, SamlRefused> {
        Ok(format!("{}?request={}", request.destination, request.id))
    }

    fn metadata(&self, service: &SamlService) -> String {
        format!("<md>{}</md>", service.entity_id)
    }
}

/// A DER sequence that contains another one.
const CERTIFICATE: &str = "MAQwAgUA";

struct Pages {
    s: Server,
    client: TestClient<HttpApp>,
    /// Path of the provider in the application.
    path: String,
}

impl Pages {
    async fn new() -> Self {
        Self::at("https://docs.example").await
    }

    async fn at(base: &str) -> Self {
        let s = Server::at(base).await;
        let provider = json!({
            "label": "Staff", "entityID": "https://id.example", "certificate": CERTIFICATE,
            "ssoURL": "https://id.example/sso", "defaultRole": "read",
        });
        let provider = s.post(&format!("/v1/orgs/{}/saml", s.org), 201, provider).await.body;
        let client = client(&s, Some(SamlPages { rate_limit: None }));
        let path = format!("/saml/{}", id(&provider));
        assert_eq!(provider["service"]["startURL"], format!("{base}{path}/start"));
        assert_eq!(provider["service"]["acsURL"], format!("{base}{path}/acs"));
        assert_eq!(provider["service"]["entityID"], format!("{base}{path}"));
        Self { s, client, path }
    }

    /// Starts a sign-in. Returns the request and the cookie.
    async fn start(&self) -> (String, String) {
        let response = self.client.get(format!("{}/start", self.path)).send().await;
        assert_eq!(response.0.status().as_u16(), 303);
        let location = header(&response, "location");
        let (_, request) = location.split_once("?request=").expect("a request");
        let cookie = header(&response, "set-cookie");
        (request.to_owned(), cookie.split(';').next().expect("a pair").to_owned())
    }

    /// Posts a SAML response to the provider's endpoint.
    async fn answer(&self, response: &str, cookie: &str, accept: &str) -> Shown {
        let form = format!("RelayState=x&SAMLResponse={}", response.replace('@', "%40").replace(' ', "+"));
        self.post("/acs", "application/x-www-form-urlencoded", form, cookie, accept).await
    }

    async fn post(&self, step: &str, kind: &str, body: String, cookie: &str, accept: &str) -> Shown {
        let request = self.client.post(format!("{}{step}", self.path)).header("accept", accept);
        let request = request.header("cookie", cookie).content_type(kind).body(body);
        shown(request.send().await).await
    }

    /// Signs a user in. Returns the token.
    async fn sign_in(&self, email: &str) -> String {
        let (request, cookie) = self.start().await;
        let shown = self.answer(&format!("{email} {request}"), &cookie, "application/json").await;
        assert_eq!(shown.status, 200, "{}", shown.body);
        let body: Value = serde_json::from_str(&shown.body).expect("JSON");
        body["token"].as_str().expect("a token").to_owned()
    }
}

fn client(s: &Server, saml: Option<SamlPages>) -> TestClient<HttpApp> {
    let config = HttpConfig { saml, ..HttpConfig::default() };
    TestClient::new(docs_http::routes(&s.platform, config).expect("routes"))
}

pub(crate) fn header(response: &TestResponse, name: &str) -> String {
    response.0.headers().get(name).map(|value| value.to_str().expect("text").to_owned()).unwrap_or_default()
}

pub(crate) struct Shown {
    pub(crate) status: u16,
    kind: String,
    headers: poem::http::HeaderMap,
    pub(crate) body: String,
}

pub(crate) async fn shown(response: TestResponse) -> Shown {
    let kind = header(&response, "content-type");
    let (status, headers) = (response.0.status().as_u16(), response.0.headers().clone());
    Shown { status, kind, headers, body: response.0.into_body().into_string().await.expect("text") }
}

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

#[tokio::test]
async fn sign_in_cookie_is_returned_with_the_form() {
    for (base, path, secure) in [
        ("https://docs.example", "", "; Secure; SameSite=None"),
        ("https://docs.example/api/docs", "/api/docs", "; Secure; SameSite=None"),
        ("http://localhost:4000", "", ""),
    ] {
        let p = Pages::at(base).await;
        let response = p.client.get(format!("{}/start", p.path)).send().await;
        assert_eq!(response.0.status().as_u16(), 303);
        assert!(header(&response, "location").starts_with("https://id.example/sso?request=_"));
        assert_eq!(header(&response, "cache-control"), "no-store");
        let cookie = header(&response, "set-cookie");
        assert!(cookie.starts_with("docs-saml-"), "{cookie}");
        assert!(cookie.contains(&format!("; Path={path}{}; Expires=", p.path)), "{cookie}");
        assert!(cookie.ends_with(&format!(" GMT; HttpOnly{secure}")), "{cookie}");
    }
}

#[tokio::test]
async fn saml_sign_in_returns_a_valid_api_token() {
    let p = Pages::new().await;
    let (request, cookie) = p.start().await;
    let shown = p.answer(&format!("Grace@Example.com {request}"), &format!("other=1; {cookie}"), HTML).await;
    assert_eq!((shown.status, shown.kind.as_str()), (200, "text/html; charset=utf-8"), "{}", shown.body);
    assert!(
        shown.body.contains("You are signed in") && shown.body.contains("Grace &lt;b&gt;"),
        "{}",
        shown.body
    );
    let gone = shown.headers.get("set-cookie").expect("a cookie").to_str().expect("text");
    let name = cookie.split('=').next().expect("a name");
    assert!(gone.starts_with(&format!("{name}=; ")) && gone.contains("Max-Age=0"), "{gone}");
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(shown.headers[name], value, "{name}");
    }
    let policy = shown.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let token =
        shown.body.split("readonly size=\"64\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let token = token.expect("a token");
    let me = p.s.ask("GET", "/v1/user", token, None).await.is(200, "a bearer token");
    assert_eq!(me["email"], "grace@example.com");
    // The form on the page signs the user out.
    let out = p.post("/end", "application/x-www-form-urlencoded", format!("token={token}"), "", HTML).await;
    assert!(out.status == 200 && out.body.contains("You are signed out"), "{}", out.body);
    p.s.ask("GET", "/v1/user", token, None).await.refused(401, "the session is over");
    p.s.check().await;
}

#[tokio::test]
async fn saml_endpoints_return_json_for_json_clients() {
    let p = Pages::new().await;
    let (request, cookie) = p.start().await;
    let json = "application/json";
    let shown = p.answer(&format!("grace@example.com {request}"), &cookie, json).await;
    assert_eq!((shown.status, shown.kind.as_str()), (200, json), "{}", shown.body);
    let body: Value = serde_json::from_str(&shown.body).expect("JSON");
    assert_eq!(
        (&body["organization"], &body["user"]["email"]),
        (&json!(p.s.org), &json!("grace@example.com"))
    );
    assert!(body["expiresAt"].is_string() && body["token"].is_string(), "{body}");
    let refused = p.answer("nothing", "", json).await;
    assert_eq!((refused.status, refused.kind.as_str()), (403, json));
    let body: Value = serde_json::from_str(&refused.body).expect("JSON");
    assert_eq!(body["error"]["code"], 403);
    let form = format!("token={}", p.sign_in("grace@example.com").await);
    let out = p.post("/end", "application/x-www-form-urlencoded", form, "", json).await;
    assert_eq!((out.status, out.body.as_str()), (204, ""));
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table, a row a refusal")]
async fn refused_saml_sign_in_shows_reason_and_creates_no_user() {
    let p = Pages::new().await;
    let (request, cookie) = p.start().await;
    let (form, right) =
        ("application/x-www-form-urlencoded", format!("SAMLResponse=new%40example.com+{request}"));
    let users = || async {
        let all = docs_core::store::PageRequest::default();
        p.s.platform.as_platform().users().list(&all).await.expect("users").items.len()
    };
    let before = users().await;
    let ten_megabytes = format!("SAMLResponse={}", "a".repeat(10 << 20));
    for (what, kind, body, cookie, status, said) in [
        (
            "unsigned",
            form,
            "SAMLResponse=x",
            cookie.as_str(),
            403,
            "&lt;script&gt;x&lt;/script&gt; is no note",
        ),
        ("no cookie", form, right.as_str(), "", 403, "no request of this browser (InResponseTo)"),
        (
            "a made-up cookie",
            form,
            &right,
            "docs-saml-0123456789abcdef=mzxw6",
            403,
            "no request of this browser",
        ),
        ("no request", form, "SAMLResponse=new%40example.com+-", &cookie, 403, "must not start a sign-in"),
        ("no address", form, &format!("SAMLResponse=new+{request}"), &cookie, 403, "must be an address"),
        (
            "an account",
            form,
            &format!("SAMLResponse=ada%40example.com+{request}"),
            &cookie,
            409,
            "own credentials",
        ),
        ("no field", form, "RelayState=x", &cookie, 400, "SAMLResponse: is required in the form"),
        ("twice", form, &format!("{right}&{right}"), &cookie, 400, "must occur once in the form"),
        ("ten megabytes", form, &ten_megabytes, &cookie, 413, "must be at most"),
        ("JSON", "application/json", "{}", &cookie, 415, "must be a form"),
        ("no type", "", &right, &cookie, 415, "must be a form"),
        ("a form with files", "multipart/form-data; boundary=x", "--x--", &cookie, 415, "must be a form"),
    ] {
        let shown = p.post("/acs", kind, body.to_owned(), cookie, HTML).await;
        assert_eq!(
            (shown.status, shown.kind.as_str()),
            (status, "text/html; charset=utf-8"),
            "{what}: {}",
            shown.body
        );
        assert!(shown.body.contains(said), "{what}: {}", shown.body);
        assert!(shown.body.contains("You are not signed in") && !shown.body.contains("<script"), "{what}");
        assert!(shown.body.contains(&format!("{}/start", p.path)), "{what}: where to begin again");
        assert!(!shown.headers.contains_key("set-cookie"), "{what}");
    }
    assert_eq!(users().await, before);
    let done = p.post("/acs", form, right.clone(), &cookie, HTML).await;
    assert_eq!(done.status, 200, "the right one is taken: {}", done.body);
    let again = p.post("/acs", form, right, &cookie, HTML).await;
    assert!(again.status == 403 && again.body.contains("was used before"), "{}", again.body);
}

#[tokio::test]
async fn saml_session_ends_only_at_its_own_provider() {
    let p = Pages::new().await;
    let token = p.sign_in("grace@example.com").await;
    let provider =
        p.s.post(&format!("/v1/orgs/{}/saml", p.s.org), 201, json!({ "label": "Other" })).await.body;
    let form = || ("application/x-www-form-urlencoded", format!("token={token}"));
    for (path, status) in [(format!("/saml/{}/end", id(&provider)), 404), (format!("{}/end", p.path), 200)] {
        let (kind, body) = form();
        let done = p.client.post(&path).header("accept", HTML).content_type(kind).body(body).send().await;
        let done = shown(done).await;
        assert_eq!(done.status, status, "{}", done.body);
        if status == 404 {
            p.s.ask("GET", "/v1/user", &token, None).await.is(200, "the session goes on");
        }
    }
    p.s.ask("GET", "/v1/user", &token, None).await.refused(401, "the session is over");
    let kind = "application/x-www-form-urlencoded";
    let own = p.post("/end", kind, format!("token={}", p.s.admin), "", HTML).await;
    assert!(own.status == 400 && own.body.contains("token: must belong to a SAML session"), "{}", own.body);
    p.s.get("/v1/user").await;
    let pending = p.client.get(format!("/saml/{}/start", id(&provider))).send().await;
    let pending = shown(pending).await;
    assert!(pending.body.contains("it lacks ssoURL, entityID, certificate"), "{}", pending.body);
}

#[tokio::test]
async fn subresources_start_no_login_and_oldest_logins_are_evicted() {
    let p = Pages::new().await;
    let start = format!("{}/start", p.path);
    for (to, status) in
        [("image", 403), ("iframe", 403), ("empty", 403), ("script", 403), ("", 403), ("document", 303)]
    {
        let response = p.client.get(&start).header("sec-fetch-dest", to).send().await;
        assert_eq!(response.0.status().as_u16(), status, "{to}");
        assert_eq!(response.0.headers().contains_key("set-cookie"), status == 303, "{to}");
    }
    // A browser that starts many sign-ins and stores all cookies.
    let (mut jar, mut ways): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let response = p.client.get(&start).header("cookie", jar.join("; ")).send().await;
        let location = header(&response, "location");
        ways.push(location.split_once("?request=").expect("a request").1.to_owned());
        for cookie in response.0.headers().get_all("set-cookie") {
            let cookie = cookie.to_str().expect("text");
            let pair = cookie.split(';').next().expect("a pair").to_owned();
            let name = format!("{}=", pair.split_once('=').expect("a pair").0);
            jar.retain(|kept| !kept.starts_with(&name));
            if !cookie.contains("Max-Age=0") {
                jar.push(pair);
            }
        }
        assert!(jar.len() <= 8, "{}", jar.len());
    }
    let json = "application/json";
    let first = p.answer(&format!("grace@example.com {}", ways[11]), &jar.join("; "), json).await;
    assert_eq!(first.status, 403, "{}", first.body);
    for way in [&ways[12], &ways[19]] {
        let shown = p.answer(&format!("grace@example.com {way}"), &jar.join("; "), json).await;
        assert_eq!(shown.status, 200, "{}", shown.body);
    }
}

/// Returns thirty megabytes of spaces, deflated for the HTTP-Redirect binding. The result fits into a URL.
pub(crate) fn deflate_bomb() -> String {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    deflated.write_all(&vec![b' '; 30 << 20]).expect("written");
    let bomb = BASE64.encode(&deflated.finish().expect("written"));
    assert!(bomb.len() < 60_000, "{}", bomb.len());
    bomb.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

#[tokio::test]
async fn saml_endpoints_check_method_and_provider() {
    let p = Pages::new().await;
    for (method, step, status, allow) in [
        ("POST", "/start", 405, "GET, HEAD, OPTIONS"),
        ("DELETE", "", 405, "GET, HEAD, OPTIONS"),
        ("PUT", "/end", 405, "POST, OPTIONS"),
        ("OPTIONS", "/acs", 204, "POST, OPTIONS"),
        ("GET", "/acs", 405, "POST, OPTIONS"),
        ("PATCH", "/acs", 405, "POST, OPTIONS"),
        ("OPTIONS", "/start", 204, "GET, HEAD, OPTIONS"),
    ] {
        let method = method.parse().expect("a method");
        let response = p.client.request(method, format!("{}{step}", p.path)).send().await;
        assert_eq!(
            (response.0.status().as_u16(), header(&response, "allow").as_str()),
            (status, allow),
            "{step}"
        );
    }
    let other = p.client.put(format!("{}/end", p.path)).send().await;
    let other = shown(other).await;
    assert!(other.kind.starts_with("application/json") && other.body.contains("405"), "{}", other.body);
    // A response in the URL is rejected without being inflated or verified.
    let bomb = deflate_bomb();
    let shown = shown(p.client.get(format!("{}/acs?SAMLResponse={bomb}", p.path)).send().await).await;
    assert_eq!(shown.status, 405);
    assert!(shown.body.contains("must be sent by HTTP-POST"), "{}", shown.body);
    // A posted response is not inflated either.
    let form = format!("SAMLResponse={bomb}");
    let posted = p.post("/acs", "application/x-www-form-urlencoded", form, "", HTML).await;
    assert!(posted.status == 403 && posted.body.contains("is no note"), "{}", posted.body);
    for path in ["/saml/nobody/start", "/saml/%00/start", "/saml/nobody", "/saml/nobody/acs"] {
        let request = if path.ends_with("acs") { p.client.post(path) } else { p.client.get(path) };
        let request = request.content_type("application/x-www-form-urlencoded").body("SAMLResponse=a");
        let shown = crate::saml_pages::shown(request.send().await).await;
        assert_eq!(shown.status, 404, "{path}: {}", shown.body);
    }
    let metadata = p.client.get(&p.path).send().await;
    assert_eq!(header(&metadata, "content-type"), "application/samlmetadata+xml");
    assert!(
        metadata
            .0
            .into_body()
            .into_string()
            .await
            .expect("text")
            .contains(&format!("docs.example{}", p.path))
    );
    let not_mounted = client(&p.s, None).get(format!("{}/start", p.path)).send().await;
    assert_eq!(not_mounted.0.status().as_u16(), 404);
    let config = HttpConfig { saml: Some(SamlPages::default()), ..HttpConfig::default() };
    let problems = assemble(Reads, ApiInfo::new("Reads", "1"), config, std::sync::Arc::new(Tokens));
    assert!(
        problems.expect_err("it signs in to no platform").to_string().contains("`saml` requires `routes`")
    );
}

#[tokio::test]
async fn saml_endpoints_are_rate_limited_with_an_html_page() {
    let p = Pages::new().await;
    let limit = NonZeroU32::new(3).expect("not zero");
    let limit = RateLimit::per_minute(limit).clock(ManualClock::default());
    let client = client(&p.s, Some(SamlPages { rate_limit: Some(limit) }));
    for _ in 0..3 {
        assert_eq!(client.get(format!("{}/start", p.path)).send().await.0.status().as_u16(), 303);
    }
    let refused = shown(client.get(format!("{}/start", p.path)).send().await).await;
    assert_eq!((refused.status, refused.kind.as_str()), (429, "text/html; charset=utf-8"));
    assert!(refused.headers.contains_key("retry-after") && refused.body.contains("too many requests"));
    let posted = client.post(format!("{}/acs", p.path)).send().await;
    assert_eq!(posted.0.status().as_u16(), 429);
    let api = client.get("/v1/user").header("authorization", format!("Bearer {}", p.s.admin)).send().await;
    assert_eq!(api.0.status().as_u16(), 200, "the API has a limit of its own");
    assert!(SamlPages::default().rate_limit.is_some(), "nobody has to ask for it");
}

#[tokio::test]
async fn enforced_sso_rejects_tokens_with_the_login_url() {
    let p = Pages::new().await;
    let (s, org) = (&p.s, format!("/v1/orgs/{}", p.s.org));
    let session = p.sign_in("grace@example.com").await;
    s.patch(&org, json!({ "sso": true })).await;
    let space = s.space().await;
    let start = format!("https://docs.example{}/start", p.path);
    for path in
        [org.clone(), format!("{org}/spaces"), format!("/v1/spaces/{space}"), format!("{org}/members")]
    {
        for token in [&s.reader, &s.editor, &s.guest] {
            let refused = s.ask("GET", &path, token, None).await;
            assert!(refused.refused(403, &path).contains(&start), "{path}");
        }
        for token in [&session, &s.admin] {
            s.ask("GET", &path, token, None).await.is(200, &path);
        }
    }
    s.ask("POST", &format!("{org}/spaces"), &s.editor, Some(json!({}))).await.refused(403, "a write");
    let logins = s.ask("GET", &format!("{org}/sso"), &s.reader, None).await.is(200, "before one signs in");
    assert_eq!(logins["items"][0]["startURL"], start);
    s.ask("GET", &org, &s.outsider, None).await.refused(404, "nobody's business");
    let orgs = s.ask("GET", "/v1/orgs", &s.reader, None).await.is(200, "a list");
    assert_eq!(
        (&orgs["items"][0]["sso"], &orgs["items"][0]["permissions"]["view"]),
        (&json!(true), &json!(false))
    );
}
