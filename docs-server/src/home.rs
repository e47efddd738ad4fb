//! The root of the server: a redirect to an organization's default site, and `robots.txt`.

use docs_core::{
    ErrorKind, Platform, Result,
    model::SiteVisibility,
    platform::{Visitor, own_paths},
    store::PageRequest,
};
use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};

/// Maximum number of organizations searched for default content.
const SEARCHED_ORGS: u32 = 100;

/// Redirects the root of the server to a published site, and serves `robots.txt`. `next` handles all other requests,
/// and the root if there is no such site.
#[derive(Clone, Debug)]
pub(crate) struct Home<E> {
    pub(crate) platform: Platform,
    /// Path of the base URL, without a trailing slash.
    pub(crate) path: String,
    pub(crate) next: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for Home<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let path = request.uri().path().trim_end_matches('/');
        // Search engines request it at the root of the host, regardless of the path of the base URL.
        if is_read && path.strip_prefix('/') == Some(own_paths::ROBOTS) {
            return Ok(robots(&self.platform, &self.path).await);
        }
        if !is_read || !(path.is_empty() || path == self.path) {
            return self.next.call(request).await;
        }
        match first_site(&self.platform).await {
            Ok(Some(url)) if HeaderValue::from_str(&url).is_ok() => Ok(Response::builder()
                .status(StatusCode::TEMPORARY_REDIRECT)
                .header(header::LOCATION, url)
                .header(header::CACHE_CONTROL, "no-store")
                .finish()),
            Ok(_) => self.next.call(request).await,
            Err(error) => {
                tracing::warn!(?error, "failed to find first site");
                self.next.call(request).await
            }
        }
    }
}

/// Returns `robots.txt` for the platform's host: it allows sites, disallows the API, and contains the sitemap of the
/// site that the root redirects to.
async fn robots(platform: &Platform, path: &str) -> Response {
    let map = match first_site(platform).await {
        Ok(Some(url)) => format!("Sitemap: {}/sitemap.xml\n", url.trim_end_matches('/')),
        Ok(None) => String::new(),
        Err(error) => {
            tracing::warn!(?error, "failed to find site of robots.txt");
            String::new()
        }
    };
    Response::builder()
        .content_type("text/plain; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-cache")
        .body(format!("User-agent: *\nDisallow: {path}/v1/\n{map}"))
}

/// Returns the URL of the first public site that is an organization's default content.
///
/// # Errors
/// Returns the errors of the platform.
pub(crate) async fn first_site(platform: &Platform) -> Result<Option<String>> {
    let page = PageRequest { limit: Some(SEARCHED_ORGS), ..PageRequest::default() };
    let anybody = Visitor::anonymous();
    for org in platform.as_platform().orgs().list(&page).await?.items {
        let Some(content) = org.default_content else { continue };
        match platform.as_visitor(&anybody).org(&org.id).site(&content.site).get().await {
            Ok(site) if site.visibility == SiteVisibility::Public => return Ok(site.urls.published),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
