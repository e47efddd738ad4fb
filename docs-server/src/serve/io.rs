//! The socket of a connection: it notes progress, and lets clients read the last response before it closes.

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

/// The bytes that every HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The longest time that a socket stays open after the last response. Bytes that the client still sends are dropped:
/// closing the socket with unread bytes would make the system of the client drop the response.
const LINGER: Duration = Duration::from_secs(1);
/// Bytes that are dropped at a time.
const DROPPED: usize = 16 * 1024;

/// Bytes after which a connection lets others run: a turn of many connections takes milliseconds.
const TURN: usize = 128 * 1024;

/// A socket whose progress is noted in its [`Connection`].
pub(super) struct Watched {
    stream: TcpStream,
    connection: Arc<Connection>,
    /// Bytes that were read to find out the protocol.
    replay: Bytes,
    linger: Linger,
    /// Bytes of the current turn.
    turn: usize,
}

enum Linger {
    Open,
    /// The sending side is closed.
    Dropping(Pin<Box<Sleep>>),
}

impl Watched {
    pub(super) const fn new(stream: TcpStream, connection: Arc<Connection>) -> Self {
        Self { stream, connection, replay: Bytes::new(), linger: Linger::Open, turn: 0 }
    }

    /// Reads as far as is needed to know whether the client speaks HTTP/2.
    pub(super) async fn is_http2(&mut self) -> io::Result<bool> {
        let mut read = Vec::with_capacity(PREFACE.len());
        while read.len() < PREFACE.len() && PREFACE.starts_with(&read) {
            let mut rest = (&mut self.stream).take((PREFACE.len() - read.len()) as u64);
            if rest.read_buf(&mut read).await? == 0 {
                break;
            }
            self.connection.read();
        }
        let is_http2 = read == PREFACE;
        self.replay = read.into();
        Ok(is_http2)
    }

    /// Ends a turn that was long enough; the task runs again after others.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.turn < TURN {
            return Poll::Ready(());
        }
        self.turn = 0;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn noted(&mut self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(Ok(bytes)) => {
                self.turn += *bytes;
                self.connection.wrote(*bytes);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.turn = 0;
                self.connection.write_blocked();
            }
        }
        outcome
    }
}

impl AsyncRead for Watched {
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
        if read > 0 {
            this.connection.read();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_turn(cx));
        let outcome = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.noted(outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_turn(cx));
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.noted(outcome)
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
            this.linger = Linger::Dropping(Box::pin(sleep(LINGER)));
        }
        let Linger::Dropping(end) = &mut this.linger else { return Poll::Ready(Ok(())) };
        if this.connection.is_last.load(Ordering::Relaxed) || end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut dropped = [0; DROPPED];
            let mut buffer = ReadBuf::new(&mut dropped);
            match ready!(Pin::new(&mut this.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                // The client has closed its side, or is gone.
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}
