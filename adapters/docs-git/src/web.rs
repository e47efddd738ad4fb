//! The Git protocol over HTTP.

use std::time::Duration;

use docs_ports::GitError;
use docs_web::{Credentials, Dialer, Guard};
use git2::Oid;
use reqwest::{
    Body, Client, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, LOCATION},
};
use url::Url;

use crate::{
    Limits,
    address::{self, host_error},
    advertisement::AdvertisementReader,
    bridge::{NetworkRequest, NetworkRequests, ResponseSender},
    clone::{CommitSelector, refusal},
    failure::{idle_error, unreachable_error},
    meter::Meter,
    pace::{Pace, Phase},
    redact,
    scan::{Offer, Scan},
};

/// Serves the requests of libgit2 to a repository over HTTP until libgit2 is done.
pub(crate) async fn serve(
    mut session: HttpSession,
    wanted: CommitSelector,
    mut asks: NetworkRequests,
) -> Result<(), GitError> {
    while let Some(ask) = asks.recv().await {
        match ask {
            NetworkRequest::Refs(answer) => session.refs(wanted.clone(), answer).await?,
            NetworkRequest::Exchange(body, answer) => session.exchange(body, answer).await?,
        }
    }
    Ok(())
}

/// A service of a Git server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Service {
    /// Sends objects.
    UploadPack,
    /// Receives objects and updates refs.
    ReceivePack,
}

/// A repository during a fetch or a push.
pub(crate) struct HttpSession {
    service: Service,
    guard: Guard,
    dialer: Dialer,
    limits: Limits,
    idle: Duration,
    meter: Meter,
    /// The URL of the repository. A redirect of the first request changes it.
    base: Url,
    credentials: Option<Credentials>,
    /// The client for the host of `base`.
    client: Option<Client>,
}

/// The kind of a response body.
enum ResponseKind {
    Refs(Box<Offer>),
    Pack(Box<Scan>),
}

/// Maximum number of redirects.
const MAX_REDIRECTS: usize = 3;

/// The path of the ref advertisement.
const REFS: &str = "/info/refs";

/// The user agent. Some servers accept only clients whose name begins with `git/`.
pub(crate) const USER_AGENT: &str = concat!("git/2.0 (docs-git ", env!("CARGO_PKG_VERSION"), ")");

impl Service {
    const fn name(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }

    /// Returns the query of the ref advertisement.
    fn query(self) -> String {
        format!("service={}", self.name())
    }

    /// Returns the media type of a body.
    fn content_type(self, body: &str) -> String {
        format!("application/x-{}-{body}", self.name())
    }
}

impl ResponseKind {
    /// Returns the state of the transfer after the last received chunk.
    fn phase(&self) -> Phase {
        match self {
            // Servers do not send keep-alive packets between refs.
            Self::Refs(_) => Phase::Transfer,
            Self::Pack(scan) => scan.phase(),
        }
    }
}

impl HttpSession {
    /// Creates a session for a fetch.
    pub(crate) fn new(address: address::Web, guard: Guard, dialer: Dialer, limits: Limits) -> Self {
        Self {
            service: Service::UploadPack,
            guard,
            dialer,
            limits,
            idle: limits.idle,
            meter: Meter::new(limits.total_bytes),
            base: address.url,
            credentials: address.credentials,
            client: None,
        }
    }

    /// Converts the session for a push. A server may be silent while a pack is sent, so the caller checks for progress.
    pub(crate) fn for_push(self, longest: Duration) -> Self {
        Self { service: Service::ReceivePack, idle: longest, client: None, ..self }
    }

