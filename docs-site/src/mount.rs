//! Sites before the other endpoints of a host.

use std::{fmt, sync::Arc};

use docs_core::{Error, ErrorKind, Platform, Result};
use poem::{
    Body, Endpoint, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};
use url::Url;

use crate::{
    address::encoded,
    answer::{self, Answer, HTML, JSON, Keeping, MARKDOWN, TEXT, XML, keep_token, redirect},
    assets::{Asset, OWN, hashed},
    cache::{Caches, PageKey, Tagged},
    frame::EntryKind,
    machine::{full_list, page_markdown, robots, short_list, sitemap},
    page::{Scene, bare_page, document_page, missing_page, results_as_json, search_page},
    request::{Asked, Base, HostKind, TOKEN_PARAMETER},
    theme,
    visit::{Arrival, Visit},
};

/// What a host may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteConfig {
    /// Most bytes of content and answers that are kept between requests.
    pub cache_bytes: u64,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self { cache_bytes: 64 << 20 }
    }
}

/// The published sites of a platform as web pages.
///
/// On the platform's own host they are where [`urls.published`](docs_core::model::SiteUrls::published) says: below
/// `/sites/` of its base address. On any other host they are what is mounted there. Nothing else is answered.
#[derive(Clone)]
pub struct Sites(Arc<Shared>);

struct Shared {
    platform: Platform,
    base: Base,
    /// The path that sites stand below on the platform's host.
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
    /// The sites of a platform, whose [`base_url`](docs_core::platform::Builder::base_url) is the address under which
    /// others reach the host.
    ///
    /// # Errors
    /// `Invalid` for a platform whose base address is none.
    pub fn new(platform: &Platform, config: SiteConfig) -> Result<Self> {
        let base = Url::parse(platform.urls().base());
        let base =
            base.map_err(|why| Error::invalid("base_url", format_args!("must be an address: {why}")))?;
        let base = Base::new(base);
        Ok(Self(Arc::new(Shared {
            platform: platform.clone(),
            prefix: format!("{}/sites/", base.path()),
            policy: answer::policy(base.origin()),
            base,
            caches: Arc::new(Caches::new(config.cache_bytes)),
        })))
    }

    /// The sites, and an endpoint for all that is none.
    #[must_use]
    pub fn before<E>(self, next: E) -> BeforeSites<E> {
        BeforeSites { sites: self, next }
    }
}

/// Sites, and an endpoint for all that is none: see [`Sites::before`].
#[derive(Clone, Debug)]
pub struct BeforeSites<E> {
    sites: Sites,
    next: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for BeforeSites<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let shared = &self.sites.0;
        let answer = shared.answer(&Asked::of(&request, &shared.base)).await;
        match answer {
            Some(response) => Ok(response),
            None => self.next.call(request).await,
        }
    }
}

impl Shared {
    /// The answer to a request; `None` where it is about no site.
    async fn answer(&self, asked: &Asked<'_>) -> Option<Response> {
        let is_read = matches!(*asked.method, Method::GET | Method::HEAD);
        match asked.host {
            HostKind::Platform if !asked.path.starts_with(&self.prefix) => return None,
            HostKind::Platform if !is_read => return Some(self.refuse_method(asked.method)),
            // What stands on a host of its own may be a site or the platform under another name.
            HostKind::Other if !is_read => return None,
            HostKind::Platform | HostKind::Other => {}
        }
        match self.visited(asked).await {
            Ok(response) => Some(response),
            Err(error) if error.kind() == ErrorKind::NotFound && asked.host == HostKind::Other => None,
            Err(error) => Some(self.failed(asked, &error).await),
        }
    }

