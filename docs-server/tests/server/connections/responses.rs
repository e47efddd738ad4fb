//! Responses that clients do not read, or read slowly.

use docs_server::ConnectionConfig;
use tokio::{io::AsyncWriteExt as _, net::TcpSocket};

use super::{GET, Raw, Running, SHORT, brisk, distinct, patient};

/// A request with a large response.
const LARGE: &[u8] = b"GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n";

#[tokio::test]
async fn a_client_that_does_not_read_is_closed() {
    let server = Running::with(ConnectionConfig { response_pace: brisk(), ..patient() }).await;
    let mut whole = server.connect().await;
    whole.send(LARGE).await;
    let (_, document) = whole.response().await;
    let requests = 64_000_000 / document.len();
    let mut unread = server.connect().await;
    unread.send(&LARGE.repeat(requests)).await;
    // Writing fails once the server has closed the connection.
    let mut ticks = tokio::time::interval(SHORT / 10);
    loop {
        ticks.tick().await;
        let sent = tokio::time::timeout(SHORT / 10, unread.stream.write_all(&LARGE.repeat(1_000))).await;
        if matches!(sent, Ok(Err(_))) {
            break;
        }
    }
    let received = unread.closed().await;
    assert!(received.len() < requests * document.len() / 2, "{} bytes", received.len());
    server.answers(1).await;
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_the_whole_response() {
    let server = Running::with(ConnectionConfig { response_pace: brisk(), ..patient() }).await;
    let mut slow = server.connect().await;
    let requests = 40;
    slow.send(&LARGE.repeat(requests)).await;
    let mut ticks = tokio::time::interval(SHORT / 10);
    for _ in 0..requests {
        ticks.tick().await;
        assert_eq!(slow.status().await, 200);
    }
}

#[tokio::test]
async fn a_large_response_read_in_small_pieces_arrives_whole() {
    let server = Running::with(ConnectionConfig { response_pace: brisk(), ..patient() }).await;
    let (bytes, piece, pause) = (distinct(3_000_000), 60_000, SHORT / 15);
    assert!(pause * 50 > 3 * SHORT && bytes.len() == 50 * piece, "reading takes longer than a stall");
    let path = server.file(&bytes).await;
    let mut slow = begin_reading(&server, &path).await;
    let mut ticks = tokio::time::interval(pause);
    for part in bytes.chunks(piece) {
        ticks.tick().await;
        assert!(slow.exactly(part.len()).await == part);
    }
    slow.send(GET).await;
    assert_eq!(slow.status().await, 200, "the connection goes on");
}

/// Connects with a small receive buffer, so that the server rather than the operating system waits for the client, and
/// requests a file.
async fn begin_reading(server: &Running, path: &str) -> Raw {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(16 * 1024).expect("a buffer");
    let mut client = Raw::connect_by(socket, server.address, 1).await;
    client.send(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).await;
    assert!(client.head().await.starts_with("http/1.1 200"));
    client
}

#[tokio::test]
async fn a_pause_does_not_end_a_response_while_others_wait() {
    let server = Running::with(ConnectionConfig { response_bytes: 1 << 20, ..patient() }).await;
    let bytes = distinct(3_000_000);
    let path = server.file(&bytes).await;
    let mut slow = begin_reading(&server, &path).await;
    let mut waiting = server.connect().await;
    waiting.send(GET).await;
    server.answers(2).await;
    let early = tokio::time::timeout(4 * SHORT, waiting.status()).await;
    assert!(early.is_err(), "the response of the address uses the memory");
    assert!(slow.exactly(bytes.len()).await == bytes, "the response is complete");
    assert_eq!(waiting.status().await, 200);
}

#[tokio::test]
async fn a_stalled_response_ends_where_others_of_its_address_wait() {
    let server = Running::with(ConnectionConfig { response_bytes: 1 << 20, ..patient() }).await;
    let bytes = distinct(3_000_000);
    let path = server.file(&bytes).await;
    let mut unread = begin_reading(&server, &path).await;
    server.answers(1).await;
    assert!(unread.closed().await.len() < bytes.len());
}

#[tokio::test]
async fn requests_of_a_client_that_does_not_read_wait() {
    let server = Running::with(patient()).await;
    let mut unread = server.connect().await;
    // Each response is larger than its request, and the client reads none.
    let batch = GET.repeat(1_000);
    let mut sent = 0;
    let most = 256 << 20;
    while sent < most {
        let writing = unread.stream.write_all(&batch);
        match tokio::time::timeout(4 * SHORT, writing).await {
            Ok(written) => written.expect("the connection stays"),
            Err(_) => break,
        }
        sent += batch.len();
    }
    assert!(sent < most, "the server stops to read");
    server.answers(1).await;
}
