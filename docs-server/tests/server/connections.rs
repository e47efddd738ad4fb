//! Connections that send slowly, read slowly, or are too numerous are closed, and other clients are always served.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use docs_server::{ConnectionConfig, Pace, Secret, Server, ServerConfig};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use crate::{
    client::{Client, id},
    process::{PATIENCE, TOKEN},
};

mod bodies;
mod graceful;
mod headers;
mod heads;
pub(crate) mod http2;
mod limits;
mod memory;
mod responses;

/// A timeout that the test exceeds.
const SHORT: Duration = Duration::from_millis(300);
/// A timeout that the test never reaches.
const LONG: Duration = Duration::from_secs(3_600);
/// A request that requires no authentication.
const GET: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";

/// Returns limits whose timeouts the tests never reach.
fn patient() -> ConnectionConfig {
    let pace = Pace { stall: LONG, bytes_per_second: 1 };
    ConnectionConfig {
        head_timeout: LONG,
        idle_timeout: LONG,
        request_pace: pace,
        response_pace: pace,
        ..ConnectionConfig::default()
    }
}

/// Returns `count` varied bytes, so that a test notices missing ones.
fn distinct(count: usize) -> Vec<u8> {
    (0..count).map(|at| u8::try_from((at / 251 + at) % 251).unwrap_or_default()).collect()
}

/// Returns a pace with a short stall timeout.
fn brisk() -> Pace {
    Pace { stall: SHORT, bytes_per_second: 1_000 }
}

/// A server within the test process. Dropping it stops the server.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl Running {
    async fn with(connections: ConnectionConfig) -> Self {
        Self::configured(ServerConfig { connections, ..ServerConfig::default() }).await
    }

    async fn configured(config: ServerConfig) -> Self {
        let bind = "127.0.0.1:0".parse().expect("an address");
        let token = Some(Secret::parse(TOKEN).expect("a token"));
        let server = Server::start(ServerConfig { bind, token, ..config }).await.expect("the server starts");
        let address = server.base_url().trim_start_matches("http://").parse().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            server.serve(async { drop(stopped.await) }).await.expect("the server ends well");
        });
        Self { address, stop: Some(stop), served }
    }

    /// Connects from the loopback address 127.0.0.`number`.
    async fn connect_from(&self, number: u8) -> Raw {
        Raw::connect(self.address, number).await
    }

    async fn connect(&self) -> Raw {
        self.connect_from(1).await
    }

    /// Stores a file, and returns the path where it can be read without authentication.
    async fn file(&self, bytes: &[u8]) -> String {
        let api = Client::new(&format!("http://{}", self.address), TOKEN);
        let org = id(&api.get("/orgs").await["items"][0]);
        let space = id(&api.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Files" })).await);
        let live = api.call("PATCH", &format!("/spaces/{space}"), json!({ "editMode": "live" })).await;
        assert_eq!(live.expect("an answer").status, 200);
        let mut client = self.connect().await;
        let head = format!(
            "POST /v1/spaces/{space}/content/files?name=a.bin HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n",
            bytes.len()
        );
        client.send(&[head.as_bytes(), bytes].concat()).await;
        let (status, body) = client.response().await;
        assert!(status < 300, "{body}");
        let file: Value = serde_json::from_str(&body).expect("JSON");
        let url = file["downloadURL"].as_str().expect("an address");
        url.strip_prefix(&api.base).unwrap_or_else(|| panic!("{url} begins with {}", api.base)).to_owned()
    }

    /// Asserts that a new client from this address is served.
    async fn answers(&self, number: u8) {
        let mut client = self.connect_from(number).await;
        client.send(GET).await;
        assert_eq!(client.status().await, 200);
    }
}

/// A connection with access to the raw bytes.
pub(crate) struct Raw {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr, number: u8) -> Self {
        Self::connect_by(TcpSocket::new_v4().expect("a socket"), address, number).await
    }

    async fn connect_by(socket: TcpSocket, address: SocketAddr, number: u8) -> Self {
        let from = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, number)), 0);
        socket.bind(from).expect("an address of this machine");
        let stream =
            timeout(PATIENCE, socket.connect(address)).await.expect("in time").expect("a connection");
        Self { stream, received: Vec::new() }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the server reads");
    }

    /// Sends bytes. Returns `false` if the server has closed the connection.
    pub(crate) async fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Reads until the received bytes contain `end`, and returns them up to and including `end`.
    async fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            let found = self.received.windows(end.len()).position(|window| window == end);
            if let Some(at) = found {
                return self.received.drain(..at + end.len()).collect();
            }
            let read = timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await.expect("in time");
            let shown = || String::from_utf8_lossy(&self.received).into_owned();
            assert!(read.unwrap_or_else(|why| panic!("{why}: {}", shown())) > 0, "closed: {}", shown());
        }
    }

    /// Returns the head of the next response.
    async fn head(&mut self) -> String {
        String::from_utf8(self.until(b"\r\n\r\n").await).expect("text").to_ascii_lowercase()
    }

    /// Returns the status of the next response, and reads its body.
    async fn status(&mut self) -> u16 {
        self.response().await.0
    }

    /// Returns the status and the body of the next response, which must have a `Content-Length`.
    async fn response(&mut self) -> (u16, String) {
        let head = self.head().await;
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let length = field("content-length:").map_or(0, |length| length.parse().expect("a number"));
        (status, String::from_utf8_lossy(&self.exactly(length).await).into_owned())
    }

    /// Returns the next `count` bytes.
    async fn exactly(&mut self, count: usize) -> Vec<u8> {
        while self.received.len() < count {
            let read = timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await.expect("in time");
            assert!(read.expect("bytes") > 0, "closed");
        }
        self.received.drain(..count).collect()
    }

    /// Waits until the server closes the connection, and returns all bytes received until then.
    async fn closed(&mut self) -> Vec<u8> {
        let closed = async {
            // A reset counts as closed, too.
            while self.stream.read_buf(&mut self.received).await.is_ok_and(|read| read > 0) {}
        };
        timeout(PATIENCE, closed).await.expect("the server closes the connection");
        std::mem::take(&mut self.received)
    }
}

/// Sends a chunk repeatedly, with pauses, until the server closes the connection or `pieces` chunks are sent. Returns
/// the number of chunks sent.
async fn drip(client: &mut Raw, piece: &[u8], pieces: usize, pause: Duration) -> usize {
    let mut ticks = tokio::time::interval(pause);
    for sent in 0..pieces {
        ticks.tick().await;
        let mut byte = [0];
        let is_closed = tokio::select! {
            biased;
            peeked = client.stream.peek(&mut byte) => peeked.map_or(true, |read| read == 0),
            () = std::future::ready(()) => false,
        };
        if is_closed || !client.try_send(piece).await {
            return sent;
        }
    }
    pieces
}
