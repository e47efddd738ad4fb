//! Links in rendered pages: classification and rewriting for exported files.
//!
//! This scanner relies on the output of the site's own renderer: an attribute is a space, its name, `="`, and a value
//! without quotation marks. Quotation marks in text are escaped, so anything that looks like an attribute is one.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;

use crate::{
    assets::SITE_SEGMENT,
    encode::encode_path,
    html::{entity, write_escaped},
};

/// Attributes that contain a URL.
const ATTRIBUTES: [&str; 4] = [" href=\"", " src=\"", " data-site=\"", " content=\"0;url="];

/// The target of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AddressTarget {
    /// An external URL or an e-mail address.
    External,
    /// A page or other resource of the site: the path below the site, and the anchor.
    SitePath(String, Option<String>),
    File {
        space: String,
        sealed: String,
        name: String,
    },
    /// The platform itself, or a path above the site.
    Missing,
}

/// A link to a resource that the export should contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SiteLink {
    /// The URL as written in the link.
    pub(super) said: String,
    /// The target path below the site, or `None` if it cannot be part of the site.
    pub(super) path: Option<String>,
    pub(super) anchor: Option<String>,
}

/// Resolves the links of a site and rewrites them.
#[derive(Clone, Debug)]
pub(super) struct Linker {
    /// The path of the site, with a trailing slash.
    base: String,
    /// The base URL of the platform's files.
    files: String,
}

impl Linker {
    pub(super) fn new(base: &str, platform: &str) -> Self {
        Self { base: base.to_owned(), files: format!("{}/files/", platform.trim_end_matches('/')) }
    }

    /// Resolves a URL in a page.
    pub(super) fn resolve(&self, page: &str, address: &str) -> AddressTarget {
        if let Some(rest) = address.strip_prefix(self.files.as_str()) {
            let mut parts = rest.splitn(3, '/');
            return match (parts.next(), parts.next(), parts.next()) {
                (Some(space), Some(sealed), Some(name)) => AddressTarget::File {
                    space: space.to_owned(),
                    sealed: sealed.to_owned(),
                    name: name.split(['?', '#']).next().unwrap_or_default().to_owned(),
                },
                _ => AddressTarget::Missing,
            };
        }
        let (whole, anchor) = match address.split_once('#') {
            Some((whole, anchor)) => (whole, Some(decode_path(anchor)).filter(|anchor| !anchor.is_empty())),
            None => (address, None),
        };
        let whole = whole.split('?').next().unwrap_or_default();
        let has_scheme = whole.split('/').next().is_some_and(|first| first.contains(':'));
        if has_scheme || whole.starts_with("//") {
            return AddressTarget::External;
        }
        let path = match whole.strip_prefix(self.base.as_str()) {
            Some(below) => below.to_owned(),
            None if format!("{whole}/") == self.base => String::new(),
            None if whole.starts_with('/') => return AddressTarget::Missing,
            None if whole.is_empty() => page.to_owned(),
            // Browsers resolve the URL relative to the page.
            None => {
                let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
                let mut segments: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
                for part in whole.split('/') {
                    match part {
                        "" | "." => {}
                        ".." if segments.pop().is_none() => return AddressTarget::Missing,
                        ".." => {}
                        part => segments.push(part),
                    }
                }
                segments.join("/")
            }
        };
        AddressTarget::SitePath(path.trim_end_matches('/').to_owned(), anchor)
    }

    /// Rewrites the links of a page relative to its folder, and returns all links to the site.
    pub(super) fn rewrite_relative(
        &self,
        page: &str,
        html: &str,
        files: &BTreeMap<String, String>,
    ) -> (String, Vec<SiteLink>) {
        let depth = page.split('/').filter(|part| !part.is_empty()).count();
        let up = if depth == 0 { "./".to_owned() } else { "../".repeat(depth) };
        self.rewrite_with_prefix(page, &up, html, files)
    }

    /// Rewrites the links of a page, with `up` as the prefix of all site paths.
    pub(super) fn rewrite_with_prefix(
        &self,
        page: &str,
        up: &str,
        html: &str,
        files: &BTreeMap<String, String>,
    ) -> (String, Vec<SiteLink>) {
        let mut found = Vec::new();
        let mut out = String::with_capacity(html.len());
        let mut rest = html;
        while let Some((start, end)) = next_address(rest) {
            let said = unescape(&rest[start..end]);
            out.push_str(&rest[..start]);
            let written = match self.resolve(page, &said) {
                AddressTarget::External => None,
                AddressTarget::Missing => {
                    found.push(SiteLink { said: said.clone(), path: None, anchor: None });
                    None
                }
                AddressTarget::File { .. } => {
                    let path = files.get(&said).filter(|path| !path.is_empty());
                    found.push(SiteLink {
                        said: said.clone(),
                        path: path.map(|path| encode_path(path)),
                        anchor: None,
                    });
                    path.map(|path| format!("{up}{}", encode_path(path)))
                }
                AddressTarget::SitePath(path, anchor) => {
                    let behind =
                        anchor.as_ref().and_then(|_| said.split_once('#')).map_or("", |(_, anchor)| anchor);
                    found.push(SiteLink { said: said.clone(), path: Some(path.clone()), anchor });
                    Some(if said.starts_with('#') { said.clone() } else { folder_address(up, &path, behind) })
                }
            };
            out.push_str(&written.map_or_else(|| rest[start..end].to_owned(), |to| escape(&to)));
            rest = &rest[end..];
        }
        out.push_str(rest);
        (out, found)
    }
}