    async fn visited(&self, asked: &Asked<'_>) -> Result<Response> {
        let (path, own) = match asked.path.split_once(&format!("/{OWN}/")) {
            Some((path, own)) => (path, Some(own)),
            None => (asked.path.as_str(), None),
        };
        if let Some(asset) = own.and_then(Asset::find) {
            let answer = Answer::tagged(asset.media_type, asset.body.clone(), Keeping::ForGood);
            return Ok(answer.send(asked, &self.policy).await);
        }
        let visit = match Visit::of(&self.platform, asked, path).await? {
            Arrival::Here(visit) => *visit,
            Arrival::Moved(to) => {
                let query = if asked.query.is_empty() { String::new() } else { format!("?{}", asked.query) };
                return Ok(redirect(&format!("{to}{query}"), &self.policy));
            }
            Arrival::SignIn(to) => return Ok(redirect(&to, &self.policy)),
        };
        if let Some(token) = asked.handed_token() {
            let to = format!(
                "{}{}",
                if asked.path.is_empty() { "/" } else { &asked.path },
                asked.query_without(TOKEN_PARAMETER)
            );
            let mut response = redirect(&to, &self.policy);
            let base = visit.content.site_base_path.trim_end_matches('/');
            keep_token(&mut response, &token, if base.is_empty() { "/" } else { base }, asked);
            return Ok(response);
        }
        match own {
            Some(own) => self.own(asked, &visit, own).await,
            None => self.page(asked, visit).await,
        }
    }

    /// What stands below a site and is no page.
    async fn own(&self, asked: &Asked<'_>, visit: &Visit, name: &str) -> Result<Response> {
        let place = visit.place()?;
        let looks = &visit.site.customizations;
        let look = looks.site_spaces.get(&place.space.id).unwrap_or(&looks.site);
        let query = asked.parameter("q").unwrap_or_default();
        let answer = match name {
            "search" => Answer::new(HTML, search_page(visit, &self.caches, &query).await?, Keeping::Nobody)
                .unindexed(),
            "search.json" => {
                Answer::new(JSON, results_as_json(visit, &query).await?, Keeping::Nobody).unindexed()
            }
            "icon.svg" => {
                let title = look.title.as_ref().unwrap_or(&visit.site.site.title);
                Answer::new("image/svg+xml", theme::icon(look, title.as_str()), keeping(visit))
            }
            name if name.starts_with("theme.") => {
                let css = Tagged::new(theme::style_sheet(look));
                // A page that was sent before the settings changed names another one.
                let is_this = hashed("theme", "css", &css) == name;
                let keeping = if is_this && visit.is_for_all { Keeping::ForGood } else { keeping(visit) };
                Answer::tagged("text/css; charset=utf-8", css, keeping)
            }
            _ => return self.missing(asked, visit).await,
        };
        Ok(answer.send(asked, &self.policy).await)
    }

    /// What stands at a path of a site.
    async fn page(&self, asked: &Asked<'_>, visit: Visit) -> Result<Response> {
        let below_site = asked.below(&visit.content.site_base_path).unwrap_or_default();
        let names: Vec<&str> = below_site.iter().map(String::as_str).collect();
        let numbered = |name: &str| name.strip_prefix("sitemap-")?.strip_suffix(".xml")?.parse().ok();
        let map = match names.as_slice() {
            ["sitemap.xml"] => Some(None),
            [name] => numbered(name).map(Some),
            _ => None,
        };
        let full = match names.as_slice() {
            ["llms-full.txt"] => Some(1),
            ["llms-full.txt", part] => part.parse().ok(),
            _ => None,
        };
        if let Some(part) = full {
            return self.full(asked, visit, part).await;
        }
        let answer = match (names.as_slice(), map) {
            (_, Some(part)) => {
                sitemap(&visit, &self.caches, part).await?.map(|map| Answer::new(XML, map, keeping(&visit)))
            }
            (["robots.txt"], _) => Some(Answer::new(TEXT, robots(&visit)?, keeping(&visit))),
            (["llms.txt"], _) => {
                Some(Answer::new(TEXT, short_list(&visit, &self.caches).await?, keeping(&visit)).unindexed())
            }
            _ => return self.content(asked, &visit, &below_site).await,
        };
        match answer {
            Some(answer) => Ok(answer.send(asked, &self.policy).await),
            None => self.missing(asked, &visit).await,
        }
    }

    /// A part of the text of all pages, as it is read.
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

