//! Authentication by the embedding application: known users are authenticated, unknown ones are rejected, and on
//! failure nobody is authenticated.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    body::{Body, to_bytes},
    http::{HeaderValue, Request},
};
use docs_core::{model::UserId, platform::Visitor};
use docs_http::{
    ApiInfo, HostAuthenticator, HostSignIn, HttpConfig, Identity, SignInFailure, assemble, auth::RequestHead,
};
use poem::test::TestClient;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::{
    server::{Server, id},
    toy::{Reads, Tokens},
};

#[path = "../../examples/host_session.rs"]
#[allow(dead_code, reason = "an example has a `main`")]
mod host_session;

/// An authenticator that trusts a header, and fails on request.
#[derive(Clone, Default)]
struct Header(Arc<AtomicUsize>);

#[async_trait::async_trait]
impl HostAuthenticator for Header {
    async fn authenticate(&self, request: RequestHead<'_>) -> Result<Identity, SignInFailure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let Some(who) = request.headers().get("x-who") else { return Ok(Identity::Nobody) };
        match who.to_str().expect("text") {
            "visitor" => Ok(Identity::Visitor(Visitor::anonymous())),
            "refused" => Err(SignInFailure::refused("the session has ended")),
            "challenged" => Err(SignInFailure::challenged(
                "the token has ended",
                HeaderValue::from_static("Bearer error=\"invalid_token\""),
            )),
            "failed" => Err(SignInFailure::failed("the host's database is secret and away")),
            "panic" => panic!("the host's fault"),
            user => Ok(Identity::User(user.parse::<UserId>().expect("an id"))),
        }
    }

    fn challenge(&self) -> HeaderValue {
        HeaderValue::from_static("Header realm=\"host\"")
    }
}

/// Returns the routes of a server with authentication by the application.
fn hosted(s: &Server, sign_in: HostSignIn) -> TestClient<docs_http::HttpApp> {
    let config = HttpConfig { sign_in: Some(sign_in), ..HttpConfig::default() };
    TestClient::new(docs_http::routes(&s.platform, config).expect("routes"))
}

struct Got {
    status: u16,
    challenge: Option<String>,
    body: Value,
}

async fn ask(
    client: &TestClient<docs_http::HttpApp>,
    path: &str,
    who: Option<&str>,
    token: Option<&str>,
) -> Got {
    let mut request = client.get(path);
    if let Some(who) = who {
        request = request.header("x-who", who);
    }
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let response = request.send().await.0;
    let (status, challenge) =
        (response.status().as_u16(), response.header("www-authenticate").map(str::to_owned));
    let body = response.into_body().into_vec().await.expect("a body");
    Got { status, challenge, body: serde_json::from_slice(&body).expect("JSON") }
}

#[tokio::test]
async fn host_sign_in_result_determines_status_and_challenge() {
    let s = Server::new().await;
    let ada = id(&s.get("/v1/user").await);
    let (beside, alone) = (
        hosted(&s, HostSignIn::with_tokens(Header::default())),
        hosted(&s, HostSignIn::without_tokens(Header::default())),
    );
    let admin = Some(s.admin.as_str());
    let realm = Some("Header realm=\"host\"");
    // The application's user, the token, the status with and without platform tokens, and the challenge.
    for (who, token, with_tokens, without, challenge) in [
        (Some(ada.as_str()), None, 200, 200, None),
        (Some(ada.as_str()), Some("wrong"), 200, 200, None),
        (Some("nobody-of-this-platform"), None, 401, 401, realm),
        (Some("nobody-of-this-platform"), admin, 401, 401, realm),
        (None, None, 401, 401, realm),
        (None, admin, 200, 401, realm),
        (Some("visitor"), None, 403, 403, None),
        (Some("visitor"), admin, 403, 403, None),
        (Some("refused"), None, 401, 401, realm),
        (Some("refused"), admin, 401, 401, realm),
        (Some("challenged"), admin, 401, 401, Some("Bearer error=\"invalid_token\"")),
        (Some("failed"), None, 503, 503, None),
        (Some("failed"), admin, 503, 503, None),
        (Some("panic"), admin, 503, 503, None),
    ] {
        for (client, status) in [(&beside, with_tokens), (&alone, without)] {
            let got = ask(client, "/v1/user", who, token).await;
            assert_eq!(got.status, status, "{who:?} {token:?}: {}", got.body);
            let challenge = challenge.filter(|_| status == 401);
            assert_eq!(got.challenge.as_deref(), challenge, "{who:?} {token:?}");
            match status {
                200 => assert_eq!(got.body["id"], ada.as_str()),
                _ => assert_eq!(got.body["error"]["code"], status),
            }
            assert!(!got.body.to_string().contains("secret"), "what failed is for the log: {}", got.body);
        }
    }
    let got = ask(&beside, "/v1/user", None, Some("wrong")).await;
    assert_eq!((got.status, got.challenge.as_deref()), (401, Some("Bearer")), "a token that is not valid");
}