    /// Returns the current credentials. A redirect may have removed them.
    pub(crate) const fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_ref()
    }

    /// Resolves a ref from the advertisement only. Returns `None` if it is not listed.
    pub(crate) async fn commit_of(mut self, reference: &str) -> Result<Option<Oid>, GitError> {
        let mut response = self.open().await?;
        check_status(response.status())?;
        self.check_type(&response, "advertisement")?;
        let mut reader = AdvertisementReader::new(reference);
        while let Some(piece) = response.chunk().await.map_err(|error| unreachable_error(&error))? {
            self.meter.add(piece.len() as u64)?;
            let added = reader.add(&piece).map_err(|error| redact::rejection(self.credentials(), error));
            added.map_err(refusal_error)?;
        }
        Ok(reader.finish()?.commit())
    }

    async fn refs(&mut self, wanted: CommitSelector, answer: ResponseSender) -> Result<(), GitError> {
        let response = self.open().await?;
        check_status(response.status())?;
        self.check_type(&response, "advertisement")?;
        self.forward(response, answer, ResponseKind::Refs(Box::new(Offer::new(wanted)))).await
    }

    /// Requests the ref advertisement, and follows redirects. The caller checks the status.
    pub(crate) async fn open(&mut self) -> Result<Response, GitError> {
        let mut url = with_path(&self.base, REFS);
        url.set_query(Some(&self.service.query()));
        for _ in 0..=MAX_REDIRECTS {
            let client = self.client().await?;
            let response = self.send(client.get(url.clone()).header(ACCEPT, "*/*")).await?;
            if response.status().is_redirection() {
                url = self.follow(&url, &response)?;
                continue;
            }
            return Ok(response);
        }
        Err(GitError::Refused(format!("the server redirects more than {MAX_REDIRECTS} times")))
    }

    async fn exchange(&mut self, body: Vec<u8>, answer: ResponseSender) -> Result<(), GitError> {
        let length = body.len() as u64;
        let response = self.post(body.into(), length).await?;
        check_status(response.status())?;
        self.check_type(&response, "result")?;
        self.forward(response, answer, ResponseKind::Pack(Box::new(Scan::new(self.limits)))).await
    }

    /// Sends a request with a body. Redirects are errors; the caller checks any other status.
    pub(crate) async fn post(&mut self, body: Body, length: u64) -> Result<Response, GitError> {
        let url = with_path(&self.base, &format!("/{}", self.service.name()));
        let client = self.client().await?;
        let request = client
            .post(url)
            .header(CONTENT_TYPE, self.service.content_type("request"))
            .header(ACCEPT, self.service.content_type("result"))
            .header(CONTENT_LENGTH, length)
            .body(body);
        let response = self.send(request).await?;
        if response.status().is_redirection() {
            return Err(GitError::Refused("the server redirects during the exchange".to_owned()));
        }
        Ok(response)
    }

    /// Rejects a response of another media type, such as an HTML page or a plain file server.
    pub(crate) fn check_type(&self, response: &Response, body: &str) -> Result<(), GitError> {
        match has_type(response, &self.service.content_type(body)) {
            true => Ok(()),
            false if body == "advertisement" => Err(GitError::NoRepository),
            false => Err(GitError::Broken("the response is not from a Git server".to_owned())),
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, GitError> {
        let request = match &self.credentials {
            Some(credentials) => credentials.sign(request),
            None => request,
        };
        let response = tokio::time::timeout(self.idle, request.send()).await.map_err(|_| idle_error())?;
        response.map_err(|error| unreachable_error(&error))
    }

    /// Follows a redirect.
    fn follow(&mut self, from: &Url, response: &Response) -> Result<Url, GitError> {
        let location =
            response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut to = from
            .join(location)
            .map_err(|_| GitError::Broken("the server redirects to an invalid URL".to_owned()))?;
        let is_worse = from.scheme() == "https" && to.scheme() != "https";
        if is_worse || !matches!(to.scheme(), "http" | "https") {
            return Err(GitError::Refused(
                "the server redirects to a URL scheme that is not allowed".to_owned(),
            ));
        }
        // Credentials in a redirect do not come from the user.
        if to.set_username("").is_err() || to.set_password(None).is_err() {
            return Err(GitError::Broken("the server redirects to a URL without a host".to_owned()));
        }
        let Some(path) = to.path().strip_suffix(REFS).filter(|_| to.query() == Some(&self.service.query()))
        else {
            // A redirect to a web page: the repository does not exist or is not public.
            return Err(GitError::NoRepository);
        };
        let mut base = to.clone();
        base.set_path(path);
        base.set_query(None);
        if !Credentials::survives_redirect(&self.base, &base) {
            self.credentials = None;
        }
        if self.base.origin() != base.origin() {
            self.client = None;
        }
        self.base = base;
        Ok(to)
    }

    /// Returns the client for the host of `base`, which only connects to checked addresses.
    async fn client(&mut self) -> Result<Client, GitError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let client = self.dialer.client(&self.guard, &self.base).await.map_err(host_error)?;
        Ok(self.client.insert(client).clone())
    }

    /// Forwards the body of a response while it is read: the wanted ref of an advertisement, or inspected pack data.
    async fn forward(
        &mut self,
        mut response: Response,
        answer: ResponseSender,
        mut arriving: ResponseKind,
    ) -> Result<(), GitError> {
        // The server may prepare the response until its first chunk arrives.
        let (mut pace, mut phase) = (Pace::receiving(self.idle), Phase::Processing);
        while let Some(piece) = pace.chunk(phase, &mut response).await? {
            self.meter.add(piece.len() as u64)?;
            let piece = match &mut arriving {
                ResponseKind::Refs(offer) => offer.pass(&piece)?,
                ResponseKind::Pack(scan) => {
                    scan.inspect(&piece).await?;
                    piece
                }
            };
            let is_read = match piece.is_empty() {
                true => !answer.is_closed(),
                false => answer.send(Some(piece)).await.is_ok(),
            };
            if !is_read {
                return Ok(());
            }
            phase = arriving.phase();
        }
        // The receiver may have been dropped already.
        let _ = answer.send(None).await;
        Ok(())
    }
}

