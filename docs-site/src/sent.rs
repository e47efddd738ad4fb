//! Request bodies: the sign-in form for previews, and messages of agents.

use bytes::Bytes;
use docs_core::Result;
use poem::{
    Request, Response,
    http::{HeaderValue, Method, StatusCode},
};
use url::Url;

use crate::{
    answer::{Answer, HTML, Keeping, keep_member, redirect_as},
    assets::{MCP, OWN},
    machine::mcp::MAX_MESSAGE,
    page::sign_in_page,
    preview::member_of,
    preview_route::{Behind, split},
    request::Asked,
    visit::Visit,
};

/// The maximum size of a form in bytes.
const MAX_FORM: usize = 32 * 1024;

/// A request body that is read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Form,
    /// A message of an agent.
    Message,
}

impl Expected {
    /// Returns the kind of body that a site accepts for the request.
    pub(crate) fn of(asked: &Asked<'_>) -> Option<Self> {
        if *asked.method != Method::POST {
            None
        } else if asked.path.ends_with(&format!("/{OWN}/{MCP}")) {
            Some(Self::Message)
        } else {
            matches!(split(&asked.path), (_, Some(Behind::SignIn))).then_some(Self::Form)
        }
    }

    /// Reads the body. Returns `None` if it is too large or incomplete.
    pub(crate) async fn take(self, request: &mut Request) -> Option<Bytes> {
        let most = match self {
            Self::Form => MAX_FORM,
            Self::Message => MAX_MESSAGE,
        };
        request.take_body().into_bytes_limit(most).await.ok()
    }
}

/// The sign-in form, which returns the member to the requested page.
pub(crate) async fn ask_to_sign_in(asked: &Asked<'_>, visit: &Visit, policy: &HeaderValue) -> Response {
    let action = format!("{}~/sign-in", visit.found.site_base_path);
    let page = sign_in_page(&action, &asked.path, None);
    refused(page).send(asked, policy).await
}

/// Checks a member token, stores it in a cookie and redirects to the requested page.
///
/// # Errors
/// Those of the platform, except for an invalid token.
pub(crate) async fn sign_in(
    asked: &Asked<'_>,
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
    let to = if stays(&format!("{}{base}", asked.origin), &to) { to } else { base.clone() };
    // Without this check, another site could sign its visitors in here and show them content that is not
    // theirs.
    let from = asked.headers.get("sec-fetch-site").and_then(|from| from.to_str().ok());
    let is_own = from.is_none_or(|from| matches!(from, "same-origin" | "none"));
    if is_own && visit.knows_member(&token).await? {
        let mut response = redirect_as(StatusCode::SEE_OTHER, &to, policy);
        let path = base.trim_end_matches('/');
        keep_member(&mut response, &token, if path.is_empty() { "/" } else { path }, asked);
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
    Ok(refused(page).send(asked, policy).await)
}

/// Returns `true` if a path stays within the site when resolved by a browser. Browsers drop some characters,
/// treat `\` as `/`, and treat two leading slashes as the start of a host.
fn stays(site: &str, to: &str) -> bool {
    let Ok(site) = Url::parse(site) else { return false };
    let Ok(joined) = site.join(to) else { return false };
    !to.contains(|c: char| c.is_control() || c == '\\')
        && to.starts_with('/')
        && joined.origin() == site.origin()
        && joined.path().starts_with(site.path())
        && !joined.path().starts_with("//")
}

fn refused(page: String) -> Answer {
    Answer::new(HTML, page, Keeping::Nobody).with_status(StatusCode::UNAUTHORIZED).unindexed()
}

impl Visit {
    /// Returns `true` if a token belongs to a user.
    ///
    /// # Errors
    /// Those of the platform, except for an invalid token.
    async fn knows_member(&self, token: &str) -> Result<bool> {
        Ok(crate::request::is_token(token) && member_of(self.platform(), token).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_off_a_site_is_refused_as_browsers_read_it() {
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
            assert_eq!(stays(site, to), expected, "{to:?} of {site}");
        }
    }

    #[tokio::test]
    async fn bodies_larger_than_their_bounds_are_not_taken() {
        for (expected, most) in [(Expected::Form, MAX_FORM), (Expected::Message, MAX_MESSAGE)] {
            for (bytes, is_taken) in [(most, true), (most + 1, false)] {
                let mut request = Request::builder().body(vec![b'a'; bytes]);
                let taken = expected.take(&mut request).await;
                assert_eq!(taken.is_some(), is_taken, "{expected:?} of {bytes} bytes");
            }
        }
    }
}