#[tokio::test]
async fn public_content_is_readable_for_unknown_users() {
    let s = Server::new().await;
    let (space, hidden) = (s.space().await, s.space().await);
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let client = hosted(&s, HostSignIn::without_tokens(Header::default()));
    for (who, status) in [(None, 200), (Some("visitor"), 200), (Some("refused"), 401), (Some("failed"), 503)]
    {
        let got = ask(&client, &format!("/v1/spaces/{space}"), who, None).await;
        assert_eq!(got.status, status, "{who:?}: {}", got.body);
        let got = ask(&client, &format!("/v1/spaces/{hidden}"), who, None).await;
        assert_eq!(got.status, if status == 200 { 401 } else { status }, "{who:?}: {}", got.body);
        let challenge = (got.status == 401).then_some("Header realm=\"host\"");
        assert_eq!(got.challenge.as_deref(), challenge, "{who:?}: the host signs people in");
    }
}

#[tokio::test]
async fn audit_log_records_the_user_signed_in_by_the_application() {
    let s = Server::new().await;
    let bea = id(&s.ask("GET", "/v1/user", &s.both, None).await.body);
    let asked = Header::default();
    let client = hosted(&s, HostSignIn::with_tokens(asked.clone()));
    s.clock.advance(Duration::from_secs(1));
    let path = format!("/v1/orgs/{}/spaces", s.org);
    // The token of another user has no effect: the application takes precedence.
    let request =
        client.post(&path).header("x-who", &bea).header("authorization", format!("Bearer {}", s.admin));
    let response = request.content_type("application/json").body("{}").send().await.0;
    assert_eq!(response.status(), 201);
    assert_eq!(asked.0.load(Ordering::Relaxed), 1, "the host is asked once a request");
    let entry = s.get(&format!("/v1/orgs/{}/audit-log?limit=1", s.org)).await["items"][0].clone();
    assert_eq!((&entry["operation"], &entry["user"]), (&json!("space_create"), &json!(bea)));
}

#[tokio::test]
async fn endpoints_outside_the_api_skip_host_sign_in() {
    let s = Server::new().await;
    let asked = Header::default();
    s.platform.settle().await.expect("settled");
    let client = hosted(&s, HostSignIn::without_tokens(asked.clone()));
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
        client.get(path).header("x-who", "failed").send().await.assert_status_is_ok();
    }
    assert_eq!(asked.0.load(Ordering::Relaxed), 0);
}

#[test]
fn api_with_own_authenticator_rejects_host_sign_in() {
    let config =
        HttpConfig { sign_in: Some(HostSignIn::without_tokens(Header::default())), ..HttpConfig::default() };
    let refused = assemble(Reads, ApiInfo::new("x", "1"), config, Arc::new(Tokens)).expect_err("refused");
    assert!(refused.to_string().contains("sign_in"), "{refused}");
}

