//! Resolution of link targets.

use std::collections::HashSet;

use docs_ports::FoundFile;
use percent_encoding::percent_decode_str;
use url::Url;

/// Maximum number of characters in a file name derived from a URL.
const MAX_NAME: usize = 200;
/// Maximum number of links and images reported for one page.
const MAX_FOUND: usize = 10_000;
/// Maximum total size in bytes of the links and images reported for one page.
const MAX_FOUND_BYTES: usize = 2_000_000;

/// Resolves the links of one page, and collects their targets.
#[derive(Debug, Default)]
pub(crate) struct PageLinks {
    /// The base URL of relative links. Without it, they stay relative.
    base: Option<Url>,
    pub(crate) found: Vec<String>,
    pub(crate) images: Vec<FoundFile>,
    seen: HashSet<String>,
    /// The total size of the reported links and images.
    bytes: usize,
}

impl PageLinks {
    pub(crate) fn new(url: Option<&str>) -> Self {
        let base = url.and_then(|url| Url::parse(url).ok()).filter(|url| !url.cannot_be_a_base());
        Self { base, ..Self::default() }
    }

    /// Applies `<base href>`.
    pub(crate) fn rebase(&mut self, href: &str) {
        if let Some(base) = self.base.as_ref().and_then(|base| base.join(href.trim()).ok()) {
            self.base = Some(base).filter(|url| matches!(url.scheme(), "http" | "https"));
        }
    }

    /// Returns the destination of a link, or `None` for unsupported ones such as scripts.
    pub(crate) fn link(&mut self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() {
            return None;
        }
        if href.starts_with('#') {
            return Some(escape_destination(href));
        }
        let url = match self.resolve_url(href) {
            ResolvedLink::Url(url) => url,
            ResolvedLink::Relative => return Some(escape_destination(href)),
            ResolvedLink::Nothing => return None,
        };
        if !matches!(url.scheme(), "http" | "https") {
            return matches!(url.scheme(), "mailto" | "tel").then(|| escape_destination(url.as_str()));
        }
        let mut page = url.clone();
        page.set_fragment(None);
        let page = escape_destination(page.as_str());
        if self.found.len() < MAX_FOUND && self.has_room(&page) && self.seen.insert(page.clone()) {
            self.bytes += page.len();
            self.found.push(page);
        }
        Some(escape_destination(url.as_str()))
    }

    /// Returns the destination of an image, or `None` if it is not an image URL.
    pub(crate) fn image(&mut self, source: &str) -> Option<String> {
        let source = source.trim();
        if source.is_empty() || source.starts_with('#') {
            return None;
        }
        let mut url = match self.resolve_url(source) {
            ResolvedLink::Url(url) if matches!(url.scheme(), "http" | "https") => url,
            ResolvedLink::Relative => return Some(escape_destination(source)),
            ResolvedLink::Url(_) | ResolvedLink::Nothing => return None,
        };
        url.set_fragment(None);
        let address = escape_destination(url.as_str());
        let is_new = self.images.len() < MAX_FOUND
            && self.has_room(&address)
            && self.seen.insert(format!("image {address}"));
        if is_new {
            self.bytes += address.len();
            self.images.push(FoundFile { name: file_name(&url), url: address.clone() });
        }
        Some(address)
    }

    /// Returns `true` if an address is within [`MAX_FOUND_BYTES`].
    const fn has_room(&self, address: &str) -> bool {
        self.bytes + address.len() <= MAX_FOUND_BYTES
    }

    fn resolve_url(&self, text: &str) -> ResolvedLink {
        match (&self.base, Url::parse(text)) {
            (_, Ok(url)) => ResolvedLink::Url(url),
            (Some(base), Err(_)) => base.join(text).map_or(ResolvedLink::Nothing, ResolvedLink::Url),
            (None, Err(url::ParseError::RelativeUrlWithoutBase)) if !text.starts_with("//") => {
                ResolvedLink::Relative
            }
            (None, Err(_)) => ResolvedLink::Nothing,
        }
    }
}

enum ResolvedLink {
    Url(Url),
    Relative,
    Nothing,
}

/// Escapes a destination so that Markdown and HTML parse all of it as the destination.
pub(crate) fn escape_destination(destination: &str) -> String {
    let mut out = String::with_capacity(destination.len());
    for c in destination.chars() {
        match c {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '"' => out.push_str("%22"),
            '\\' => out.push_str("%5C"),
            '`' => out.push_str("%60"),
            '|' => out.push_str("%7C"),
            '{' => out.push_str("%7B"),
            '}' => out.push_str("%7D"),
            '*' => out.push_str("%2A"),
            c if c.is_whitespace() => out.push_str("%20"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Returns a file name for a URL.
fn file_name(url: &Url) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let name = percent_decode_str(last).decode_utf8_lossy();
    let name: String =
        name.chars().filter(|c| !c.is_control() && !matches!(c, '/' | '\\')).take(MAX_NAME).collect();
    if name.trim().is_empty() { "image".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_beyond_their_total_size_are_not_reported() {
        let mut links = PageLinks::default();
        let long = "a".repeat(MAX_FOUND_BYTES / 4);
        for number in 0..6 {
            let address = format!("https://e.example/{number}/{long}");
            assert!(links.link(&address).is_some() && links.image(&address).is_some());
        }
        let sizes = links.found.iter().chain(links.images.iter().map(|image| &image.url)).map(String::len);
        let (reported, bytes) = (links.found.len() + links.images.len(), sizes.sum::<usize>());
        assert_eq!(reported, 3);
        assert!(bytes <= MAX_FOUND_BYTES, "{bytes} bytes");
    }

    #[test]
    fn file_names_longer_than_the_bound_are_cut() {
        let named = |characters: usize| {
            let mut links = PageLinks::default();
            assert!(links.image(&format!("https://e.example/{}", "ä".repeat(characters))).is_some());
            links.images[0].name.chars().count()
        };
        assert_eq!([MAX_NAME - 1, MAX_NAME, MAX_NAME + 1].map(named), [MAX_NAME - 1, MAX_NAME, MAX_NAME]);
    }
}
