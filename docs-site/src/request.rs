//! Parsing of requests: host, path, query, cookies and tokens.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicBool, Ordering},
};

use docs_core::platform::{Urls, own_paths};
use percent_encoding::percent_decode_str;
use poem::{
    Request,
    http::{HeaderMap, Method, header, uri::Scheme},
};
use url::{Host, Url};

use crate::{
    cookies::{MAX_TOKEN, MEMBER_COOKIE, PUBLIC_COOKIE, VISITOR_COOKIE, is_token},
    preview_route,
};

/// The URL parameter for the visitor token that a sign-in passes.
const TOKEN_PARAMETER: &str = "jwt_token";
/// The URL parameter for the token of a preview of a site.
const PREVIEW_TOKEN_PARAMETER: &str = "token";
/// The kind of host that a request addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostKind {
    /// The platform's own host, or a host that cannot belong to a site.
    Platform,
    /// The host for files. It does not serve sites.
    Files,
    /// A host that may belong to a site.
    Other,
}

/// The URL of the platform, in the forms that requests are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub(crate) url: Url,
    origin: String,
    authority: String,
    /// The path prefix of previews of sites.
    previews: String,
    urls: Urls,
}

impl Base {
    pub(crate) fn new(url: Url, urls: &Urls) -> Self {
        let origin = url.origin().ascii_serialization();
        let authority = origin.split_once("://").map_or("", |(_, authority)| authority).to_owned();
        let previews = format!("{}/{}/", url.path().trim_end_matches('/'), own_paths::PREVIEW);
        Self { url, origin, authority, previews, urls: urls.clone() }
    }

    /// Returns the scheme and host, without a trailing slash.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the path, without a trailing slash.
    pub(crate) fn path(&self) -> &str {
        self.url.path().trim_end_matches('/')
    }

    /// Returns the host without its port if it may belong to a site. Returns `None` for the platform's own
    /// host and for anything other than a public host name, such as IP addresses and single labels, which
    /// health checks use.
    fn site_host(&self, named: &str) -> Option<String> {
        // The fast path for most requests.
        if named == self.authority {
            return None;
        }
        let url = Url::parse(&format!("http://{named}/")).ok()?;
        let Some(Host::Domain(domain)) = url.host() else { return None };
        let domain = domain.trim_end_matches('.');
        let is_own = self.url.host_str().is_some_and(|own| own.trim_end_matches('.') == domain);
        (!is_own && domain.contains('.')).then(|| domain.to_owned())
    }
}

/// A parsed request to a site.
#[derive(Debug)]
pub(crate) struct SiteRequest<'r> {
    /// The scheme and host for resolving URLs, without a trailing slash.
    pub(crate) origin: Cow<'r, str>,
    pub(crate) host: HostKind,
    /// `true` for the URL of a preview of a site.
    pub(crate) is_preview: bool,
    /// The percent-encoded path, with one slash before each segment and none at the end; `/` becomes empty.
    pub(crate) path: String,
    /// The query, without `?`.
    pub(crate) query: &'r str,
    pub(crate) method: &'r Method,
    pub(crate) headers: &'r HeaderMap,
    /// `true` if the visitor's connection is known to be encrypted.
    pub(crate) is_secure: bool,
    /// `true` if the response is known to be public.
    is_open: AtomicBool,
}

impl<'r> SiteRequest<'r> {
    /// Returns a key that is equal for the requests to a site: its host or, on the platform's own host, the first two
    /// segments of the path.
    pub(crate) fn site_key(&self) -> &str {
        if self.host != HostKind::Platform {
            return &self.origin;
        }
        let end = self.path.match_indices('/').nth(2).map_or(self.path.len(), |(end, _)| end);
        self.path.get(..end).unwrap_or_default()
    }

    /// Parses a request to a platform. On the platform's own host, the path of the base URL is prepended if a proxy has
    /// stripped it.
    pub(crate) fn new(request: &'r Request, base: &'r Base) -> Self {
        let uri = request.uri();
        let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let named = uri.authority().map(|authority| authority.as_str()).or(named);
        let path = normalize_path(uri.path());
        let is_secure = base.url.scheme() == "https" || *request.scheme() == Scheme::HTTPS;
        let is_for_files = named.is_some_and(|host| base.urls.is_files_host(host));
        let (origin, host, path) = match named.and_then(|host| base.site_host(host)) {
            _ if is_for_files => (Cow::Borrowed(base.origin()), HostKind::Files, path),
            Some(host) => (Cow::Owned(format!("https://{host}")), HostKind::Other, path),
            None => {
                let prefix = base.path();
                let is_below = path.strip_prefix(prefix).is_some_and(|p| p.is_empty() || p.starts_with('/'));
                let path = if is_below { path } else { format!("{prefix}{path}") };
                (Cow::Borrowed(base.origin()), HostKind::Platform, path)
            }
        };
        Self {
            origin,
            host,
            is_preview: host == HostKind::Platform && path.starts_with(&base.previews),
            path,
            query: uri.query().unwrap_or_default(),
            method: request.method(),
            headers: request.headers(),
            is_secure,
            is_open: AtomicBool::new(false),
        }
    }

