//! Pushes over HTTP, with the `git-receive-pack` protocol of the Git client.

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use docs_ports::GitError;
use git2::Oid;
use http_body::{Body, Frame, SizeHint};
use reqwest::{Response, StatusCode};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};

use super::{
    answers::{MAX_TEXT, Report, ReportReader},
    pack::Pack,
    update::Update,
};
use crate::{
    advertisement::{Advertisement, AdvertisementReader},
    failure::{idle_error, unreachable_error},
    packet::line,
    redact,
    web::{HttpSession, check_status, has_type},
};

/// A repository that receives a push over HTTP.
pub(super) struct Receiver {
    session: HttpSession,
    /// Maximum time without progress in either direction.
    idle: Duration,
}

/// Maximum size in bytes of the response to a push, which contains one line and the output of hooks.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Maximum number of buffered chunks of a pack.
const MAX_BUFFERED_PIECES: usize = 4;

impl Receiver {
    pub(super) fn new(session: HttpSession, longest: Duration, idle: Duration) -> Self {
        Self { session: session.for_push(longest), idle }
    }

    /// Checks the preconditions of a push.
    pub(super) async fn check(&mut self, update: &Update) -> Result<Advertisement, GitError> {
        let found = self.advertisement(update).await?;
        if found.tip != update.expected {
            return Err(GitError::Moved);
        }
        if let Some(clash) = &found.clash {
            return Err(GitError::rejected(&format!("the existing ref {clash} conflicts with this one")));
        }
        if found.format().is_some_and(|format| format != "sha1") {
            return Err(GitError::Broken("the server uses object ids other than SHA-1".to_owned()));
        }
        if !found.can("report-status") {
            return Err(GitError::Broken("the server does not support `report-status`".to_owned()));
        }
        Ok(found)
    }

    /// Sends the pack and updates the ref.
    pub(super) async fn send(
        &mut self,
        found: &Advertisement,
        update: &Update,
        new: Oid,
        pack: Pack,
    ) -> Result<(), GitError> {
        let has_side_band = found.can("side-band-64k");
        let side_band = if has_side_band { " side-band-64k" } else { "" };
        let (old, reference) = (update.expected.unwrap_or(Oid::ZERO_SHA1), &update.reference);
        let agent = concat!("agent=git/docs-git-", env!("CARGO_PKG_VERSION"));
        let command = line(&format!("{old} {new} {reference}\0 report-status{side_band} {agent}")) + "0000";
        let length = command.len() as u64 + pack.len();
        let (body, progress) = PackBody::start(command.into(), length, pack);
        let idle = self.idle;
        let response =
            await_with_progress(self.session.post(reqwest::Body::wrap(body), length), &progress, idle)
                .await??;
        self.check_status(response.status(), &response)?;
        let (report, text) = match response.status() {
            StatusCode::OK => {
                self.session.check_type(&response, "result")?;
                self.report(response, has_side_band, reference).await?
            }
            _ => return Err(self.refusal(response).await),
        };
        match report {
            Report::Done => Ok(()),
            Report::Refused(reason) => Err(self.diagnose_refusal(update, &reason, &text).await),
        }
    }

    /// Determines whether a rejected push lost a race or was rejected by the server.
    async fn diagnose_refusal(&mut self, update: &Update, reason: &str, text: &str) -> GitError {
        let words = self.redact(&format!("{reason}\n{text}"));
        match self.advertisement(update).await {
            Ok(now) if now.tip != update.expected => GitError::Moved,
            // Another push has locked the ref and has not updated it yet.
            Ok(_) if [reason, text].iter().any(|it| it.contains("lock")) => {
                GitError::Unreachable("the ref is locked".to_owned())
            }
            Ok(_) => GitError::rejected(&words),
            Err(error) => {
                tracing::debug!(%error, "failed to check for a moved ref");
                GitError::rejected(&words)
            }
        }
    }

