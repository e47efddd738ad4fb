//! Addresses on the web, read as browsers read them.

use url::Url;

/// An absolute http or https URL; `None` for everything else.
///
/// Scheme and host come in lower case, a host of other scripts as it is looked up, a default port left out. What
/// browsers forgive is no URL here: white space around it, control characters, and fewer or more than two slashes.
#[must_use]
pub fn web_url(text: &str) -> Option<Url> {
    let (_, rest) = text.split_once("://")?;
    let is_forgiven =
        rest.starts_with(['/', '\\']) || text.trim() != text || text.chars().any(char::is_control);
    if is_forgiven {
        return None;
    }
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && is_written_out(text, url))
}

/// Tells whether a URL was read from text that has its scheme and `://`.
#[must_use]
pub fn is_written_out(text: &str, url: &Url) -> bool {
    text.get(url.scheme().len()..).is_some_and(|rest| rest.starts_with("://"))
}

/// Tells whether a URL says who asks.
#[must_use]
pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}
