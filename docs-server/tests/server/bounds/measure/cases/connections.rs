//! Connections that occupy server memory: idle, with an incomplete head or body, or with unread responses.

use std::{net::SocketAddr, time::Duration};

use super::{Case, Doing, Prepared};
use crate::{
    connections::{
        Raw,
        http2::{INITIAL_WINDOW_SIZE, PREFACE, RST_STREAM, SETTINGS, frame, request, setting},
    },
    process::TOKEN,
};

pub(super) const CASES: &[(&str, Case)] = &[
    ("connections", Case::Step(connections)),
    ("heads of all connections", Case::Step(heads)),
    ("unread responses", Case::Step(unread)),
    ("streams of proxies", Case::Step(streams)),
    ("streams that are reset", Case::Step(resets)),
    ("bodies without a token", Case::Step(anonymous_bodies)),
    ("bodies of all requests", Case::Step(bodies)),
    ("clients of the rate limiter", Case::Step(clients)),
];

/// Maximum number of connections that the server accepts.
const CONNECTIONS: usize = 1_024;
/// Number of connections per address, below its limit.
const PER_ADDRESS: usize = 200;
/// Last number of a trusted proxy's address: `127.0.0.9`.
pub(super) const PROXY: u8 = 9;
/// Path of a large response that requires no token.
const LARGE: &str = "/openapi.json";
/// Maximum wait for a server that does not read.
const PATIENCE: Duration = Duration::from_millis(20);

/// Opens connections that each send `bytes`, waits until the server responds to other clients, and returns the
/// connections.
async fn open(on: &Prepared, count: usize, bytes: &[u8], address: impl Fn(usize) -> u8) -> Vec<Raw> {
    let server: SocketAddr = on.client.base.trim_start_matches("http://").parse().expect("an address");
    let mut connections = Vec::new();
    for number in 0..count {
        let mut connection = Raw::connect(server, address(number)).await;
        // A server that stops reading applies backpressure.
        let _ = tokio::time::timeout(PATIENCE, connection.try_send(bytes)).await;
        connections.push(connection);
    }
    for _ in 0..20 {
        on.client.get("/orgs").await;
    }
    connections
}

fn spread(number: usize) -> u8 {
    20 + u8::try_from(number / PER_ADDRESS).expect("few addresses")
}

fn connections(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        open(on, CONNECTIONS - 24, b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n", spread).await;
    })
}

fn heads(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let head = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}", "a".repeat(32_700));
        open(on, CONNECTIONS - 24, head.as_bytes(), spread).await;
    })
}

fn unread(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let request = format!("GET {LARGE} HTTP/1.1\r\nhost: a\r\n\r\n");
        open(on, 400, request.repeat(400).as_bytes(), spread).await;
    })
}

/// Returns the beginning of an HTTP/2 connection whose flow control windows stay closed.
fn closed_http2() -> Vec<u8> {
    [PREFACE, &frame(SETTINGS, 0, 0, &setting(INITIAL_WINDOW_SIZE, 0))].concat()
}

fn streams(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let requests: Vec<u8> = (0..64).flat_map(|number| request(2 * number + 1, LARGE)).collect();
        open(on, 50, &[closed_http2(), requests].concat(), |_| PROXY).await;
    })
}

fn resets(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let flood = (0..50_000).flat_map(|number| {
            let stream = 2 * number + 1;
            [request(stream, LARGE), frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
        });
        open(on, 8, &closed_http2().into_iter().chain(flood).collect::<Vec<u8>>(), |_| PROXY).await;
    })
}

fn anonymous_bodies(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let head = "POST /v1/urls/published HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
        let body = format!("{head}content-length: 32768\r\n\r\n{}", " ".repeat(32_700));
        open(on, CONNECTIONS - 24, body.as_bytes(), spread).await;
    })
}

fn bodies(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let head = format!(
            "POST /v1/orgs/{}/spaces HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: \
             application/json\r\ncontent-length: 10000000\r\n\r\n",
            on.org
        );
        open(on, 100, &[head.as_bytes(), &[b' '; 9_900_000]].concat(), spread).await;
    })
}

fn clients(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..14_u32 {
            let of = |client: u32| {
                let [_, b, c, d] = (part * 5_000 + client).to_be_bytes();
                format!("GET /v1/user HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 10.{b}.{c}.{d}\r\n\r\n")
            };
            let last = "GET /v1/user HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
            let requests: String = (0..5_000).map(of).collect();
            on.exchange(PROXY, &[requests.as_bytes(), last.as_bytes()].concat()).await;
        }
    })
}
