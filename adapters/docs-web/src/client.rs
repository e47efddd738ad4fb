//! HTTP client that implements the [`Web`] port.

use std::{str, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::BytesMut;
use docs_ports::{FetchMeter, Web, WebError, WebResponse};
use reqwest::{
    Response, StatusCode,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION},
};
use tokio::time::Instant;
use url::Url;

use crate::{
    CONNECT_TIMEOUT, Credentials, Dialer, Guard, Outbound, Resolve, SystemResolver, TlsError, reason,
};

#[cfg(test)]
mod tests;

/// Limits for a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum size of a body in bytes. A larger body fails with [`WebError::TooLarge`]. The default is
    /// [`MAX_FILE_BYTES`](docs_ports::MAX_FILE_BYTES).
    pub bytes: u64,
    /// Maximum number of redirects. The default is 3.
    pub redirects: usize,
    /// Maximum duration of a fetch including redirects, excluding the time that a [`FetchMeter`] waits. The default is
    /// 30 seconds.
    pub time: Duration,
    /// Maximum time without data from the host. The default is 10 seconds.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: docs_ports::MAX_FILE_BYTES,
            redirects: 3,
            time: Duration::from_secs(30),
            idle: Duration::from_secs(10),
        }
    }
}

/// Fetches files over HTTP and HTTPS.
///
/// The client never connects to an address that its [`Outbound`] policy forbids, even after a redirect. A user name and
/// password in the URL are sent only to that host, with basic authentication. Proxy settings in the environment are
/// ignored.
///
/// A fetch needs a Tokio runtime with I/O and time enabled.
///
/// ```no_run
/// use docs_ports::Web as _;
/// use docs_web::{Outbound, WebClient};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = WebClient::new(Outbound::Public)?;
/// let logo = client.get("https://example.com/logo.svg").await?;
/// assert_eq!(logo.content_type.as_deref(), Some("image/svg+xml"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct WebClient {
    outbound: Outbound,
    guard: Guard,
    limits: Limits,
    dialer: Dialer,
}

/// Maximum length of a character set name in bytes.
const MAX_CHARSET: usize = 40;
const USER_AGENT: &str = concat!("docs-web/", env!("CARGO_PKG_VERSION"));

impl WebClient {
    /// Creates a client with the default [`Limits`].
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(outbound: Outbound) -> Result<Self, TlsError> {
        Ok(Self {
            outbound,
            guard: Guard::new(outbound, Arc::new(SystemResolver)),
            limits: Limits::default(),
            dialer: Dialer::new(USER_AGENT)?,
        })
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Replaces the DNS resolver.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve) -> Self {
        self.guard = Guard::new(self.outbound, Arc::new(resolver));
        self
    }

    async fn fetch(
        &self,
        text: &str,
        meter: &dyn FetchMeter,
        time: &mut TimeLeft,
    ) -> Result<WebResponse, WebError> {
        let mut url = parse(text)?;
        let mut credentials =
            Credentials::take(&mut url).map_err(|error| WebError::Refused(error.to_string()))?;
        for _ in 0..=self.limits.redirects {
            let response = time.spend(self.ask(&url, credentials.as_ref())).await??;
            let Some(location) = location(&response) else {
                return self.read(response, &url, meter, time).await;
            };
            let to = follow(&url, location)?;
            if !Credentials::survives_redirect(&url, &to) {
                credentials = None;
            }
            url = to;
        }
        Err(WebError::Unreachable(format!("the host redirects more than {} times", self.limits.redirects)))
    }

    /// Sends a request to one host after checking the host. Redirects are not followed.
    async fn ask(&self, url: &Url, credentials: Option<&Credentials>) -> Result<Response, WebError> {
        let client = self.dialer.client(&self.guard, url).await?;
        let request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        let request = match credentials {
            Some(credentials) => credentials.sign(request),
            None => request,
        };
        request.send().await.map_err(|error| unreachable_error(&error))
    }

