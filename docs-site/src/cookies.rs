//! The cookies of sites: names, attributes, lifetimes and valid values.

use poem::{
    Response,
    http::{HeaderValue, header},
};

/// The cookie that stores claims from URL parameters. All cookies with this name prefix are read.
pub(crate) const PUBLIC_COOKIE: &str = "gitbook-visitor-public";
/// The cookie with the token of an authenticated visitor.
pub(crate) const VISITOR_COOKIE: &str = "docs-visitor";
/// The cookie with the token of a member who opened a preview.
pub(crate) const MEMBER_COOKIE: &str = "docs-member";
/// The lifetime of the visitor token cookie, in seconds. The token itself expires earlier.
const COOKIE_SECONDS: u32 = 7 * 24 * 60 * 60;
/// The maximum length in bytes of a token in a cookie or parameter. The platform rejects longer ones.
pub(crate) const MAX_TOKEN: usize = 16 * 1024;

/// Returns `true` if `text` only contains characters that are valid in tokens, and is not too long.
pub(crate) fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte);
    !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(fits)
}

/// Sets cookies for a path of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CookieScope<'p> {
    path: &'p str,
    is_secure: bool,
}

impl<'p> CookieScope<'p> {
    /// `is_secure` is `true` if the request came over HTTPS.
    pub(crate) const fn new(path: &'p str, is_secure: bool) -> Self {
        Self { path: if path.is_empty() { "/" } else { path }, is_secure }
    }

    /// Sets the cookie with a visitor's token.
    pub(crate) fn set_visitor_token(self, response: &mut Response, token: &str) {
        if is_token(token) {
            self.set(response, VISITOR_COOKIE, token, &format!("; Max-Age={COOKIE_SECONDS}"));
        }
    }

    /// Sets the session cookie with the claims from a visitor's URL parameters.
    pub(crate) fn set_claims(self, response: &mut Response, claims: &str) {
        self.set(response, PUBLIC_COOKIE, claims, "");
    }

    /// Sets the session cookie with a member's token for the previews of a site.
    pub(crate) fn set_member_token(self, response: &mut Response, token: &str) {
        if is_token(token) {
            self.set(response, MEMBER_COOKIE, token, "");
        }
    }

    fn set(self, response: &mut Response, name: &str, value: &str, lifetime: &str) {
        let (path, secure) = (self.path, if self.is_secure { "; Secure" } else { "" });
        let cookie = format!("{name}={value}; Path={path}{lifetime}; HttpOnly; SameSite=Lax{secure}");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
}
