//! The sitemap of a site, `sitemap.xml`, and its parts.

use std::{fmt::Write as _, ops::Range};

use docs_core::{
    Result,
    model::{SiteVisibility, Timestamp},
};

use super::listed_spaces::ListedSpaces;
use crate::{page::Caches, visit::Visit, xml::escape};

/// The maximum number of URLs in one sitemap. The protocol allows more, but each sitemap is built on request.
const MAX_URLS: usize = 5_000;
const XML_DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAP_NAMESPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

/// Returns the sitemap of a site, or one part of it, numbered from 1. If the URLs do not fit into one sitemap, the
/// sitemap without a number is an index of the parts. Returns `None` if the part does not exist, the site is not
/// public, or the URL of an export is unknown.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn sitemap(visit: &Visit, caches: &Caches, part: Option<usize>) -> Result<Option<String>> {
    if visit.site.site.visibility != SiteVisibility::Public || !visit.has_address() {
        return Ok(None);
    }
    let base = visit.canonical_base(&visit.place()?);
    let spaces = ListedSpaces::new(visit).all(&caches.sites).await?;
    let mut window = Window::new(part, MAX_URLS, spaces.iter().map(|(_, summary)| summary.mapped).sum());
    let mut urls = Vec::new();
    for (place, summary) in spaces {
        let own = window.next(summary.mapped);
        if own.is_empty() {
            continue;
        }
        let frame = visit.page_tree(&caches.sites, &place).await?;
        for at in frame.sitemap_pages().skip(own.start).take(own.len()) {
            let below = format!("{}{}", place.path, frame.address(at));
            urls.push((visit.address(&base, &below), frame.entries[at].updated_at));
        }
    }
    Ok(window.render_sitemap(&base, &urls))
}

/// Selects the URLs of one part while iterating over the spaces.
#[derive(Clone, Copy, Debug)]
struct Window {
    part: Option<usize>,
    most: usize,
    /// The total number of URLs.
    total: usize,
    /// The number of URLs in the spaces visited so far.
    seen: usize,
}

impl Window {
    const fn new(part: Option<usize>, most: usize, total: usize) -> Self {
        Self { part, most, total, seen: 0 }
    }

    /// Returns `true` if the sitemap is an index of its parts.
    const fn is_index(&self) -> bool {
        self.part.is_none() && self.total > self.most
    }

    /// Advances to the next space, which has `count` URLs. Returns the range of its URLs that belong to the part.
    fn next(&mut self, count: usize) -> Range<usize> {
        let start = self.part.unwrap_or(1).checked_sub(1).and_then(|before| before.checked_mul(self.most));
        let (start, before) = (start.unwrap_or(usize::MAX), self.seen);
        self.seen += count;
        if self.is_index() {
            return 0..0;
        }
        let within = |at: usize| at.saturating_sub(before).min(count);
        within(start)..within(start.saturating_add(self.most))
    }

    /// Renders the sitemap with the URLs of the part and their modification times. Without a part, renders the sitemap
    /// index if there is more than one part.
    fn render_sitemap(&self, base: &str, urls: &[(String, Option<Timestamp>)]) -> Option<String> {
        if self.is_index() {
            return Some(sitemap_index(base, self.total.div_ceil(self.most)));
        }
        // A site without pages still has a sitemap.
        if self.part.is_some() && urls.is_empty() {
            return None;
        }
        let mut out = format!("{XML_DECLARATION}<urlset {SITEMAP_NAMESPACE}>\n");
        for (url, at) in urls {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "<url><loc>{}</loc>", escape(url));
            if let Some(at) = at {
                let _ = write!(out, "<lastmod>{at}</lastmod>");
            }
            out.push_str("</url>\n");
        }
        Some(out + "</urlset>\n")
    }
}

/// Renders a sitemap index.
fn sitemap_index(base: &str, parts: usize) -> String {
    let mut out = format!("{XML_DECLARATION}<sitemapindex {SITEMAP_NAMESPACE}>\n");
    for part in 1..=parts {
        let _ = writeln!(out, "<sitemap><loc>{}sitemap-{part}.xml</loc></sitemap>", escape(base));
    }
    out + "</sitemapindex>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_sitemap_becomes_an_index_of_parts() {
        let urls: Vec<_> = (0..5).map(|at| (format!("https://a.test/{at}?&"), None)).collect();
        let of = |part, most| {
            let mut window = Window::new(part, most, urls.len());
            // Spaces with two, one and two pages.
            let spaces = [&urls[..2], &urls[2..3], &urls[3..]];
            let own = spaces.iter().flat_map(|space| space[window.next(space.len())].iter().cloned());
            let own: Vec<_> = own.collect();
            window.render_sitemap("https://a.test/", &own)
        };
        let whole = of(None, 5).expect("a map");
        assert_eq!(whole.matches("<url><loc>").count(), 5);
        assert!(whole.contains("https://a.test/0?&amp;</loc>"), "{whole}");
        let index = of(None, 2).expect("a map");
        assert!(index.contains("<sitemapindex"), "{index}");
        let named: Vec<_> =
            (1..=3).map(|part| format!("<loc>https://a.test/sitemap-{part}.xml</loc>")).collect();
        assert!(named.iter().all(|part| index.contains(part)) && !index.contains("sitemap-4"), "{index}");
        let parts: Vec<_> = (1..=3).filter_map(|part| of(Some(part), 2)).collect();
        let counts: Vec<_> = parts.iter().map(|part| part.matches("<url><loc>").count()).collect();
        assert_eq!(counts, [2, 2, 1], "each address is in one part");
        assert_eq!((of(Some(0), 2), of(Some(4), 2)), (None, None));
        let empty = Window::new(None, 2, 0).render_sitemap("https://a.test/", &[]);
        assert!(empty.is_some_and(|map| map.contains("<urlset")));
    }
}