    async fn read(
        &self,
        mut response: Response,
        url: &Url,
        meter: &dyn FetchMeter,
        time: &mut TimeLeft,
    ) -> Result<WebResponse, WebError> {
        let limit = self.limits.bytes;
        // No range was requested, so a partial response must not be mistaken for the whole file.
        if !response.status().is_success() || response.status() == StatusCode::PARTIAL_CONTENT {
            return Err(WebError::Status(response.status().as_u16()));
        }
        if header(&response, &CONTENT_ENCODING).is_some_and(|how| !how.eq_ignore_ascii_case("identity")) {
            return Err(WebError::Unreachable("the host sent a compressed response".to_owned()));
        }
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(WebError::TooLarge(limit));
        }
        let told = header(&response, &CONTENT_TYPE);
        let (content_type, charset) = (told.and_then(media_type), told.and_then(charset));
        let mut bytes = BytesMut::new();
        while let Some(piece) =
            time.spend(response.chunk()).await?.map_err(|error| unreachable_error(&error))?
        {
            if u64::try_from(bytes.len() + piece.len()).unwrap_or(u64::MAX) > limit {
                return Err(WebError::TooLarge(limit));
            }
            meter.keep(piece.len()).await?;
            bytes.extend_from_slice(&piece);
        }
        let mut url = url.clone();
        url.set_fragment(None);
        Ok(WebResponse { bytes: bytes.freeze(), content_type, charset, url: url.into() })
    }
}

/// Remaining time that a fetch may wait for hosts.
struct TimeLeft {
    all: Duration,
    left: Duration,
    idle: Duration,
}

impl TimeLeft {
    const fn new(limits: &Limits) -> Self {
        Self { all: limits.time, left: limits.time, idle: limits.idle }
    }

    /// Awaits data from a host, and deducts the time.
    async fn spend<T>(&mut self, host: impl Future<Output = T>) -> Result<T, WebError> {
        let since = Instant::now();
        let done = tokio::time::timeout(self.left.min(self.idle), host).await;
        self.left = self.left.saturating_sub(since.elapsed());
        done.map_err(|_| match self.left {
            Duration::ZERO => WebError::TimedOut(self.all),
            _ => WebError::TimedOut(self.idle),
        })
    }
}

/// Accepts all bytes, because [`Limits::bytes`] already limits a single fetch.
struct Unmetered;

#[async_trait]
impl FetchMeter for Unmetered {
    async fn keep(&self, _: usize) -> Result<(), WebError> {
        Ok(())
    }
}

#[async_trait]
impl Web for WebClient {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        self.get_metered(url, &Unmetered).await
    }

    async fn get_metered(&self, url: &str, meter: &dyn FetchMeter) -> Result<WebResponse, WebError> {
        self.fetch(url, meter, &mut TimeLeft::new(&self.limits)).await
    }
}

/// Parses a URL. The error does not contain the URL, which may include a password.
fn parse(text: &str) -> Result<Url, WebError> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| WebError::Refused("must be an http or https URL".to_owned()))
}

/// Returns the target of a redirect, or `None` for other responses.
fn location(response: &Response) -> Option<&str> {
    matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308)
        .then(|| header(response, &LOCATION))
        .flatten()
}

/// Resolves the target of a redirect. Credentials in it are dropped, because the user did not provide them.
fn follow(from: &Url, location: &str) -> Result<Url, WebError> {
    let refused = |what: &str| WebError::Refused(format!("redirects to {what}"));
    let mut to = from.join(location).map_err(|_| refused("an invalid URL"))?;
    let is_worse = from.scheme() == "https" && to.scheme() != "https";
    if is_worse || !matches!(to.scheme(), "http" | "https") {
        return Err(refused("a URL scheme that is not allowed"));
    }
    Credentials::take(&mut to).map_err(|_| refused("an invalid URL"))?;
    Ok(to)
}

fn header<'a>(response: &'a Response, name: &HeaderName) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| str::from_utf8(value.as_bytes()).ok())
}

/// Returns the media type in a header value, without parameters, if it is valid.
fn media_type(value: &str) -> Option<String> {
    let is_token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let essence = value.split(';').next()?.trim().to_ascii_lowercase();
    essence.split_once('/').is_some_and(|(kind, name)| is_token(kind) && is_token(name)).then_some(essence)
}

/// Returns the character set in a header value if it is valid.
fn charset(value: &str) -> Option<String> {
    let parameters = value.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let named = |(name, value): (&str, &str)| {
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']).trim().to_ascii_lowercase())
    };
    let is_name = |name: &String| {
        (1..=MAX_CHARSET).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    parameters.into_iter().find_map(named).filter(is_name)
}

fn unreachable_error(error: &reqwest::Error) -> WebError {
    match error.is_timeout() {
        true => WebError::TimedOut(CONNECT_TIMEOUT),
        false => WebError::Unreachable(reason(error)),
    }
}
