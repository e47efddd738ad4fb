//! The RSS feed of a site: the most recently changed pages that the visitor can see.

use std::{cmp::Reverse, fmt::Write as _};

use docs_core::Result;

use super::{
    listed_spaces::ListedSpaces,
    summary::{MAX_FEED_ITEMS, RecentPage},
};
use crate::{page::Caches, visit::Visit, xml::escape};

/// Returns the RSS feed of the most recently changed pages of all spaces, newest first.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn feed(visit: &Visit, caches: &Caches) -> Result<String> {
    let base = visit.canonical_base(&visit.place()?);
    let spaces = ListedSpaces::new(visit).all(&caches.sites).await?;
    let own = spaces.iter().flat_map(|(place, summary)| summary.newest.iter().map(move |page| (page, place)));
    let mut newest: Vec<_> = own.collect();
    newest.sort_by_key(|(page, _)| Reverse(page.at));
    newest.truncate(MAX_FEED_ITEMS);
    let address = |path: &str, place: &str| visit.address(&base, &format!("{place}{path}"));
    let items = newest.into_iter().map(|(page, place)| (page, address(&page.path, &place.path)));
    Ok(channel(visit.title(), &base, items))
}

fn channel<'i>(title: &str, base: &str, items: impl Iterator<Item = (&'i RecentPage, String)>) -> String {
    let (title, base) = (escape(title), escape(base));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\"><channel>\n\
         <title>{title}</title><link>{base}</link><description>{title}</description>\n\
         <atom:link href=\"{base}rss.xml\" rel=\"self\" type=\"application/rss+xml\"/>\n"
    );
    for (page, url) in items {
        let url = escape(&url);
        let date = page.at.time().to_rfc2822();
        // Writing to a `String` cannot fail.
        let _ = write!(out, "<item><title>{}</title><link>{url}</link>", escape(&page.title));
        // Each change of a page is a new item.
        let _ = write!(out, "<guid isPermaLink=\"false\">{url}#{}</guid><pubDate>{date}</pubDate>", page.at);
        if let Some(text) = &page.about {
            let _ = write!(out, "<description>{}</description>", escape(text));
        }
        out.push_str("</item>\n");
    }
    out + "</channel></rss>\n"
}
