//! State of a connection: what it is waiting for, and its deadlines.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use super::{ConnectionConfig, Pace, pace::Pacer, peer::Peer};

/// Replaces [`ConnectionConfig::STALLED`] when a client with fewer connections needs room, or when the process is out
/// of descriptors.
pub(super) const STALLED_BRIEFLY: Duration = Duration::from_millis(200);

/// Maximum number of bytes that an HTTP/2 client may send without progress: without starting a request, without a body
/// that the application reads, and without reading a response. It exceeds the sum of the windows and heads of all
/// streams.
pub(super) const MAX_BYTES_WITHOUT_PROGRESS: usize = 4 << 20;

/// A connection. Its task ends when the connection is [closed](Self::close).
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: u64,
    pub(super) peer: Peer,
    /// Response bytes that the client has not read yet.
    pub(super) unread: AtomicUsize,
    /// Set on shutdown: the connection ends after its current requests.
    pub(super) is_last: AtomicBool,
    closed: Notify,
    written: Notify,
    state: Mutex<ConnectionState>,
}

#[derive(Debug)]
struct ConnectionState {
    is_closed: bool,
    is_http2: bool,
    /// Number of requests whose responses have not been sent completely.
    requests: usize,
    /// Number of requests in progress whose bodies the server is waiting for.
    receiving: usize,
    /// Arrival time of the last bytes of a request body.
    received: Instant,
    /// Start of the connection, or the last time that it became idle or busy.
    since: Instant,
    /// Time of the first byte received after `since`.
    head_since: Option<Instant>,
    /// `true` if bytes arrived since the last request.
    has_read: bool,
    /// Bytes received since a request last made progress.
    without_progress: usize,
    /// `true` once the first request head is complete.
    has_served: bool,
    /// Pace of writes to the socket.
    write: Pacer,
    responses: Vec<Arc<ResponseTransfer>>,
}

/// The reason that a connection is waiting. Later variants are closed first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Wait {
    /// The client is still sending a request body.
    Sending,
    /// The client has recently neither read the response nor continued the request body.
    Stalled,
    /// The server expects the next request, or the rest of its head.
    Request,
}

impl Connection {
    pub(super) fn new(id: u64, peer: Peer, pace: Pace) -> Self {
        let state = ConnectionState {
            is_closed: false,
            is_http2: false,
            requests: 0,
            receiving: 0,
            received: Instant::now(),
            since: Instant::now(),
            has_read: false,
            without_progress: 0,
            head_since: None,
            has_served: false,
            write: Pacer::new(pace),
            responses: Vec::new(),
        };
        Self {
            id,
            peer,
            unread: AtomicUsize::new(0),
            is_last: AtomicBool::new(false),
            closed: Notify::new(),
            written: Notify::new(),
            state: Mutex::new(state),
        }
    }

    /// Returns the number of response bytes that the client has not read yet.
    pub(super) fn unread(&self) -> usize {
        self.unread.load(Ordering::Relaxed)
    }

    /// Closes the connection. Returns `false` if it was already closed.
    pub(super) fn close(&self) -> bool {
        let is_first = !std::mem::replace(&mut self.state.lock().is_closed, true);
        self.closed.notify_one();
        is_first
    }

    /// Waits until the server closes the connection.
    pub(super) async fn wait_until_closed(&self) {
        self.closed.notified().await;
    }

    /// Marks the connection as HTTP/2.
    pub(super) fn set_http2(&self) {
        self.state.lock().is_http2 = true;
    }

    pub(super) fn is_http2(&self) -> bool {
        self.state.lock().is_http2
    }

    /// Returns `true` if bytes arrived since the last call. Otherwise the client pipelined this request with the
    /// previous one.
    pub(super) fn has_read(&self) -> bool {
        std::mem::take(&mut self.state.lock().has_read)
    }

    /// Records received bytes. Returns `false` if an HTTP/2 client has sent too many without progress, for example only
    /// window updates.
    pub(super) fn record_read(&self, bytes: usize) -> bool {
        let mut state = self.state.lock();
        state.has_read = true;
        state.without_progress += bytes;
        if state.requests == 0 && state.head_since.is_none() {
            state.head_since = Some(Instant::now());
        }
        !state.is_http2 || state.without_progress <= MAX_BYTES_WITHOUT_PROGRESS
    }

    /// Records that a request made progress: its body or its response was read.
    pub(super) fn record_progress(&self) {
        self.state.lock().without_progress = 0;
    }

    /// Records that the socket accepted bytes.
    pub(super) fn record_write(&self, bytes: usize) {
        self.state.lock().write.progress(Instant::now(), bytes);
        self.written.notify_waiters();
    }

    /// Records that the socket is not writable.
    pub(super) fn record_blocked_write(&self) {
        self.state.lock().write.wait(Instant::now());
    }

    /// Waits until the socket is writable, so that a client that does not read gets no further responses.
    pub(super) async fn wait_until_writable(&self) {
        loop {
            let written = self.written.notified();
            if self.state.lock().write.waiting_since().is_none() {
                return;
            }
            written.await;
        }
    }

    pub(super) fn begin_request(&self) {
        let mut state = self.state.lock();
        if state.requests == 0 {
            state.since = Instant::now();
        }
        state.requests += 1;
        state.without_progress = 0;
        state.has_served = true;
        state.head_since = None;
    }

    pub(super) fn end_request(&self) {
        let mut state = self.state.lock();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 {
            state.since = Instant::now();
            state.head_since = None;
        }
    }

    /// Records that the server is waiting for a request body.
    pub(super) fn begin_receiving(&self) {
        self.state.lock().receiving += 1;
    }

