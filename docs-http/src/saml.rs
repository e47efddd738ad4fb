//! `/saml/…`: sign-in through the organizations' SAML providers.
//!
//! | path | content |
//! |---|---|
//! | `GET /saml/{provider}` | service provider metadata for the identity provider |
//! | `GET /saml/{provider}/start` | redirects a browser to the provider |
//! | `POST /saml/{provider}/acs` | completes the sign-in; the response is a session or an error |
//! | `POST /saml/{provider}/end` | ends a session |
//!
//! These paths are not part of the API and require no token. Responses are HTML pages without scripts, or JSON for
//! clients that accept `application/json` but not HTML.

mod page;
mod page_error;

use std::num::NonZeroU32;

use docs_core::{
    Error, Platform,
    model::SamlProviderId,
    platform::{SamlAnswer, SamlSession, SamlStart},
};
use poem::{
    Endpoint, EndpointExt as _, Request, Response, Route,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};
use url::{Url, form_urlencoded};

use self::{page::ResponseFormat, page_error::SamlPageError};
use crate::{
    RateLimit, TrustedProxies,
    endpoints::method_response,
    rate::RateLimiter,
    wire::{
        budget::{BodyBudget, BodyReservation, collect_within, network_holder},
        error::outcome_response,
    },
};

/// Maximum size of a form in bytes: a base64 response with percent-encoding.
const MAX_FORM: usize = 768 * 1024;
/// Name prefix of the cookies for pending logins.
const COOKIE_PREFIX: &str = "docs-saml-";
/// Number of request id characters in the name of a cookie.
const COOKIE_ID_CHARS: usize = 16;
/// Maximum number of pending-login cookies that a browser stores per provider. More cookies could make the request head
/// exceed the limits of proxies.
const MAX_COOKIES: usize = 8;
/// The header that states how the browser will use the response.
const DESTINATION_HEADER: &str = "sec-fetch-dest";
/// Default limit of requests per minute and address.
const REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("the constant is not zero");

/// Configuration of SAML sign-in, for [`HttpConfig::saml`](crate::HttpConfig::saml). The platform needs an
/// [adapter](docs_core::platform::Builder::saml).
///
/// ```
/// use docs_http::{HttpConfig, SamlPages};
/// let config = HttpConfig { saml: Some(SamlPages::default()), ..HttpConfig::default() };
/// # let _ = config;
/// ```
#[derive(Clone, Debug)]
pub struct SamlPages {
    /// Rate limit of these pages per address; unlimited if absent. It is independent of the API's rate limit.
    pub rate_limit: Option<RateLimit>,
}

impl Default for SamlPages {
    /// The default rate limit lets a whole office behind one address sign in at the same time.
    fn default() -> Self {
        Self { rate_limit: Some(RateLimit::per_minute(REQUESTS_PER_MINUTE)) }
    }
}

/// Returns the endpoint to nest at `/saml`.
pub(crate) fn pages(
    platform: &Platform,
    pages: SamlPages,
    budget: BodyBudget,
    proxies: TrustedProxies,
) -> impl Endpoint + 'static {
    let step = |step| SamlEndpoint {
        platform: platform.clone(),
        budget: budget.clone(),
        proxies: proxies.clone(),
        step,
    };
    let route = Route::new()
        .at("/:provider", step(SamlStep::Metadata))
        .at("/:provider/start", step(SamlStep::Start))
        .at("/:provider/acs", step(SamlStep::Finish))
        .at("/:provider/end", step(SamlStep::End));
    HtmlErrorPages(route.with(RateLimiter::new(pages.rate_limit, proxies)))
}

/// Converts rate limit errors of the wrapped endpoint to HTML pages.
struct HtmlErrorPages<E>(E);

