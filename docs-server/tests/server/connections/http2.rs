//! HTTP/2 without TLS, which only trusted proxies may use, within limits.

use docs_server::{ConnectionConfig, ServerConfig};

use super::{GET, Raw, Running, SHORT, brisk, distinct, patient};

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
/// The flags END_STREAM and END_HEADERS.
const END: u8 = 0x5;
/// The flag END_STREAM.
const END_STREAM: u8 = 0x1;
/// The setting for the maximum number of concurrent streams.
const MAX_CONCURRENT_STREAMS: u16 = 3;
/// The setting for the initial flow control window of a stream, in bytes.
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("small").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

pub(crate) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// Returns a frame that increases the window of a stream, or of the connection, by `bytes`.
fn open_window(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}

/// Returns a HEADERS frame with a request, encoded with HPACK's static table.
pub(crate) fn request(stream: u32, path: &str) -> Vec<u8> {
    let length = path.len();
    // From 127 on, a length has a second byte, and from 255 on a third one.
    let length = match length.checked_sub(127) {
        None => vec![u8::try_from(length).expect("short")],
        Some(rest) if rest < 128 => vec![127, u8::try_from(rest).expect("short")],
        Some(rest) => vec![
            127,
            128 | u8::try_from(rest % 128).expect("short"),
            u8::try_from(rest / 128).expect("short"),
        ],
    };
    let head = [&[0x82, 0x86, 0x01, 1, b'a', 0x04], &length[..], path.as_bytes()].concat();
    frame(HEADERS, END, stream, &head)
}

/// Returns a HEADERS frame that requests `/healthz`, with an `:authority` and `host` fields.
pub(super) fn request_with_hosts(stream: u32, authority: Option<&str>, hosts: &[&str]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).expect("short")], text.as_bytes()].concat();
    let mut head = [&[0x82, 0x86, 0x04], &text("/healthz")[..]].concat();
    // Literal fields without indexing, with name indices 1 and 38 of the static table.
    head.extend(authority.iter().flat_map(|authority| [vec![0x01], text(authority)].concat()));
    head.extend(hosts.iter().flat_map(|host| [vec![0x0f, 38 - 0x0f], text(host)].concat()));
    frame(HEADERS, END, stream, &head)
}

impl Raw {
    /// Returns the status of the next response of an HTTP/2 connection: 200, 400 or 404.
    pub(super) async fn http2_status(&mut self) -> u16 {
        match self.frame_of(HEADERS).await.payload[0] {
            0x88 => 200,
            0x8c => 400,
            0x8d => 404,
            other => panic!("the first field is {other:#x}"),
        }
    }

    /// Starts an HTTP/2 connection with this initial stream window.
    pub(super) async fn begin_http2(&mut self, window: u32) {
        self.send(&[PREFACE, &frame(SETTINGS, 0, 0, &setting(INITIAL_WINDOW_SIZE, window))].concat()).await;
    }

    async fn frame(&mut self) -> Frame {
        let head = self.exactly(9).await;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Frame { kind: head[3], flags: head[4], stream, payload: self.exactly(length).await }
    }

    /// Returns the next frame of a kind.
    async fn frame_of(&mut self, kind: u8) -> Frame {
        loop {
            let frame = self.frame().await;
            if frame.kind == kind {
                return frame;
            }
        }
    }
}

pub(super) async fn proxied(connections: ConnectionConfig) -> Running {
    let trusted_proxies = "127.0.0.2".parse().ok();
    Running::configured(ServerConfig { connections, trusted_proxies, ..ServerConfig::default() }).await
}