fn with_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

pub(crate) fn has_type(response: &Response, expected: &str) -> bool {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|value| value.trim().eq_ignore_ascii_case(expected))
}

pub(crate) fn check_status(status: StatusCode) -> Result<(), GitError> {
    match status {
        StatusCode::OK => Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(GitError::Credentials),
        StatusCode::NOT_FOUND | StatusCode::GONE => Err(GitError::NoRepository),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            Err(GitError::Unreachable(format!("the server responded with {status}")))
        }
        status if status.is_server_error() => {
            Err(GitError::Unreachable(format!("the server responded with {status}")))
        }
        status => Err(GitError::Broken(format!("the server responded with {status}"))),
    }
}

/// Converts the message of a server that declines to list its refs.
pub(crate) fn refusal_error(error: GitError) -> GitError {
    match error {
        GitError::Rejected(reason) => refusal(&reason),
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use docs_web::{Outbound, SystemResolver};
    use tokio::{sync::mpsc, time::Instant};

    use super::*;
    use crate::{
        pace::timed::{SECOND, drip, response},
        packet::line,
    };

    fn session() -> HttpSession {
        let address = address::Web { url: url("https://a.test/x.git"), credentials: None };
        let guard = Guard::new(Outbound::Public, Arc::new(SystemResolver));
        HttpSession::new(address, guard, Dialer::new(USER_AGENT).unwrap(), Limits::default())
    }

    /// Reads a response to a fetch. Returns the result and the seconds until then.
    async fn forward(kind: ResponseKind, chunks: Vec<(Duration, Vec<u8>)>) -> (Result<(), GitError>, u64) {
        let (answer, mut pieces) = mpsc::channel(1);
        let drain = tokio::spawn(async move { while pieces.recv().await.is_some() {} });
        let begun = Instant::now();
        let result = session().forward(response(chunks), answer, kind).await;
        drain.await.unwrap();
        (result, begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn fetches_from_hosts_that_drip_are_given_up() {
        let slow =
            || Err(GitError::Unreachable("the server sends less than 1000 bytes per second".to_owned()));
        let refs =
            || ResponseKind::Refs(Box::new(Offer::new(CommitSelector::Ref("refs/heads/main".to_owned()))));
        let pack = || ResponseKind::Pack(Box::new(Scan::new(Limits::default())));
        let reference = line(&format!("{} refs/heads/a", Oid::ZERO_SHA1));
        // One ref per second, and a byte per second of a ref, of a packet, and of a pack without packets.
        let per_ref = vec![(SECOND, reference.clone().into_bytes()); 200];
        let packet = [b"0200\x02".as_slice(), &[b'a'; 200]].concat();
        // The beginning of a file of 256 bytes, uncompressed.
        let start = b"PACK\0\0\0\x02\0\0\0\x01\xb0\x10\x78\x01\0\0\x01\xff\xfe".as_slice();
        let raw = [start, &[b'a'; 200]].concat();
        for (kind, chunks) in [
            (refs(), per_ref),
            (refs(), drip(reference.repeat(5).as_bytes())),
            (pack(), drip(&packet)),
            (pack(), drip(&raw)),
        ] {
            let (result, seconds) = forward(kind, chunks).await;
            assert_eq!(result, slow());
            assert!((60..=61).contains(&seconds), "{seconds}");
        }
        // A server that packs objects sends a keep-alive packet every five seconds.
        let packing = vec![(SECOND * 5, b"0005\x01".to_vec()); 50];
        assert_eq!(forward(pack(), packing).await, (Ok(()), 250));
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn http_statuses_map_to_git_errors() {
        for (status, error) in
            [(401, GitError::Credentials), (403, GitError::Credentials), (404, GitError::NoRepository)]
        {
            assert_eq!(check_status(StatusCode::from_u16(status).unwrap()), Err(error));
        }
        for status in [429, 500, 502, 503] {
            assert!(check_status(StatusCode::from_u16(status).unwrap()).unwrap_err().may_pass());
        }
        assert!(!check_status(StatusCode::IM_A_TEAPOT).unwrap_err().may_pass());
        assert_eq!(check_status(StatusCode::OK), Ok(()));
    }

    #[test]
    fn endpoint_path_is_appended_to_the_repository_url() {
        assert_eq!(with_path(&url("https://a.test/x.git"), REFS).as_str(), "https://a.test/x.git/info/refs");
        assert_eq!(with_path(&url("https://a.test"), REFS).as_str(), "https://a.test/info/refs");
    }
}
