//! Shutdown: requests in progress are completed, other connections are closed.

use super::{GET, Running, patient};

#[tokio::test]
async fn a_stop_answers_requests_in_flight_and_closes_the_rest() {
    let mut server = Running::with(patient()).await;
    let mut idle = server.connect().await;
    idle.send(GET).await;
    assert_eq!(idle.status().await, 200);
    let mut half = server.connect().await;
    half.send(b"GET / HTTP/1.1\r\n").await;
    let mut busy = server.connect().await;
    let head = "POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
    busy.send(format!("{head}expect: 100-continue\r\ncontent-length: 2\r\n\r\n").as_bytes()).await;
    assert!(busy.head().await.starts_with("http/1.1 100"), "the request has begun");
    server.stop.take().expect("it runs").send(()).expect("it listens");
    idle.closed().await;
    half.closed().await;
    busy.send(b"{}").await;
    assert_eq!(busy.status().await, 400);
    busy.closed().await;
    server.served.await.expect("the server ends");
}
