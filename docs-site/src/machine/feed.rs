//! The RSS feed of a site: the most recently changed pages that the visitor can see.

use std::{fmt::Write as _, sync::Arc};

use docs_core::{Result, model::Timestamp};

use crate::{
    frame::{Entry, Frame},
    page::Caches,
    visit::Visit,
    xml::escaped,
};

/// The maximum number of items of the feed.
const MAX_ITEMS: usize = 50;

struct Item<'f> {
    at: Timestamp,
    page: &'f Entry,
    url: &'f str,
}

/// The RSS feed of the most recently changed pages of all spaces, newest first.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn feed(visit: &Visit, caches: &Caches) -> Result<String> {
    let base = visit.canonical_base(&visit.place()?);
    // At most `MAX_ITEMS` pages per space, so that page trees without shown items can be freed.
    let mut newest: Vec<(Timestamp, String, Arc<Frame>, usize)> = Vec::new();
    for place in visit.places() {
        let frame = visit.frame(&caches.sites, &place).await?;
        let mut own: Vec<(Timestamp, usize)> =
            frame.listed().filter_map(|page| Some((frame.entries[page].updated_at?, page))).collect();
        own.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let own = own.into_iter().take(MAX_ITEMS);
        newest.extend(own.map(|(at, page)| {
            let url = visit.address(&base, &format!("{}{}", place.path, frame.address(page)));
            (at, url, Arc::clone(&frame), page)
        }));
        newest.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        newest.truncate(MAX_ITEMS);
    }
    let items =
        newest.iter().map(|(at, url, frame, page)| Item { at: *at, page: &frame.entries[*page], url });
    Ok(channel(visit.title(), &base, items))
}

fn channel<'i>(title: &str, base: &str, items: impl Iterator<Item = Item<'i>>) -> String {
    let (title, base) = (escaped(title), escaped(base));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\"><channel>\n\
         <title>{title}</title><link>{base}</link><description>{title}</description>\n\
         <atom:link href=\"{base}rss.xml\" rel=\"self\" type=\"application/rss+xml\"/>\n"
    );
    for item in items {
        let url = escaped(item.url);
        let date = item.at.time().to_rfc2822();
        // Writing to a `String` cannot fail.
        let _ = write!(out, "<item><title>{}</title><link>{url}</link>", escaped(&item.page.title));
        // Each change of a page is a new item.
        let _ = write!(out, "<guid isPermaLink=\"false\">{url}#{}</guid><pubDate>{date}</pubDate>", item.at);
        if let Some(text) = item.page.about() {
            let _ = write!(out, "<description>{}</description>", escaped(text));
        }
        out.push_str("</item>\n");
    }
    out + "</channel></rss>\n"
}