/// Returns the URL of an exported path. Pages are folders and get a trailing slash; files do not.
fn folder_address(up: &str, path: &str, anchor: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_file = path.split('/').any(|part| part == SITE_SEGMENT)
        || [".md", ".txt", ".xml"].iter().any(|end| last.ends_with(end));
    let slash = if path.is_empty() || is_file { "" } else { "/" };
    let hash = if anchor.is_empty() { "" } else { "#" };
    format!("{up}{path}{slash}{hash}{anchor}")
}

/// Returns the unescaped URLs in a page.
pub(super) fn addresses(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((start, end)) = next_address(rest) {
        found.push(unescape(&rest[start..end]));
        rest = &rest[end..];
    }
    found
}

/// Returns the anchors in a page.
pub(super) fn anchors(html: &str) -> BTreeSet<String> {
    html.split(" id=\"").skip(1).filter_map(|rest| Some(unescape(rest.split_once('"')?.0))).collect()
}

/// Returns the byte range of the next URL. A full scan visits each byte once, regardless of the number of URLs.
fn next_address(html: &str) -> Option<(usize, usize)> {
    let begins = |(at, _): (usize, &str)| {
        let rest = &html[at..];
        ATTRIBUTES
            .iter()
            .find(|attribute| rest.starts_with(**attribute))
            .map(|attribute| at + attribute.len())
    };
    let start = html.match_indices(' ').find_map(begins)?;
    Some((start, start + html[start..].find('"')?))
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_escaped(&mut out, text, entity);
    out
}

/// Percent-decodes a path.
pub(super) fn decode_path(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// Returns the name of an exported file, derived from the last segment of its URL.
pub(super) fn file_name(segment: &str) -> String {
    let name = decode_path(segment);
    let is_kept =
        |c: char| !c.is_control() && !matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%');
    let name: String = name.chars().map(|c| if is_kept(c) { c } else { '-' }).collect();
    match name.trim_matches(['.', ' ']) {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_the_folder_of_their_page() {
        let linker = Linker::new("/sites/docs/", "http://docs.test");
        let files = BTreeMap::from([(
            "http://docs.test/files/s/x/a%20b.png".to_owned(),
            "files/12/a b.png".to_owned(),
        )]);
        for (page, address, expected) in [
            ("", "/sites/docs/a", "./a/"),
            ("a/b", "/sites/docs/a", "../../a/"),
            ("a/b", "/sites/docs/", "../../"),
            ("a/b", "/sites/docs/c#x", "../../c/#x"),
            ("a/b", "#x", "#x"),
            ("a/b", "/sites/docs/a.md", "../../a.md"),
            ("a/b", "/sites/docs/~site/site.css", "../../~site/site.css"),
            ("a/b", "c", "../../a/c/"),
            ("a/b", "https://a.test/?x&amp;y", "https://a.test/?x&amp;y"),
            ("a", "http://docs.test/files/s/x/a%20b.png", "../files/12/a%20b.png"),
            ("a", "mailto:a@b.test", "mailto:a@b.test"),
        ] {
            let (html, _) = linker.rewrite_relative(page, &format!("<a href=\"{address}\">"), &files);
            assert_eq!(html, format!("<a href=\"{expected}\">"), "{address} of {page}");
        }
        assert_eq!(linker.resolve("a", "../../x"), AddressTarget::Missing);
        assert_eq!(linker.resolve("a", "/v1/x"), AddressTarget::Missing);
    }

    #[test]
    fn rewriting_many_links_is_not_quadratic() {
        // The page contains only one kind of attribute. A separate search for each other kind would scan the rest of
        // the page once per link.
        let page = format!("{} </p>", "<p>text</p> <a href=\"/sites/docs/a\">a</a> <b>".repeat(60_000));
        let since = std::time::Instant::now();
        let linker = Linker::new("/sites/docs/", "http://docs.test");
        let (html, found) = linker.rewrite_relative("b", &page, &BTreeMap::new());
        assert_eq!((found.len(), html.matches("../a/").count()), (60_000, 60_000));
        assert_eq!(addresses(&page).len(), 60_000);
        assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
    }

    #[test]
    fn exported_file_names_cannot_escape_their_folder() {
        for (segment, expected) in
            [("a%2Fb", "a-b"), ("..", "file"), ("%00x", "-x"), ("a%20b.png", "a b.png")]
        {
            assert_eq!(file_name(segment), expected);
        }
    }
}
