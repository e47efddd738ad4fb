//! The connection between libgit2, which blocks, and the network, which is asynchronous.
//!
//! libgit2 runs in its own thread and sends requests, which the future of the fetch answers. When the future is
//! dropped, the next read or write of the thread fails. When the thread ends, the request channel closes.

use std::io::{self, Read, Write};

use bytes::{Buf, Bytes};
use tokio::sync::mpsc;

/// A network request from libgit2.
#[derive(Debug)]
pub(crate) enum NetworkRequest {
    /// Requests the ref advertisement over HTTP.
    Refs(ResponseSender),
    /// Sends a request over HTTP.
    Exchange(Vec<u8>, ResponseSender),
}

/// The channel for the chunks of a response. `None` marks its end; if the channel closes without it, the response is
/// incomplete.
pub(crate) type ResponseSender = mpsc::Sender<Option<Bytes>>;

/// The requests, in order.
pub(crate) type NetworkRequests = mpsc::UnboundedReceiver<NetworkRequest>;

/// The libgit2 side of the connection.
#[derive(Clone, Debug)]
pub(crate) struct NetworkHandle {
    asks: mpsc::UnboundedSender<NetworkRequest>,
}

/// Maximum number of buffered response chunks, which applies backpressure to the network.
const MAX_BUFFERED_PIECES: usize = 8;

/// Maximum size in bytes of a request. libgit2 sends its wants and haves, which take kilobytes.
const MAX_REQUEST: usize = 16 * 1024 * 1024;

/// Creates a connection.
pub(crate) fn channel() -> (NetworkHandle, NetworkRequests) {
    let (asks, receiver) = mpsc::unbounded_channel();
    (NetworkHandle { asks }, receiver)
}

impl NetworkHandle {
    /// Returns the ref advertisement over HTTP, which is requested on first read.
    pub(crate) fn refs(&self) -> Exchange {
        Exchange { line: self.clone(), body: None, reading: None }
    }

    /// Returns a request over HTTP. The written body is sent on first read.
    pub(crate) fn exchange(&self) -> Exchange {
        Exchange { line: self.clone(), body: Some(Vec::new()), reading: None }
    }

    fn ask(&self, ask: NetworkRequest) -> io::Result<()> {
        self.asks.send(ask).map_err(|_| interrupted_error())
    }
}

/// A request over HTTP and its response.
#[derive(Debug)]
pub(crate) struct Exchange {
    line: NetworkHandle,
    /// The request body. `None` for the ref advertisement.
    body: Option<Vec<u8>>,
    reading: Option<ResponseReader>,
}

#[derive(Debug)]
struct ResponseReader {
    pieces: mpsc::Receiver<Option<Bytes>>,
    rest: Bytes,
    is_over: bool,
}

impl Read for Exchange {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(reading) = &mut self.reading {
            return reading.read(buffer);
        }
        let (answer, pieces) = mpsc::channel(MAX_BUFFERED_PIECES);
        self.line.ask(match self.body.take() {
            Some(body) => NetworkRequest::Exchange(body, answer),
            None => NetworkRequest::Refs(answer),
        })?;
        self.reading.insert(ResponseReader { pieces, rest: Bytes::new(), is_over: false }).read(buffer)
    }
}

impl Write for Exchange {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.body {
            Some(body) if self.reading.is_none() && body.len() + buffer.len() <= MAX_REQUEST => {
                body.extend_from_slice(buffer);
                Ok(buffer.len())
            }
            _ => Err(interrupted_error()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for ResponseReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() && !self.is_over {
            match self.pieces.blocking_recv() {
                Some(Some(piece)) => self.rest = piece,
                Some(None) => self.is_over = true,
                None => return Err(interrupted_error()),
            }
        }
        let count = self.rest.len().min(buffer.len());
        self.rest.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

/// Returns the error for an interrupted connection. The task at the other end of the bridge reports the cause. The
/// message must not contain NUL, because libgit2 copies it to a C string.
fn interrupted_error() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the connection was closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_larger_than_the_bound_fail() {
        let (line, _asks) = channel();
        let mut exchange = line.exchange();
        assert!(exchange.write_all(&vec![0; MAX_REQUEST]).is_ok());
        assert!(exchange.write_all(&[0]).is_err());
    }
}
