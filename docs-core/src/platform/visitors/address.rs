//! Addresses as they are looked up: a host, and the segments of a path.

use percent_encoding::percent_decode_str;

use crate::{Error, Result};

/// An address without its scheme, query and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The host in lower case, with the port if it has one.
    pub(super) host: String,
    /// The segments of the path as they are written; empty ones are left out.
    raw: Vec<String>,
    /// The same, decoded.
    pub(super) segments: Vec<String>,
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// `Invalid` for what is none of the web.
    pub(super) fn parse(field: &str, url: &str) -> Result<Self> {
        let wrong = || Error::invalid(field, "must be an address like https://docs.example.com/guides");
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
            return Err(wrong());
        }
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_host = |c: char| c.is_alphanumeric() || "-_.:[]".contains(c);
        if host.is_empty() || !host.chars().all(is_host) || path.chars().any(char::is_control) {
            return Err(wrong());
        }
        let raw: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let decoded = raw.iter().map(|part| percent_decode_str(part).decode_utf8().map(Into::into));
        let segments = decoded.collect::<std::result::Result<_, _>>().map_err(|_| wrong())?;
        Ok(Self { host: host.to_lowercase(), raw, segments })
    }

    /// The path of the first segments, with slashes around it.
    pub(super) fn base(&self, used: usize) -> String {
        let used = self.raw.iter().take(used);
        used.fold("/".to_owned(), |path, segment| path + segment + "/")
    }

    /// The path behind the first segments, with a slash before it.
    pub(super) fn rest(&self, used: usize) -> String {
        format!("/{}", self.raw.get(used..).unwrap_or_default().join("/"))
    }

    /// The segments behind the first.
    pub(super) fn behind(&self, used: usize) -> Vec<&str> {
        self.segments.iter().skip(used).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_segments() {
        let address =
            Address::parse("url", "HTTPS://Docs.Example.com//a/%C3%9Cber%20b/?q=1#x").expect("an address");
        assert_eq!(address.host, "docs.example.com");
        assert_eq!(address.segments, ["a", "Über b"]);
        assert_eq!((address.base(0), address.rest(0)), ("/".to_owned(), "/a/%C3%9Cber%20b".to_owned()));
        assert_eq!((address.base(1), address.rest(1)), ("/a/".to_owned(), "/%C3%9Cber%20b".to_owned()));
        assert_eq!((address.base(9), address.rest(9)), ("/a/%C3%9Cber%20b/".to_owned(), "/".to_owned()));
        let bare = Address::parse("url", "http://127.0.0.1:4000").expect("an address");
        assert_eq!((bare.host.as_str(), bare.rest(0).as_str()), ("127.0.0.1:4000", "/"));
    }

    #[test]
    fn what_is_no_address_of_the_web_is_refused() {
        for wrong in [
            "",
            "docs.example.com",
            "ftp://a.b/",
            "https://",
            "https:///a",
            "https://a b/",
            "https://u@h/",
            "https://h/%FF",
        ] {
            assert!(Address::parse("url", wrong).is_err(), "{wrong}");
        }
    }
}
