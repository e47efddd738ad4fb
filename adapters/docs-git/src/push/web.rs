//! Pushes over HTTP, with the `git-receive-pack` protocol of the Git client.

use std::{
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
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
    failure::idle_error,
    pace::{Pace, Phase},
    packet::line,
    redact,
    web::{HttpSession, check_status, has_type},
};

/// A repository that receives a push over HTTP.
pub(super) struct Receiver {
    session: HttpSession,
    /// Maximum time without progress in either direction, and the period of the minimum rate.
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
        let read = self.read(response, usize::MAX, |piece| reader.add(piece).map(|()| Phase::Transfer)).await;
        read.and_then(|()| reader.finish()).map_err(|error| self.without_credentials(error))
    }

    async fn report(
        &mut self,
        response: Response,
        has_side_band: bool,
        reference: &str,
    ) -> Result<(Report, String), GitError> {
        let mut reader = ReportReader::new(has_side_band, reference);
        let read = self.read(response, MAX_ANSWER, |piece| reader.add(piece).map(|()| reader.phase())).await;
        read.and_then(|()| reader.finish()).map_err(|error| self.without_credentials(error))
    }

    /// Reads a body in chunks. `take` returns the state of the transfer after each of them.
    async fn read(
        &self,
        mut response: Response,
        mut most: usize,
        mut take: impl FnMut(&[u8]) -> Result<Phase, GitError>,
    ) -> Result<(), GitError> {
        // The server may prepare the response until its first chunk arrives.
        let (mut pace, mut phase) = (Pace::receiving(self.idle), Phase::Processing);
        while let Some(piece) = pace.chunk(phase, &mut response).await? {
            most = most
                .checked_sub(piece.len())
                .ok_or_else(|| GitError::Broken("the response of the server is too long".to_owned()))?;
            phase = take(&piece)?;
        }
        Ok(())
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
            Ok(Phase::Transfer)
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

/// Waits for a response while the server accepts the request at the minimum rate, and then while it processes the
/// request.
async fn await_with_progress<T>(
    answer: impl Future<Output = T>,
    progress: &Progress,
    idle: Duration,
) -> Result<T, GitError> {
    let (mut answer, mut pace) = (pin!(answer), Pace::sending(idle));
    let mut counted = 0;
    loop {
        let event = async {
            tokio::select! {
                biased;
                answer = &mut answer => Some(answer),
                () = progress.moved.notified() => None,
            }
        };
        let mut count = || {
            let accepted = progress.accepted();
            accepted - std::mem::replace(&mut counted, accepted)
        };
        let size = |answer: &Option<T>| answer.is_none().then(&mut count);
        if let Some(answer) = pace.wait(progress.phase(), event, size).await? {
            return Ok(answer);
        }
    }
}

/// The part of a request that the server has accepted, including data in buffers of this machine.
struct Progress {
    length: u64,
    accepted: AtomicU64,
    moved: Notify,
}

impl Progress {
    fn new(length: u64) -> Self {
        Self { length, accepted: AtomicU64::new(0), moved: Notify::new() }
    }

    fn add(&self, bytes: u64) {
        self.accepted.fetch_add(bytes, Ordering::SeqCst);
        self.moved.notify_one();
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Returns the state of the transfer. Before its first byte, the connection is established; after its last byte,
    /// the server processes the request.
    fn phase(&self) -> Phase {
        match self.accepted() {
            0 => Phase::Processing,
            accepted if accepted >= self.length => Phase::Processing,
            _ => Phase::Transfer,
        }
    }
}

/// The body of a push: the command, followed by the pack, which a thread reads.
struct PackBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    progress: Arc<Progress>,
}

impl PackBody {
    fn start(command: Bytes, length: u64, pack: Pack) -> (Self, Arc<Progress>) {
        let (sender, pieces) = mpsc::channel(MAX_BUFFERED_PIECES);
        let progress = Arc::new(Progress::new(length));
        tokio::task::spawn_blocking(move || {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let send = |piece: Bytes| sender.blocking_send(Ok(piece)).map_err(|_| gone());
            let sent = send(command).and_then(|()| pack.read(|piece| send(Bytes::copy_from_slice(piece))));
            if let Err(error) = sent {
                // The receiver was dropped. Its owner already has the error.
                let _ = sender.blocking_send(Err(error));
            }
        });
        (Self { pieces, progress: Arc::clone(&progress) }, progress)
    }

    fn left(&self) -> u64 {
        self.progress.length.saturating_sub(self.progress.accepted())
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
        Poll::Ready(piece.map(|piece| {
            let piece = piece?;
            self.progress.add(piece.len() as u64);
            Ok(Frame::data(piece))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

#[cfg(test)]
mod tests {
    use docs_web::{Dialer, Guard, Outbound, SystemResolver};
    use tokio::time::{Instant, sleep};
    use url::Url;

    use super::*;
    use crate::{
        Limits, address,
        pace::timed::{SECOND, drip, response},
        web::USER_AGENT,
    };

    const MAIN: &str = "refs/heads/main";

    fn receiver() -> Receiver {
        let url = Url::parse("https://a.test/x.git").unwrap();
        let guard = Guard::new(Outbound::Public, Arc::new(SystemResolver));
        let limits = Limits::default();
        let dialer = Dialer::new(USER_AGENT).unwrap();
        let session = HttpSession::new(address::Web { url, credentials: None }, guard, dialer, limits);
        Receiver::new(session, limits.time, limits.idle)
    }

    fn slow(verb: &str) -> GitError {
        GitError::Unreachable(format!("the server {verb} less than 1000 bytes per second"))
    }

    /// Returns a packet of a side band.
    fn band(number: char, text: &str) -> String {
        line(&format!("{number}{text}"))
    }

    #[tokio::test(start_paused = true)]
    async fn push_responses_that_drip_are_given_up() {
        let text = band('\u{2}', &"a".repeat(200));
        let report = line("unpack ok\n") + &line("ok refs/heads/main\n") + &line(&"a".repeat(200));
        // The report in packets of one byte each.
        let inner = report.chars().map(|one| (SECOND, band('\u{1}', &one.to_string()).into_bytes()));
        for (has_side_band, chunks) in
            [(true, drip(text.as_bytes())), (false, drip(report.as_bytes())), (true, inner.collect())]
        {
            let begun = Instant::now();
            let result = receiver().report(response(chunks), has_side_band, MAIN).await;
            assert_eq!(result, Err(slow("sends")));
            let seconds = begun.elapsed().as_secs();
            // Waits between packets do not count.
            assert!((60..=80).contains(&seconds), "{seconds}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hooks_may_run_while_keep_alive_packets_arrive() {
        let mut chunks = vec![(SECOND * 5, line("\u{1}").into_bytes()); 40];
        chunks.push((SECOND, band('\u{2}', "checked\n").into_bytes()));
        let report = line("unpack ok\n") + &line("ok refs/heads/main\n") + "0000";
        chunks.push((SECOND * 50, (band('\u{1}', &report) + "0000").into_bytes()));
        let result = receiver().report(response(chunks), true, MAIN).await;
        assert_eq!(result, Ok((Report::Done, "checked\n".to_owned())));
    }

    /// Accepts a body in the given amounts per second, and then responds after `processing` seconds.
    async fn accept(
        amounts: Vec<u64>,
        length: u64,
        processing: u32,
    ) -> (Result<&'static str, GitError>, u64) {
        let (begun, progress) = (Instant::now(), Progress::new(length));
        let answer = async {
            // The clock of these tests is paused: waiting advances it.
            for amount in amounts {
                sleep(SECOND).await;
                progress.add(amount);
            }
            sleep(SECOND * processing).await;
            "done"
        };
        let result = await_with_progress(answer, &progress, Duration::from_secs(60)).await;
        (result, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn pushes_that_a_server_accepts_slowly_are_given_up() {
        assert_eq!(accept(vec![1; 500], 500, 0).await, (Err(slow("accepts")), 61));
        assert_eq!(accept(vec![900; 500], 450_000, 0).await, (Err(slow("accepts")), 61));
        assert_eq!(accept(vec![1000; 200], 200_000, 0).await, (Ok("done"), 200));
        // A large amount at the beginning helps for one period.
        let late = [vec![10_000_000], vec![1; 500]].concat();
        assert_eq!(accept(late, 10_000_500, 0).await, (Err(slow("accepts")), 121));
    }

    #[tokio::test(start_paused = true)]
    async fn servers_have_time_to_process_a_push() {
        assert_eq!(accept(vec![10], 10, 59).await, (Ok("done"), 60));
        assert_eq!(accept(vec![10], 10, 61).await, (Err(idle_error()), 61));
        assert_eq!(accept(vec![10], 20, 61).await, (Err(slow("accepts")), 61));
    }
}