    /// Records that the server is no longer waiting for a request body.
    pub(super) fn end_receiving(&self) {
        let mut state = self.state.lock();
        state.receiving = state.receiving.saturating_sub(1);
        state.received = Instant::now();
    }

    pub(super) fn begin_sending(&self, sending: &Arc<ResponseTransfer>) {
        self.state.lock().responses.push(Arc::clone(sending));
    }

    pub(super) fn end_sending(&self, sending: &Arc<ResponseTransfer>) {
        self.state.lock().responses.retain(|other| !Arc::ptr_eq(other, sending));
    }

    /// Returns the reason and the start of the current wait. Returns `None` while the server is processing a request,
    /// or if the client made progress within `stall`.
    pub(super) fn current_wait(&self, now: Instant, stall: Duration) -> Option<(Wait, Instant)> {
        let state = self.state.lock();
        if state.is_closed {
            return None;
        }
        let sends = state.responses.iter().filter_map(|sending| sending.pacer.lock().waiting_since());
        let sent = state.write.waiting_since().into_iter().chain(sends).min();
        if state.requests == 0 && sent.is_none() {
            return Some((Wait::Request, state.head_since.unwrap_or(state.since)));
        }
        let receives = state.requests > 0 && state.receiving == state.requests;
        let is_long = |since: Instant| now.saturating_duration_since(since) >= stall;
        if let Some(since) = sent.filter(|since| is_long(*since)) {
            return Some((Wait::Stalled, since));
        }
        let since = Some(state.since).filter(|since| receives && sent.is_none() && is_long(*since))?;
        // An upload that makes progress is closed only if nothing else can be.
        let wait = if is_long(state.received.max(state.since)) { Wait::Stalled } else { Wait::Sending };
        Some((wait, since))
    }

    /// Resets the HTTP/2 streams that have not been read for [`ConnectionConfig::STALLED`], but keeps the connection,
    /// whose other streams may belong to other clients of a proxy. Returns `false` if there was none to reset.
    pub(super) fn reset_stalled(&self, now: Instant) -> bool {
        let state = self.state.lock();
        if !state.is_http2 {
            return false;
        }
        state
            .stalled_transfers(now, ConnectionConfig::STALLED)
            .fold(false, |is_any, sending| sending.reset(now) | is_any)
    }

    /// Returns `true` if an HTTP/2 connection has requests other than those whose responses are stalled.
    pub(super) fn has_other_streams(&self, now: Instant, stall: Duration) -> bool {
        let state = self.state.lock();
        state.is_http2 && state.requests > state.stalled_transfers(now, stall).count()
    }

    /// Resets the HTTP/2 streams of clients that are too slow. Returns `true` if the connection must be closed, because
    /// the client makes no progress at all.
    pub(super) fn is_overdue(&self, config: &ConnectionConfig, now: Instant) -> bool {
        let state = self.state.lock();
        let is_blocked = state.write.deadline().is_some_and(|deadline| deadline <= now);
        let is_unused = state.requests == 0 && state.request_deadline(config) <= now;
        let late = state.responses.iter().filter(|sending| sending.is_late(now));
        // A reset stream that is not dropped blocks the whole connection.
        let is_unread =
            late.fold(false, |is_unread, sending| is_unread | !(state.is_http2 && sending.reset(now)));
        is_blocked || is_unread || is_unused
    }

    /// Returns `true` if the connection has no requests.
    pub(super) fn is_idle(&self) -> bool {
        self.state.lock().requests == 0
    }
}

impl ConnectionState {
    /// Returns the responses that have not been read for at least `stall`.
    fn stalled_transfers(
        &self,
        now: Instant,
        stall: Duration,
    ) -> impl Iterator<Item = &Arc<ResponseTransfer>> {
        self.responses.iter().filter(move |sending| {
            let since = sending.pacer.lock().waiting_since();
            since.is_some_and(|since| now.saturating_duration_since(since) >= stall)
        })
    }

    /// Returns the deadline of the next request.
    fn request_deadline(&self, config: &ConnectionConfig) -> Instant {
        match self.head_since {
            _ if !self.has_served => self.since + config.head_timeout,
            // HTTP/2 frames other than requests do not end the idle period.
            Some(since) if !self.is_http2 => since + config.head_timeout,
            _ => self.since + config.idle_timeout,
        }
    }
}

/// A response that is being sent to the client.
#[derive(Debug)]
pub(super) struct ResponseTransfer {
    pub(super) pacer: Mutex<Pacer>,
    reset: Notify,
    reset_at: Mutex<Option<Instant>>,
}

impl ResponseTransfer {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pacer: Mutex::new(Pacer::new(pace)), reset: Notify::new(), reset_at: Mutex::new(None) }
    }

    /// Waits until the response's stream is to be reset.
    pub(super) async fn wait_for_reset(&self) {
        self.reset.notified().await;
    }

    fn is_late(&self, now: Instant) -> bool {
        self.pacer.lock().deadline().is_some_and(|deadline| deadline <= now)
    }

    /// Requests a reset of the stream. Returns `false` if one was requested at an earlier time.
    fn reset(&self, now: Instant) -> bool {
        let mut reset_at = self.reset_at.lock();
        self.reset.notify_one();
        *reset_at.get_or_insert(now) == now
    }
}

/// A request in progress. Dropping it ends the request.
#[derive(Debug)]
pub(super) struct RequestTicket(pub(super) Arc<Connection>);

impl RequestTicket {
    pub(super) fn new(connection: &Arc<Connection>) -> Self {
        connection.begin_request();
        Self(Arc::clone(connection))
    }
}

impl Drop for RequestTicket {
    fn drop(&mut self) {
        self.0.end_request();
    }
}
