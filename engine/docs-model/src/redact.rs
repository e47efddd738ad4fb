//! Redaction of credentials in URLs.

use std::borrow::Cow;

/// The replacement for redacted credentials.
const REDACTED: &str = "…";

/// Redacts the credentials of all URLs in `text`: everything between `://` and the `@` before the host.
///
/// Used for messages that quote a request or the response of a remote host, before they are returned or stored.
///
/// ```
/// use docs_model::redact_credentials;
/// assert_eq!(redact_credentials("cannot read https://me:secret@host/a"), "cannot read https://…@host/a");
/// assert_eq!(redact_credentials("https://host/a@b"), "https://host/a@b");
/// ```
#[must_use]
pub fn redact_credentials(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut kept = 0;
    for (at, separator) in text.match_indices("://") {
        let start = at + separator.len();
        if start < kept {
            continue;
        }
        let rest = &text[start..];
        let authority = &rest[..rest.find(ends_authority).unwrap_or(rest.len())];
        if let Some(length) = authority.rfind('@').filter(|length| *length > 0) {
            let out = out.get_or_insert_default();
            out.push_str(&text[kept..start]);
            out.push_str(REDACTED);
            kept = start + length;
        }
    }
    match out {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(&text[kept..]);
            Cow::Owned(out)
        }
    }
}

/// Returns `true` for a character that ends the authority of a URL, which contains the credentials and the host.
fn ends_authority(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | '?' | '#' | '"' | '<' | '>' | '`')
}
