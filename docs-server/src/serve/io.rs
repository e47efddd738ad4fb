//! The socket of a connection. It records progress, and is closed gracefully, so that clients can read the last
//! response.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

use super::connection::Connection;

/// The client preface of HTTP/2 connections.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Maximum time that a socket stays open after the last response, while received bytes are discarded. If it were closed
/// with unread bytes, the client's operating system would discard the response.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);
/// Number of bytes discarded per read.
const DISCARD_BYTES: usize = 16 * 1024;

/// Number of bytes after which a connection yields to other tasks. With many connections, it then waits for
/// milliseconds.
const TURN_BYTES: usize = 128 * 1024;

/// A socket that records its progress in its [`Connection`].
pub(super) struct WatchedSocket {
    stream: TcpStream,
    connection: Arc<Connection>,
    /// Bytes read during protocol detection.
    replay: Bytes,
    linger: Linger,
    /// Number of bytes transferred since the connection last yielded.
    turn: usize,
}

enum Linger {
    Open,
    /// The write side is closed, and received bytes are discarded.
    Dropping(Pin<Box<Sleep>>),
}

impl WatchedSocket {
    pub(super) const fn new(stream: TcpStream, connection: Arc<Connection>) -> Self {
        Self { stream, connection, replay: Bytes::new(), linger: Linger::Open, turn: 0 }
    }

    /// Reads until the received bytes determine whether the client uses HTTP/2.
    pub(super) async fn is_http2(&mut self) -> io::Result<bool> {
        let mut read = Vec::with_capacity(PREFACE.len());
        while read.len() < PREFACE.len() && PREFACE.starts_with(&read) {
            let mut rest = (&mut self.stream).take((PREFACE.len() - read.len()) as u64);
            let bytes = rest.read_buf(&mut read).await?;
            if bytes == 0 {
                break;
            }
            self.connection.record_read(bytes);
        }
        let is_http2 = read == PREFACE;
        self.replay = read.into();
        Ok(is_http2)
    }

    /// Yields to other tasks after [`TURN_BYTES`] bytes.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.turn < TURN_BYTES {
            return Poll::Ready(());
        }
        self.turn = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn record_outcome(&mut self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(Ok(bytes)) => {
                self.turn += *bytes;
                self.connection.record_write(*bytes);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.turn = 0;
                self.connection.record_blocked_write();
            }
        }
        outcome
    }
}

impl AsyncRead for WatchedSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.replay.has_remaining() {
            let length = this.replay.len().min(buffer.remaining());
            buffer.put_slice(&this.replay.split_to(length));
            return Poll::Ready(Ok(()));
        }
        ready!(this.poll_turn(cx));
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        let read = buffer.filled().len() - before;
        this.turn += read;
        if read > 0 && !this.connection.record_read(read) {
            return Poll::Ready(Err(io::Error::other("the client sends frames without progress")));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_turn(cx));
        let outcome = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.record_outcome(outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_turn(cx));
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.record_outcome(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if matches!(this.linger, Linger::Open) {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.linger = Linger::Dropping(Box::pin(sleep(LINGER_TIMEOUT)));
        }
        let Linger::Dropping(end) = &mut this.linger else { return Poll::Ready(Ok(())) };
        if this.connection.is_last.load(Ordering::Relaxed) || end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut dropped = [0; DISCARD_BYTES];
            let mut buffer = ReadBuf::new(&mut dropped);
            match ready!(Pin::new(&mut this.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                // The client has closed its side, or the connection is lost.
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}
