//! Outgoing HTTP requests: [`Web`].

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

/// An HTTP client for external URLs.
///
/// An adapter enforces its configured limits: permitted schemes and network addresses, maximum size, and maximum number
/// of redirects.
#[async_trait]
pub trait Web: Send + Sync + 'static {
    /// Fetches an http or https URL.
    ///
    /// # Errors
    /// [`WebError`], with a message for the user.
    async fn get(&self, url: &str) -> Result<WebResponse, WebError>;

    /// Fetches a URL, and reports the size of each chunk of the body to `meter` before keeping the chunk in memory.
    /// Time spent waiting for `meter` does not count towards time limits. The default implementation reports the whole
    /// body after the fetch.
    ///
    /// # Errors
    /// [`WebError`], with a message for the user, or the error of `meter`.
    async fn get_metered(&self, url: &str, meter: &dyn FetchMeter) -> Result<WebResponse, WebError> {
        let fetched = self.get(url).await?;
        meter.keep(fetched.bytes.len()).await?;
        Ok(fetched)
    }
}

/// Limits the memory used by fetches.
#[async_trait]
pub trait FetchMeter: Send + Sync {
    /// Waits until another `bytes` bytes may be kept in memory.
    ///
    /// # Errors
    /// A [`WebError`], which aborts the fetch.
    async fn keep(&self, bytes: usize) -> Result<(), WebError>;
}

/// A successful response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebResponse {
    /// The body.
    pub bytes: Bytes,
    /// The media type of the response, without parameters.
    pub content_type: Option<String>,
    /// The `charset` parameter of the media type.
    pub charset: Option<String>,
    /// The URL after all redirects, without credentials and fragment. Relative links are resolved against it.
    pub url: String,
}

/// The reason a URL could not be fetched. The messages are intended for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The URL is malformed, or points to a network address that this server must not connect to.
    #[error("{0}")]
    Refused(String),
    /// The host is unreachable or closed the connection.
    #[error("cannot be fetched: {0}")]
    Unreachable(String),
    /// The request exceeded one of its time limits: for connecting, for a response to begin or continue, or in total.
    #[error("cannot be fetched within {0:?}")]
    TimedOut(Duration),
    /// The host returned an error status.
    #[error("cannot be fetched: the host responded with {0}")]
    Status(u16),
    /// The response exceeds the size limit in bytes.
    #[error("must be at most {0} bytes")]
    TooLarge(u64),
    /// This server currently has no memory for the response. A later attempt may succeed.
    #[error("cannot be fetched now: {0}")]
    Exhausted(String),
}
