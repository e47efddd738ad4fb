//! Conversion of Markdown pages. The text stays unchanged except for link targets.

use docs_markup::markdown::{LinkKind, Resolution, parse_page, rewrite_links};
use docs_ports::{ConvertError, ConvertedPage, Document};

use crate::{charset, html::normalize_title, link::PageLinks, text::MAX_CONVERTED_BYTES};

/// File name extensions of images, for detecting images in HTML.
const IMAGE_EXTENSIONS: [&str; 7] = [".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif"];

pub(crate) fn page(document: &Document) -> Result<ConvertedPage, ConvertError> {
    let text = charset::decode_text(document);
    // Text never contains NUL, while binary image and archive files do.
    if text.contains('\0') {
        return Err(ConvertError::Unreadable("must be Markdown text without NUL characters".to_owned()));
    }
    let mut links = PageLinks::new(document.url.as_deref());
    let markdown = match &document.url {
        None => text,
        Some(_) => resolve_links(&text, &mut links),
    };
    let title = {
        let page = parse_page(&markdown);
        page.heading.map(|heading| heading.title).or(page.front.fields.title)
    };
    let title = normalize_title(&title.unwrap_or_else(|| document.name.clone()));
    Ok(ConvertedPage {
        title,
        markdown,
        links: links.found,
        images: links.images,
        files: Vec::new(),
        warnings: Vec::new(),
    })
}

/// Resolves links, until the new destinations alone exceed the size of a page.
fn resolve_links(text: &str, links: &mut PageLinks) -> String {
    let mut written = 0;
    let new = rewrite_links(text, |site| {
        if written > MAX_CONVERTED_BYTES {
            return Resolution::Keep;
        }
        let destination = site.destination.as_str();
        let path = destination.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        let is_picture = IMAGE_EXTENSIONS.iter().any(|ending| path.ends_with(ending));
        let to = match site.kind {
            LinkKind::Image => links.image(destination),
            LinkKind::Html if is_picture => links.image(destination),
            LinkKind::Link | LinkKind::Html | LinkKind::Tag | LinkKind::Include => links.link(destination),
        };
        written += to.as_ref().map_or(0, String::len);
        to.map_or(Resolution::Keep, Resolution::To)
    });
    new.into_owned()
}
