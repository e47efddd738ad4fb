//! What search engines read: `robots.txt` and `sitemap.xml`.

use std::fmt::Write as _;

use docs_core::{Result, model::SiteVisibility};

use crate::{assets::OWN, cache::Caches, visit::Visit, xml::escaped};

/// Most addresses of one map, as the protocol has it.
const MAX_URLS: usize = 50_000;
const START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SCHEMA: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// What search engines may read of a site.
///
/// # Errors
/// `NotFound` where the site was taken back just now.
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
    Ok(format!("User-agent: *\nDisallow: {own}{OWN}/search\nSitemap: {base}sitemap.xml\n"))
}

/// The map of a site, or a part of it from 1: where there are more addresses than one map may have, the map without a
/// number names its parts. `None` where there is none, as of a site that is not for search engines, or of a copy of
/// which nobody knows where it will be.
///
/// # Errors
/// The platform's.
pub(crate) async fn sitemap(visit: &Visit, caches: &Caches, part: Option<usize>) -> Result<Option<String>> {
    if visit.site.site.visibility != SiteVisibility::Public || !visit.has_address() {
        return Ok(None);
    }
    let base = visit.canonical_base(&visit.place()?);
    let skipped = part.unwrap_or(1).saturating_sub(1).saturating_mul(MAX_URLS);
    let (mut all, mut listed) = (0_usize, 0_usize);
    let mut out = format!("{START}<urlset {SCHEMA}>\n");
    for place in visit.places() {
        let frame = visit.frame(caches, &place).await?;
        for at in frame.documents() {
            let page = &frame.entries[at];
            if page.is_hidden || page.is_unindexed {
                continue;
            }
            all += 1;
            if all <= skipped || listed >= MAX_URLS {
                continue;
            }
            listed += 1;
            let path = frame.address(at);
            let url = escaped(&visit.address(&base, &format!("{}{path}", place.path)));
            // Writing to a String cannot fail.
            let _ = write!(out, "<url><loc>{url}</loc>");
            if let Some(time) = page.updated_at {
                let _ = write!(out, "<lastmod>{time}</lastmod>");
            }
            out.push_str("</url>\n");
        }
    }
    out.push_str("</urlset>\n");
    Ok(match part {
        None if all > MAX_URLS => Some(index(&base, all.div_ceil(MAX_URLS))),
        Some(0) => None,
        Some(_) if listed == 0 => None,
        _ => Some(out),
    })
}

/// A map that names others.
fn index(base: &str, parts: usize) -> String {
    let mut out = format!("{START}<sitemapindex {SCHEMA}>\n");
    for part in 1..=parts {
        let _ = writeln!(out, "<sitemap><loc>{}sitemap-{part}.xml</loc></sitemap>", escaped(base));
    }
    out + "</sitemapindex>\n"
}
