//! A request body that fails if the client is too slow.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Pace, connection::Connection, memory::Charge, pace::Pacer};

pub(super) struct PacedRequestBody {
    body: Incoming,
    connection: Arc<Connection>,
    charge: Arc<Charge>,
    pacer: Pacer,
    /// Timer for the deadline of the current wait.
    timer: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
    timed_out: TimeoutFlag,
}

/// A flag that is set if the client was too slow.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeoutFlag(Arc<AtomicBool>);

impl TimeoutFlag {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PacedRequestBody {
    pub(super) fn new(
        body: Incoming,
        pace: Pace,
        (connection, charge): (Arc<Connection>, Arc<Charge>),
    ) -> Self {
        Self {
            body,
            connection,
            charge,
            pacer: Pacer::new(pace),
            timer: None,
            is_waiting: false,
            timed_out: TimeoutFlag::default(),
        }
    }

    pub(super) fn timeout_flag(&self) -> TimeoutFlag {
        self.timed_out.clone()
    }

    fn stop_waiting(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            self.connection.end_receiving();
            self.charge.resume();
        }
    }

    /// Polls the deadline while the server waits for the client. Returns `true` once it has passed.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        self.pacer.wait(Instant::now());
        if !std::mem::replace(&mut self.is_waiting, true) {
            self.connection.begin_receiving();
            self.charge.pause();
        }
        let Some(deadline) = self.pacer.deadline() else { return false };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).is_ready()
    }
}

impl Body for PacedRequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(frame) => {
                this.stop_waiting();
                let frame = frame.transpose().map_err(io::Error::other)?;
                let bytes = frame.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len);
                this.pacer.progress(Instant::now(), bytes);
                if bytes > 0 {
                    this.connection.record_progress();
                }
                Poll::Ready(frame.map(Ok))
            }
            Poll::Pending if this.is_late(cx) => {
                this.stop_waiting();
                this.timed_out.0.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for PacedRequestBody {
    fn drop(&mut self) {
        self.stop_waiting();
    }
}