/// An authenticator that records the parts of the requests it received.
struct Told;

#[async_trait::async_trait]
impl HostAuthenticator for Told {
    async fn authenticate(&self, request: RequestHead<'_>) -> Result<Identity, SignInFailure> {
        let name = request.extension::<&'static str>().copied().unwrap_or("-");
        let peer = request.peer().map_or_else(|| "-".to_owned(), |peer| peer.to_string());
        Err(SignInFailure::refused(format!("{} {} {peer} {name}", request.method(), request.uri())))
    }
}

#[tokio::test]
async fn host_sign_in_receives_method_uri_peer_and_extensions() {
    let s = Server::new().await;
    let config = || HttpConfig { sign_in: Some(HostSignIn::without_tokens(Told)), ..HttpConfig::default() };
    let service = docs_http::tower_service(&s.platform, config()).expect("a service");
    let peer: SocketAddr = "192.0.2.7:443".parse().expect("an address");
    for (peer, name, told) in [
        (Some(peer), Some("layer"), "GET /v1/user?a=b 192.0.2.7:443 layer"),
        (None, None, "GET /v1/user?a=b - -"),
    ] {
        let mut request = Request::get("/v1/user?a=b").body(Body::empty()).expect("a request");
        peer.map(|peer| request.extensions_mut().insert(peer));
        name.map(|name: &'static str| request.extensions_mut().insert(name));
        let answer = service.clone().oneshot(request).await.expect("it does not fail");
        let body = to_bytes(Body::new(answer.into_body()), usize::MAX).await.expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["error"]["message"], told);
    }
}

#[tokio::test]
async fn the_example_with_sessions_signs_in_and_out() {
    let s = Server::new().await;
    let sessions = host_session::Sessions::default();
    let app = host_session::application(&s.platform, &sessions).expect("an application");
    let ada = s.get("/v1/user").await;
    let send = async |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).expect("a request");
        let (parts, body) = app.clone().oneshot(request).await.expect("it does not fail").into_parts();
        let body = to_bytes(body, usize::MAX).await.expect("a body");
        (parts.status.as_u16(), parts.headers, serde_json::from_slice::<Value>(&body).unwrap_or_default())
    };
    let email = ada["email"].as_str().expect("an address");
    let user = "/docs-api/v1/user";
    assert_eq!(send("POST", "/sign-in", &[], &format!("{email} wrong")).await.0, 401);
    let (status, headers, _) = send("POST", "/sign-in", &[], &format!("{email} open sesame")).await;
    assert_eq!(status, 204);
    let cookie = headers["set-cookie"].to_str().expect("text").split(';').next().expect("a pair").to_owned();
    let session = ("cookie", cookie.as_str());
    let (status, _, body) = send("GET", user, &[session], "").await;
    assert_eq!((status, &body["id"]), (200, &ada["id"]));
    // Platform tokens are also accepted.
    let bearer = format!("Bearer {}", s.editor);
    assert_eq!(send("GET", user, &[("authorization", &bearer)], "").await.0, 200);
    assert_eq!(send("GET", user, &[], "").await.0, 401);
    // With the session, a page of the application can write, and a page of another site cannot.
    let spaces = format!("/docs-api/v1/orgs/{}/spaces", s.org);
    for (origin, status) in [("https://evil.example", 401), ("http://127.0.0.1:4030", 201)] {
        let headers = [session, ("origin", origin), ("content-type", "application/json")];
        assert_eq!(send("POST", &spaces, &headers, "{}").await.0, status, "{origin}");
    }
    assert_eq!(send("POST", "/sign-out", &[session], "").await.0, 204);
    let (status, headers, body) = send("GET", user, &[session], "").await;
    assert_eq!((status, &body["error"]["message"]), (401, &json!("the session has ended; sign in again")));
    assert_eq!(headers["www-authenticate"], "Cookie realm=\"docs\"");
}
