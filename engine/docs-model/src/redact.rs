//! Text without the credentials that addresses in it carry.

use std::borrow::Cow;

/// What stands where credentials were.
const REDACTED: &str = "…";

/// Text in which no address shows its credentials: what stands between `://` and the `@` before the host is replaced.
///
/// For sentences that quote what was asked for or what a host answered, before they are shown or kept.
///
/// ```
/// use docs_model::redacted;
/// assert_eq!(redacted("cannot read https://me:secret@host/a"), "cannot read https://…@host/a");
/// assert_eq!(redacted("https://host/a@b"), "https://host/a@b");
/// ```
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
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

/// Tells whether a character cannot be part of the authority of an address, where its credentials and its host stand.
fn ends_authority(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | '?' | '#' | '"' | '<' | '>' | '`')
}