    /// Records that the response is public.
    pub(crate) fn mark_public(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the path may be logged. The path of a non-public response may contain the key of a share link.
    pub(crate) fn is_public(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Returns the first value of a URL parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.parameters().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// Returns `true` if the request is anonymous, has no query and is not for a preview of a site.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.query.is_empty()
            && !self.is_preview
            && !self.headers.contains_key(header::AUTHORIZATION)
            && self.cookies().all(|(name, _)| name != VISITOR_COOKIE && !name.starts_with(PUBLIC_COOKIE))
    }

    /// Returns the URL parameters, in order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (Cow<'r, str>, Cow<'r, str>)> {
        url::form_urlencoded::parse(self.query.as_bytes())
    }

    /// Returns the query without some of its parameters, with a leading `?` unless it is empty.
    pub(crate) fn query_without(&self, goes: impl Fn(&str) -> bool) -> String {
        let mut rest = url::form_urlencoded::Serializer::new(String::new());
        self.parameters().filter(|(key, _)| !goes(key)).for_each(|(key, value)| {
            rest.append_pair(&key, &value);
        });
        let rest = rest.finish();
        if rest.is_empty() { rest } else { format!("?{rest}") }
    }

    /// Returns the name of the URL parameter for the token.
    pub(crate) const fn token_parameter(&self) -> &'static str {
        if self.is_preview { PREVIEW_TOKEN_PARAMETER } else { TOKEN_PARAMETER }
    }

    /// Returns the token that a sign-in, or the URL of a preview, passed with this request.
    pub(crate) fn parameter_token(&self) -> Option<String> {
        self.parameter(self.token_parameter()).filter(|token| !token.is_empty() && token.len() <= MAX_TOKEN)
    }

    /// Returns the visitor token from the cookie.
    pub(crate) fn cookie_token(&self) -> Option<String> {
        self.cookie(VISITOR_COOKIE)
    }

    /// Returns the member token from the header, otherwise from the cookie.
    pub(crate) fn member_token(&self) -> Option<String> {
        self.bearer_token().or_else(|| self.cookie(MEMBER_COOKIE))
    }

    /// Returns the visitor token from the header, for non-browser clients. Returns `None` for the path of a preview,
    /// where the header contains a member token.
    pub(crate) fn visitor_token(&self) -> Option<String> {
        if preview_route::split_route(&self.path).1.is_some() { None } else { self.bearer_token() }
    }

    /// Returns the token of the `Authorization` header.
    fn bearer_token(&self) -> Option<String> {
        let line = self.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = line.split_once(' ')?;
        let token = token.trim();
        (scheme.eq_ignore_ascii_case("bearer") && is_token(token)).then(|| token.to_owned())
    }

    fn cookie(&self, wanted: &str) -> Option<String> {
        let (_, token) = self.cookies().find(|(name, token)| *name == wanted && is_token(token))?;
        Some(token.to_owned())
    }

    /// Returns the cookies, in order.
    pub(crate) fn cookies(&self) -> impl Iterator<Item = (&'r str, &'r str)> {
        let lines = self.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
    }

    /// Returns `true` if the client prefers Markdown to HTML.
    pub(crate) fn prefers_markdown(&self) -> bool {
        let lines = self.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
        let (mut markdown, mut html) = (0.0_f32, 0.0_f32);
        for element in lines.flat_map(|line| line.split(',')) {
            let mut parts = element.split(';').map(str::trim);
            let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight =
                parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |q| q.parse().unwrap_or(0.0));
            match media_type.as_str() {
                "text/markdown" => markdown = weight,
                "text/html" | "application/xhtml+xml" => html = html.max(weight),
                _ => {}
            }
        }
        markdown > 0.0 && markdown >= html
    }

    /// Returns the decoded path segments below a prefix that ends in a slash. Returns `None` if the path is not below
    /// it.
    pub(crate) fn segments_below(&self, prefix: &str) -> Option<Vec<String>> {
        let rest = match self.path.strip_prefix(prefix) {
            Some(rest) => rest,
            None if format!("{}/", self.path) == prefix => "",
            None => return None,
        };
        Some(rest.split('/').filter(|part| !part.is_empty()).map(decode_segment).collect())
    }
}

