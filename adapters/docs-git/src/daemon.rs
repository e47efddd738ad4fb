//! The Git daemon protocol (`git://`).

use std::io;

use bytes::BytesMut;
use docs_ports::GitError;
use docs_web::{CONNECT_TIMEOUT, Guard};
use git2::Oid;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use crate::{
    Limits,
    address::{self, DAEMON_PORT, host_error},
    advertisement::AdvertisementReader,
    line::{Answer, Ask, Asks},
    meter::Meter,
    scan::{Offer, Scan},
    web::refused,
};

/// Serves the requests of libgit2 to a daemon until libgit2 is done.
pub(crate) async fn serve(
    daemon: address::Daemon,
    guard: Guard,
    limits: Limits,
    mut asks: Asks,
) -> Result<(), GitError> {
    let answer = match asks.recv().await {
        Some(Ask::Open(answer)) => answer,
        Some(_) => return Err(misused()),
        None => return Ok(()),
    };
    let stream = connect(&daemon, &guard).await?;
    let (from, to) = stream.into_split();
    // After the end of the response, libgit2 may still send requests. Once libgit2 is done, the connection ends.
    let receiving = async {
        receive(from, answer, limits).await?;
        std::future::pending().await
    };
    tokio::select! {
        result = receiving => result,
        result = send(to, asks) => result,
    }
}

/// Resolves a ref from the advertisement only. Returns `None` if it is not listed.
pub(crate) async fn commit_of(
    daemon: address::Daemon,
    guard: Guard,
    limits: Limits,
    reference: &str,
) -> Result<Option<Oid>, GitError> {
    let mut stream = connect(&daemon, &guard).await?;
    let (mut meter, mut reader) = (Meter::new(limits.total_bytes), AdvertisementReader::of_daemon(reference));
    while !reader.is_over() {
        let piece = read(&mut stream, limits).await?;
        if piece.is_empty() {
            break;
        }
        meter.add(piece.len())?;
        reader.add(&piece).map_err(refused)?;
    }
    // A flush packet ends the session without a request. A failure is ignored, because the daemon may have closed the
    // connection.
    let _ = stream.write_all(b"0000").await;
    Ok(reader.finish()?.commit())
}

/// Size of read buffers in bytes.
const PIECE: usize = 64 * 1024;

/// Connects to a daemon and requests the repository.
async fn connect(daemon: &address::Daemon, guard: &Guard) -> Result<TcpStream, GitError> {
    let addresses = guard.addresses(&daemon.host, daemon.port).await.map_err(host_error)?;
    let mut reason = "the host has no address".to_owned();
    for address in addresses {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(mut stream)) => {
                // Requests are small, and each one waits for its response.
                stream.set_nodelay(true).map_err(|error| broken_off(&error))?;
                stream.write_all(request(daemon).as_bytes()).await.map_err(|error| broken_off(&error))?;
                return Ok(stream);
            }
            Ok(Err(error)) => reason = error.to_string(),
            Err(_) => reason = "the server does not answer".to_owned(),
        }
    }
    Err(GitError::Unreachable(reason))
}

/// Returns the request line: the program, the repository, and the host name.
fn request(daemon: &address::Daemon) -> String {
    let address::Daemon { host, port, path } = daemon;
    let port = if *port == DAEMON_PORT { String::new() } else { format!(":{port}") };
    let line = format!("git-upload-pack {path}\0host={host}{port}\0");
    format!("{:04x}{line}", line.len() + 4)
}

/// Reads the next bytes. Empty at the end of the stream.
async fn read(from: &mut (impl AsyncRead + Unpin), limits: Limits) -> Result<BytesMut, GitError> {
    let mut piece = BytesMut::with_capacity(PIECE);
    match timeout(limits.idle, from.read_buf(&mut piece)).await {
        Ok(Ok(_)) => Ok(piece),
        Ok(Err(error)) => Err(broken_off(&error)),
        Err(_) => Err(GitError::Unreachable("the server does not answer".to_owned())),
    }
}

async fn receive(mut from: OwnedReadHalf, answer: Answer, limits: Limits) -> Result<(), GitError> {
    let (mut meter, mut scan, mut offer) = (Meter::new(limits.total_bytes), Scan::new(limits), Offer::new());
    loop {
        let piece = read(&mut from, limits).await?;
        meter.add(piece.len())?;
        scan.look(&piece).await?;
        let is_over = piece.is_empty();
        let piece = if is_over { offer.end() } else { offer.pass(piece.freeze()) };
        if answer.send(Some(piece)).await.is_err() {
            return Ok(());
        }
        if is_over {
            // The receiver may be gone already.
            let _ = answer.send(None).await;
            return Ok(());
        }
    }
}

async fn send(to: OwnedWriteHalf, mut asks: Asks) -> Result<(), GitError> {
    let mut to = Some(to);
    while let Some(ask) = asks.recv().await {
        let Ask::Send(bytes) = ask else { return Err(misused()) };
        // A daemon that has sent everything closes the connection before libgit2 ends the session. If data is missing,
        // the reader detects it.
        if let Some(open) = &mut to
            && let Err(error) = open.write_all(&bytes).await
        {
            tracing::debug!(%error, "a daemon listens no more");
            to = None;
        }
    }
    Ok(())
}

fn broken_off(error: &io::Error) -> GitError {
    GitError::Unreachable(error.to_string())
}

fn misused() -> GitError {
    GitError::Broken("libgit2 does not speak as to a daemon".to_owned())
}

#[cfg(test)]
mod tests {
    use url::Host;

    use super::*;

    #[test]
    fn the_request_tells_its_length() {
        for (port, line) in [
            (9418, "002fgit-upload-pack /docs.git\0host=example.com\0"),
            (9419, "0034git-upload-pack /docs.git\0host=example.com:9419\0"),
        ] {
            let host = Host::parse("example.com").unwrap();
            assert_eq!(request(&address::Daemon { host, port, path: "/docs.git".to_owned() }), line);
        }
    }
}
