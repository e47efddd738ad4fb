//! Request bodies: the sign-in form for previews, and messages from agents.

use bytes::Bytes;
use docs_core::Result;
use poem::{
    Request, Response,
    http::{HeaderValue, Method, StatusCode},
};
use url::Url;

use crate::{
    assets::{MCP, SITE_SEGMENT},
    cookies::{CookieScope, is_token},
    machine::mcp::MAX_MESSAGE,
    page::sign_in_page,
    preview::authenticate_token,
    preview_route::{PreviewRoute, split_route},
    request::SiteRequest,
    response::{CachePolicy, HTML, SiteResponse, redirect_with_status},
    visit::Visit,
};

/// The maximum size of a form in bytes.
const MAX_FORM: usize = 32 * 1024;

/// A request body that is read completely before it is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Form,
    /// A message from an agent.
    Message,
}

impl BodyKind {
    /// Returns the kind of body that a site accepts for the request.
    pub(crate) fn for_request(asked: &SiteRequest<'_>) -> Option<Self> {
        if *asked.method != Method::POST {
            None
        } else if asked.path.ends_with(&format!("/{SITE_SEGMENT}/{MCP}")) {
            Some(Self::Message)
        } else {
            matches!(split_route(&asked.path), (_, Some(PreviewRoute::SignIn))).then_some(Self::Form)
        }
    }

    /// Reads the body. Returns `None` if it is too large or incomplete.
    pub(crate) async fn read(self, request: &mut Request) -> Option<Bytes> {
        let most = match self {
            Self::Form => MAX_FORM,
            Self::Message => MAX_MESSAGE,
        };
        request.take_body().into_bytes_limit(most).await.ok()
    }
}

/// Returns the sign-in form, which redirects the member to the requested page.
pub(crate) async fn sign_in_form(asked: &SiteRequest<'_>, visit: &Visit, policy: &HeaderValue) -> Response {
    let action = format!("{}~/sign-in", visit.found.site_base_path);
    let page = sign_in_page(&action, &asked.path, None);
    unauthorized_page(page).send(asked, policy).await
}

/// Checks a member token, stores it in a cookie and redirects to the requested page.
///
/// # Errors
/// Errors of the platform, except for an invalid token.
pub(crate) async fn sign_in(
    asked: &SiteRequest<'_>,
    visit: &Visit,
    form: &[u8],
    policy: &HeaderValue,
) -> Result<Response> {
    let field = |wanted: &str| {
        let mut fields = url::form_urlencoded::parse(form);
        fields.find(|(name, _)| name == wanted).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let base = &visit.found.site_base_path;
    let (token, to) = (field("token"), field("to"));
    let to = if is_within_site(&format!("{}{base}", asked.origin), &to) { to } else { base.clone() };
    // Without this check, another site could sign in its visitors here and show them foreign content.
    let from = asked.headers.get("sec-fetch-site").and_then(|from| from.to_str().ok());
    let is_own = from.is_none_or(|from| matches!(from, "same-origin" | "none"));
    if is_own && visit.is_member_token(&token).await? {
        let mut response = redirect_with_status(StatusCode::SEE_OTHER, &to, policy);
        let path = base.trim_end_matches('/');
        CookieScope::new(path, asked.is_secure).set_member_token(&mut response, &token);
        return Ok(response);
    }
    let page = sign_in_page(
        &format!("{base}~/sign-in"),
        &to,
        Some(
            "This token does not belong to a \
                                                                      member.",
        ),
    );
    Ok(unauthorized_page(page).send(asked, policy).await)
}

/// Returns `true` if a path stays within the site when resolved by a browser. Browsers drop some characters,
/// treat `\` as `/`, and treat two leading slashes as the start of a host.
fn is_within_site(site: &str, to: &str) -> bool {
    let Ok(site) = Url::parse(site) else { return false };
    let Ok(joined) = site.join(to) else { return false };
    !to.contains(|c: char| c.is_control() || c == '\\')
        && to.starts_with('/')
        && joined.origin() == site.origin()
        && joined.path().starts_with(site.path())
        && !joined.path().starts_with("//")
}

fn unauthorized_page(page: String) -> SiteResponse {
    SiteResponse::new(HTML, page, CachePolicy::NoStore)
        .with_status(StatusCode::UNAUTHORIZED)
        .without_indexing()
}

impl Visit {
    /// Returns `true` if a token belongs to a user.
    ///
    /// # Errors
    /// Errors of the platform, except for an invalid token.
    async fn is_member_token(&self, token: &str) -> Result<bool> {
        Ok(is_token(token) && authenticate_token(self.platform(), token).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn off_site_redirect_targets_are_rejected() {
        for (site, to, expected) in [
            ("https://a.test/", "/b?c#d", true),
            ("https://a.test/", "/", true),
            ("https://a.test/", "/\t/evil.test", false),
            ("https://a.test/", "/\n/evil.test", false),
            ("https://a.test/", "\t//evil.test", false),
            ("https://a.test/", "//evil.test", false),
            ("https://a.test/", "/.//evil.test", false),
            ("https://a.test/", "/\\evil.test", false),
            ("https://a.test/", "https://evil.test/", false),
            ("https://a.test/", "javascript:alert(1)", false),
            ("https://a.test/", "", false),
            ("https://a.test/sites/b/", "/sites/b/c", true),
            ("https://a.test/sites/b/", "/sites/b/../c", false),
            ("https://a.test/sites/b/", "/sites/b/%2e%2E/c", false),
            ("https://a.test/sites/b/", "/sites/c/", false),
        ] {
            assert_eq!(is_within_site(site, to), expected, "{to:?} of {site}");
        }
    }

    #[tokio::test]
    async fn bodies_larger_than_their_bounds_are_not_taken() {
        for (expected, most) in [(BodyKind::Form, MAX_FORM), (BodyKind::Message, MAX_MESSAGE)] {
            for (bytes, is_taken) in [(most, true), (most + 1, false)] {
                let mut request = Request::builder().body(vec![b'a'; bytes]);
                let taken = expected.read(&mut request).await;
                assert_eq!(taken.is_some(), is_taken, "{expected:?} of {bytes} bytes");
            }
        }
    }
}