impl<E: Endpoint<Output = Response>> Endpoint for HtmlErrorPages<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let shape = ResponseFormat::from_headers(request.headers());
        let response = outcome_response(self.0.call(request).await);
        if response.status() != StatusCode::TOO_MANY_REQUESTS {
            return Ok(response);
        }
        let wait = response.headers().get(header::RETRY_AFTER).cloned();
        let refusal = SamlPageError::new(response.status(), "too many requests; try again in a minute");
        let mut page = page::refusal_page(shape, &refusal, None);
        if let Some(wait) = wait {
            page.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        Ok(page)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SamlStep {
    Metadata,
    Start,
    Finish,
    End,
}

/// The endpoint of one sign-in step.
struct SamlEndpoint {
    platform: Platform,
    /// Memory budget for forms.
    budget: BodyBudget,
    /// Proxies trusted to state the client address, to which the form's memory is charged.
    proxies: TrustedProxies,
    step: SamlStep,
}

impl Endpoint for SamlEndpoint {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let shape = ResponseFormat::from_headers(request.headers());
        let allowed = match self.step {
            SamlStep::Metadata | SamlStep::Start => "GET, HEAD, OPTIONS",
            SamlStep::Finish | SamlStep::End => "POST, OPTIONS",
        };
        let allowed = HeaderValue::from_static(allowed);
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let fits = match self.step {
            SamlStep::Metadata | SamlStep::Start => is_read,
            SamlStep::Finish | SamlStep::End => request.method() == Method::POST,
        };
        // A provider may be configured with the redirect binding by mistake; the browser then shows a page with an
        // explanation.
        let is_redirect = self.step == SamlStep::Finish && is_read;
        if !fits && !is_redirect {
            return Ok(method_response(request.method(), allowed));
        }
        let provider = request.raw_path_param("provider").unwrap_or_default();
        let Ok(provider) = provider.parse::<SamlProviderId>() else {
            let refusal = SamlPageError::from(Error::not_found("SAML provider"));
            return Ok(page::refusal_page(shape, &refusal, None));
        };
        if is_redirect {
            let why = "SAML responses must be sent by HTTP-POST, not by HTTP-Redirect";
            let refusal =
                self.record_refusal(&provider, SamlPageError::new(StatusCode::METHOD_NOT_ALLOWED, why)).await;
            let mut page = page::refusal_page(shape, &refusal, Some(self.start_address(&provider)));
            page.headers_mut().insert(header::ALLOW, allowed);
            return Ok(page);
        }
        let done = match self.step {
            SamlStep::Metadata => self.metadata(&provider).await,
            SamlStep::Start => self.start(&provider, request.headers()).await,
            SamlStep::Finish => self.finish(&provider, &mut request, shape).await,
            SamlStep::End => self.end(&provider, &mut request, shape).await,
        };
        Ok(done.unwrap_or_else(|refusal| {
            page::refusal_page(shape, &refusal, self.retry_address(&provider, &refusal))
        }))
    }
}

impl SamlEndpoint {
    async fn metadata(&self, provider: &SamlProviderId) -> Result<Response, SamlPageError> {
        let metadata = self.platform.as_platform().saml_metadata(provider).await?;
        let answer = Response::builder().content_type("application/samlmetadata+xml");
        // Browsers render XML as a page, so the response is sandboxed.
        let answer = answer.header(header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'");
        Ok(answer.header(header::X_CONTENT_TYPE_OPTIONS, "nosniff").body(metadata))
    }

    async fn start(&self, provider: &SamlProviderId, asked: &HeaderMap) -> Result<Response, SamlPageError> {
        // Otherwise other sites could fill a browser with pending logins through images and frames.
        if asked.get(DESTINATION_HEADER).is_some_and(|to| to != "document") {
            let why = "this address must be opened as a link, not within another page";
            return Err(SamlPageError::new(StatusCode::FORBIDDEN, why));
        }
        let start = self.platform.as_platform().begin_saml_login(provider).await?;
        let mut response = page::empty_response(StatusCode::SEE_OTHER);
        let headers = response.headers_mut();
        let unfit = |_| SamlPageError::from(Error::internal("an address is not a valid header value"));
        headers.insert(header::LOCATION, HeaderValue::from_str(&start.location).map_err(unfit)?);
        let cookie = self.cookie(provider, &start);
        headers.append(header::SET_COOKIE, HeaderValue::from_str(&cookie).map_err(unfit)?);
        // Browsers send the oldest cookies first. Delete the oldest ones to limit the size of requests.
        let (begun, _) = cookies(asked);
        let gone = &begun[..begun.len().saturating_sub(MAX_COOKIES - 1)];
        self.delete_cookies(provider, &mut response, gone);
        Ok(response)
    }

    async fn finish(
        &self,
        provider: &SamlProviderId,
        request: &mut Request,
        shape: ResponseFormat,
    ) -> Result<Response, SamlPageError> {
        let (names, kept) = cookies(request.headers());
        let form = self.read_form(request).await;
        let response = match form.and_then(|(form, _)| field(&form, "SAMLResponse")) {
            Ok(response) => response,
            Err(refusal) => return Err(self.record_refusal(provider, refusal).await),
        };
        let answer = SamlAnswer { response: &response, kept: &kept };
        let session: SamlSession = self.platform.as_platform().finish_saml_login(provider, answer).await?;
        let mut page = page::sign_in_page(shape, &session, &self.path(provider, "/end"));
        // The login is complete. Discard the other pending logins of this browser.
        self.delete_cookies(provider, &mut page, &names);
        Ok(page)
    }

    async fn end(
        &self,
        provider: &SamlProviderId,
        request: &mut Request,
        shape: ResponseFormat,
    ) -> Result<Response, SamlPageError> {
        let (form, _held) = self.read_form(request).await?;
        self.platform.as_platform().end_saml_session(provider, &field(&form, "token")?).await?;
        Ok(page::sign_out_page(shape))
    }

    /// Reads the body of a form, and reserves memory for it in the budget.
    async fn read_form(&self, request: &mut Request) -> Result<(Vec<u8>, BodyReservation), SamlPageError> {
        let kind = request.content_type().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let why = "the body: must be a form, application/x-www-form-urlencoded";
            return Err(SamlPageError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let body = request.take_body();
        let budget = (&self.budget, network_holder(request, &self.proxies));
        let form = collect_within(Some(budget), body, MAX_FORM).await;
        form.map_err(|error| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                let why = format!("the body: must be at most {MAX_FORM} bytes");
                SamlPageError::new(StatusCode::PAYLOAD_TOO_LARGE, why)
            }
            StatusCode::BAD_REQUEST => {
                SamlPageError::from(Error::invalid("the form", "ended before it was complete"))
            }
            status => SamlPageError::new(status, error.message()),
        })
    }

