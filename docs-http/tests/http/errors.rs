//! Error responses of the HTTP layer.

use poem::{
    http::{HeaderValue, Method, header},
    test::TestRequestBuilder,
};

use crate::toy::{self, LIMIT, client, failure, parts, signed};

const GOOD: &str = "Bearer good";

/// A rejected request: method, path, token, and body with its media type; then the expected status and a part of the
/// message.
struct Refused(Method, &'static str, &'static str, Option<(&'static str, String)>, u16, &'static str);

fn json(body: &str) -> Option<(&'static str, String)> {
    Some(("application/json", body.to_owned()))
}

async fn check(cases: Vec<Refused>) {
    let client = client();
    for Refused(method, path, token, body, status, message) in cases {
        let what = format!("{method} {path} {body:?}");
        let mut request = client.request(method, path);
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, token);
        }
        if let Some((media_type, body)) = body {
            request = with_type(request, media_type).body(body);
        }
        let told = failure(request.send().await.0, status).await;
        assert!(told.contains(message), "{what}\n  told:     {told}\n  expected: {message}");
    }
}

fn with_type<'a, E>(request: TestRequestBuilder<'a, E>, media_type: &str) -> TestRequestBuilder<'a, E>
where
    E: poem::Endpoint,
{
    if media_type.is_empty() { request } else { request.content_type(media_type) }
}

#[tokio::test]
async fn unauthenticated_request_states_the_required_header() {
    let get = |token, status, message| Refused(Method::GET, "/v1/spaces/a", token, None, status, message);
    check(vec![
        get("", 401, "a token is required; send `Authorization: Bearer <token>`"),
        get("Basic YTpi", 401, "Authorization: must be `Bearer <token>`"),
        get("Bearer", 401, "Authorization: must be `Bearer <token>`"),
        get("Bearer two words", 401, "Authorization: must be `Bearer <token>`"),
        get("Bearer wrong", 401, "the token is not valid; make a new one"),
        get("Bearer later", 503, "tokens cannot be checked now"),
        // Authentication precedes validation.
        Refused(Method::PATCH, "/v1/spaces/a", "", json("{"), 401, "a token is required"),
        // Even where authentication is optional, an invalid token is rejected.
        Refused(Method::GET, "/v1/search?query=x", "Bearer wrong", None, 401, "the token is not valid"),
    ])
    .await;
    let response = client().get("/v1/spaces/a").send().await.0;
    assert_eq!(response.header("www-authenticate"), Some("Bearer"));
    let response = client().get("/v1/spaces/a").header("authorization", "Bearer later").send().await.0;
    assert_eq!(response.header("retry-after"), Some("1"));
    let client = client();
    let request = signed(signed(client.get("/v1/spaces/a")));
    assert_eq!(failure(request.send().await.0, 401).await, "Authorization: must be given once");
}

