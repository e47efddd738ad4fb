//! The HTTP entry point: routes requests to published sites and all other requests to the next endpoint.

mod refusals;

use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Instant};

use bytes::Bytes;
use docs_core::{
    Actor, Error, ErrorKind, Platform, Result,
    model::{PageAction, PageId},
    platform::{AnonymousViewVersion, CacheBudget, own_paths},
};
use futures_util::FutureExt as _;
use poem::{
    Body, Endpoint, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};
use url::Url;

use crate::{
    assets::{Asset, SITE_SEGMENT},
    claims::{claims, encode_claims, is_claim},
    cookies::CookieScope,
    machine::{SiteList, full_list, markdown_page, mcp, robots, site_list},
    page::{
        AnonymousPageKey, Caches, FoundPage, PageKey, RenderedPage, SpaceKey, compare_page, document_page,
        find_page, list_page, not_found_page, results_as_json, search_page,
    },
    page_redirect::{html_redirect_url, redirect_url, site_redirect},
    page_tree::EntryKind,
    preview::{self, COMPARE, Preview},
    preview_route::{self, PreviewRoute},
    request::{Base, HostKind, SiteRequest},
    request_body::{self, BodyKind},
    response::{
        self, CachePolicy, HTML, JSON, MARKDOWN, SiteResponse, TEXT, accepts_gzip, redirect,
        redirect_with_status,
    },
    routes::{RootRoute, SiteRoute},
    site_cache::SiteStart,
    tagged_bytes::TaggedBytes,
    theme,
    visit::{Arrival, CacheScope, Visit},
};

/// Configuration of [`Sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteConfig {
    /// The maximum total size in bytes of the caches for page trees, rendered pages and lookups. 72 MiB by default,
    /// the share of sites in a [`CacheBudget`].
    pub cache_bytes: u64,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self { cache_bytes: CacheBudget::default().site_bytes }
    }
}

/// The published sites of a platform as web pages.
///
/// On the platform's own host, sites are served below `/sites/` of the base URL, which is the prefix of
/// [`urls.published`](docs_core::model::SiteUrls::published), and their previews below `/preview/`, the prefix of
/// [`urls.preview`](docs_core::model::SiteUrls::preview). On any other host, the site mounted there is served. All
/// other requests are passed on.
#[derive(Clone)]
pub struct Sites(Arc<SiteServer>);

/// State shared by all requests.
pub(crate) struct SiteServer {
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
    /// Creates the sites of a platform. The platform's [`base_url`](docs_core::platform::Builder::base_url) must be the
    /// public URL of the embedding application.
    ///
    /// # Errors
    /// `Invalid` if the base URL of the platform is malformed.
    pub fn new(platform: &Platform, config: SiteConfig) -> Result<Self> {
        let base = Url::parse(platform.urls().base());
        let base = base.map_err(|why| Error::invalid("base_url", format_args!("must be a URL: {why}")))?;
        let base = Base::new(base, platform.urls());
        Ok(Self(Arc::new(SiteServer {
            platform: platform.clone(),
            prefix: format!("{}/{}/", base.path(), own_paths::SITES),
            policy: response::content_security_policy(base.origin(), platform.urls().files_origin()),
            base,
            caches: Arc::new(Caches::new(config.cache_bytes)),
        })))
    }

    /// Returns `true` if a site may handle the request. On the platform's own host, the path determines this; on other
    /// hosts, the published sites do.
    #[must_use]
    pub fn can_handle(&self, request: &Request) -> bool {
        self.0.is_site_candidate(&SiteRequest::new(request, &self.0.base))
    }

    pub(crate) fn server(&self) -> &SiteServer {
        &self.0
    }

    /// Returns an endpoint that serves the sites and passes all other requests to `next`.
    #[must_use]
    pub fn with_fallback<E>(self, next: E) -> SitesEndpoint<E> {
        SitesEndpoint { sites: self, next }
    }
}

