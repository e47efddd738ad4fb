//! Other ways to embed the API: in poem with a path prefix, in axum through tower, and the API alone.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::ConnectInfo,
    http::{HeaderValue, Request, StatusCode},
};
use docs_http::{
    ApiInfo, HttpConfig, assemble,
    auth::SharedAuthenticator,
    metrics::Metrics,
    service,
    wire::{error::ApiResult, payload::BodyLimit, reply::Reply},
};
use futures_util::{StreamExt, stream};
use poem::{EndpointExt, Route, test::TestClient};
use poem_openapi::OpenApi;
use serde_json::Value;
use tower::ServiceExt;

use crate::toy::{LIMIT, Person, Reads, Slow, Tokens, Writes, app, failure, parts, signed};

fn router() -> Router {
    Router::new().nest_service("/docs-api", app(Slow::default()).into_tower())
}

async fn ask(router: Router, request: Request<Body>) -> (StatusCode, Option<String>, String) {
    let (parts, body) = router.oneshot(request).await.expect("axum does not fail").into_parts();
    let media_type = parts.headers.get("content-type").map(|value| value.to_str().expect("text").to_owned());
    let body = to_bytes(body, usize::MAX).await.expect("a body");
    (parts.status, media_type, String::from_utf8(body.into()).expect("text"))
}

fn signed_request(method: &str, path: &str, body: Body) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header("authorization", "Bearer good");
    request.header("content-type", "application/json").body(body).expect("a request")
}

#[tokio::test]
async fn axum_can_host_the_application() {
    let json = Some("application/json".to_owned());
    let (status, media_type, body) =
        ask(router(), signed_request("GET", "/docs-api/v1/spaces/a", Body::empty())).await;
    assert_eq!(
        (status, media_type, body.as_str()),
        (StatusCode::OK, json.clone(), r#"{"id":"a","askedBy":"ada"}"#)
    );
    let (status, ..) = ask(router(), signed_request("GET", "/docs-api/healthz", Body::empty())).await;
    assert_eq!(status, StatusCode::OK);
    // No body.
    let (status, ..) = ask(router(), signed_request("POST", "/docs-api/v1/spaces", Body::empty())).await;
    assert_eq!(status, StatusCode::CREATED);
    let (status, media_type, body) =
        ask(router(), signed_request("PATCH", "/docs-api/v1/spaces/a", Body::empty())).await;
    assert_eq!((status, media_type), (StatusCode::BAD_REQUEST, json));
    assert!(body.contains("the body: is required"), "{body}");
    let (status, _, body) = ask(router(), signed_request("GET", "/docs-api/v1/nope", Body::empty())).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(body, r#"{"error":{"code":404,"message":"no such path"}}"#);
}

#[tokio::test]
async fn bodies_stream_through_tower() {
    let parts = |parts: Vec<&'static str>| {
        Body::from_stream(
            stream::iter(parts).map(|part| Ok::<_, Infallible>(Bytes::from_static(part.as_bytes()))),
        )
    };
    let request =
        signed_request("PATCH", "/docs-api/v1/spaces/a", parts(vec![r#"{"ti"#, r#"tle":"#, r#""T"}"#]));
    let (status, _, body) = ask(router(), request).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, r#"{"id":"a","title":"T","askedBy":"ada"}"#));
    // Without `Content-Length`, the server reads at most up to the limit.
    let request = signed_request("PATCH", "/docs-api/v1/spaces/a", parts(vec!["          "; LIMIT / 10 + 1]));
    let (status, ..) = ask(router(), request).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    // An empty body of unknown length is detected only at its end. Its media type does not matter.
    let mut request = signed_request("POST", "/docs-api/v1/spaces", parts(vec!["", ""]));
    request.headers_mut().insert("content-type", HeaderValue::from_static("text/plain"));
    assert_eq!(ask(router(), request).await.0, StatusCode::CREATED);
    // A broken connection is an error of the client.
    let broken = stream::iter([Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("gone"))]);
    let request = signed_request("PATCH", "/docs-api/v1/spaces/a", Body::from_stream(broken));
    let (status, _, body) = ask(router(), request).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    assert!(body.contains("the body ended early"), "{body}");
}

struct Address;

#[OpenApi]
impl Address {
    /// Returns the client address
    #[oai(path = "/address", method = "get", operation_id = "getAddress")]
    async fn get(&self, request: &poem::Request) -> ApiResult<Reply<Option<String>>> {
        Ok(Reply(request.remote_addr().as_socket_addr().map(ToString::to_string)))
    }
}

#[tokio::test]
async fn client_address_is_provided_by_the_embedding_server() {
    let app = assemble(Address, ApiInfo::new("x", "1"), HttpConfig::default(), Arc::new(Tokens))
        .expect("no problems");
    let address: SocketAddr = "192.0.2.7:443".parse().expect("an address");
    let plain = app.clone().into_tower();
    let axum = app.into_tower().peer(|all| all.get::<ConnectInfo<SocketAddr>>().map(|info| info.0));
    let request = || Request::get("/v1/address").body(Body::empty()).expect("a request");

    let mut with_plain = request();
    with_plain.extensions_mut().insert(address);
    let mut with_info = request();
    with_info.extensions_mut().insert(ConnectInfo(address));
    for (service, request, expected) in [
        (plain.clone(), with_plain, r#""192.0.2.7:443""#),
        (axum, with_info, r#""192.0.2.7:443""#),
        (plain, request(), "null"),
    ] {
        let router = Router::new().fallback_service(service);
        assert_eq!(ask(router, request).await.2, expected);
    }
}

#[tokio::test]
async fn poem_can_host_the_application_below_a_prefix() {
    let client = TestClient::new(Route::new().nest("/docs-api", app(Slow::default())));
    let request = client.get("/docs-api/v1/spaces/a").header("authorization", "Bearer good");
    request.send().await.assert_status_is_ok();
    failure(client.get("/docs-api/v1/nope").send().await.0, 404).await;
    failure(client.get("/docs-api").send().await.0, 404).await;
}

#[tokio::test]
async fn api_service_works_without_the_application_routes() {
    let service =
        service((Reads, Writes(Slow::default())), ApiInfo::new("Toy", "1"), Arc::new(Metrics::default()))
            .expect("no problems");
    let document: Value = serde_json::from_str(&service.spec()).expect("JSON");
    assert!(document["paths"]["/spaces"].is_object());
    let tokens: SharedAuthenticator<Person> = Arc::new(Tokens);
    let client = TestClient::new(Route::new().nest("/own", service.data(tokens).data(BodyLimit(5))));
    let (_, body) = parts(signed(client.get("/own/spaces/a")).send().await.0).await;
    assert_eq!(body, r#"{"id":"a","askedBy":"ada"}"#);
    failure(
        signed(client.patch("/own/spaces/a")).content_type("application/json").body("      ").send().await.0,
        413,
    )
    .await;
    failure(client.get("/own/nope").send().await.0, 404).await;
    failure(client.get("/own/panic").send().await.0, 500).await;
    let response = client.put("/own/spaces/a").send().await.0;
    assert!(response.header("allow").is_some());
    failure(response, 405).await;
}
