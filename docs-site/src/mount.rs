//! The HTTP entry point: routes requests to published sites, and all others to the next endpoint.

use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use bytes::Bytes;
use docs_core::{
    Error, ErrorKind, Platform, Result,
    model::PageId,
    platform::{Moment, own_paths},
};
use futures_util::FutureExt as _;
use poem::{
    Body, Endpoint, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};
use url::Url;

use crate::{
    answer::{
        self, Answer, HTML, JSON, Keeping, MARKDOWN, TEXT, keep_claims, keep_token, redirect, takes_gzip,
    },
    assets::{Asset, MCP, OWN},
    claims::{claims, is_claim, kept},
    encode::encoded_segments,
    frame::EntryKind,
    machine::{SiteList, full_list, markdown_page, mcp, robots, site_list},
    moved::moved_to,
    page::{
        Caches, FoundPage, PageKey, Rendered, SpaceKey, StrangerKey, bare_page, compare_page, document_page,
        find_page, list_page, missing_page, results_as_json, search_page,
    },
    preview::{self, COMPARE, Preview},
    preview_route::{self, Behind},
    request::{Asked, Base, HostKind, TOKEN_PARAMETER},
    sent::{self, Expected},
    site_cache::SiteStart,
    tagged::Tagged,
    theme,
    visit::{Arrival, Kept, Visit},
};

/// Configuration of [`Sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteConfig {
    /// The maximum memory in bytes of the caches of page trees, rendered pages and lookups.
    pub cache_bytes: u64,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self { cache_bytes: 64 << 20 }
    }
}

/// The published sites of a platform as web pages.
///
/// On the platform's own host, sites are served below `/sites/` of the base address, which is the prefix of
/// [`urls.published`](docs_core::model::SiteUrls::published). On any other host, the site mounted there is
/// served. All other requests are passed on.
#[derive(Clone)]
pub struct Sites(Arc<Shared>);

/// State shared by all requests.
pub(crate) struct Shared {
    platform: Platform,
    base: Base,
    /// The path prefix of sites on the platform's host.
    prefix: String,
    policy: HeaderValue,
    caches: Arc<Caches>,
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sites").field("base", &self.0.base.url.as_str()).finish_non_exhaustive()
    }
}

impl Sites {
    /// Creates the sites of a platform. The platform's [`base_url`](docs_core::platform::Builder::base_url)
    /// must be the public address of the embedding application.
    ///
    /// # Errors
    /// `Invalid` if the base address of the platform is not a URL.
    pub fn new(platform: &Platform, config: SiteConfig) -> Result<Self> {
        let base = Url::parse(platform.urls().base());
        let base = base.map_err(|why| Error::invalid("base_url", format_args!("must be a URL: {why}")))?;
        let base = Base::new(base, platform.urls());
        Ok(Self(Arc::new(Shared {
            platform: platform.clone(),
            prefix: format!("{}/{}/", base.path(), own_paths::SITES),
            policy: answer::policy(base.origin(), platform.urls().files_origin()),
            base,
            caches: Arc::new(Caches::new(config.cache_bytes)),
        })))
    }

    /// Returns `true` if a site may handle the request. On the platform's own host the path decides; on other
    /// hosts it depends on the published sites.
    #[must_use]
    pub fn may_answer(&self, request: &Request) -> bool {
        self.0.may_be_site(&Asked::of(request, &self.0.base))
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Returns an endpoint that serves the sites and passes all other requests to `next`.
    #[must_use]
    pub fn before<E>(self, next: E) -> BeforeSites<E> {
        BeforeSites { sites: self, next }
    }
}

/// An endpoint that serves sites and passes all other requests on: see [`Sites::before`].
#[derive(Clone, Debug)]
pub struct BeforeSites<E> {
    sites: Sites,
    next: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for BeforeSites<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let shared = &self.sites.0;
        let asked = Asked::of(&request, &shared.base);
        let expected = Expected::of(&asked).filter(|_| shared.may_be_site(&asked));
        let answer = match expected {
            None => shared.served(&asked, None).await,
            Some(expected) => {
                let Some(sent) = expected.take(&mut request).await else { return Ok(shared.refuse_size()) };
                let answer = shared.served(&Asked::of(&request, &shared.base), Some(&sent)).await;
                request.set_body(sent);
                answer
            }
        };
        match answer {
            Some(response) => Ok(response),
            None => self.next.call(request).await,
        }
    }
}

