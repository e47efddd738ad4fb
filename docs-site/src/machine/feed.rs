//! The news of a site as RSS: the pages that changed last, of those that the visitor sees.

use std::fmt::Write as _;

use docs_core::{Result, model::Timestamp};

use crate::{cache::Caches, visit::Visit, xml::escaped};

/// Most pages that are named.
const MAX_ITEMS: usize = 50;

/// A page that changed.
struct Item {
    at: Timestamp,
    title: String,
    description: Option<String>,
    url: String,
}

/// The pages of all spaces that changed last, the newest first.
///
/// # Errors
/// The platform's.
pub(crate) async fn feed(visit: &Visit, caches: &Caches) -> Result<String> {
    let base = visit.canonical_base(&visit.place()?);
    let mut items: Vec<Item> = Vec::new();
    for place in visit.places() {
        let frame = visit.frame(caches, &place).await?;
        for page in frame.listed() {
            let (page, path) = (&frame.entries[page], frame.address(page));
            let Some(at) = page.updated_at else { continue };
            items.push(Item {
                at,
                title: page.title.clone(),
                description: page.about().map(str::to_owned),
                url: visit.address(&base, &format!("{}{path}", place.path)),
            });
        }
        // Of many spaces no more is kept than is shown.
        items.sort_by_key(|item| std::cmp::Reverse(item.at));
        items.truncate(MAX_ITEMS);
    }
    Ok(channel(visit.title(), &base, &items))
}

fn channel(title: &str, base: &str, items: &[Item]) -> String {
    let (title, base) = (escaped(title), escaped(base));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\"><channel>\n\
         <title>{title}</title><link>{base}</link><description>{title}</description>\n\
         <atom:link href=\"{base}rss.xml\" rel=\"self\" type=\"application/rss+xml\"/>\n"
    );
    for item in items {
        let url = escaped(&item.url);
        let date = item.at.time().to_rfc2822();
        // Writing to a String cannot fail.
        let _ = write!(out, "<item><title>{}</title><link>{url}</link>", escaped(&item.title));
        // Each change of a page is news.
        let _ = write!(out, "<guid isPermaLink=\"false\">{url}#{}</guid><pubDate>{date}</pubDate>", item.at);
        if let Some(text) = &item.description {
            let _ = write!(out, "<description>{}</description>", escaped(text));
        }
        out.push_str("</item>\n");
    }
    out + "</channel></rss>\n"
}