    /// A page of the space, as HTML or Markdown, or where something else leads.
    async fn content(&self, asked: &Asked<'_>, visit: &Visit, below_site: &[String]) -> Result<Response> {
        let place = visit.place()?;
        let (key, frame) = visit.named_frame(&self.caches, &place).await?;
        let below = asked.below(&visit.content.base_path).unwrap_or_default().join("/");
        let as_markdown = below.strip_suffix(".md").map(|path| if path == "index" { "" } else { path });
        if let Some(at) = frame.find(&below) {
            if frame.entries[at].kind == EntryKind::Document {
                if asked.prefers_markdown() {
                    return self.markdown(asked, visit, at).await;
                }
                let key = PageKey {
                    frame: key,
                    page: frame.entries[at].id.clone(),
                    site: visit.site_hash,
                    base: visit.content.base_path.as_str().into(),
                };
                return self.html(asked, visit, key, at).await;
            }
            // A group has no page of its own: its first one stands for it.
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
            return self.markdown(asked, visit, at).await;
        }
        for path in [below_site.join("/"), below] {
            if let Some(to) = visit.redirect(&format!("/{}", encoded(&path))).await? {
                return Ok(redirect(&to, &self.policy));
            }
        }
        self.missing(asked, visit).await
    }

    /// An entry of the content of a space, as HTML.
    async fn html(&self, asked: &Asked<'_>, visit: &Visit, key: PageKey, at: usize) -> Result<Response> {
        let page = match self.caches.pages.get(&key) {
            Some(page) => page,
            None => {
                let page = Arc::new(document_page(visit, &self.caches, at).await?);
                self.caches.pages.insert(key, Arc::clone(&page));
                page
            }
        };
        let answer = Answer {
            encoded: page.encoded.clone(),
            is_indexed: page.is_indexed,
            ..Answer::tagged(HTML, page.html.clone(), keeping(visit))
        };
        Ok(answer.send(asked, &self.policy).await)
    }

    async fn markdown(&self, asked: &Asked<'_>, visit: &Visit, at: usize) -> Result<Response> {
        let mut scene = Scene::of(visit, &self.caches).await?;
        let id = scene.frame.entries.get(at).map(|entry| entry.id.clone());
        let id = id.ok_or_else(|| Error::not_found("page"))?;
        let text = page_markdown(&mut scene, &self.caches, &id).await?;
        // Search engines are to list the page, not its other form.
        Ok(Answer::new(MARKDOWN, text, keeping(visit)).unindexed().send(asked, &self.policy).await)
    }

    async fn missing(&self, asked: &Asked<'_>, visit: &Visit) -> Result<Response> {
        let page = missing_page(visit, &self.caches).await?;
        let answer = Answer { encoded: page.encoded, ..Answer::tagged(HTML, page.html, Keeping::Nobody) };
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

    /// The answer to what went wrong, which tells of nothing that only operators are to know.
    async fn failed(&self, asked: &Asked<'_>, error: &Error) -> Response {
        let kind = error.kind();
        let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let (title, text) = match kind {
            ErrorKind::NotFound => {
                ("Page not found", "Nothing is published at this address, or it is not for you.".to_owned())
            }
            ErrorKind::Unauthenticated => {
                ("Not signed in", "The sign-in to this site is not valid. Sign in again.".to_owned())
            }
            ErrorKind::Unavailable => {
                ("Not available", "The server is busy. Try again in a moment.".to_owned())
            }
            ErrorKind::Internal => {
                tracing::error!(?error, path = asked.path, "a page could not be shown");
                ("Something went wrong", "The page could not be shown.".to_owned())
            }
            _ => ("The request cannot be answered", error.to_string()),
        };
        let mut response = Answer::new(HTML, bare_page(title, &text), Keeping::Nobody)
            .with_status(status)
            .unindexed()
            .send(asked, &self.policy)
            .await;
        if kind == ErrorKind::Unavailable {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// Who may keep what a visit is told.
const fn keeping(visit: &Visit) -> Keeping {
    if visit.is_for_all { Keeping::Anybody } else { Keeping::Visitor }
}