    async fn advertisement(&mut self, update: &Update) -> Result<Advertisement, GitError> {
        let response = timeout(self.idle, self.session.open()).await.map_err(|_| idle_error())??;
        self.check_status(response.status(), &response)?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(response).await);
        }
        self.session.check_type(&response, "advertisement")?;
        let mut reader = AdvertisementReader::new(&update.reference);
        let read = self.read(response, usize::MAX, |piece| reader.add(piece)).await;
        read.and_then(|()| reader.finish()).map_err(|error| self.without_credentials(error))
    }

    async fn report(
        &mut self,
        response: Response,
        has_side_band: bool,
        reference: &str,
    ) -> Result<(Report, String), GitError> {
        let mut reader = ReportReader::new(has_side_band, reference);
        let read = self.read(response, MAX_ANSWER, |piece| reader.add(piece)).await;
        read.and_then(|()| reader.finish()).map_err(|error| self.without_credentials(error))
    }

    /// Reads a body in chunks.
    async fn read(
        &self,
        mut response: Response,
        mut most: usize,
        mut take: impl FnMut(&[u8]) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        loop {
            match timeout(self.idle, response.chunk()).await.map_err(|_| idle_error())? {
                Ok(None) => return Ok(()),
                Ok(Some(piece)) => {
                    most = most.checked_sub(piece.len()).ok_or_else(|| {
                        GitError::Broken("the response of the server is too long".to_owned())
                    })?;
                    take(&piece)?;
                }
                Err(error) => return Err(unreachable_error(&error)),
            }
        }
    }

    /// Checks the status. Accepts a response with a readable rejection message, so that the message can be reported.
    fn check_status(&self, status: StatusCode, response: &Response) -> Result<(), GitError> {
        match status {
            StatusCode::FORBIDDEN if has_type(response, "text/plain") => Ok(()),
            StatusCode::PAYLOAD_TOO_LARGE => {
                Err(GitError::TooLarge("the server rejected the push as too large".to_owned()))
            }
            status => check_status(status),
        }
    }

    /// Returns the server's message when it denies access to an authenticated user.
    async fn refusal(&self, response: Response) -> GitError {
        let mut text = Vec::new();
        let read = self.read(response, MAX_TEXT, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        });
        let is_whole = read.await.is_ok();
        match String::from_utf8(text) {
            Ok(text) if is_whole && !text.trim().is_empty() => GitError::rejected(&self.redact(&text)),
            _ => GitError::Credentials,
        }
    }

    fn without_credentials(&self, error: GitError) -> GitError {
        redact::rejection(self.session.credentials(), error)
    }

    /// Redacts the credentials in a server message.
    fn redact(&self, text: &str) -> String {
        redact::text(self.session.credentials(), text)
    }
}

/// Waits for a response as long as there is progress.
async fn await_with_progress<T>(
    answer: impl Future<Output = T>,
    progress: &Notify,
    idle: Duration,
) -> Result<T, GitError> {
    let mut answer = pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return Ok(answer),
            moved = timeout(idle, progress.notified()) => moved.map_err(|_| idle_error())?,
        }
    }
}

/// The body of a push: the command, followed by the pack, which a thread reads.
struct PackBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
    progress: Arc<Notify>,
}

impl PackBody {
    fn start(command: Bytes, length: u64, pack: Pack) -> (Self, Arc<Notify>) {
        let (sender, pieces) = mpsc::channel(MAX_BUFFERED_PIECES);
        let progress = Arc::new(Notify::new());
        tokio::task::spawn_blocking(move || {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let send = |piece: Bytes| sender.blocking_send(Ok(piece)).map_err(|_| gone());
            let sent = send(command).and_then(|()| pack.read(|piece| send(Bytes::copy_from_slice(piece))));
            if let Err(error) = sent {
                // The receiver was dropped. Its owner already has the error.
                let _ = sender.blocking_send(Err(error));
            }
        });
        (Self { pieces, left: length, progress: Arc::clone(&progress) }, progress)
    }
}

impl Body for PackBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let piece = std::task::ready!(self.pieces.poll_recv(context));
        self.progress.notify_one();
        Poll::Ready(piece.map(|piece| {
            let piece = piece?;
            self.left = self.left.saturating_sub(piece.len() as u64);
            Ok(Frame::data(piece))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
