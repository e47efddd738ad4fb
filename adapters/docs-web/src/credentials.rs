//! Credentials in URLs.

use std::{borrow::Cow, fmt};

use percent_encoding::percent_decode_str;
use reqwest::RequestBuilder;
use url::Url;

/// A user name and password. The `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Percent-decoded user name.
    pub user: String,
    /// Percent-decoded password; empty if the URL has none.
    pub password: String,
}

/// The error for a user name or password that is not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the user name and the password must be UTF-8")]
pub struct NotUtf8;

impl Credentials {
    /// Removes the credentials from a URL and returns them. A URL without a host has no credentials.
    ///
    /// # Errors
    /// If the credentials are not UTF-8. The URL is then unchanged.
    pub fn take(url: &mut Url) -> Result<Option<Self>, NotUtf8> {
        let decode =
            |text: &str| percent_decode_str(text).decode_utf8().map(Cow::into_owned).map_err(|_| NotUtf8);
        if url.username().is_empty() && url.password().is_none() {
            return Ok(None);
        }
        let user = decode(url.username())?;
        let password = decode(url.password().unwrap_or_default())?;
        // Both calls fail only for URLs that cannot have credentials.
        let _ = (url.set_username(""), url.set_password(None));
        Ok(Some(Self { user, password }))
    }

    /// Adds the credentials to a request with basic authentication.
    pub fn sign(&self, request: RequestBuilder) -> RequestBuilder {
        request.basic_auth(&self.user, Some(&self.password))
    }

    /// Returns `true` if the credentials are also sent to the target of a redirect: within the same origin, or from
    /// HTTP to HTTPS on the same host and the default ports.
    #[must_use]
    pub fn survives_redirect(from: &Url, to: &Url) -> bool {
        let is_upgrade = from.scheme() == "http"
            && to.scheme() == "https"
            && from.port_or_known_default() == Some(80)
            && to.port_or_known_default() == Some(443);
        from.origin() == to.origin() || (is_upgrade && from.host_str() == to.host_str())
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn credentials_are_decoded_and_removed_from_the_url() {
        let mut address = url("https://me%40x:p%3Aw%20@a.test/x");
        let credentials = Credentials::take(&mut address).unwrap().unwrap();
        assert_eq!((credentials.user.as_str(), credentials.password.as_str()), ("me@x", "p:w "));
        assert_eq!(format!("{credentials:?}"), "Credentials");
        assert_eq!(address.as_str(), "https://a.test/x");
        assert_eq!(Credentials::take(&mut address), Ok(None));
        assert_eq!(Credentials::take(&mut url("https://%ff@a.test")), Err(NotUtf8));
    }

    #[test]
    fn credentials_survive_same_host_redirects_only() {
        for (from, to, stay) in [
            ("https://a.test/x", "https://a.test/y", true),
            ("https://a.test/x", "https://a.test:443/y", true),
            ("https://a.test/x", "https://a.test:8443/x", false),
            ("https://a.test/x", "http://a.test/x", false),
            ("https://a.test/x", "https://b.test/x", false),
            ("https://a.test/x", "https://www.a.test/x", false),
            ("http://a.test/x", "https://a.test/x", true),
            ("http://a.test:8080/x", "https://a.test/x", false),
            ("http://a.test/x", "https://b.test/x", false),
        ] {
            assert_eq!(Credentials::survives_redirect(&url(from), &url(to)), stay, "{from} {to}");
        }
    }
}
