//! The news of a site as RSS: the pages that changed last, of those that the visitor sees.

use std::{fmt::Write as _, sync::Arc};

use docs_core::{Result, model::Timestamp};

use crate::{
    cache::Caches,
    frame::{Entry, Frame},
    visit::Visit,
    xml::escaped,
};

/// Most pages that are named.
const MAX_ITEMS: usize = 50;

/// A page that changed.
struct Item<'f> {
    at: Timestamp,
    page: &'f Entry,
    url: &'f str,
}

/// The pages of all spaces that changed last, the newest first.
///
/// # Errors
/// The platform's.
pub(crate) async fn feed(visit: &Visit, caches: &Caches) -> Result<String> {
    let base = visit.canonical_base(&visit.place()?);
    // Of a space no more than the items that can be shown: its frame is needed for these alone.
    let mut newest: Vec<(Timestamp, String, Arc<Frame>, usize)> = Vec::new();
    for place in visit.places() {
        let frame = visit.frame(caches, &place).await?;
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
        // Writing to a String cannot fail.
        let _ = write!(out, "<item><title>{}</title><link>{url}</link>", escaped(&item.page.title));
        // Each change of a page is news.
        let _ = write!(out, "<guid isPermaLink=\"false\">{url}#{}</guid><pubDate>{date}</pubDate>", item.at);
        if let Some(text) = item.page.about() {
            let _ = write!(out, "<description>{}</description>", escaped(text));
        }
        out.push_str("</item>\n");
    }
    out + "</channel></rss>\n"
}