#[tokio::test]
async fn invalid_body_is_rejected_with_the_location() {
    let patch = |body: &str, message| Refused(Method::PATCH, "/v1/spaces/a", GOOD, json(body), 400, message);
    let content = |body: &str, message| Refused(Method::POST, "/v1/content", GOOD, json(body), 400, message);
    let long = format!(r#"{{"title":"{}"}}"#, "x".repeat(51));
    check(vec![
        patch("{", "the body is not valid JSON: EOF while parsing an object at line 1 column 1"),
        patch("{\"title\":\n  tru}", "at line 2 column"),
        patch("{} {}", "the body is not valid JSON: trailing characters at line 1 column 4"),
        patch(r#"{"title":5}"#, "title: invalid type: integer `5`, expected a string"),
        patch(&long, "title: must be at most 50 characters, has 51"),
        patch(r#"{"editMode":"open"}"#, "editMode: unknown variant `open`, expected `live` or `locked`"),
        patch(r#"{"title":"a","title":"b"}"#, "title: is a duplicate"),
        patch(r#"{"title":"a\u0000b"}"#, "the NUL character (`\\u0000`), which is at line 1 column 12"),
        patch("[]", "the body: must be a JSON object, is a list"),
        patch("5", "the body: invalid type: integer `5`, expected an object"),
        patch("null", "the body: invalid type: null, expected an object"),
        patch("", "the body: is required"),
        patch(" \n", "the body: is required"),
        content("{}", "changes: is required"),
        content(r#"{"changes":{}}"#, "changes: invalid type: map, expected a list"),
        content(r#"{"changes":[{}]}"#, "changes[0].operation: must be `update_page`"),
        content(r#"{"changes":[null]}"#, "changes[0]: must be an object with `operation`, is null"),
        content(r#"{"changes":[{"operation":"update_page"}]}"#, "changes[0].page: is required"),
        content(
            r#"{"changes":[{"operation":"update_page","page":"p","document":{"markdown":5}}]}"#,
            "changes[0].document.markdown: invalid type: integer `5`, expected a string",
        ),
        content(
            r#"{"changes":[{"operation":"update_page","page":"p","title":""}]}"#,
            "changes[0].title: must be at least 1 characters, has 0",
        ),
        Refused(
            Method::PUT,
            "/v1/pointer",
            GOOD,
            json(r#"{"type":"space"}"#),
            400,
            "type: unknown variant `space`",
        ),
        Refused(Method::PUT, "/v1/pointer", GOOD, json(r#"{"type":"site"}"#), 400, "site: is required"),
        Refused(Method::POST, "/v1/names", "", json(r#"["a",1]"#), 400, "[1]: invalid type: integer `1`"),
    ])
    .await;
}

#[tokio::test]
async fn empty_object_clears_a_page_and_null_clears_optional_fields() {
    let content = |field: &str, message| {
        let body = format!(r#"{{"changes":[{{"operation":"update_page","page":"p",{field}}}]}}"#);
        Refused(Method::POST, "/v1/content", GOOD, json(&body), 400, message)
    };
    let needs = "changes[0].document: must have `markdown`, a string, or `document`, a document tree";
    check(vec![
        content(r#""document":{"markdwon":"x"}"#, needs),
        content(r#""document":{"object":"document","data":{},"nodes":[]}"#, needs),
        content(r#""document":{"markdown":null}"#, needs),
        content(r#""document":{"document":null}"#, needs),
        content(
            r#""document":{"markdown":"x","document":{"object":"document","data":{},"nodes":[]}}"#,
            "changes[0].document: must have `markdown` or `document`, not both",
        ),
        content(r#""document":null"#, "changes[0].document: invalid type: null"),
        content(r#""title":null"#, "changes[0].title: invalid type: null, expected a string"),
        content(r#""slug":null"#, "changes[0].slug: invalid type: null, expected a string"),
        content(r#""hidden":null"#, "changes[0].hidden: invalid type: null"),
        content(r#""noIndex":null"#, "changes[0].noIndex: invalid type: null"),
        content(r#""at":null"#, "changes[0].at: invalid type: null"),
    ])
    .await;
}

#[tokio::test]
async fn a_body_that_is_not_json_or_too_large_is_refused() {
    let patch = |media_type, body: &str, status, message| {
        Refused(Method::PATCH, "/v1/spaces/a", GOOD, Some((media_type, body.to_owned())), status, message)
    };
    check(vec![
        patch("text/plain", "{}", 415, "Content-Type: must be `application/json`, is `text/plain`"),
        patch("application/json; charset=latin1", "{}", 415, "must be `application/json`"),
        patch("", "{}", 415, "Content-Type: must be `application/json`, is `none`"),
        patch("application/json", &" ".repeat(LIMIT + 1), 413, "must be at most 1000 bytes"),
        patch("text/plain", "", 400, "the body: is required"),
        Refused(Method::POST, "/v1/spaces", GOOD, Some(("text/plain", "x".to_owned())), 415, "Content-Type"),
    ])
    .await;
    // A `Content-Length` over the limit is rejected without reading the body.
    let client = client();
    let request = signed(client.patch("/v1/spaces/a")).content_type("application/json");
    let request = request.header("content-length", "1001").body("{}");
    failure(request.send().await.0, 413).await;
    // A body of exactly the maximum length is accepted.
    let body = format!("{}{}", "{}", " ".repeat(LIMIT - 2));
    let request = signed(client.patch("/v1/spaces/a")).content_type("application/json");
    request.body(body).send().await.assert_status_is_ok();
}

#[tokio::test]
async fn invalid_parameter_is_rejected_by_name() {
    let get = |path, message| Refused(Method::GET, path, GOOD, None, 400, message);
    check(vec![
        get("/v1/spaces?limit=abc", "limit: must be a whole number of at least 0, is `abc`"),
        get("/v1/spaces?limit=-1", "limit: must be a whole number"),
        get("/v1/spaces?limit=", "limit: must be a whole number"),
        get("/v1/spaces?limit=1&limit=2", "limit: must occur once, occurs 2 times"),
        get("/v1/spaces?limit=99999999999", "limit: invalid value"),
        get("/v1/spaces?deleted=yes", "deleted: must be `true` or `false`, is `yes`"),
        get("/v1/spaces?type=basic&type=gold", "type: unknown variant `gold`, expected one of `basic`"),
        get("/v1/spaces?type=basic,premium", "type: unknown variant `basic,premium`"),
        get("/v1/search", "query: is required"),
        get("/v1/search?query=%ff", "query: must be UTF-8 text"),
        get("/v1/search?query=a%00", "query: must not contain the NUL character"),
    ])
    .await;
}

#[tokio::test]
async fn missing_or_forbidden_resource_returns_a_json_error() {
    let get = |path, status, message| Refused(Method::GET, path, GOOD, None, status, message);
    check(vec![
        get("/v1/spaces/not%20an%20id", 404, "no such space"),
        get("/v1/spaces/secret", 403, "reading this space needs the role `read`"),
        get("/v1/nope", 404, "no such path"),
        get("/v1/spaces/a/b/c", 404, "no such path"),
        get("/v1/spaces/", 404, "no such path"),
        get("/v2", 404, "no such path"),
        get("/", 404, "no such path"),
        get("/v1/spaces/%ff", 400, "the path must be percent-encoded UTF-8 text"),
        get("/v1/spaces/a%00b", 400, "the path must be percent-encoded UTF-8 text without NUL"),
        get("/v1/spaces/%zz", 404, "no such space"),
        Refused(
            Method::POST,
            "/v1/conflict",
            "",
            None,
            409,
            "the change request is archived; reopen it first",
        ),
    ])
    .await;
}

#[tokio::test]
async fn internal_errors_and_panics_are_hidden() {
    let hidden = "an internal error occurred; see the log of the server";
    let case = |method, path| Refused(method, path, GOOD, None, 500, hidden);
    check(vec![
        case(Method::GET, "/v1/spaces/broken"),
        case(Method::GET, "/v1/panic"),
        case(Method::POST, "/v1/panic"),
    ])
    .await;
}

#[tokio::test]
async fn unsupported_method_returns_405_with_allow() {
    let client = client();
    let strange = Method::from_bytes(b"PROPFIND").expect("a method");
    for (method, path, allow) in [
        (Method::PUT, "/v1/spaces/a", "DELETE, GET, HEAD, OPTIONS, PATCH"),
        (Method::TRACE, "/v1/spaces/a", "DELETE, GET, HEAD, OPTIONS, PATCH"),
        (strange.clone(), "/v1/spaces/a", "DELETE, GET, HEAD, OPTIONS, PATCH"),
        (Method::GET, "/v1/content", "OPTIONS, POST"),
        (Method::POST, "/v1", "GET, HEAD, OPTIONS"),
        (Method::POST, "/healthz", "GET, HEAD, OPTIONS"),
        (Method::DELETE, "/openapi.json", "GET, HEAD, OPTIONS"),
    ] {
        let response = client.request(method, path).send().await.0;
        assert_eq!(response.header("allow"), Some(allow), "{path}");
        failure(response, 405).await;
    }
    failure(client.request(strange, "/v1/nope").send().await.0, 404).await;
    let response = client.head("/v1/content").send().await.0;
    assert_eq!((response.status().as_u16(), response.header("allow")), (405, Some("OPTIONS, POST")));

    let (response, body) = parts(client.options("/v1/spaces").send().await.0).await;
    assert_eq!(response.status(), 204);
    assert_eq!(response.header("allow"), Some("GET, HEAD, OPTIONS, POST"));
    assert_eq!(body, "");
    failure(client.options("/v1/nope").send().await.0, 404).await;
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let client = client();
    let (response, body) = parts(signed(client.head("/v1/spaces/a")).send().await.0).await;
    assert_eq!((response.status().as_u16(), body.as_str()), (200, ""));
    assert_eq!(response.content_type(), Some("application/json"));
    let (response, body) = parts(client.head("/v1/spaces/a").send().await.0).await;
    assert_eq!((response.status().as_u16(), body.as_str()), (401, ""));
    client.head("/healthz").send().await.assert_status_is_ok();
}

#[tokio::test]
async fn valid_requests_succeed() {
    let client = client();

    let (response, body) = parts(signed(client.get("/v1/spaces/a")).send().await.0).await;
    assert_eq!(response.content_type(), Some("application/json"));
    assert_eq!(body, r#"{"id":"a","askedBy":"ada"}"#);

    let (response, body) = parts(signed(client.post("/v1/spaces")).send().await.0).await;
    assert_eq!((response.status().as_u16(), response.header("location")), (201, Some("/v1/spaces/new")));
    assert_eq!(body, r#"{"id":"new","askedBy":"ada"}"#);
    let request = signed(client.post("/v1/spaces")).content_type("application/json");
    let (_, body) = parts(request.body(r#"{"title":"T","unknown":1}"#).send().await.0).await;
    assert_eq!(body, r#"{"id":"new","title":"T","askedBy":"ada"}"#);

    let request = signed(client.get("/v1/spaces?limit=5&type=basic&type=legacy-basic&deleted=false&else=1"));
    let (_, body) = parts(request.send().await.0).await;
    assert_eq!(body, r#"{"count":1,"items":["Some(5) Some([Basic, LegacyBasic]) Some(false)"]}"#);

    for (path, status) in [("/v1/spaces/known", 205), ("/v1/spaces/unknown", 204)] {
        let (response, body) = parts(signed(client.delete(path)).send().await.0).await;
        assert_eq!((response.status().as_u16(), body.as_str(), response.content_type()), (status, "", None));
    }
    let (response, body) = parts(client.post("/v1/empty").send().await.0).await;
    assert_eq!((response.status().as_u16(), body.as_str()), (201, ""));
    let (_, body) = parts(client.get("/v1/search?query=a+b").send().await.0).await;
    assert_eq!(body, r#""nobody looks for a b""#);
    let (_, body) = parts(client.get("/v1/spaces/s/pages/p").send().await.0).await;
    assert_eq!(body, r#""page p of space s""#);
    let (_, body) = parts(client.delete("/v1/spaces/s/pages/p").send().await.0).await;
    assert_eq!(body, r#""no page p of space s""#);
    let (_, body) = parts(client.get("/v1").send().await.0).await;
    assert_eq!(body, r#""root""#);
}

#[tokio::test]
async fn error_has_a_request_id_and_is_not_cached() {
    let client = client();
    let id = |response: &poem::Response| response.header("x-request-id").map(str::to_owned).expect("an id");
    let response = client.get("/v1/nope").header("x-request-id", "abc-1.2:3").send().await.0;
    assert_eq!(id(&response), "abc-1.2:3");
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    let long = "a".repeat(129);
    for strange in ["", "a b", "a\"b", long.as_str()] {
        let value = HeaderValue::from_str(strange).expect("a header");
        let response = client.get("/v1/nope").header("x-request-id", value).send().await.0;
        assert_eq!(id(&response).len(), 26, "a new id instead of {strange:?}");
    }
    let first = id(&client.get("/v1/nope").send().await.0);
    assert_ne!(first, id(&client.get("/v1/nope").send().await.0));
}

#[tokio::test]
async fn write_completes_after_the_client_disconnects() {
    let slow = toy::Slow::default();
    let client = poem::test::TestClient::new(toy::app(slow.clone()));
    {
        let request = client.post("/v1/slow").send();
        tokio::select! {
            _ = request => panic!("answered before it was told to go on"),
            () = slow.begun.notified() => {}
        }
    }
    slow.go.notify_one();
    slow.done.notified().await;
}
