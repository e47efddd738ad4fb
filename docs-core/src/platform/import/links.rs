//! Addresses of documents on the web: what is below what, and what is the same.

use crate::content::markdown::{Resolution, rewrite_links};

/// Endings of names that are pages of a site. Names with other endings are files.
const PAGE_ENDINGS: [&str; 9] = ["html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "md", "shtml"];

/// An absolute address, taken apart. A converter and the web write them normalised, so equal ones have equal parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Address<'a> {
    /// Scheme, host and port.
    origin: &'a str,
    path: &'a str,
    /// What it asks for, without the question mark.
    query: &'a str,
}

impl<'a> Address<'a> {
    pub(super) fn read(url: &'a str) -> Option<Self> {
        let url = url.split('#').next().unwrap_or_default();
        let host = url.find("://")? + 3;
        let end = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
        let (path, query) = url[end..].split_once('?').unwrap_or((&url[end..], ""));
        Some(Self { origin: &url[..end], path, query })
    }

    /// What two addresses of one page have in common: the path without a slash at its end and without `index.html`.
    pub(super) fn key(&self) -> String {
        let mark = if self.query.is_empty() { "" } else { "?" };
        format!("{}{}{mark}{}", self.origin, self.folded(), self.query)
    }

    fn folded(&self) -> &'a str {
        let path = self.path.trim_end_matches('/');
        match path.rsplit_once('/') {
            Some((folder, "index.html" | "index.htm" | "index.php")) => folder,
            _ => path,
        }
    }

    /// The parts of the path.
    pub(super) fn parts(&self) -> Vec<&'a str> {
        self.folded().split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Tells whether it can be a page: it asks for nothing in particular, and its name has no ending of a file.
    pub(super) fn is_page(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.query.is_empty() && ending(name).is_none_or(|ending| PAGE_ENDINGS.contains(&ending.as_str()))
    }
}

/// The part of a site that is imported: what is below the address that it begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Scope {
    origin: String,
    /// Without a slash at its end.
    folder: String,
}

impl Scope {
    /// The scope of a start page. A page whose name has an ending has nothing below it: its folder counts.
    pub(super) fn of(start: &Address<'_>) -> Self {
        let path = start.folded();
        let folder = match path.rsplit_once('/') {
            Some((folder, name)) if ending(name).is_some() => folder,
            _ => path,
        };
        Self { origin: start.origin.to_owned(), folder: folder.to_owned() }
    }

    pub(super) fn contains(&self, address: &Address<'_>) -> bool {
        let below = address.folded().strip_prefix(self.folder.as_str());
        address.origin == self.origin && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The last part of an address as a name: without its ending, and in words.
pub(super) fn name_of(url: &str) -> String {
    let parts = Address::read(url).map(|address| address.parts()).unwrap_or_default();
    let last = parts.last().copied().unwrap_or_default();
    let stem = match ending(last) {
        Some(ending) => &last[..last.len() - ending.len() - 1],
        None => last,
    };
    let words: Vec<&str> = stem.split(['-', '_']).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "Untitled".to_owned() } else { words.join(" ") }
}

/// The part of a path that a page has as its slug: the last one, without an ending.
pub(super) fn slug_of(part: &str) -> String {
    let stem = ending(part).map_or(part, |ending| &part[..part.len() - ending.len() - 1]);
    crate::content::slugify(stem)
}

/// A path as a destination: no character of it means anything in Markdown, HTML or front matter.
pub(super) fn encoded(path: &str) -> String {
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

/// Text as Markdown that shows it: one line, nothing in it means anything.
pub(super) fn escaped(text: &str) -> String {
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

/// Replaces destinations in a text, with or without a place on the page; those that are not known stay.
pub(super) fn rewritten(text: &str, known: impl Fn(&str) -> Option<String>) -> String {
    let new = rewrite_links(text, |site| {
        let (path, place) = match site.destination.split_once('#') {
            Some((path, place)) => (path, format!("#{place}")),
            None => (site.destination.as_str(), String::new()),
        };
        known(path).map_or(Resolution::Keep, |to| Resolution::To(format!("{to}{place}")))
    });
    new.into_owned()
}

/// The ending of a name in lower case: up to five letters behind the last dot. `v1.2` has none.
fn ending(name: &str) -> Option<String> {
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

    fn address(url: &str) -> Address<'_> {
        Address::read(url).unwrap()
    }

    #[test]
    fn addresses_of_one_page_have_one_key() {
        for same in
            ["https://a.test/x", "https://a.test/x/", "https://a.test/x/index.html", "https://a.test/x#y"]
        {
            assert_eq!(address(same).key(), "https://a.test/x", "{same}");
        }
        assert_eq!(address("https://a.test").key(), address("https://a.test/").key());
        assert_ne!(address("https://a.test/x").key(), address("https://a.test/X").key());
        assert_eq!(Address::read("mailto:a@b.c"), None);
    }

    #[test]
    fn a_scope_is_what_is_below_its_start() {
        let scope = |url| Scope::of(&address(url));
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
    fn files_are_no_pages() {
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
    fn a_name_is_made_of_the_last_part() {
        assert_eq!(name_of("https://a.test/docs/first-steps.html"), "first steps");
        assert_eq!(name_of("https://a.test/"), "Untitled");
        assert_eq!(slug_of("First_Steps.html"), "first_steps");
    }
}
