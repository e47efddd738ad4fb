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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn credentials_are_replaced_wherever_an_address_has_them() {
        for (text, expected) in [
            ("", ""),
            ("no address", "no address"),
            ("https://host/a", "https://host/a"),
            ("https://me@host/a", "https://…@host/a"),
            ("https://me:s3cret@host/a: gone", "https://…@host/a: gone"),
            ("a git://x:y@h and `http://p:q@[::1]:80/`", "a git://…@h and `http://…@[::1]:80/`"),
            ("https://me@mail.example:pw@host", "https://…@host"),
            ("https://@host/", "https://@host/"),
            ("mail me@host.example", "mail me@host.example"),
            ("https://host/path@x?y=a@b", "https://host/path@x?y=a@b"),
            ("proxy=http://a:b@c/https://d:e@f/", "proxy=http://…@c/https://…@f/"),
            ("HTTPS://ME:PW@HOST", "HTTPS://…@HOST"),
            ("https://ä:ö@ü/", "https://…@ü/"),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_secret_is_left_in_any_sentence(
            before in "[ a-z`\"]{0,20}", scheme in "(https?|git|ftp)", user in "[a-zA-Z0-9.%@:+]{0,8}",
            after in "[/?# ][ -~]{0,20}",
        ) {
            let text = format!("{before}{scheme}://{user}:S-E-C-R-E-T@host.example{after}");
            let shown = redacted(&text).into_owned();
            prop_assert!(!shown.contains("S-E-C-R-E-T"), "{}", shown);
            prop_assert!(shown.contains("@host.example"), "{}", shown);
            prop_assert_eq!(redacted(&shown), shown.as_str(), "what is redacted stays as it is");
        }

        #[test]
        fn any_text_can_be_redacted(text in any::<String>()) {
            prop_assert!(redacted(&text).len() <= text.len() + 3 * text.matches("://").count());
        }
    }
}
