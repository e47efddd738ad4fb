//! Endpoints next to the API.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use docs_core::{Error, ErrorKind};
use docs_http::{ApiInfo, HealthCheck, HttpConfig, assemble};
use poem::test::TestClient;

use crate::toy::{Reads, Slow, Tokens, app, client, failure, parts};

#[tokio::test]
async fn health_and_readiness_report_configured_checks() {
    for path in ["/healthz", "/readyz"] {
        let (response, body) = parts(client().get(path).send().await.0).await;
        assert_eq!((response.status().as_u16(), body.as_str()), (200, r#"{"status":"ok"}"#));
        assert_eq!(response.content_type(), Some("application/json"));
    }

    let ready = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&ready);
    let check = HealthCheck::new(move || {
        let ready = asked.load(Ordering::Relaxed);
        async move {
            let not_yet = || Error::new(ErrorKind::Unavailable, "the store is still opening");
            ready.then_some(()).ok_or_else(not_yet)
        }
    });
    for (path, other) in [("/healthz", "/readyz"), ("/readyz", "/healthz")] {
        ready.store(false, Ordering::Relaxed);
        let config = match path {
            "/healthz" => HttpConfig { health: Some(check.clone()), ..HttpConfig::default() },
            _ => HttpConfig { readiness: Some(check.clone()), ..HttpConfig::default() },
        };
        let app = assemble(Reads, ApiInfo::new("x", "1"), config, Arc::new(Tokens)).expect("no problems");
        let client = TestClient::new(app);
        let response = client.get(path).send().await.0;
        assert_eq!(response.header("retry-after"), Some("1"));
        assert_eq!(failure(response, 503).await, "the store is still opening");
        client.get(other).send().await.assert_status_is_ok();
        ready.store(true, Ordering::Relaxed);
        client.get(path).send().await.assert_status_is_ok();
    }
}

#[tokio::test]
async fn request_metrics_are_counted_per_operation() {
    let app = app(Slow::default());
    let client = TestClient::new(app.clone());
    for path in ["/v1/spaces/a", "/v1/spaces/b", "/v1/spaces/not!an!id"] {
        client.get(path).header("authorization", "Bearer good").send().await;
    }
    client.get("/v1/spaces/a").send().await;
    client.post("/v1/panic").send().await;
    let (response, text) = parts(client.get("/metrics").send().await.0).await;
    assert_eq!(response.content_type(), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        r#"docs_http_requests_total{operation="getSpace",status="200"} 2"#,
        r#"docs_http_requests_total{operation="getSpace",status="401"} 1"#,
        r#"docs_http_requests_total{operation="getSpace",status="404"} 1"#,
        r#"docs_http_requests_total{operation="panicWrite",status="500"} 1"#,
        r#"docs_http_request_duration_seconds_count{operation="getSpace"} 4"#,
        r#"docs_http_requests_running{operation="getSpace"} 0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
    }
    assert_eq!(app.metrics().render(), text);
}

#[tokio::test]
async fn openapi_document_is_served_with_etag_revalidation() {
    let app = app(Slow::default());
    let client = TestClient::new(app.clone());
    let (response, body) = parts(client.get("/openapi.json").send().await.0).await;
    assert_eq!(response.content_type(), Some("application/json"));
    assert_eq!(response.header("cache-control"), Some("no-cache"));
    assert_eq!(body, app.document());
    let tag = response.header("etag").expect("a tag").to_owned();
    for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
        let (response, body) =
            parts(client.get("/openapi.json").header("if-none-match", known).send().await.0).await;
        assert_eq!((response.status().as_u16(), body.as_str()), (304, ""));
        assert_eq!(response.header("etag"), Some(tag.as_str()));
    }
    client.get("/openapi.json").header("if-none-match", "\"x\"").send().await.assert_status_is_ok();
}

#[tokio::test]
async fn explorer_is_served_without_external_resources() {
    let client = client();
    let (response, page) = parts(client.get("/docs").send().await.0).await;
    assert_eq!(response.content_type(), Some("text/html; charset=utf-8"));
    assert!(page.contains("docs/explorer.js") && !page.contains("://"), "{page}");
    let (response, script) = parts(client.get("/docs/explorer.js").send().await.0).await;
    assert_eq!(response.content_type(), Some("text/javascript; charset=utf-8"));
    assert!(script.contains("rapi-doc"));
}
