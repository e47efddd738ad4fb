//! URLs of documents on the web: scopes, equality, and names derived from them.

use percent_encoding::percent_decode_str;
use url::{Position, Url};

use crate::{
    content::{
        markdown::{Resolution, rewrite_links},
        run_in_place,
    },
    model::web_url,
};

/// Extensions of web pages. Names with other extensions are files.
const PAGE_ENDINGS: [&str; 9] = ["html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "md", "shtml"];

/// Maximum size in bytes of the destinations that a rewrite adds to a text. A text with more exceeds the limit of a
/// page, so its further links are left unchanged.
pub(super) const MAX_REWRITTEN_BYTES: usize = 2_500_000;

/// A web URL without credentials, normalized so that equal URLs have equal components.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PageUrl(Url);

impl PageUrl {
    pub(super) fn parse(url: &str) -> Option<Self> {
        web_url(url).map(without_credentials).map(Self)
    }

    /// Returns the scheme, host and port.
    fn origin(&self) -> &str {
        &self.0[..Position::BeforePath]
    }

    /// Returns the query, without the question mark.
    fn query(&self) -> &str {
        self.0.query().unwrap_or_default()
    }

    /// Returns a key that is equal for all URLs of a page: the path without a trailing slash and without `index.html`.
    pub(super) fn key(&self) -> String {
        let mark = if self.query().is_empty() { "" } else { "?" };
        format!("{}{}{mark}{}", self.origin(), self.normalized_path(), self.query())
    }

    fn normalized_path(&self) -> &str {
        let path = self.0.path().trim_end_matches('/');
        match path.rsplit_once('/') {
            Some((folder, "index.html" | "index.htm" | "index.php")) => folder,
            _ => path,
        }
    }

    /// Returns the segments of the path.
    pub(super) fn parts(&self) -> Vec<&str> {
        self.normalized_path().split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Returns `true` if the URL may refer to a page: it has no query and no file extension.
    pub(super) fn is_page(&self) -> bool {
        let name = self.0.path().rsplit('/').next().unwrap_or_default();
        self.query().is_empty()
            && extension(name).is_none_or(|ending| PAGE_ENDINGS.contains(&ending.as_str()))
    }
}

/// The part of a site that is imported: everything below the start URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Scope {
    origin: String,
    /// Without a trailing slash.
    folder: String,
}

impl Scope {
    /// Creates the scope of a start page. For a page with an extension, it is the folder of the page.
    pub(super) fn from_start(start: &PageUrl) -> Self {
        let path = start.normalized_path();
        let folder = match path.rsplit_once('/') {
            Some((folder, name)) if extension(name).is_some() => folder,
            _ => path,
        };
        Self { origin: start.origin().to_owned(), folder: folder.to_owned() }
    }

    pub(super) fn contains(&self, address: &PageUrl) -> bool {
        let below = address.normalized_path().strip_prefix(self.folder.as_str());
        address.origin() == self.origin && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Removes the credentials of a web URL.
pub(super) fn without_credentials(mut url: Url) -> Url {
    // This only fails for URLs without a host, which cannot have credentials.
    let _ = url.set_password(None).and_then(|()| url.set_username(""));
    url
}

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

/// Returns the extension of a name in lower case: up to five letters or digits after the last dot, at least one of them
/// a letter. `v1.2` has none.
fn extension(name: &str) -> Option<String> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && (1..=5).contains(&ending.len())
        && ending.bytes().all(|b| b.is_ascii_alphanumeric())
        && ending.bytes().any(|b| b.is_ascii_alphabetic());
    is_one.then(|| ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MAX_PAGE_BYTES;

    fn address(url: &str) -> PageUrl {
        PageUrl::parse(url).unwrap()
    }

    #[test]
    fn equivalent_page_urls_have_the_same_key() {
        for same in
            ["https://a.test/x", "https://a.test/x/", "https://a.test/x/index.html", "https://a.test/x#y"]
        {
            assert_eq!(address(same).key(), "https://a.test/x", "{same}");
        }
        for same in ["HTTPS://A.test:443/x", "https://me:pw@a.test/x", "https://a.test/y/../x"] {
            assert_eq!(address(same).key(), "https://a.test/x", "{same}");
        }
        assert_eq!(address("https://bücher.test/ä").key(), "https://xn--bcher-kva.test/%C3%A4");
        assert_eq!(address("http://[0::1]:80/").key(), "http://[::1]");
        assert_eq!(address("https://a.test").key(), address("https://a.test/").key());
        assert_ne!(address("https://a.test/x").key(), address("https://a.test/X").key());
        assert_eq!(PageUrl::parse("mailto:a@b.c"), None);
    }

    #[test]
    fn scope_contains_only_urls_below_its_start() {
        let scope = |url| Scope::from_start(&address(url));
        for (start, inside, outside) in [
            ("https://a.test/docs", "https://a.test/docs/x", "https://a.test/docs2"),
            ("https://a.test/docs/", "https://a.test/docs", "https://a.test/blog"),
            ("https://a.test/docs/index.html", "https://a.test/docs/x.html", "https://a.test/"),
            ("https://a.test/docs/start.html", "https://a.test/docs/x.html", "https://a.test/x.html"),
            ("https://a.test", "https://a.test/anything/below", "http://a.test/"),
            ("https://a.test/v1.2", "https://a.test/v1.2/x", "https://a.test/v1.3"),
            ("https://a.test:8443/", "https://a.test:8443/x", "https://a.test/x"),
            ("https://a.test/", "https://a.test/x", "https://a.test.evil.test/x"),
        ] {
            assert!(scope(start).contains(&address(inside)), "{start} {inside}");
            assert!(!scope(start).contains(&address(outside)), "{start} {outside}");
        }
    }

    #[test]
    fn urls_of_files_are_not_pages() {
        for page in
            ["https://a.test/x", "https://a.test/x.html", "https://a.test/v1.2", "https://a.test/.well"]
        {
            assert!(address(page).is_page(), "{page}");
        }
        for file in [
            "https://a.test/x.pdf",
            "https://a.test/x.PNG",
            "https://a.test/x?print=1",
            "https://a.test/a.mp4",
        ] {
            assert!(!address(file).is_page(), "{file}");
        }
    }

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
