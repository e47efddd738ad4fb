//! Request heads: incomplete, slow, large and malformed ones.

use std::time::Duration;

use docs_server::ConnectionConfig;

use super::{GET, Running, SHORT, drip, patient};

#[tokio::test]
async fn unfinished_heads_are_closed_and_others_answered() {
    let config = ConnectionConfig { head_timeout: SHORT, ..patient() };
    let server = Running::with(config).await;
    let mut halves = Vec::new();
    for begun in [&b""[..], b"GET", b"GET / HTTP/1.1\r\nhost: a\r\n"].repeat(10) {
        let mut half = server.connect().await;
        half.send(begun).await;
        halves.push(half);
    }
    server.answers(1).await;
    for half in &mut halves {
        half.closed().await;
    }
}

#[tokio::test]
async fn a_head_sent_byte_by_byte_is_closed() {
    let config = ConnectionConfig { head_timeout: SHORT, ..patient() };
    let server = Running::with(config).await;
    let mut slow = server.connect().await;
    slow.send(GET).await;
    assert_eq!(slow.status().await, 200, "a complete head does not count");
    slow.send(b"GET / HTTP/1.1\r\nx: ").await;
    let most = 1_000;
    let sent = drip(&mut slow, b"a", most, Duration::from_millis(20)).await;
    assert!(sent < most, "the connection is closed");
}

#[tokio::test]
async fn a_connection_is_kept_until_it_is_idle_for_long() {
    let config = ConnectionConfig { idle_timeout: SHORT, ..patient() };
    let server = Running::with(config).await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        client.send(GET).await;
        assert_eq!(client.status().await, 200);
    }
    assert_eq!(client.closed().await, b"");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Running::with(patient()).await;
    let mut client = server.connect().await;
    let wrong = b"GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n";
    client.send(&[GET, wrong, GET].concat()).await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(client.status().await);
    }
    assert_eq!(statuses, [200, 404, 200]);
}

#[tokio::test]
async fn large_heads_are_refused() {
    let server = Running::with(patient()).await;
    let long = "a".repeat(100_000);
    for (head, statuses) in [
        (format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n"), [414, 431]),
        (format!("GET / HTTP/1.1\r\nhost: a\r\nx: {long}\r\n\r\n"), [431, 431]),
        (format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "x: y\r\n".repeat(1_000)), [431, 431]),
    ] {
        let mut client = server.connect().await;
        // The server may close the connection before it has read all bytes.
        client.try_send(head.as_bytes()).await;
        let answer = String::from_utf8_lossy(&client.closed().await).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
        assert!(status.is_some_and(|status| statuses.contains(&status)), "{}: {answer}", &head[..40]);
    }
    server.answers(1).await;
}

#[tokio::test]
async fn requests_for_another_protocol_stay_http() {
    let server = Running::with(patient()).await;
    for fields in [
        "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n",
    ] {
        let mut client = server.connect().await;
        client.send(format!("GET /healthz HTTP/1.1\r\nhost: a\r\n{fields}\r\n").as_bytes()).await;
        assert_eq!(client.status().await, 200, "{fields}");
        client.send(GET).await;
        assert_eq!(client.status().await, 200, "{fields}");
    }
    let mut client = server.connect().await;
    client.send(b"CONNECT a:80 HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(client.status().await >= 400);
}

#[tokio::test]
async fn old_and_absolute_forms_are_answered() {
    let server = Running::with(patient()).await;
    let mut client = server.connect().await;
    client.send(b"GET http://a/healthz HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.status().await, 200);
    client.send(b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(client.closed().await.starts_with(b"HTTP/1.1 200"));
    let mut old = server.connect().await;
    old.send(b"GET /healthz HTTP/1.0\r\n\r\n").await;
    assert!(old.closed().await.starts_with(b"HTTP/1.0 200"));
}

#[tokio::test]
async fn a_body_with_two_lengths_ends_the_connection() {
    let server = Running::with(patient()).await;
    let hidden = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    for lengths in [
        "content-length: 5\r\ncontent-length: 6\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 4\r\n",
    ] {
        let mut client = server.connect().await;
        let request =
            format!("POST /v1/urls/published HTTP/1.1\r\nhost: a\r\n{lengths}\r\n0\r\n\r\n{hidden}");
        client.try_send(request.as_bytes()).await;
        let answers = String::from_utf8_lossy(&client.closed().await).into_owned();
        assert!(!answers.contains("\"ok\""), "{lengths}: {answers}");
    }
}
