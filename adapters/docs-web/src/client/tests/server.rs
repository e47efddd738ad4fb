//! A small test server on the loopback interface. It stops with the test's runtime.

use std::{future, net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

pub(super) enum Answer {
    /// Sends this text and then closes the connection.
    Say(String),
    /// Sends this text and then nothing, but keeps the connection open.
    Hang(String),
    /// Sends the first text, then repeats the second one forever.
    Repeat(String, &'static str),
}

pub(super) struct Server {
    pub(super) address: SocketAddr,
    /// Request heads received so far.
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that responds to requests by path.
    pub(super) async fn new(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (answer, log) = (Arc::new(answer), Arc::<Mutex<Vec<String>>>::default());
        let kept = log.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(talk(stream, answer.clone(), kept.clone()));
            }
        });
        Self { address, log }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the heads of the requests received so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.log.lock().clone()
    }
}

async fn talk(
    mut stream: TcpStream,
    answer: Arc<impl Fn(&str) -> Answer + Send + Sync>,
    log: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
        // TLS is not supported.
        if head[0] != b'G' {
            return;
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().push(head);
    // The client may close the connection once it has read enough.
    match answer(&path) {
        Answer::Say(text) => drop(stream.write_all(text.as_bytes()).await),
        Answer::Hang(text) => {
            drop(stream.write_all(text.as_bytes()).await);
            future::pending::<()>().await;
        }
        Answer::Repeat(text, more) => {
            let mut sent = stream.write_all(text.as_bytes()).await;
            while sent.is_ok() {
                sent = stream.write_all(more.as_bytes()).await;
            }
        }
    }
}

pub(super) fn ok(headers: &str, body: &str) -> Answer {
    Answer::Say(format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()))
}

pub(super) fn status(line: &str) -> Answer {
    Answer::Say(format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n"))
}

pub(super) fn moved(code: u16, to: &str) -> Answer {
    Answer::Say(format!("HTTP/1.1 {code} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
}
