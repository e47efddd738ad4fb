//! Request bodies: incomplete, slow and large ones.

use std::time::Duration;

use docs_http::wire::budget::AnonymousBodyLimit;
use docs_server::ConnectionConfig;

use super::{GET, Running, SHORT, brisk, drip, patient};
use crate::process::TOKEN;

/// Returns the head of a request with a body, without authentication.
fn post(fields: &str) -> Vec<u8> {
    let head = "POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
    format!("{head}{fields}\r\n").into_bytes()
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_answered_with_408() {
    let server = Running::with(ConnectionConfig { request_pace: brisk(), ..patient() }).await;
    for fields in ["content-length: 100\r\n", "transfer-encoding: chunked\r\n"] {
        let mut client = server.connect().await;
        client.send(&post(fields)).await;
        let (status, body) = client.response().await;
        assert_eq!(status, 408, "{body}");
        client.closed().await;
    }
    server.answers(1).await;
}

#[tokio::test]
async fn a_body_byte_by_byte_is_too_slow() {
    let server = Running::with(ConnectionConfig { request_pace: brisk(), ..patient() }).await;
    for (fields, piece) in [
        ("content-length: 10000\r\n", &b" "[..]),
        ("transfer-encoding: chunked\r\n", b"1\r\n \r\n"),
        ("transfer-encoding: chunked\r\n", b"1;a=b\r\n \r\n"),
    ] {
        let mut client = server.connect().await;
        client.send(&post(fields)).await;
        let most = 1_000;
        let sent = drip(&mut client, piece, most, Duration::from_millis(20)).await;
        assert!(sent < most, "{fields}: the connection is closed");
    }
}

#[tokio::test]
async fn a_slow_upload_that_makes_progress_is_taken() {
    let server = Running::with(ConnectionConfig { request_pace: brisk(), ..patient() }).await;
    let mut client = server.connect().await;
    let (pieces, piece, pause) = (60, b" ".repeat(100), Duration::from_millis(20));
    assert!(pause * pieces > 2 * SHORT, "the upload takes longer than the patience for a stall");
    client.send(&post(&format!("content-length: {}\r\n", pieces as usize * piece.len()))).await;
    assert_eq!(drip(&mut client, &piece, pieces as usize, pause).await, pieces as usize);
    let (status, body) = client.response().await;
    assert_eq!(status, 400, "the body is read to its end: {body}");
    client.send(GET).await;
    assert_eq!(client.status().await, 200);
}

#[tokio::test]
async fn a_request_without_a_token_is_refused_before_its_body() {
    let server = Running::with(patient()).await;
    for token in ["", "authorization: Bearer wrong-token\r\n"] {
        let mut client = server.connect().await;
        let head = "POST /v1/orgs/abc/spaces HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
        let key = "idempotency-key: abc\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n";
        client.send(format!("{head}{token}{key}\r\n").as_bytes()).await;
        let (status, body) = client.response().await;
        assert_eq!(status, 401, "{body}");
    }
}

#[tokio::test]
async fn anonymous_bodies_are_kilobytes() {
    let server = Running::with(patient()).await;
    let AnonymousBodyLimit(most) = AnonymousBodyLimit::DEFAULT;
    let mut client = server.connect().await;
    client.send(&post(&format!("content-length: {}\r\n", most + 1))).await;
    assert_eq!(client.status().await, 413, "the announced length is enough");
    let mut client = server.connect().await;
    client.send(&post("transfer-encoding: chunked\r\n")).await;
    let chunk = format!("{:x}\r\n{}\r\n", most + 1, " ".repeat(most + 1));
    client.send(chunk.as_bytes()).await;
    assert_eq!(client.status().await, 413);
    let mut client = server.connect().await;
    let head = "POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
    let token = format!("authorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n", most + 1);
    client.send(format!("{head}{token}\r\n").as_bytes()).await;
    client.send(&b" ".repeat(most + 1)).await;
    assert_eq!(client.status().await, 400, "a user may send more");
}

#[tokio::test]
async fn a_client_that_waits_is_asked_for_its_body() {
    let server = Running::with(patient()).await;
    let mut client = server.connect().await;
    client.send(&post("expect: 100-continue\r\ncontent-length: 2\r\n")).await;
    assert!(client.head().await.starts_with("http/1.1 100"));
    client.send(b"{}").await;
    assert_eq!(client.status().await, 400);
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_still_sends() {
    let server = Running::with(patient()).await;
    let mut client = server.connect().await;
    let head = "POST /v1/orgs/abc/spaces HTTP/1.1\r\nhost: a\r\ncontent-length: 400000\r\n\r\n";
    client.send(head.as_bytes()).await;
    client.try_send(&[b' '; 400_000]).await;
    assert_eq!(client.status().await, 401);
}
