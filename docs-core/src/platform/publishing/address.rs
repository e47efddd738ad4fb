//! Parsed URLs: a host and path segments.

use percent_encoding::percent_decode_str;

use crate::{
    Error, Result,
    model::{has_credentials, web_url},
};

/// A URL without scheme, query and fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::platform) struct WebAddress {
    /// The host in lower case, with the port unless it is the scheme's default.
    pub(in crate::platform) host: String,
    /// The non-empty path segments, percent-encoded.
    pub(in crate::platform) raw: Vec<String>,
    /// The non-empty path segments, decoded.
    pub(in crate::platform) segments: Vec<String>,
}

impl WebAddress {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// `Invalid` for a URL that is not HTTP or HTTPS.
    pub(in crate::platform) fn parse(field: &str, url: &str) -> Result<Self> {
        let wrong = || Error::invalid(field, "must be an address like https://docs.example.com/guides");
        let url = web_url(url).filter(|url| !has_credentials(url)).ok_or_else(wrong)?;
        let host = url.host_str().ok_or_else(wrong)?;
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let parts = url.path_segments().into_iter().flatten();
        let raw: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let decoded = raw.iter().map(|part| percent_decode_str(part).decode_utf8().map(Into::into));
        let segments: Vec<String> = decoded.collect::<std::result::Result<_, _>>().map_err(|_| wrong())?;
        // No stored name contains NUL.
        if segments.iter().any(|segment| segment.contains('\0')) {
            return Err(wrong());
        }
        Ok(Self { host, raw, segments })
    }

    /// Returns the path of the first `used` segments, with a leading and a trailing slash.
    pub(super) fn base(&self, used: usize) -> String {
        let used = self.raw.iter().take(used);
        used.fold("/".to_owned(), |path, segment| path + segment + "/")
    }

    /// Returns the path after the first `used` segments, with a leading slash.
    pub(super) fn rest(&self, used: usize) -> String {
        format!("/{}", self.raw.get(used..).unwrap_or_default().join("/"))
    }

    /// Returns the segments after the first `used`.
    pub(super) fn segments_after(&self, used: usize) -> Vec<&str> {
        self.segments.iter().skip(used).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_parses_into_host_and_segments() {
        let address =
            WebAddress::parse("url", "HTTPS://Docs.Example.com//a/%C3%9Cber%20b/?q=1#x").expect("an address");
        assert_eq!(address.host, "docs.example.com");
        assert_eq!(address.segments, ["a", "Über b"]);
        assert_eq!((address.base(0), address.rest(0)), ("/".to_owned(), "/a/%C3%9Cber%20b".to_owned()));
        assert_eq!((address.base(1), address.rest(1)), ("/a/".to_owned(), "/%C3%9Cber%20b".to_owned()));
        assert_eq!((address.base(9), address.rest(9)), ("/a/%C3%9Cber%20b/".to_owned(), "/".to_owned()));
        let bare = WebAddress::parse("url", "http://127.0.0.1:4000").expect("an address");
        assert_eq!((bare.host.as_str(), bare.rest(0).as_str()), ("127.0.0.1:4000", "/"));
    }

    #[test]
    fn equivalent_urls_parse_to_equal_addresses() {
        for (one, other) in [
            ("https://docs.example.com:443/a", "https://docs.example.com/a"),
            ("http://DOCS.example.com:80/a", "http://docs.example.com/a"),
            ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
            ("http://[0:0::1]:4000/a", "http://[::1]:4000/a"),
            ("https://docs.example.com/a/../b/./c", "https://docs.example.com/b/c"),
            ("https://docs.example.com/a b", "https://docs.example.com/a%20b"),
        ] {
            let [one, other] = [one, other].map(|url| WebAddress::parse("url", url).expect(url));
            assert_eq!(one, other);
        }
        let other = WebAddress::parse("url", "http://docs.example.com:443/a").expect("an address");
        assert_eq!(other.host, "docs.example.com:443");
    }

    #[test]
    fn invalid_web_addresses_are_refused() {
        for wrong in [
            "",
            "docs.example.com",
            "ftp://a.b/",
            "https://",
            "https:///a",
            "https://a b/",
            "https://u@h/",
            "https://:pw@h/",
            "https://h:99999/",
            "https://[::1/",
            "https://h/\u{1}",
            "https://h/%FF",
            "https://h/a%00b",
        ] {
            assert!(WebAddress::parse("url", wrong).is_err(), "{wrong}");
        }
    }
}
