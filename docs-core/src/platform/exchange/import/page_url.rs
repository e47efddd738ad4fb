//! URLs of pages of an imported website: their equality, and the part of the website that is imported.

use url::{Position, Url};

use crate::model::web_url;

/// Extensions of web pages. Names with other extensions are files.
const PAGE_ENDINGS: [&str; 9] = ["html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "md", "shtml"];

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

/// Returns the extension of a name in lower case: up to five letters or digits after the last dot, at least one of them
/// a letter. `v1.2` has none.
pub(super) fn extension(name: &str) -> Option<String> {
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
}