#[tokio::test]
async fn only_trusted_proxies_speak_http2_without_tls() {
    let server = proxied(patient()).await;
    let mut stranger = server.connect_from(1).await;
    stranger.try_send(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await;
    let answer = stranger.closed().await;
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(65_535).await;
    proxy.send(&request(1, "/healthz")).await;
    assert_eq!(proxy.frame_of(HEADERS).await.payload[0], 0x88, "the status is 200");
    assert!(!proxy.frame_of(DATA).await.payload.is_empty());
    let mut plain = server.connect_from(2).await;
    plain.send(&GET[..2]).await;
    plain.send(&GET[2..]).await;
    assert_eq!(plain.status().await, 200, "proxies may speak HTTP/1.1");
}

#[tokio::test]
async fn streams_of_a_connection_are_bounded() {
    let server = proxied(patient()).await;
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(0).await;
    let settings = proxy.frame_of(SETTINGS).await.payload;
    let setting = settings.chunks(6).find(|it| it[..2] == MAX_CONCURRENT_STREAMS.to_be_bytes());
    let most = setting.map(|it| u32::from_be_bytes([it[2], it[3], it[4], it[5]])).expect("a setting");
    assert_eq!(most, ConnectionConfig::MAX_STREAMS);
    let streams: Vec<_> = (0..2 * most).map(|number| 2 * number + 1).collect();
    let requests: Vec<_> = streams.iter().flat_map(|stream| request(*stream, "/healthz")).collect();
    proxy.send(&requests).await;
    for _ in 0..most {
        assert!(proxy.frame_of(RST_STREAM).await.stream > 2 * most, "those over the limit are refused");
    }
    server.answers(1).await;
}

#[tokio::test]
async fn a_stream_whose_window_stays_closed_is_reset() {
    let server = proxied(ConnectionConfig { response_pace: brisk(), ..patient() }).await;
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(0).await;
    let streams = [1, 3, 5];
    let requests = [request(1, "/openapi.json"), request(3, "/healthz"), request(5, "/openapi.json")];
    proxy.send(&requests.concat()).await;
    let mut reset = Vec::new();
    for _ in streams {
        reset.push(proxy.frame_of(RST_STREAM).await.stream);
    }
    reset.sort_unstable();
    assert_eq!(reset, streams);
    // The connection still serves other streams, such as one with a larger window.
    proxy.send(&request(7, "/healthz")).await;
    proxy.send(&open_window(7, 65_535)).await;
    assert_eq!(proxy.frame_of(DATA).await.stream, 7);
}

#[tokio::test]
async fn a_stalled_stream_is_reset_and_others_go_on() {
    // The initial window of a stream: the client reads nothing, or stops partway through the response.
    for window in [0, 40_000] {
        let server = proxied(ConnectionConfig { response_pace: brisk(), ..patient() }).await;
        let bytes = distinct(3_000_000);
        let path = server.file(&bytes).await;
        let mut proxy = server.connect_from(2).await;
        proxy.begin_http2(window).await;
        let (stalled, slow, last) = (1, 3, 5);
        proxy.send(&[open_window(0, 1 << 30), request(stalled, &path), request(slow, &path)].concat()).await;
        let (mut reset, mut received) = (Vec::new(), Vec::new());
        let mut ticks = tokio::time::interval(SHORT / 15);
        let mut is_open = true;
        let mut granted = window as usize;
        while is_open {
            if received.len() >= granted {
                // This stream's client reads in small steps, for longer than the stall timeout.
                ticks.tick().await;
                proxy.send(&open_window(slow, 60_000)).await;
                granted += 60_000;
            }
            let frame = proxy.frame().await;
            match (frame.kind, frame.stream) {
                (RST_STREAM, stream) => reset.push(stream),
                (DATA, 3) => received.extend(frame.payload),
                (GOAWAY, _) => panic!("{window}: the connection ends"),
                _ => {}
            }
            is_open = frame.kind != DATA || frame.stream != slow || frame.flags & END_STREAM == 0;
        }
        assert!(received == bytes, "{window}: the other stream is complete");
        assert_eq!(reset, [stalled], "{window}");
        proxy.send(&[request(last, "/healthz"), open_window(last, 60_000)].concat()).await;
        assert_eq!(proxy.frame_of(DATA).await.stream, last, "{window}");
    }
}

#[tokio::test]
async fn a_stream_that_takes_a_byte_ends_too() {
    let server = proxied(ConnectionConfig { response_pace: brisk(), ..patient() }).await;
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(1).await;
    proxy.send(&[request(1, "/openapi.json"), request(3, "/healthz")].concat()).await;
    // Responses that fit into the connection's buffer are lost with it; others are reset.
    proxy.closed().await;
    server.answers(1).await;
}

#[tokio::test]
async fn streams_that_are_reset_at_once_end_the_connection() {
    let server = proxied(patient()).await;
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(65_535).await;
    let cancel = 8_u32.to_be_bytes();
    let flood: Vec<_> = (0..5_000_u32)
        .flat_map(|number| {
            let stream = 2 * number + 1;
            [request(stream, "/openapi.json"), frame(RST_STREAM, 0, stream, &cancel)].concat()
        })
        .collect();
    proxy.try_send(&flood).await;
    proxy.frame_of(GOAWAY).await;
    server.answers(1).await;
}

#[tokio::test]
async fn frames_without_progress_end_the_connection() {
    let server = proxied(patient()).await;
    let path = server.file(&distinct(3_000_000)).await;
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(0).await;
    proxy.send(&request(1, &path)).await;
    let flood = open_window(0, 1).repeat(100_000);
    let mut sent = 0;
    // Writing fails once the server has closed the connection.
    while sent < 64 << 20 && proxy.try_send(&flood).await {
        sent += flood.len();
    }
    assert!(sent < 64 << 20, "{sent} bytes");
    server.answers(1).await;
}

#[tokio::test]
async fn an_http2_connection_without_requests_is_closed() {
    let config = ConnectionConfig { head_timeout: SHORT, idle_timeout: 2 * SHORT, ..patient() };
    let server = proxied(config).await;
    let mut proxy = server.connect_from(2).await;
    proxy.begin_http2(65_535).await;
    proxy.closed().await;
    let mut half = server.connect_from(2).await;
    half.send(&PREFACE[..10]).await;
    half.closed().await;
}
