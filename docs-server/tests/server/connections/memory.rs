//! Memory of a server whose clients send endless bodies or do not read responses.

use std::time::{Duration, Instant};

use super::{GET, Raw};
use crate::process::Process;

/// Maximum memory increase during an attack, in bytes.
const MOST: u64 = 300 << 20;

/// Returns the current and peak memory of a process in bytes.
fn memory(process: &Process) -> Option<(u64, u64)> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.child.id())).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
    };
    Some((field("VmRSS:")?, field("VmHWM:")?))
}

/// Attacks the server with `count` connections that each send `bytes`. Asserts that other clients are served and that
/// the server's memory stays bounded.
async fn attack(name: &str, count: u32, bytes: &[u8]) {
    let server = Process::with(&["--bind", "127.0.0.1:0"]).await;
    let address = server.base.trim_start_matches("http://").parse().expect("an address");
    // Wait until the server has created its initial content.
    let mut first = Raw::connect(address, 1).await;
    first.send(GET).await;
    assert_eq!(first.status().await, 200, "{name}");
    let idle = memory(&server);
    let mut connections = Vec::new();
    let mut slowest = Duration::ZERO;
    for number in 0..count {
        let mut connection = Raw::connect(address, 2 + u8::try_from(number % 8).expect("small")).await;
        let sending = connection.try_send(bytes);
        // A server that stops reading applies backpressure.
        let _ = tokio::time::timeout(Duration::from_millis(20), sending).await;
        connections.push(connection);
        if number % 20 == 0 {
            let begun = Instant::now();
            let mut client = Raw::connect(address, 1).await;
            client.send(GET).await;
            assert_eq!(client.status().await, 200, "{name}");
            slowest = slowest.max(begun.elapsed());
        }
    }
    let (Some((idle, _)), Some((_, most))) = (idle, memory(&server)) else { return };
    println!(
        "{name}: {} MB more than {} MB, others waited at most {slowest:?}",
        (most - idle) >> 20,
        idle >> 20
    );
    assert!(most - idle < MOST, "{name}: {} MB", (most - idle) >> 20);
    assert!(slowest < Duration::from_secs(2), "{name}: {slowest:?}");
}

#[tokio::test]
async fn unfinished_anonymous_bodies_hold_little() {
    let head = "POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
    let head = format!("{head}content-length: 10000000\r\n\r\n");
    attack("large bodies", 300, &[head.as_bytes(), &[b' '; 2_000_000]].concat()).await;
    let head = "POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
    let head = format!("{head}content-length: 32000\r\n\r\n");
    attack("small bodies", 300, &[head.as_bytes(), &[b' '; 31_000]].concat()).await;
}

#[tokio::test]
async fn unfinished_deliveries_and_forms_hold_little() {
    let signature = "0".repeat(64);
    let head =
        format!("POST /webhooks/git/abc HTTP/1.1\r\nhost: a\r\nx-hub-signature-256: sha256={signature}\r\n");
    let head = format!("{head}content-length: 20000000\r\n\r\n");
    attack("deliveries", 200, &[head.as_bytes(), &[b' '; 2_000_000]].concat()).await;
    let head =
        "POST /saml/abc/acs HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let head = format!("{head}content-length: 700000\r\n\r\n");
    attack("forms", 200, &[head.as_bytes(), &[b'a'; 690_000]].concat()).await;
}

#[tokio::test]
async fn unread_responses_hold_little() {
    attack("documents", 300, &b"GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(400)).await;
}

#[tokio::test]
async fn large_unfinished_heads_hold_little() {
    let head = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}", "a".repeat(31_000));
    attack("heads", 900, head.as_bytes()).await;
}