/// Percent-decodes a path segment.
fn decode_segment(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// Normalizes a path to one slash before each segment and none at the end. Empty segments are removed, so
/// that a path beginning with two slashes cannot be mistaken for a host. Dot segments are resolved as in URLs
/// (RFC 3986, section 5.2.4).
fn normalize_path(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment.replace("%2e", ".").replace("%2E", ".").as_str() {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    segments.into_iter().fold(String::new(), |path, segment| path + "/" + segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(host: &str, target: &str) -> Request {
        Request::builder().uri(target.parse().expect("a target")).header("host", host).finish()
    }

    fn base(url: &str) -> Base {
        Base::new(Url::parse(url).expect("a base"), &Urls::new(url))
    }

    #[test]
    fn only_public_host_names_other_than_the_platforms_are_sites() {
        let base = base("http://docs.example.com:4000/docs");
        for own in
            ["docs.example.com:4000", "DOCS.example.com", "127.0.0.1:4000", "localhost", "[::1]:80", "a b"]
        {
            assert_eq!(SiteRequest::new(&request(own, "/x"), &base).host, HostKind::Platform, "{own}");
        }
        let request = request("Guide.Example.org:8080", "/x");
        let other = SiteRequest::new(&request, &base);
        assert_eq!((other.host, &*other.origin), (HostKind::Other, "https://guide.example.org"));
        assert_eq!(other.path, "/x");
    }

    #[test]
    fn a_base_path_stripped_by_a_proxy_is_restored() {
        let base = base("http://localhost:4000/docs");
        for (target, path) in [
            ("/docs/sites/a/", "/docs/sites/a"),
            ("/sites/a", "/docs/sites/a"),
            ("//sites//a", "/docs/sites/a"),
            ("/docsy", "/docs/docsy"),
            ("/", "/docs"),
            ("//evil.example/sites", "/docs/evil.example/sites"),
            ("/sites/a/../b/./c", "/docs/sites/b/c"),
            ("/sites/a/%2E%2e/b/%2e", "/docs/sites/b"),
            ("/docs/../../sites/.../a..", "/docs/sites/.../a.."),
        ] {
            assert_eq!(SiteRequest::new(&request("localhost", target), &base).path, path, "{target}");
        }
    }

    #[test]
    fn accept_header_selects_markdown_only_if_preferred() {
        for (accept, prefers) in [
            ("text/markdown", true),
            ("text/markdown, text/html;q=0.8", true),
            ("text/html,application/xhtml+xml,*/*;q=0.8", false),
            ("text/html, text/markdown;q=0.5", false),
            ("text/markdown;q=0", false),
            ("*/*", false),
        ] {
            let request = Request::builder().header("accept", accept).finish();
            assert_eq!(
                SiteRequest::new(&request, &base("http://localhost")).prefers_markdown(),
                prefers,
                "{accept}"
            );
        }
    }

    #[test]
    fn token_parameter_is_removed_from_the_query() {
        let (request, base) =
            (request("localhost", "/a?q=b%20c&jwt_token=x.y.z&d"), base("http://localhost"));
        let asked = SiteRequest::new(&request, &base);
        assert_eq!(asked.parameter_token().as_deref(), Some("x.y.z"));
        assert_eq!(asked.query_without(|name| name == TOKEN_PARAMETER), "?q=b+c&d=");
    }

    #[test]
    fn tokens_longer_than_the_bound_are_left_out() {
        let base = base("http://localhost");
        let found = |bytes: usize| {
            let token = "a".repeat(bytes);
            let in_query = request("localhost", &format!("/a?{TOKEN_PARAMETER}={token}"));
            let in_cookie = Request::builder().header("cookie", format!("{VISITOR_COOKIE}={token}")).finish();
            let (in_query, in_cookie) =
                (SiteRequest::new(&in_query, &base), SiteRequest::new(&in_cookie, &base));
            (in_query.parameter_token().is_some(), in_cookie.cookie_token().is_some())
        };
        assert_eq!([MAX_TOKEN, MAX_TOKEN + 1].map(found), [(true, true), (false, false)]);
    }
}
