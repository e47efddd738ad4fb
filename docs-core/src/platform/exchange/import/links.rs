//! Link destinations of imported documents, and names derived from URLs.

use percent_encoding::percent_decode_str;

use super::page_url::{PageUrl, extension};
use crate::content::{
    markdown::{Resolution, rewrite_links},
    run_in_place,
};

/// Maximum size in bytes of the destinations that a rewrite adds to a text. A text with more exceeds the limit of a
/// page, so its further links are left unchanged.
pub(super) const MAX_REWRITTEN_BYTES: usize = 2_500_000;

/// Derives a title from the last segment of a URL: the extension is removed and separators become spaces.
pub(super) fn title_from_url(url: &str) -> String {
    let address = PageUrl::parse(url);
    let last = address.as_ref().and_then(|address| address.parts().pop()).unwrap_or_default();
    title_from_file_name(&percent_decode_str(last).decode_utf8_lossy())
}

/// Derives the title of a page from a file name: the extension is removed and separators become spaces.
pub(super) fn title_from_file_name(last: &str) -> String {
    let stem = match extension(last) {
        Some(ending) => &last[..last.len() - ending.len() - 1],
        None => last,
    };
    let words: Vec<&str> = stem.split(['-', '_']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "Untitled".to_owned() } else { words.join(" ") }
}

/// Derives a slug from a path segment without its extension.
pub(super) fn slug_from_segment(part: &str) -> String {
    let stem = extension(part).map_or(part, |ending| &part[..part.len() - ending.len() - 1]);
    crate::content::slugify(stem)
}

/// Percent-encodes a path as a link destination, so that it needs no escaping in Markdown, HTML or front matter.
pub(super) fn percent_encode(path: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Escapes text as one line of literal Markdown.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '~' | '&' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Replaces known link destinations in `text`, with or without a fragment. Others are left unchanged, and all of a text
/// that is too long for a page. The work may take long, so the other tasks of the thread move to another one.
pub(super) fn rewrite_known_links(text: &str, known: impl Fn(&str) -> Option<String>) -> String {
    if text.len() > MAX_REWRITTEN_BYTES {
        return text.to_owned();
    }
    run_in_place(|| rewrite_links_within(text, known))
}

fn rewrite_links_within(text: &str, known: impl Fn(&str) -> Option<String>) -> String {
    let mut written = 0;
    let new = rewrite_links(text, |site| {
        if written > MAX_REWRITTEN_BYTES {
            return Resolution::Keep;
        }
        let (path, place) = match site.destination.split_once('#') {
            Some((path, place)) => (path, format!("#{place}")),
            None => (site.destination.as_str(), String::new()),
        };
        let Some(to) = known(path) else { return Resolution::Keep };
        let to = format!("{to}{place}");
        written += to.len();
        Resolution::To(to)
    });
    new.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MAX_PAGE_BYTES;

    #[test]
    fn destinations_of_a_text_are_bounded() {
        let to = "x".repeat(10_000);
        let text = "[a](b)\n\n".repeat(1_000);
        let new = rewrite_known_links(&text, |_| Some(to.clone()));
        assert!(new.len() > MAX_PAGE_BYTES, "it is no page: {} bytes", new.len());
        assert!(new.len() <= text.len() + MAX_REWRITTEN_BYTES + to.len(), "{} bytes", new.len());
        let long = format!("[a](b){}", "x".repeat(MAX_REWRITTEN_BYTES));
        assert_eq!(rewrite_known_links(&long, |_| Some(to.clone())), long);
    }

    #[test]
    fn titles_and_slugs_derive_from_the_last_path_segment() {
        assert_eq!(title_from_url("https://a.test/docs/first-steps.html"), "first steps");
        assert_eq!(
            title_from_url("https://a.test/erste%20Schritte-f%C3%BCr_alle"),
            "erste Schritte für alle"
        );
        assert_eq!(title_from_url("https://a.test/"), "Untitled");
        assert_eq!(title_from_file_name("What? 100% #1.html"), "What? 100% #1");
        assert_eq!(slug_from_segment("First_Steps.html"), "first_steps");
    }
}
