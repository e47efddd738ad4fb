//! Addresses on the web: [`Url`].

use super::formed_text::formed_text;

/// The pattern of an absolute http or https URL.
#[cfg(feature = "schema")]
const WEB_URL: &str = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#]\S*$";

/// The same, or nothing.
#[cfg(feature = "schema")]
pub(crate) const WEB_URL_OR_EMPTY: &str = r"^([Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#]\S*)?$";

formed_text! {
    /// An absolute http or https URL.
    Url(1, 2048, is_web_url, "an absolute http or https URL", { "format": "uri", "pattern": WEB_URL }),
}

fn is_web_url(text: &str) -> bool {
    !text.chars().any(char::is_whitespace) && super::web_url::web_url(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_one_that_leads_to_a_host_on_the_web() {
        for right in [
            "https://example.com",
            "HTTP://Example.com/a?b#c",
            "https://bücher.example/ä",
            "http://[::1]:8080/",
            "http://localhost:4000",
        ] {
            assert!(Url::new(right).is_ok(), "{right}");
        }
        for wrong in [
            "example.com",
            "//example.com",
            "ftp://example.com",
            "https://",
            "https://?x",
            "https:///example.com",
            "https://a b",
            "https://example.com/a b",
            "https://[::1",
            "https://example.com:port/",
            "https://user:pa/ss@example.com/",
        ] {
            assert!(Url::new(wrong).is_err(), "{wrong}");
        }
    }
}
