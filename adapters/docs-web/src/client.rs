//! The client: the port for files from the web.

use std::{str, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::BytesMut;
use docs_ports::{Fetched, Web, WebError};
use reqwest::{
    Response, StatusCode,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION},
};
use url::Url;

use crate::{Credentials, Dialer, Guard, Outbound, Resolve, SystemResolver, TlsError, reason};

#[cfg(test)]
mod tests;

/// How much a fetch may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most bytes of a body: [`MAX_FILE_BYTES`](docs_ports::MAX_FILE_BYTES). What goes beyond is
    /// [`WebError::TooLarge`].
    pub bytes: u64,
    /// Most redirects that are followed: 3.
    pub redirects: usize,
    /// How long a fetch may take, with all its redirects: 30 seconds.
    pub time: Duration,
    /// How long a host may say nothing: 10 seconds.
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

/// Fetches from the web over http and https.
///
/// It connects to no address that its [`Outbound`] does not allow, after a redirect neither. A user name and a password
/// in the URL are sent to that host only, as basic authentication. Proxies of the environment are not used.
///
/// A fetch needs a Tokio runtime with input, output and time.
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

/// Longest name of a character set, in bytes.
const MAX_CHARSET: usize = 40;
/// What the client calls itself.
const USER_AGENT: &str = concat!("docs-web/", env!("CARGO_PKG_VERSION"));

impl WebClient {
    /// A client that connects to what `outbound` allows, with the default [`Limits`].
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(outbound: Outbound) -> Result<Self, TlsError> {
        Ok(Self {
            outbound,
            guard: Guard::new(outbound, Arc::new(SystemResolver)),
            limits: Limits::default(),
            dialer: Dialer::new(USER_AGENT)?,
        })
    }

    /// The same client with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same client with another way to find the addresses of names.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve) -> Self {
        self.guard = Guard::new(self.outbound, Arc::new(resolver));
        self
    }

    async fn fetch(&self, text: &str) -> Result<Fetched, WebError> {
        let mut url = parse(text)?;
        let mut credentials =
            Credentials::take(&mut url).map_err(|error| WebError::Refused(error.to_string()))?;
        for _ in 0..=self.limits.redirects {
            let response = self.ask(&url, credentials.as_ref()).await?;
            let Some(location) = location(&response) else { return self.read(response, &url).await };
            let to = follow(&url, location)?;
            if !Credentials::stay(&url, &to) {
                credentials = None;
            }
            url = to;
        }
        Err(WebError::Unreachable(format!("the host redirects more than {} times", self.limits.redirects)))
    }

    /// Asks one host, which is checked first.
    async fn ask(&self, url: &Url, credentials: Option<&Credentials>) -> Result<Response, WebError> {
        let client = self.dialer.client(&self.guard, url, self.limits.idle).await?;
        let request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        let request = match credentials {
            Some(credentials) => credentials.sign(request),
            None => request,
        };
        request.send().await.map_err(|error| unreachable(&error))
    }

    async fn read(&self, mut response: Response, url: &Url) -> Result<Fetched, WebError> {
        let limit = self.limits.bytes;
        // A part was not asked for, and must not pass for the whole.
        if !response.status().is_success() || response.status() == StatusCode::PARTIAL_CONTENT {
            return Err(WebError::Status(response.status().as_u16()));
        }
        if header(&response, &CONTENT_ENCODING).is_some_and(|how| !how.eq_ignore_ascii_case("identity")) {
            return Err(WebError::Unreachable("the host compresses what it sends".to_owned()));
        }
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(WebError::TooLarge(limit));
        }
        let told = header(&response, &CONTENT_TYPE);
        let (content_type, charset) = (told.and_then(media_type), told.and_then(charset));
        let mut bytes = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&error))? {
            if u64::try_from(bytes.len() + piece.len()).unwrap_or(u64::MAX) > limit {
                return Err(WebError::TooLarge(limit));
            }
            bytes.extend_from_slice(&piece);
        }
        let mut url = url.clone();
        url.set_fragment(None);
        Ok(Fetched { bytes: bytes.freeze(), content_type, charset, url: url.into() })
    }
}

#[async_trait]
impl Web for WebClient {
    async fn get(&self, url: &str) -> Result<Fetched, WebError> {
        let time = self.limits.time;
        tokio::time::timeout(time, self.fetch(url)).await.unwrap_or_else(|_| Err(WebError::TimedOut(time)))
    }
}

/// Reads a URL. No error repeats it: it may hold a password.
fn parse(text: &str) -> Result<Url, WebError> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| WebError::Refused("must be an http or https URL".to_owned()))
}

/// Where a response redirects to, when it does.
fn location(response: &Response) -> Option<&str> {
    matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308)
        .then(|| header(response, &LOCATION))
        .flatten()
}

/// Moves to where a redirect leads. What it says about who asks is not from the user.
fn follow(from: &Url, location: &str) -> Result<Url, WebError> {
    let refused = |what: &str| WebError::Refused(format!("redirects to {what}"));
    let mut to = from.join(location).map_err(|_| refused("something that is not a URL"))?;
    let is_worse = from.scheme() == "https" && to.scheme() != "https";
    if is_worse || !matches!(to.scheme(), "http" | "https") {
        return Err(refused("a kind of URL that is not allowed"));
    }
    Credentials::take(&mut to).map_err(|_| refused("something that is not a URL"))?;
    Ok(to)
}

fn header<'a>(response: &'a Response, name: &HeaderName) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| str::from_utf8(value.as_bytes()).ok())
}

/// The media type of a header without its parameters, when it is one.
fn media_type(value: &str) -> Option<String> {
    let is_token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let essence = value.split(';').next()?.trim().to_ascii_lowercase();
    essence.split_once('/').is_some_and(|(kind, name)| is_token(kind) && is_token(name)).then_some(essence)
}

/// The name of the character set in a header with a media type, when it can be one.
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

fn unreachable(error: &reqwest::Error) -> WebError {
    WebError::Unreachable(reason(error))
}
