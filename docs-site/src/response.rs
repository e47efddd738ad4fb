//! HTTP responses: headers, ETags, conditional requests and compression.

use std::cell::RefCell;

use bytes::Bytes;
use docs_core::platform::compression_turn;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use poem::{
    Response,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};

use crate::{request::SiteRequest, tagged_bytes::TaggedBytes};

/// The minimum size in bytes of a body that is compressed.
const MIN_COMPRESSED_BYTES: usize = 1024;
/// The maximum size in bytes of a body that is compressed on the connection's task. A larger body would block other
/// tasks of the thread, so it is compressed on a blocking thread.
const MAX_INLINE_COMPRESSION: usize = 64 * 1024;
pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const MARKDOWN: &str = "text/markdown; charset=utf-8";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const XML: &str = "application/xml; charset=utf-8";
pub(crate) const RSS: &str = "application/rss+xml; charset=utf-8";
pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// The cache policy of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// Any cache, without expiry: the URL contains the hash of the content.
    Immutable,
    /// Any cache, with revalidation on each request, because a site may be unpublished at any time.
    Public,
    /// The visitor's browser only, with revalidation on each request.
    Private,
    /// Not cached.
    NoStore,
}

/// A response before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct SiteResponse {
    pub(crate) status: StatusCode,
    pub(crate) media_type: &'static str,
    pub(crate) body: TaggedBytes,
    /// The gzip-compressed body, if it is cached.
    pub(crate) encoded: Option<Bytes>,
    pub(crate) keeping: CachePolicy,
    /// `true` if search engines may index the response.
    pub(crate) is_indexed: bool,
}

impl SiteResponse {
    pub(crate) fn new(media_type: &'static str, body: impl Into<Bytes>, keeping: CachePolicy) -> Self {
        Self::from_tagged(media_type, TaggedBytes::new(body), keeping)
    }

    pub(crate) const fn from_tagged(
        media_type: &'static str,
        body: TaggedBytes,
        keeping: CachePolicy,
    ) -> Self {
        Self { status: StatusCode::OK, media_type, body, encoded: None, keeping, is_indexed: true }
    }

    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn without_indexing(self) -> Self {
        Self { is_indexed: false, ..self }
    }

    fn set_cache_headers(&self, headers: &mut HeaderMap) {
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static(match self.keeping {
                CachePolicy::Immutable => "public, max-age=31536000, immutable",
                CachePolicy::Public => "public, no-cache",
                CachePolicy::Private => "private, no-cache",
                CachePolicy::NoStore => "no-store",
            }),
        );
        // Caches revalidate each request with the visitor's own headers, so a public response needs no `Vary` on
        // cookies. Pages vary on `Accept`, because the same URL also serves Markdown.
        match self.keeping {
            CachePolicy::Private | CachePolicy::NoStore => {
                headers.append(header::VARY, HeaderValue::from_static("Accept, Authorization, Cookie"));
            }
            CachePolicy::Public if matches!(self.media_type, HTML | MARKDOWN) => {
                headers.append(header::VARY, HeaderValue::from_static("Accept"));
            }
            CachePolicy::Public | CachePolicy::Immutable => {}
        }
    }

    /// Builds the HTTP response for a request.
    pub(crate) async fn send(self, asked: &SiteRequest<'_>, policy: &HeaderValue) -> Response {
        let mut response = Response::builder().status(self.status).content_type(self.media_type).finish();
        let headers = response.headers_mut();
        set_security_headers(headers, policy);
        self.set_cache_headers(headers);
        if !self.is_indexed {
            headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
        }
        let encoded = match self.body.bytes.len() >= MIN_COMPRESSED_BYTES {
            true => {
                headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
                match (accepts_gzip(asked.headers), self.encoded) {
                    (false, _) => None,
                    (true, Some(kept)) => Some(kept),
                    (true, None) => compress(&self.body.bytes, asked.site_key()).await,
                }
            }
            false => None,
        };
        let tag = if encoded.is_some() {
            format!("\"{}-gzip\"", self.body.tag)
        } else {
            format!("\"{}\"", self.body.tag)
        };
        if self.status == StatusCode::OK && self.keeping != CachePolicy::NoStore {
            if let Ok(value) = HeaderValue::from_str(&tag) {
                headers.insert(header::ETAG, value);
            }
            if is_not_modified(asked.headers, &tag) {
                headers.remove(header::CONTENT_TYPE);
                response.set_status(StatusCode::NOT_MODIFIED);
                return response;
            }
        }
        let body = match encoded {
            Some(encoded) => {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                encoded
            }
            None => self.body.bytes,
        };
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        if asked.method != Method::HEAD {
            response.set_body(body);
        }
        response
    }
}

