//! The line between libgit2, which blocks, and the network, which is asynchronous.
//!
//! libgit2 runs in a thread of its own and asks; the future of the fetch answers. When the future is dropped, the line
//! is cut and the thread finds its next read or write broken. When the thread ends, the future finds no more asks.

use std::io::{self, Read, Write};

use bytes::{Buf, Bytes};
use tokio::sync::mpsc;

/// What libgit2 wants of the network.
#[derive(Debug)]
pub(crate) enum Ask {
    /// The list of refs of a repository over HTTP.
    Refs(Answer),
    /// The answer to a request over HTTP.
    Exchange(Vec<u8>, Answer),
    /// A connection to a daemon, which begins with its list of refs.
    Open(Answer),
    /// Bytes for the daemon.
    Send(Vec<u8>),
}

/// Where an answer goes, piece by piece. It ends with `None`; without that it has been cut.
pub(crate) type Answer = mpsc::Sender<Option<Bytes>>;

/// The asks, in order.
pub(crate) type Asks = mpsc::UnboundedReceiver<Ask>;

/// The end of the line that libgit2 holds.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    asks: mpsc::UnboundedSender<Ask>,
}

/// Pieces of an answer that may wait to be read. A slow reader slows the network down.
const PIECES: usize = 8;

/// Most bytes of one request. libgit2 sends what it wants and has: kilobytes.
const MAX_REQUEST: usize = 16 * 1024 * 1024;

/// A new line.
pub(crate) fn line() -> (Line, Asks) {
    let (asks, receiver) = mpsc::unbounded_channel();
    (Line { asks }, receiver)
}

impl Line {
    /// The list of refs over HTTP, asked for when it is read.
    pub(crate) fn refs(&self) -> Exchange {
        Exchange { line: self.clone(), body: None, reading: None }
    }

    /// A request over HTTP: what is written is sent when the answer is read.
    pub(crate) fn exchange(&self) -> Exchange {
        Exchange { line: self.clone(), body: Some(Vec::new()), reading: None }
    }

    /// A connection to a daemon.
    pub(crate) fn open(&self) -> io::Result<Connection> {
        let (answer, pieces) = mpsc::channel(PIECES);
        self.ask(Ask::Open(answer))?;
        Ok(Connection { line: self.clone(), reading: Reading { pieces, rest: Bytes::new(), is_over: false } })
    }

    fn ask(&self, ask: Ask) -> io::Result<()> {
        self.asks.send(ask).map_err(|_| cut())
    }
}

/// A request over HTTP and its answer.
#[derive(Debug)]
pub(crate) struct Exchange {
    line: Line,
    /// The body; none for the list of refs.
    body: Option<Vec<u8>>,
    reading: Option<Reading>,
}

/// A connection to a daemon.
#[derive(Debug)]
pub(crate) struct Connection {
    line: Line,
    reading: Reading,
}

#[derive(Debug)]
struct Reading {
    pieces: mpsc::Receiver<Option<Bytes>>,
    rest: Bytes,
    is_over: bool,
}

impl Read for Exchange {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(reading) = &mut self.reading {
            return reading.read(buffer);
        }
        let (answer, pieces) = mpsc::channel(PIECES);
        self.line.ask(match self.body.take() {
            Some(body) => Ask::Exchange(body, answer),
            None => Ask::Refs(answer),
        })?;
        self.reading.insert(Reading { pieces, rest: Bytes::new(), is_over: false }).read(buffer)
    }
}

impl Write for Exchange {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.body {
            Some(body) if self.reading.is_none() && body.len() + buffer.len() <= MAX_REQUEST => {
                body.extend_from_slice(buffer);
                Ok(buffer.len())
            }
            _ => Err(cut()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reading.read(buffer)
    }
}

impl Write for Connection {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.line.ask(Ask::Send(buffer.to_vec()))?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() && !self.is_over {
            match self.pieces.blocking_recv() {
                Some(Some(piece)) => self.rest = piece,
                Some(None) => self.is_over = true,
                None => return Err(cut()),
            }
        }
        let count = self.rest.len().min(buffer.len());
        self.rest.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

/// The other end knows the reason. libgit2 copies this text into C, so it holds no NUL.
fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the connection was closed")
}
