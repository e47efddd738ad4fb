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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_place_are_read_as_one() {
        for (text, expected) in [
            ("HTTPS://Docs.Example:443/A", "https://docs.example/A"),
            ("http://docs.example:80", "http://docs.example/"),
            ("http://docs.example:443/", "http://docs.example:443/"),
            ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
            ("https://[0:0::1]:8443/", "https://[::1]:8443/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("https://a.example/x/../y", "https://a.example/y"),
        ] {
            assert_eq!(web_url(text).map(String::from).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_only_browsers_forgive_is_no_address() {
        for text in [
            "",
            "docs.example",
            "//docs.example/",
            "https:docs.example",
            "https:/docs.example",
            "https:///docs.example",
            "https://\\docs.example",
            "https:\\\\docs.example",
            " https://docs.example",
            "https://docs.example\n",
            "https://docs\t.example",
            "https://",
            "https://?x",
            "https://a b/",
            "https://a.example:99999/",
            "https://[::1/",
            "https://user:pa/ss@host/x",
            "javascript:https://x",
            "mailto:a@b.example",
            "ftp://a.example/",
            "x:https://a.example",
        ] {
            assert_eq!(web_url(text), None, "{text:?}");
        }
    }
}