    /// Records in the organization's audit log that a response was rejected before it was parsed. Returns the error for
    /// the page.
    async fn record_refusal(&self, provider: &SamlProviderId, refusal: SamlPageError) -> SamlPageError {
        // Refusals of inactive providers are not recorded.
        if let Err(why) = self.platform.as_platform().refuse_saml_login(provider, &refusal.message).await {
            tracing::debug!(%provider, why = why.message(), "failed to record refused sign-in");
        }
        refusal
    }

    /// Returns the cookie of a pending login. The browser sends it with a cross-site form.
    fn cookie(&self, provider: &SamlProviderId, start: &SamlStart) -> String {
        let id: String =
            start.request.chars().filter(char::is_ascii_alphanumeric).take(COOKIE_ID_CHARS).collect();
        let (path, end) = (self.path(provider, ""), http_date(start));
        format!(
            "{COOKIE_PREFIX}{id}={}; Path={path}; Expires={end}; HttpOnly{}",
            start.keep,
            self.same_site()
        )
    }

    fn delete_cookies(&self, provider: &SamlProviderId, response: &mut Response, names: &[String]) {
        for name in names {
            let cookie = format!("{name}=; Path={}; Max-Age=0{}", self.path(provider, ""), self.same_site());
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
        }
    }

    /// Returns the `SameSite` attribute. Cookies on cross-site requests require TLS; without it, the browser's default
    /// applies.
    fn same_site(&self) -> &'static str {
        match self.platform.urls().base().starts_with("https://") {
            true => "; Secure; SameSite=None",
            false => "",
        }
    }

    /// Returns the path of a provider endpoint as seen by the browser.
    fn path(&self, provider: &SamlProviderId, rest: &str) -> String {
        let base = Url::parse(self.platform.urls().base());
        let path = base.as_ref().map_or("", |base| base.path().trim_end_matches('/'));
        format!("{path}/saml/{provider}{rest}")
    }

    fn start_address(&self, provider: &SamlProviderId) -> String {
        self.path(provider, "/start")
    }

    /// Returns the URL where the user can retry the sign-in, or `None` if the provider does not exist.
    fn retry_address(&self, provider: &SamlProviderId, refusal: &SamlPageError) -> Option<String> {
        let is_over = refusal.status == StatusCode::NOT_FOUND || self.step == SamlStep::Start;
        (!is_over).then(|| self.start_address(provider))
    }
}

/// Formats the expiry of a pending login for a cookie.
fn http_date(start: &SamlStart) -> String {
    start.expires_at.time().format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Returns the names and the values of the pending-login cookies.
fn cookies(headers: &HeaderMap) -> (Vec<String>, Vec<String>) {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let ours = pairs.filter(|(name, _)| {
        let id = name.strip_prefix(COOKIE_PREFIX);
        id.is_some_and(|id| {
            id.len() <= COOKIE_ID_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    });
    ours.map(|(name, value)| (name.to_owned(), value.to_owned())).unzip()
}

/// Returns the value of a form field that must occur exactly once.
fn field(form: &[u8], name: &str) -> Result<String, SamlPageError> {
    let mut found = form_urlencoded::parse(form).filter(|(field, _)| field == name);
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Ok(value.into_owned()),
        (None, _) => Err(Error::invalid(name, "is required in the form").into()),
        (Some(_), Some(_)) => Err(Error::invalid(name, "must occur once in the form").into()),
    }
}