pub(crate) fn set_security_headers(headers: &mut HeaderMap, policy: &HeaderValue) {
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // The URL of a page may contain the key of a share link.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
}

/// Returns the content security policy of pages. Pages may load resources of the server, its files, and images and
/// videos from any web URL, because authors embed these by URL. Unencrypted media is only allowed if the platform
/// itself uses http.
pub(crate) fn content_security_policy(platform_origin: &str, files_origin: Option<&str>) -> HeaderValue {
    let own = match files_origin {
        Some(files) => format!("{platform_origin} {files}"),
        None => platform_origin.to_owned(),
    };
    let web = if platform_origin.starts_with("http:") { "https: http:" } else { "https:" };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; \
         img-src 'self' {own} {web}; media-src 'self' {own} {web}; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'self'"
    );
    // An origin only contains characters that are valid in a header.
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// Returns a temporary redirect. It is not cached, because the published content may change.
pub(crate) fn redirect(to: &str, policy: &HeaderValue) -> Response {
    redirect_with_status(StatusCode::TEMPORARY_REDIRECT, to, policy)
}

/// Creates a redirect with the given status.
pub(crate) fn redirect_with_status(status: StatusCode, to: &str, policy: &HeaderValue) -> Response {
    let mut response = Response::builder().status(status).finish();
    set_security_headers(response.headers_mut(), policy);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match HeaderValue::from_str(to) {
        Ok(to) => drop(response.headers_mut().insert(header::LOCATION, to)),
        Err(_) => response.set_status(StatusCode::NOT_FOUND),
    }
    response
}

/// Returns `true` if `If-None-Match` contains the ETag, weak or strong.
fn is_not_modified(headers: &HeaderMap, tag: &str) -> bool {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|it| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag)
}

/// Returns `true` if the client accepts gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|element| {
        let (coding, weight) = element.split_once(';').unwrap_or((element, ""));
        let is_refused =
            weight.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse::<f32>().is_ok_and(|q| q <= 0.0));
        coding.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// Compresses a body with gzip. Returns `None` if compression fails, in which case the body is sent uncompressed. A
/// large body waits for the turn of its owner.
pub(crate) async fn compress(plain: &Bytes, owner: &str) -> Option<Bytes> {
    if plain.len() <= MAX_INLINE_COMPRESSION {
        return gzip(plain);
    }
    let (plain, turn) = (plain.clone(), compression_turn(owner).await.ok()?);
    let work = move || {
        let encoded = gzip(&plain);
        // The turn ends with the work, also if the request is cancelled.
        drop(turn);
        encoded
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "failed to compress response");
        None
    })
}

thread_local! {
    /// The compressor of this thread. It is reused, because allocating its tables costs as much as rendering a page.
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(6), false));
}

/// The gzip header (RFC 1952), without a timestamp and operating system.
const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Compresses a body with gzip on the current task.
pub(crate) fn gzip(plain: &[u8]) -> Option<Bytes> {
    let mut encoded = Vec::with_capacity(plain.len() / 2 + 256);
    encoded.extend_from_slice(&GZIP);
    COMPRESS.with_borrow_mut(|compress| {
        compress.reset();
        loop {
            let done = usize::try_from(compress.total_in()).ok()?;
            let rest = plain.get(done..)?;
            match compress.compress_vec(rest, &mut encoded, FlushCompress::Finish).ok()? {
                Status::StreamEnd => return Some(()),
                Status::Ok | Status::BufError => encoded.reserve(plain.len() / 4 + 256),
            }
        }
    })?;
    let mut crc = Crc::new();
    crc.update(plain);
    encoded.extend_from_slice(&crc.sum().to_le_bytes());
    encoded.extend_from_slice(&crc.amount().to_le_bytes());
    Some(encoded.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn consecutive_gzip_encodings_round_trip() {
        let mut text = String::new();
        for n in 0..2_000_u32 {
            text.push_str(&n.wrapping_mul(2_654_435_761).to_string());
            if n % 97 != 0 && n != 1_999 {
                continue;
            }
            let encoded = gzip(text.as_bytes()).expect("it can be encoded");
            let mut read = String::new();
            flate2::read::GzDecoder::new(&*encoded).read_to_string(&mut read).expect("it can be read");
            assert_eq!(read, text);
        }
        assert!(gzip(b"").is_some_and(|encoded| encoded.len() < 32));
    }
}
