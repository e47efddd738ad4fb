//! The rules for crawlers, `robots.txt`.

use docs_core::{Result, model::SiteVisibility};

use crate::{assets::SITE_SEGMENT, visit::Visit};

/// Returns the `robots.txt` of a site.
///
/// # Errors
/// `NotFound` if the site was unpublished in the meantime.
pub(crate) fn robots(visit: &Visit) -> Result<String> {
    if visit.site.site.visibility != SiteVisibility::Public {
        return Ok("User-agent: *\nDisallow: /\n".to_owned());
    }
    let base = visit.canonical_base(&visit.place()?);
    let own = &visit.found.site_base_path;
    if visit.copy.is_some() {
        let map = if visit.has_address() { format!("Sitemap: {base}sitemap.xml\n") } else { String::new() };
        return Ok(format!("User-agent: *\nAllow: /\n{map}"));
    }
    Ok(format!("User-agent: *\nDisallow: {own}{SITE_SEGMENT}/search\nSitemap: {base}sitemap.xml\n"))
}
