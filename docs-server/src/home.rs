//! What the root of the server leads to: the site that an organization begins with.

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

/// Organizations that are asked for their default content.
const ORGS_ASKED: u32 = 100;

/// Leads from the root of the server to a published site, and tells search engines what they may read; everything else
/// is answered by `next`, and the root too where there is no such site.
#[derive(Clone, Debug)]
pub(crate) struct Home<E> {
    pub(crate) platform: Platform,
    /// The path of the address under which others reach the server, without a slash at its end.
    pub(crate) path: String,
    pub(crate) next: E,
}

impl<E: Endpoint<Output = Response>> Endpoint for Home<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let path = request.uri().path().trim_end_matches('/');
        // Search engines ask for it at the root of a host, whatever the path of the platform.
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
                tracing::warn!(?error, "the site that the root leads to cannot be found");
                self.next.call(request).await
            }
        }
    }
}

/// What search engines may read of the platform's host: sites but not the API, with the map of the site that the root
/// leads to.
async fn robots(platform: &Platform, path: &str) -> Response {
    let map = match first_site(platform).await {
        Ok(Some(url)) => format!("Sitemap: {}/sitemap.xml\n", url.trim_end_matches('/')),
        Ok(None) => String::new(),
        Err(error) => {
            tracing::warn!(?error, "the site that robots.txt names cannot be found");
            String::new()
        }
    };
    Response::builder()
        .content_type("text/plain; charset=utf-8")
        .header(header::CACHE_CONTROL, "no-cache")
        .body(format!("User-agent: *\nDisallow: {path}/v1/\n{map}"))
}

/// The address of the first site that an organization has as its default content and that is for everybody.
///
/// # Errors
/// The platform's.
pub(crate) async fn first_site(platform: &Platform) -> Result<Option<String>> {
    let page = PageRequest { limit: Some(ORGS_ASKED), ..PageRequest::default() };
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