/// An endpoint that serves sites and passes all other requests on, see [`Sites::with_fallback`].
#[derive(Clone, Debug)]
pub struct SitesEndpoint<E> {
    sites: Sites,
    next: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for SitesEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let shared = &self.sites.0;
        let asked = SiteRequest::new(&request, &shared.base);
        let expected = BodyKind::for_request(&asked).filter(|_| shared.is_site_candidate(&asked));
        let answer = match expected {
            None => shared.serve(&asked, None).await,
            Some(expected) => {
                let Some(sent) = expected.read(&mut request).await else { return Ok(shared.refuse_size()) };
                let answer = shared.serve(&SiteRequest::new(&request, &shared.base), Some(&sent)).await;
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

impl SiteServer {
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
    fn is_site_candidate(&self, asked: &SiteRequest<'_>) -> bool {
        match asked.host {
            HostKind::Files => false,
            HostKind::Platform => asked.is_preview || asked.path.starts_with(&self.prefix),
            HostKind::Other => true,
        }
    }

    /// Handles and logs a request. A panic becomes a response without details.
    async fn serve(&self, asked: &SiteRequest<'_>, sent: Option<&Bytes>) -> Option<Response> {
        let since = Instant::now();
        let response = match AssertUnwindSafe(self.route(asked, sent)).catch_unwind().await {
            Ok(response) => response?,
            Err(_) => {
                tracing::error!(path = self.loggable_path(asked), "panic while rendering page");
                Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).finish()
            }
        };
        tracing::info!(
            http.method = %asked.method,
            http.path = self.loggable_path(asked),
            http.status = response.status().as_u16(),
            duration.ms = since.elapsed().as_secs_f64() * 1000.0,
            "page"
        );
        Some(response)
    }

    /// Returns the path of a request for the log: only the part that identifies the site, unless the response is
    /// public.
    fn loggable_path<'a>(&self, asked: &'a SiteRequest<'_>) -> &'a str {
        if asked.is_public() {
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
    async fn route(&self, asked: &SiteRequest<'_>, sent: Option<&Bytes>) -> Option<Response> {
        let is_taken = matches!(*asked.method, Method::GET | Method::HEAD) || sent.is_some();
        match asked.host {
            _ if !self.is_site_candidate(asked) => return None,
            HostKind::Files => return None,
            HostKind::Platform if !is_taken => return Some(self.refuse_method(asked.method)),
            // Another host may serve a site or be an alias of the platform.
            HostKind::Other if !is_taken => return None,
            HostKind::Platform | HostKind::Other => {}
        }
        match self.handle_visit(asked, sent).await {
            Ok(response) => Some(response),
            Err(error) if error.kind() == ErrorKind::NotFound && asked.host == HostKind::Other => None,
            Err(error) => Some(self.error_response(asked, &error).await),
        }
    }

    /// Returns the current [`AnonymousViewVersion`] for anonymous requests, whose responses may be cached.
    async fn store_version(&self, asked: &SiteRequest<'_>) -> Option<AnonymousViewVersion> {
        if !asked.is_anonymous() {
            return None;
        }
        // If the store cannot report its version, the request is served uncached and reports any store error itself.
        let moment = AnonymousViewVersion::current(&self.platform).await;
        moment.inspect_err(|error| tracing::debug!(?error, "failed to read store version")).ok().flatten()
    }

    /// Returns the part of a request that may identify a site. On the platform's own host, it includes the first
    /// segment.
    fn site_start(&self, asked: &SiteRequest<'_>, path: &str) -> SiteStart {
        let below = path.strip_prefix(&self.prefix).filter(|_| asked.host == HostKind::Platform);
        let end = below.map_or(0, |below| self.prefix.len() + below.find('/').unwrap_or(below.len()));
        let path = path.get(..end).unwrap_or_default();
        SiteStart { origin: (&*asked.origin).into(), path: path.into() }
    }

    /// Returns the cached response to an anonymous request, if it is still valid.
    async fn lookup(
        &self,
        asked: &SiteRequest<'_>,
        moment: Option<AnonymousViewVersion>,
    ) -> Option<Response> {
        let page = self.caches.anonymous_page(&AnonymousPageKey::from_request(asked)?, moment?)?;
        asked.mark_public();
        Some(self.respond(asked, &page, CachePolicy::Public).await)
    }

    async fn handle_visit(&self, asked: &SiteRequest<'_>, sent: Option<&Bytes>) -> Result<Response> {
        let (path, own) = match asked.path.split_once(&format!("/{SITE_SEGMENT}/")) {
            Some((path, own)) => (path, Some(own)),
            None => (asked.path.as_str(), None),
        };
        if let Some(asset) = own.and_then(Asset::find) {
            return Ok(self.send_asset(asked, asset).await);
        }
        let (path, behind) = preview_route::split_route(path);
        let moment = self.store_version(asked).await;
        if sent.is_none()
            && own.is_none()
            && let Some(response) = self.lookup(asked, moment).await
        {
            return Ok(response);
        }
        let kept = moment.map(|moment| CacheScope {
            moment,
            caches: &self.caches.sites,
            start: self.site_start(asked, path),
        });
        let visit = match Visit::resolve(&self.platform, asked, path, kept).await? {
            Arrival::Here(visit) => *visit,
            Arrival::Moved(to) => return Ok(redirect(&redirect_address(asked, path, to), &self.policy)),
            // An agent cannot follow a redirect to the sign-in.
            Arrival::SignIn(_) if sent.is_some() => {
                return Err(Error::new(ErrorKind::Unauthenticated, "a visitor token is required"));
            }
            Arrival::SignIn(to) => return Ok(redirect(&to, &self.policy)),
        };
        if sent.is_none()
            && let Some(response) = self.store_credentials(asked, &visit)
        {
            return Ok(response);
        }
        let visit = match (behind, sent) {
            (None, _) => visit,
            (Some(PreviewRoute::SignIn), Some(form)) => {
                return request_body::sign_in(asked, &visit, form, &self.policy).await;
            }
            (Some(PreviewRoute::SignIn), None) => return self.send_not_found(asked, &visit).await,
            (Some(PreviewRoute::Preview(version, path)), _) => {
                let Some(reader) = self.preview_reader(asked, &visit).await? else {
                    return Ok(request_body::sign_in_form(asked, &visit, &self.policy).await);
                };
                let space = visit.place()?.space.space.id.clone();
                visit.with_preview(Preview::open(&self.platform, reader, (&space, version, path)).await?)
            }
        };
        if visit.is_for_all {
            asked.mark_public();
        }
        match own {
            None => self.handle_path(asked, visit).await,
            Some(own) => match SiteRoute::find(own) {
                Some(SiteRoute::Mcp) => self.handle_mcp(asked, visit, sent).await,
                Some(route) => self.handle_site_route(asked, &visit, route, own).await,
                None => self.send_not_found(asked, &visit).await,
            },
        }
    }

    /// Returns the reader of the change requests and revisions of a visit, or `None` without sign-in.
    async fn preview_reader(&self, asked: &SiteRequest<'_>, visit: &Visit) -> Result<Option<Actor>> {
        match asked.is_preview {
            // The preview of the site includes them.
            true => Ok(Some(visit.actor().clone())),
            false => preview::authenticate_request(&self.platform, asked).await,
        }
    }

    async fn send_asset(&self, asked: &SiteRequest<'_>, asset: &Asset) -> Response {
        let answer = SiteResponse {
            encoded: asset.encoded.clone(),
            ..SiteResponse::from_tagged(asset.media_type, asset.body.clone(), CachePolicy::Immutable)
        };
        answer.send(asked, &self.policy).await
    }

    /// Handles a URL with a visitor token or claims: stores them in cookies and redirects to the URL without them.
    /// Returns `None` for any other URL.
    fn store_credentials(&self, asked: &SiteRequest<'_>, visit: &Visit) -> Option<Response> {
        let (token, has_claims) =
            (asked.parameter_token(), asked.parameters().any(|(name, _)| is_claim(&name)));
        if token.is_none() && !has_claims {
            return None;
        }
        let path = if asked.path.is_empty() { "/" } else { &asked.path };
        let query = asked.query_without(|name| name == asked.token_parameter() || is_claim(name));
        let mut response = redirect(&format!("{path}{query}"), &self.policy);
        let base = visit.found.site_base_path.trim_end_matches('/');
        let cookies = CookieScope::new(base, asked.is_secure);
        if let Some(token) = token {
            cookies.set_visitor_token(&mut response, &token);
        }
        if has_claims {
            cookies.set_claims(&mut response, &encode_claims(&claims(asked)));
        }
        Some(response)
    }

    /// Handles a message from an agent.
    async fn handle_mcp(
        &self,
        asked: &SiteRequest<'_>,
        visit: Visit,
        sent: Option<&Bytes>,
    ) -> Result<Response> {
        if !visit.site.customizations.site.offers(PageAction::Mcp) || visit.preview.is_some() {
            return self.send_not_found(asked, &visit).await;
        }
        let mut response = match sent {
            Some(sent) => mcp::handle_message(asked, visit, Arc::clone(&self.caches), sent.clone()).await?,
            // The server does not initiate messages, so `GET` is not supported.
            None => Response::builder()
                .status(StatusCode::METHOD_NOT_ALLOWED)
                .header(header::ALLOW, "POST, OPTIONS")
                .finish(),
        };
        response::set_security_headers(response.headers_mut(), &self.policy);
        Ok(response)
    }

    /// Handles a visitor route below `~site`.
    async fn handle_site_route(
        &self,
        asked: &SiteRequest<'_>,
        visit: &Visit,
        route: SiteRoute,
        name: &str,
    ) -> Result<Response> {
        let place = visit.place()?;
        let look = visit.customization(&place.space.id);
        let query = asked.parameter("q").unwrap_or_default();
        let answer = match route {
            SiteRoute::Search | SiteRoute::SearchResults if !visit.is_searched() => None,
            SiteRoute::Search => {
                let page = search_page(visit, &self.caches, &query).await?;
                Some(SiteResponse::new(HTML, page, CachePolicy::NoStore).without_indexing())
            }
            SiteRoute::SearchResults => {
                let results = results_as_json(visit, &query).await?;
                Some(SiteResponse::new(JSON, results, CachePolicy::NoStore).without_indexing())
            }
            SiteRoute::Icon => {
                let icon = theme::icon(look, visit.site_title(look));
                Some(SiteResponse::new("image/svg+xml", icon, cache_policy(visit)))
            }
            SiteRoute::StyleSheet => {
                let sheet = visit.site.style_sheet(&place.space.id);
                // A page rendered before a change of the settings references the previous style sheet.
                let is_this = sheet.name == name;
                let keeping =
                    if is_this && visit.is_for_all { CachePolicy::Immutable } else { cache_policy(visit) };
                Some(SiteResponse::from_tagged("text/css; charset=utf-8", sheet.body, keeping))
            }
            SiteRoute::PageList => list_page(visit, &self.caches, name)
                .await?
                .map(|page| SiteResponse::new(HTML, page, cache_policy(visit)).without_indexing()),
            SiteRoute::Mcp => None,
        };
        match answer {
            Some(answer) => Ok(answer.send(asked, &self.policy).await),
            None => self.send_not_found(asked, visit).await,
        }
    }

    async fn handle_path(&self, asked: &SiteRequest<'_>, visit: Visit) -> Result<Response> {
        let below_site = asked.segments_below(&visit.found.site_base_path).unwrap_or_default();
        match RootRoute::find(&below_site.join("/")) {
            Some(RootRoute::Robots) => {
                let answer = SiteResponse::new(TEXT, robots(&visit)?, cache_policy(&visit));
                Ok(answer.send(asked, &self.policy).await)
            }
            Some(RootRoute::List(list)) => self.send_list(asked, &visit, list).await,
            Some(RootRoute::FullText(part)) => self.send_full_text(asked, visit, part).await,
            None => self.handle_content_path(asked, &visit, &below_site).await,
        }
    }

    /// Handles the path of a page list.
    async fn send_list(&self, asked: &SiteRequest<'_>, visit: &Visit, list: SiteList) -> Result<Response> {
        match site_list(visit, &self.caches, list).await? {
            Some(body) => {
                let answer = SiteResponse::from_tagged(
                    list.media_type(),
                    TaggedBytes::clone(&body),
                    cache_policy(visit),
                );
                let is_indexed = list.is_indexed();
                Ok(SiteResponse { is_indexed, ..answer }.send(asked, &self.policy).await)
            }
            None => self.send_not_found(asked, visit).await,
        }
    }

    /// Streams a part of the full text of all pages.
    async fn send_full_text(&self, asked: &SiteRequest<'_>, visit: Visit, part: usize) -> Result<Response> {
        let visit = Arc::new(visit);
        let found = full_list(Arc::clone(&visit), Arc::clone(&self.caches), part).await?;
        let Some(pages) = found else { return self.send_not_found(asked, &visit).await };
        let answer = SiteResponse::new(TEXT, "", CachePolicy::NoStore).without_indexing();
        let mut response = answer.send(asked, &self.policy).await;
        response.headers_mut().remove(header::CONTENT_LENGTH);
        if *asked.method != Method::HEAD {
            response.set_body(Body::from_bytes_stream(pages));
        }
        Ok(response)
    }

    /// Handles a path of a space: a page as HTML or Markdown, or a redirect.
    async fn handle_content_path(
        &self,
        asked: &SiteRequest<'_>,
        visit: &Visit,
        below_site: &[String],
    ) -> Result<Response> {
        if visit.preview.is_some() && below_site.last().is_some_and(|name| name == COMPARE) {
            let page = asked.parameter("page");
            if let Some(page) = compare_page(visit, &self.caches, page.as_deref()).await? {
                return Ok(SiteResponse::new(HTML, page, CachePolicy::NoStore)
                    .without_indexing()
                    .send(asked, &self.policy)
                    .await);
            }
        }
        let place = visit.place()?;
        let (key, frame) = visit.keyed_page_tree(&self.caches.sites, &place).await?;
        let below_space = asked.segments_below(&visit.found.base_path).unwrap_or_default();
        let below = below_space.join("/");
        let as_markdown = below.strip_suffix(".md").map(|path| if path == "index" { "" } else { path });
        if let Some(at) = frame.find(&below) {
            if frame.entries[at].kind == EntryKind::Document {
                if asked.prefers_markdown() {
                    return self.send_markdown(asked, visit, &frame.entries[at].id).await;
                }
                let space = SpaceKey::new(visit, (key, &place.space.id));
                let key = PageKey { space, page: frame.entries[at].id.clone(), versions: None };
                return self.send_html(asked, visit, key, at).await;
            }
            // A group has no page and redirects to its first page.
            let first = frame.first_descendant(at);
            let addresses = visit.addresses(&place);
            let to = first.and_then(|at| addresses.entry_address(&addresses.space, &frame, at));
            if let Some(to) = to {
                return Ok(redirect(&to, &self.policy));
            }
        }
        if let Some(at) = as_markdown.and_then(|path| frame.find(path))
            && frame.entries[at].kind == EntryKind::Document
        {
            return self.send_markdown(asked, visit, &frame.entries[at].id).await;
        }
        if let Some(to) = redirect_url(visit, &place, &frame, &below, asked.query).await? {
            return Ok(redirect(&to, &self.policy));
        }
        if let Some((status, to)) = site_redirect(visit, [below_site, &below_space]).await? {
            return Ok(redirect_with_status(status, &to, &self.policy));
        }
        if let Some(to) = html_redirect_url(visit, &place, &frame, &below, asked.query).await? {
            return Ok(redirect(&to, &self.policy));
        }
        self.send_not_found(asked, visit).await
    }

    /// Returns a page of a space as HTML, from the cache if possible.
    async fn send_html(
        &self,
        asked: &SiteRequest<'_>,
        visit: &Visit,
        key: PageKey,
        at: usize,
    ) -> Result<Response> {
        if visit.preview.is_some() {
            let page = document_page(visit, &self.caches, at).await?;
            return Ok(self.respond(asked, &page, cache_policy(visit)).await);
        }
        let render = document_page(visit, &self.caches, at);
        let FoundPage { page, key } = find_page(visit, &self.caches.pages, key, render).await?;
        if visit.is_for_all
            && let (Some(key), Some(moment), Some(stranger)) =
                (key, visit.moment, AnonymousPageKey::from_request(asked))
        {
            self.caches.store_anonymous_page(stranger, moment, key);
        }
        Ok(self.respond(asked, &page, cache_policy(visit)).await)
    }

    /// Returns the response with a rendered page.
    async fn respond(&self, asked: &SiteRequest<'_>, page: &RenderedPage, keeping: CachePolicy) -> Response {
        let answer = SiteResponse {
            encoded: if accepts_gzip(asked.headers) { page.gzip_bytes(asked.site_key()).await } else { None },
            is_indexed: page.is_indexed && keeping != CachePolicy::NoStore,
            ..SiteResponse::from_tagged(HTML, page.html.clone(), keeping)
        };
        answer.send(asked, &self.policy).await
    }

    async fn send_markdown(&self, asked: &SiteRequest<'_>, visit: &Visit, page: &PageId) -> Result<Response> {
        let page = markdown_page(visit, &self.caches, visit.place()?, page).await?;
        let answer = SiteResponse {
            encoded: if accepts_gzip(asked.headers) { page.gzip_bytes(asked.site_key()).await } else { None },
            ..SiteResponse::from_tagged(MARKDOWN, page.body.clone(), cache_policy(visit))
        };
        // Search engines should index the HTML page rather than its Markdown version.
        Ok(answer.without_indexing().send(asked, &self.policy).await)
    }

    async fn send_not_found(&self, asked: &SiteRequest<'_>, visit: &Visit) -> Result<Response> {
        let page = not_found_page(visit, &self.caches).await?;
        let answer = SiteResponse::from_tagged(HTML, page.html, CachePolicy::NoStore);
        Ok(answer.with_status(StatusCode::NOT_FOUND).without_indexing().send(asked, &self.policy).await)
    }
}

/// Returns the target of a redirect, with the rest of the requested path and the query appended.
fn redirect_address(asked: &SiteRequest<'_>, path: &str, to: String) -> String {
    let query = if asked.query.is_empty() { String::new() } else { format!("?{}", asked.query) };
    let rest = asked.path.strip_prefix(path).unwrap_or_default();
    let to = if rest.is_empty() { to } else { format!("{}{rest}", to.trim_end_matches('/')) };
    format!("{to}{query}")
}

/// Returns the cache policy of a visit.
const fn cache_policy(visit: &Visit) -> CachePolicy {
    if visit.preview.is_some() || visit.found.preview.is_some() {
        return CachePolicy::NoStore;
    }
    if visit.is_for_all { CachePolicy::Public } else { CachePolicy::Private }
}
