//! An in-memory web client: [`MemWeb`].

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{Web, WebError, WebResponse};
use parking_lot::Mutex;

/// Maximum number of redirects to follow.
const MAX_REDIRECTS: usize = 10;

/// An in-memory [`Web`] with test documents. All other URLs return status 404. Clones share their content.
///
/// # Example
/// ```
/// use docs_memstore::MemWeb;
/// use docs_ports::{Web as _, WebError};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let web = MemWeb::new();
/// web.put("https://a.example/", "text/html; charset=utf-8", "<h1>Hello</h1>");
/// web.redirect("https://a.example/old", "https://a.example/");
/// let fetched = web.get("https://a.example/old").await?;
/// assert_eq!((fetched.url.as_str(), fetched.charset.as_deref()), ("https://a.example/", Some("utf-8")));
/// assert_eq!(web.get("https://a.example/gone").await, Err(WebError::Status(404)));
/// # Ok::<(), WebError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemWeb(Arc<Mutex<WebState>>);

#[derive(Debug, Default)]
struct WebState {
    answers: BTreeMap<String, MemResponse>,
    urls: Vec<String>,
}

#[derive(Clone, Debug)]
enum MemResponse {
    Document(WebResponse),
    MovedTo(String),
    Failure(WebError),
}

impl MemWeb {
    /// Creates a web without documents.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document at a URL with a media type, which may have a `charset` parameter.
    pub fn put(&self, url: &str, content_type: &str, bytes: impl Into<Bytes>) {
        let (kind, charset) = match content_type.split_once("; charset=") {
            Some((kind, charset)) => (kind, Some(charset.to_owned())),
            None => (content_type, None),
        };
        let content_type = Some(kind.to_owned());
        let document = WebResponse { bytes: bytes.into(), content_type, charset, url: url.to_owned() };
        self.set_response(url, MemResponse::Document(document));
    }

    /// Redirects a URL to another one.
    pub fn redirect(&self, url: &str, to: &str) {
        self.set_response(url, MemResponse::MovedTo(to.to_owned()));
    }

    /// Makes a URL fail.
    pub fn fail(&self, url: &str, failure: WebError) {
        self.set_response(url, MemResponse::Failure(failure));
    }

    /// Returns the requested URLs in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.0.lock().urls.clone()
    }

    fn set_response(&self, url: &str, answer: MemResponse) {
        self.0.lock().answers.insert(url.to_owned(), answer);
    }
}

#[async_trait]
impl Web for MemWeb {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        let mut state = self.0.lock();
        state.urls.push(url.to_owned());
        let mut url = url;
        for _ in 0..=MAX_REDIRECTS {
            match state.answers.get(url) {
                Some(MemResponse::Document(document)) => return Ok(document.clone()),
                Some(MemResponse::MovedTo(to)) => url = to,
                Some(MemResponse::Failure(failure)) => return Err(failure.clone()),
                None => return Err(WebError::Status(404)),
            }
        }
        Err(WebError::Unreachable(format!("the host redirects more than {MAX_REDIRECTS} times")))
    }
}
