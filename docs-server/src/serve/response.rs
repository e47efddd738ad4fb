//! A response body. It counts as memory and as a request in progress until its last byte has been sent.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use tokio::time::Instant;

use super::{
    connection::{RequestTicket, ResponseTransfer},
    memory::Charge,
};

/// Maximum number of bytes passed to an HTTP/1 connection at a time.
const HTTP1_PIECE_BYTES: usize = 64 * 1024;
/// Maximum number of bytes passed to an HTTP/2 stream at a time, which is also the granularity of its measured
/// progress.
const HTTP2_PIECE_BYTES: usize = 32 * 1024;

pub(super) struct PacedResponseBody {
    body: BoxBody<Bytes, io::Error>,
    held: Arc<ResponseResources>,
    /// The unsent part of the current chunk.
    rest: Option<ChunkRest>,
    /// `true` if the size of the whole body was charged when the response was created.
    is_counted: bool,
    /// Maximum number of bytes to pass at a time.
    piece: usize,
}

/// Resources that a response holds until it has been sent.
struct ResponseResources {
    ticket: RequestTicket,
    charge: Arc<Charge>,
    sending: Arc<ResponseTransfer>,
}

/// A chunk of the body. Its memory is released when all its slices have been sent.
struct Chunk {
    bytes: Bytes,
    held: Arc<ResponseResources>,
}

struct ChunkRest {
    chunk: Arc<Chunk>,
    start: usize,
}

struct ChunkPiece {
    chunk: Arc<Chunk>,
    start: usize,
    end: usize,
}

impl PacedResponseBody {
    /// Creates the body of a response. `is_counted` is `true` if the size of the whole body has been charged.
    pub(super) fn new(
        body: BoxBody<Bytes, io::Error>,
        ticket: RequestTicket,
        (charge, sending): (Arc<Charge>, Arc<ResponseTransfer>),
        is_counted: bool,
    ) -> Self {
        let is_stream = ticket.0.is_http2();
        // The socket records the progress of an HTTP/1 connection.
        if is_stream {
            ticket.0.begin_sending(&sending);
            sending.pacer.lock().wait(Instant::now());
        }
        let held = Arc::new(ResponseResources { ticket, charge, sending });
        let piece = if is_stream { HTTP2_PIECE_BYTES } else { HTTP1_PIECE_BYTES };
        Self { body, held, rest: None, is_counted, piece }
    }

    /// Returns the next slice of the current chunk.
    fn next_piece(&mut self) -> Option<Bytes> {
        let ChunkRest { chunk, start } = self.rest.take()?;
        let end = chunk.bytes.len().min(start + self.piece);
        if end < chunk.bytes.len() {
            self.rest = Some(ChunkRest { chunk: Arc::clone(&chunk), start: end });
        }
        self.held.sending.pacer.lock().wait(Instant::now());
        Some(Bytes::from_owner(ChunkPiece { chunk, start, end }))
    }
}

impl AsRef<[u8]> for ChunkPiece {
    fn as_ref(&self) -> &[u8] {
        &self.chunk.bytes[self.start..self.end]
    }
}

impl Drop for ChunkPiece {
    fn drop(&mut self) {
        self.chunk.held.ticket.0.record_progress();
        let mut pacer = self.chunk.held.sending.pacer.lock();
        let is_waiting = pacer.waiting_since().is_some();
        pacer.progress(Instant::now(), self.end - self.start);
        // The connection has not requested the next slice yet.
        if is_waiting {
            pacer.wait(Instant::now());
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.held.charge.free(self.bytes.len());
    }
}

impl Drop for ResponseResources {
    fn drop(&mut self) {
        self.ticket.0.end_sending(&self.sending);
    }
}

impl Body for PacedResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        // The connection requests more data, so the client is no longer the cause of a delay.
        this.held.sending.pacer.lock().progress(Instant::now(), 0);
        if let Some(piece) = this.next_piece() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(cx)?) else { return Poll::Ready(None) };
        let bytes = match frame.into_data() {
            Ok(bytes) => bytes,
            Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
        };
        if !this.is_counted {
            this.held.charge.add(bytes.len());
        }
        let chunk = Arc::new(Chunk { bytes, held: Arc::clone(&this.held) });
        this.rest = Some(ChunkRest { chunk, start: 0 });
        Poll::Ready(this.next_piece().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.rest.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}
