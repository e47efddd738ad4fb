//! What is sent to a site: the token of a member who signs in to look at previews, and messages of agents.

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
    preview::{Behind, member_of, split},
    request::Asked,
    visit::Visit,
};

/// Most bytes of a form.
const MAX_FORM: usize = 32 * 1024;

/// What of a request is read as a whole before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// A form.
    Form,
    /// A message of an agent.
    Message,
}

impl Expected {
    /// What a request sends, where a site may take it.
    pub(crate) fn of(asked: &Asked<'_>) -> Option<Self> {
        if *asked.method != Method::POST {
            None
        } else if asked.path.ends_with(&format!("/{OWN}/{MCP}")) {
            Some(Self::Message)
        } else {
            matches!(split(&asked.path), (_, Some(Behind::SignIn))).then_some(Self::Form)
        }
    }

    /// Takes what a request sends; `None` where that is too much, or ends early.
    pub(crate) async fn take(self, request: &mut Request) -> Option<Bytes> {
        let most = match self {
            Self::Form => MAX_FORM,
            Self::Message => MAX_MESSAGE,
        };
        request.take_body().into_bytes_limit(most).await.ok()
    }
}

/// Asks a member to sign in, and to come back to what they asked for.
pub(crate) async fn ask_to_sign_in(asked: &Asked<'_>, visit: &Visit, policy: &HeaderValue) -> Response {
    let action = format!("{}~/sign-in", visit.found.site_base_path);
    let page = sign_in_page((&action, &asked.path), None);
    refused(page).send(asked, policy).await
}

/// Lets a member's browser keep a token that is theirs, and sends them to what they asked for.
///
/// # Errors
/// The platform's, but for a token that is not valid.
pub(crate) async fn sign_in(
    asked: &Asked<'_>,
    visit: &Visit,
    (form, policy): (&[u8], &HeaderValue),
) -> Result<Response> {
    let field = |wanted: &str| {
        let mut fields = url::form_urlencoded::parse(form);
        fields.find(|(name, _)| name == wanted).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let base = &visit.found.site_base_path;
    let (token, to) = (field("token"), field("to"));
    let to = if stays(&format!("{}{base}", asked.origin), &to) { to } else { base.clone() };
    // Another site that signs its visitors in here could show them what is not theirs.
    let from = asked.headers.get("sec-fetch-site").and_then(|from| from.to_str().ok());
    let is_own = from.is_none_or(|from| matches!(from, "same-origin" | "none"));
    if is_own && visit.knows_member(&token).await? {
        let mut response = redirect_as(StatusCode::SEE_OTHER, &to, policy);
        let path = base.trim_end_matches('/');
        keep_member(&mut response, &token, if path.is_empty() { "/" } else { path }, asked);
        return Ok(response);
    }
    let page = sign_in_page((&format!("{base}~/sign-in"), &to), Some("No member has this token."));
    Ok(refused(page).send(asked, policy).await)
}

/// Tells whether a path leads nowhere but to a site, as browsers read it: they drop some characters, take `\` for `/`,
/// and two slashes for a host.
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
    /// Tells whether a token is that of a user.
    ///
    /// # Errors
    /// The platform's, but for a token that is not valid.
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
}
