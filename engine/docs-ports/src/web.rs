//! The web outside: [`Web`].

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

/// Fetches from the web.
///
/// An adapter guards what it connects to: which schemes and addresses are allowed, and how many bytes and redirects,
/// is its configuration.
#[async_trait]
pub trait Web: Send + Sync + 'static {
    /// Fetches what is at an http or https URL.
    ///
    /// # Errors
    /// [`WebError`], with a sentence for the user.
    async fn get(&self, url: &str) -> Result<Fetched, WebError>;
}

/// What was at a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes.
    pub bytes: Bytes,
    /// The media type that came with them, without parameters.
    pub content_type: Option<String>,
    /// The name of the character set that came with them: the parameter `charset` of the media type.
    pub charset: Option<String>,
    /// Where they were in the end, after all redirects: what relative links in them start from. Without credentials
    /// and without a place on the page.
    pub url: String,
}

/// Why something could not be fetched. The texts are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The URL is not one, or leads where this server must not connect.
    #[error("{0}")]
    Refused(String),
    /// The host could not be reached, or broke off.
    #[error("cannot be fetched: {0}")]
    Unreachable(String),
    /// The host took longer than it may.
    #[error("cannot be fetched: it takes longer than {0:?}")]
    TimedOut(Duration),
    /// The host answered with a failure.
    #[error("cannot be fetched: the host answered {0}")]
    Status(u16),
    /// There is more than the limit.
    #[error("must be at most {0} bytes")]
    TooLarge(u64),
}
