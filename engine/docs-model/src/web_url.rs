//! Web URLs, parsed as by browsers.

use url::Url;

/// Parses an absolute http or https URL, or returns `None`.
///
/// The scheme and the host of the result are lower-case, the host is in IDNA form, and a default port is removed.
/// Errors that browsers tolerate are rejected: surrounding whitespace, control characters, and a number of slashes
/// other than two.
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

/// Returns `true` if the string from which `url` was parsed contains the scheme and `://`.
#[must_use]
pub fn is_written_out(text: &str, url: &Url) -> bool {
    text.get(url.scheme().len()..).is_some_and(|rest| rest.starts_with("://"))
}

/// Returns `true` if the URL contains a user name or a password.
#[must_use]
pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}