impl Shared {
    pub(crate) const fn platform(&self) -> &Platform {
        &self.platform
    }

    pub(crate) const fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) fn caches(&self) -> &Caches {
        &self.caches
    }

    /// Returns `true` if a request may belong to a site.
    fn may_be_site(&self, asked: &Asked<'_>) -> bool {
        match asked.host {
            HostKind::Files => false,
            HostKind::Platform => asked.path.starts_with(&self.prefix),
            HostKind::Other => true,
        }
    }

    /// Handles and logs a request. A panic becomes a response without details.
    async fn served(&self, asked: &Asked<'_>, sent: Option<&Bytes>) -> Option<Response> {
        let since = Instant::now();
        let response = match AssertUnwindSafe(self.answer(asked, sent)).catch_unwind().await {
            Ok(response) => response?,
            Err(_) => {
                tracing::error!(path = self.shown(asked), "panic while rendering page");
                Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).finish()
            }
        };
        tracing::info!(
            http.method = %asked.method,
            http.path = self.shown(asked),
            http.status = response.status().as_u16(),
            duration.ms = since.elapsed().as_secs_f64() * 1000.0,
            "page"
        );
        Some(response)
    }

    /// The path of a request for the log: only the part that identifies the site, unless the response is
    /// public.
    fn shown<'a>(&self, asked: &'a Asked<'_>) -> &'a str {
        if asked.is_open() {
            return &asked.path;
        }
        let end = asked
            .path
            .strip_prefix(&self.prefix)
            .map(|rest| self.prefix.len() + rest.find('/').unwrap_or(rest.len()));
        end.and_then(|end| asked.path.get(..end)).unwrap_or("/")
    }

    /// Handles a request with its body, if one is expected. Returns `None` if the request does not belong to
    /// a site.
    async fn answer(&self, asked: &Asked<'_>, sent: Option<&Bytes>) -> Option<Response> {
        let is_taken = matches!(*asked.method, Method::GET | Method::HEAD) || sent.is_some();
        match asked.host {
            _ if !self.may_be_site(asked) => return None,
            HostKind::Files => return None,
            HostKind::Platform if !is_taken => return Some(self.refuse_method(asked.method)),
            // Another host may serve a site, or be an alias of the platform.
            HostKind::Other if !is_taken => return None,
            HostKind::Platform | HostKind::Other => {}
        }
        match self.visited(asked, sent).await {
            Ok(response) => Some(response),
            Err(error) if error.kind() == ErrorKind::NotFound && asked.host == HostKind::Other => None,
            Err(error) => Some(self.failed(asked, &error).await),
        }
    }

    /// The current [`Moment`], for anonymous requests, whose responses may be cached.
    async fn moment(&self, asked: &Asked<'_>) -> Option<Moment> {
        if !asked.is_strangers() {
            return None;
        }
        // If the store cannot report its version, the request reads everything and reports the store's error
        // itself.
        let moment = Moment::now(&self.platform).await;
        moment.inspect_err(|error| tracing::debug!(?error, "failed to read store version")).ok().flatten()
    }

    /// The part of a request that may identify a site. On the platform's own host this includes the first
    /// segment.
    fn start(&self, asked: &Asked<'_>, path: &str) -> SiteStart {
        let below = path.strip_prefix(&self.prefix).filter(|_| asked.host == HostKind::Platform);
        let end = below.map_or(0, |below| self.prefix.len() + below.find('/').unwrap_or(below.len()));
        let path = path.get(..end).unwrap_or_default();
        SiteStart { origin: (&*asked.origin).into(), path: path.into() }
    }

    /// The cached response to an anonymous request, if it is still valid.
    async fn answered(&self, asked: &Asked<'_>, moment: Option<Moment>) -> Option<Response> {
        let page = self.caches.answered(&StrangerKey::of(asked)?, moment?)?;
        asked.opens();
        Some(self.rendered(asked, &page, Keeping::Anybody).await)
    }

    async fn visited(&self, asked: &Asked<'_>, sent: Option<&Bytes>) -> Result<Response> {
        let (path, own) = match asked.path.split_once(&format!("/{OWN}/")) {
            Some((path, own)) => (path, Some(own)),
            None => (asked.path.as_str(), None),
        };
        if let Some(asset) = own.and_then(Asset::find) {
            let answer = Answer {
                encoded: asset.encoded.clone(),
                ..Answer::tagged(asset.media_type, asset.body.clone(), Keeping::ForGood)
            };
            return Ok(answer.send(asked, &self.policy).await);
        }
        let (path, behind) = preview_route::split(path);
        let moment = self.moment(asked).await;
        if sent.is_none()
            && own.is_none()
            && let Some(response) = self.answered(asked, moment).await
        {
            return Ok(response);
        }
        let kept =
            moment.map(|moment| Kept { moment, caches: &self.caches.sites, start: self.start(asked, path) });
        let visit = match Visit::of(&self.platform, asked, path, kept).await? {
            Arrival::Here(visit) => *visit,
            Arrival::Moved(to) => return Ok(redirect(&moved(asked, path, to), &self.policy)),
            // An agent cannot follow a redirect to the sign-in.
            Arrival::SignIn(_) if sent.is_some() => {
                return Err(Error::new(ErrorKind::Unauthenticated, "a visitor token is required"));
            }
            Arrival::SignIn(to) => return Ok(redirect(&to, &self.policy)),
        };
        if sent.is_none()
            && let Some(response) = self.handed(asked, &visit)
        {
            return Ok(response);
        }
        let visit = match (behind, sent) {
            (None, _) => visit,
            (Some(Behind::SignIn), Some(form)) => {
                return sent::sign_in(asked, &visit, form, &self.policy).await;
            }
            (Some(Behind::SignIn), None) => return self.missing(asked, &visit).await,
            (Some(Behind::Preview(version, path)), _) => {
                let Some(member) = preview::member(&self.platform, asked).await? else {
                    return Ok(sent::ask_to_sign_in(asked, &visit, &self.policy).await);
                };
                let space = visit.place()?.space.space.id.clone();
                visit.with_preview(Preview::of(&self.platform, member, (&space, version, path)).await?)
            }
        };
        if visit.is_for_all {
            asked.opens();
        }
        match own {
            Some(MCP) => self.agent(asked, visit, sent).await,
            Some(own) => self.own(asked, &visit, own).await,
            None => self.page(asked, visit).await,
        }
    }

    /// Handles an address with a visitor token or claims: stores them in cookies and redirects to the address
    /// without them. Returns `None` for any other address.
    fn handed(&self, asked: &Asked<'_>, visit: &Visit) -> Option<Response> {
        let (token, has_claims) = (asked.handed_token(), asked.parameters().any(|(name, _)| is_claim(&name)));
        if token.is_none() && !has_claims {
            return None;
        }
        let path = if asked.path.is_empty() { "/" } else { &asked.path };
        let query = asked.query_without(|name| name == TOKEN_PARAMETER || is_claim(name));
        let mut response = redirect(&format!("{path}{query}"), &self.policy);
        let base = visit.found.site_base_path.trim_end_matches('/');
        let base = if base.is_empty() { "/" } else { base };
        if let Some(token) = token {
            keep_token(&mut response, &token, base, asked);
        }
        if has_claims {
            keep_claims(&mut response, &kept(&claims(asked)), base, asked);
        }
        Some(response)
    }

    /// Handles a message of an agent.
    async fn agent(&self, asked: &Asked<'_>, visit: Visit, sent: Option<&Bytes>) -> Result<Response> {
        if !visit.site.customizations.site.page_actions.mcp || visit.preview.is_some() {
            return self.missing(asked, &visit).await;
        }
        let mut response = match sent {
            Some(sent) => mcp::answer(asked, visit, Arc::clone(&self.caches), sent.clone()).await?,
            // The server does not send messages on its own initiative, so `GET` is not supported.
            None => Response::builder()
                .status(StatusCode::METHOD_NOT_ALLOWED)
                .header(header::ALLOW, "POST, OPTIONS")
                .finish(),
        };
        answer::protect(response.headers_mut(), &self.policy);
        Ok(response)
    }

    /// Handles the paths below `~site`.
    async fn own(&self, asked: &Asked<'_>, visit: &Visit, name: &str) -> Result<Response> {
        let place = visit.place()?;
        let look = visit.look(&place.space.id);
        let query = asked.parameter("q").unwrap_or_default();
        let answer = match name {
            "search" | "search.json" if !visit.is_searched() => return self.missing(asked, visit).await,
            "search" => Answer::new(HTML, search_page(visit, &self.caches, &query).await?, Keeping::Nobody)
                .unindexed(),
            "search.json" => {
                Answer::new(JSON, results_as_json(visit, &query).await?, Keeping::Nobody).unindexed()
            }
            "icon.svg" => {
                Answer::new("image/svg+xml", theme::icon(look, visit.title_of(look)), keeping(visit))
            }
            name if name.starts_with("theme.") => {
                let sheet = visit.site.sheet(&place.space.id);
                // A page rendered before a change of the settings references the previous style sheet.
                let is_this = sheet.name == name;
                let keeping = if is_this && visit.is_for_all { Keeping::ForGood } else { keeping(visit) };
                Answer::tagged("text/css; charset=utf-8", sheet.body, keeping)
            }
            name if name.starts_with("pages.") => match list_page(visit, &self.caches, name).await? {
                Some(page) => Answer::new(HTML, page, keeping(visit)).unindexed(),
                None => return self.missing(asked, visit).await,
            },
            _ => return self.missing(asked, visit).await,
        };
        Ok(answer.send(asked, &self.policy).await)
    }

    /// Handles a path of a site.
    async fn page(&self, asked: &Asked<'_>, visit: Visit) -> Result<Response> {
        let below_site = asked.below(&visit.found.site_base_path).unwrap_or_default();
        let names: Vec<&str> = below_site.iter().map(String::as_str).collect();
        if let [name] = names.as_slice()
            && let Some(list) = SiteList::find(name)
        {
            return self.list(asked, &visit, list).await;
        }
        let full = match names.as_slice() {
            ["llms-full.txt"] => Some(1),
            ["llms-full.txt", part] => part.parse().ok(),
            _ => None,
        };
        if let Some(part) = full {
            return self.full(asked, visit, part).await;
        }
        match names.as_slice() {
            ["robots.txt"] => {
                let answer = Answer::new(TEXT, robots(&visit)?, keeping(&visit));
                Ok(answer.send(asked, &self.policy).await)
            }
            _ => self.content(asked, &visit, &below_site).await,
        }
    }

    /// Handles the path of a list of the pages.
    async fn list(&self, asked: &Asked<'_>, visit: &Visit, list: SiteList) -> Result<Response> {
        match site_list(visit, &self.caches, list).await? {
            Some(body) => {
                let answer = Answer::tagged(list.media_type(), Tagged::clone(&body), keeping(visit));
                let is_indexed = list.is_indexed();
                Ok(Answer { is_indexed, ..answer }.send(asked, &self.policy).await)
            }
            None => self.missing(asked, visit).await,
        }
    }

    /// Streams a part of the full text of all pages.
    async fn full(&self, asked: &Asked<'_>, visit: Visit, part: usize) -> Result<Response> {
        let visit = Arc::new(visit);
        let found = full_list(Arc::clone(&visit), Arc::clone(&self.caches), part).await?;
        let Some(pages) = found else { return self.missing(asked, &visit).await };
        let answer = Answer::new(TEXT, "", Keeping::Nobody).unindexed();
        let mut response = answer.send(asked, &self.policy).await;
        response.headers_mut().remove(header::CONTENT_LENGTH);
        if *asked.method != Method::HEAD {
            response.set_body(Body::from_bytes_stream(pages));
        }
        Ok(response)
    }

    /// Handles a path of a space: a page as HTML or Markdown, or a redirect.
    async fn content(&self, asked: &Asked<'_>, visit: &Visit, below_site: &[String]) -> Result<Response> {
        if visit.preview.is_some() && below_site.last().is_some_and(|name| name == COMPARE) {
            let page = asked.parameter("page");
            if let Some(page) = compare_page(visit, &self.caches, page.as_deref()).await? {
                return Ok(Answer::new(HTML, page, Keeping::Nobody)
                    .unindexed()
                    .send(asked, &self.policy)
                    .await);
            }
        }
        let place = visit.place()?;
        let (key, frame) = visit.named_frame(&self.caches.sites, &place).await?;
        let below_space = asked.below(&visit.found.base_path).unwrap_or_default();
        let below = below_space.join("/");
        let as_markdown = below.strip_suffix(".md").map(|path| if path == "index" { "" } else { path });
        if let Some(at) = frame.find(&below) {
            if frame.entries[at].kind == EntryKind::Document {
                if asked.prefers_markdown() {
                    return self.markdown(asked, visit, &frame.entries[at].id).await;
                }
                let space = SpaceKey::of(visit, (key, &place.space.id));
                let key = PageKey { space, page: frame.entries[at].id.clone(), versions: None };
                return self.html(asked, visit, key, at).await;
            }
            // A group has no page of its own and redirects to its first page.
            let first = frame.first_below(at);
            let addresses = visit.addresses(&place);
            let to = first.and_then(|at| addresses.of_entry(&addresses.space, &frame, at));
            if let Some(to) = to {
                return Ok(redirect(&to, &self.policy));
            }
        }
        if let Some(at) = as_markdown.and_then(|path| frame.find(path))
            && frame.entries[at].kind == EntryKind::Document
        {
            return self.markdown(asked, visit, &frame.entries[at].id).await;
        }
        if let Some(to) = moved_to(visit, &place, &frame, &below, asked.query).await? {
            return Ok(redirect(&to, &self.policy));
        }
        for path in [below_site, &below_space] {
            if let Some(to) = visit.redirect(&format!("/{}", encoded_segments(path))).await? {
                return Ok(redirect(&to, &self.policy));
            }
        }
        self.missing(asked, visit).await
    }

    /// A page of a space as HTML, from the cache if possible.
    async fn html(&self, asked: &Asked<'_>, visit: &Visit, key: PageKey, at: usize) -> Result<Response> {
        if visit.preview.is_some() {
            let page = document_page(visit, &self.caches, at).await?;
            return Ok(self.rendered(asked, &page, keeping(visit)).await);
        }
        let render = document_page(visit, &self.caches, at);
        let FoundPage { page, key } = find_page(visit, &self.caches.pages, key, render).await?;
        if visit.is_for_all
            && let (Some(key), Some(moment), Some(stranger)) = (key, visit.moment, StrangerKey::of(asked))
        {
            self.caches.keep_answered(stranger, moment, key);
        }
        Ok(self.rendered(asked, &page, keeping(visit)).await)
    }

    /// The response with a rendered page.
    async fn rendered(&self, asked: &Asked<'_>, page: &Rendered, keeping: Keeping) -> Response {
        let answer = Answer {
            encoded: if takes_gzip(asked.headers) { page.encoded().await } else { None },
            is_indexed: page.is_indexed && keeping != Keeping::Nobody,
            ..Answer::tagged(HTML, page.html.clone(), keeping)
        };
        answer.send(asked, &self.policy).await
    }

    async fn markdown(&self, asked: &Asked<'_>, visit: &Visit, page: &PageId) -> Result<Response> {
        let page = markdown_page(visit, &self.caches, visit.place()?, page).await?;
        let answer = Answer {
            encoded: if takes_gzip(asked.headers) { page.encoded().await } else { None },
            ..Answer::tagged(MARKDOWN, page.body.clone(), keeping(visit))
        };
        // Search engines should index the HTML page rather than its Markdown version.
        Ok(answer.unindexed().send(asked, &self.policy).await)
    }

    async fn missing(&self, asked: &Asked<'_>, visit: &Visit) -> Result<Response> {
        let page = missing_page(visit, &self.caches).await?;
        let answer = Answer::tagged(HTML, page.html, Keeping::Nobody);
        Ok(answer.with_status(StatusCode::NOT_FOUND).unindexed().send(asked, &self.policy).await)
    }

    fn refuse_method(&self, method: &Method) -> Response {
        let allow = HeaderValue::from_static("GET, HEAD, OPTIONS");
        let status =
            if method == Method::OPTIONS { StatusCode::NO_CONTENT } else { StatusCode::METHOD_NOT_ALLOWED };
        let mut response = Response::builder().status(status).header(header::ALLOW, allow).finish();
        answer::protect(response.headers_mut(), &self.policy);
        response
    }

    /// The response to a body that is too large or was aborted.
    fn refuse_size(&self) -> Response {
        let mut response = Response::builder().status(StatusCode::PAYLOAD_TOO_LARGE).finish();
        answer::protect(response.headers_mut(), &self.policy);
        response
    }

    /// The response to an error. It contains no details that are meant for operators only.
    async fn failed(&self, asked: &Asked<'_>, error: &Error) -> Response {
        let kind = error.kind();
        let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (title, text) = match kind {
            ErrorKind::NotFound => {
                ("Page not found", "This page does not exist, or you do not have access to it.".to_owned())
            }
            ErrorKind::Unauthenticated => {
                ("Not signed in", "Your sign-in to this site is not valid. Sign in again.".to_owned())
            }
            ErrorKind::Unavailable => {
                ("Not available", "The server is busy. Try again in a moment.".to_owned())
            }
            ErrorKind::Internal => {
                tracing::error!(?error, path = self.shown(asked), "failed to render page");
                ("Something went wrong", "The page could not be shown.".to_owned())
            }
            _ => ("Invalid request", error.to_string()),
        };
        let mut response = Answer::new(HTML, bare_page(title, &text), Keeping::Nobody)
            .with_status(status)
            .unindexed()
            .send(asked, &self.policy)
            .await;
        if kind == ErrorKind::Unauthenticated {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if kind == ErrorKind::Unavailable {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// The target of a redirect, with the rest of the requested path and the query appended.
fn moved(asked: &Asked<'_>, path: &str, to: String) -> String {
    let query = if asked.query.is_empty() { String::new() } else { format!("?{}", asked.query) };
    let rest = asked.path.strip_prefix(path).unwrap_or_default();
    let to = if rest.is_empty() { to } else { format!("{}{rest}", to.trim_end_matches('/')) };
    format!("{to}{query}")
}

/// The cache policy of a visit.
const fn keeping(visit: &Visit) -> Keeping {
    match (visit.is_for_all, &visit.preview) {
        (true, _) => Keeping::Anybody,
        (false, None) => Keeping::Visitor,
        (false, Some(_)) => Keeping::Nobody,
    }
}
