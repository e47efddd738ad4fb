//! `/files/…`: file contents.
//!
//! Files are uploaded by users, and share an origin with the API unless a separate one is configured. Therefore no file
//! may run as a page of this origin: the platform normalizes the media type and chooses the disposition
//! ([`StoredFile`]), and [`SandboxEndpoint`] removes all permissions from a file opened in a browser. Pages that embed
//! a file as an image, audio or video are not affected.

use std::{io, ops::Range};

use docs_core::{
    Error, Platform,
    model::{OrgId, SpaceId},
    platform::{Disposition, FileReach, StoredFile},
};
use futures_util::{StreamExt as _, stream};
use poem::{
    Body, Endpoint, Request, Response, ResponseBuilder,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
};

use crate::{
    endpoints::is_not_modified,
    wire::error::{ApiError, outcome_response},
};

/// Cache policy for files visible to anonymous visitors. Shared caches revalidate them on each use, so a file
/// disappears when the site stops showing it.
const PUBLIC_CACHE_CONTROL: &str = "public, no-cache";
/// Cache policy for a file of a specific caller. It is revalidated on each use: the bytes never change, but the
/// caller's permissions do.
const PRIVATE_CACHE_CONTROL: &str = "private, no-cache";
/// Content security policy for a file opened as a page. It permits inline styles, which browsers add to images and
/// plain text and which SVG contains. Chromium can show PDF files under it.
const SANDBOX_POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// Version of the response headers, included in file ETags. Change it whenever the headers change, because a browser
/// that revalidates a cached response keeps the cached media type.
const HEADERS_VERSION: &str = "b";

/// Serves file contents. The platform seals each file URL and issues it to one reader, so no token is required. Each
/// request checks that the reader still has access.
pub(crate) struct FileEndpoint {
    platform: Platform,
    of: FileOwner,
}

/// The kind of the file's owner.
#[derive(Clone, Copy)]
enum FileOwner {
    Space,
    /// An OpenAPI specification document, addressed by its sealed URL.
    Spec,
    /// A public specification document, addressed by its slug.
    PublishedSpec,
}

impl Endpoint for FileEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let file = self.find(&request).await.map_err(ApiError::from)?;
        let tag = format!("\"{}-{HEADERS_VERSION}\"", file.blob());
        let kept = match file.reach {
            FileReach::Public => PUBLIC_CACHE_CONTROL,
            FileReach::Bearer => PRIVATE_CACHE_CONTROL,
        };
        let answer = Response::builder()
            .header(header::ETAG, &tag)
            // Sent with every status, because a revalidating browser takes the policy from the newer response.
            .header(RESOURCE_POLICY, resource_policy(&file.content_type))
            .header(header::CACHE_CONTROL, kept)
            .header(header::ACCEPT_RANGES, "bytes");
        if is_not_modified(&request, &tag) {
            return Ok(answer.status(StatusCode::NOT_MODIFIED).finish());
        }
        let answer = set_file_headers(answer, &file);
        if request.method() == Method::HEAD {
            return Ok(answer.header(header::CONTENT_LENGTH, file.size).finish());
        }
        self.bytes(answer, &file, select_bytes(&request, &tag, file.size)).await
    }
}

impl FileEndpoint {
    pub(crate) fn for_space(platform: &Platform) -> Self {
        Self { platform: platform.clone(), of: FileOwner::Space }
    }

    pub(crate) fn for_spec(platform: &Platform) -> Self {
        Self { platform: platform.clone(), of: FileOwner::Spec }
    }

    pub(crate) fn for_published_spec(platform: &Platform) -> Self {
        Self { platform: platform.clone(), of: FileOwner::PublishedSpec }
    }

    async fn find(&self, request: &Request) -> docs_core::Result<StoredFile> {
        let missing = || Error::not_found("file");
        let named = |name: &str| request.raw_path_param(name).ok_or_else(missing);
        match self.of {
            FileOwner::Space => {
                let space: SpaceId = named("owner")?.parse().map_err(|_| missing())?;
                self.platform.find_file(&space, named("sealed")?).await
            }
            FileOwner::Spec => {
                let org: OrgId = named("owner")?.parse().map_err(|_| missing())?;
                self.platform.find_spec_document(&org, named("sealed")?).await
            }
            FileOwner::PublishedSpec => {
                let org: OrgId = named("owner")?.parse().map_err(|_| missing())?;
                self.platform.find_published_spec(&org, named("slug")?).await
            }
        }
    }

    async fn bytes(
        &self,
        answer: ResponseBuilder,
        file: &StoredFile,
        wanted: ByteSelection,
    ) -> poem::Result<Response> {
        let size = file.size;
        let (answer, range) = match wanted {
            ByteSelection::Unsatisfiable => return Ok(range_error(size)),
            ByteSelection::All => (answer, None),
            ByteSelection::Part(range) => {
                let told = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
                let answer = answer.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, told);
                (answer, Some(range))
            }
        };
        let range = range.unwrap_or(0..size);
        let answer = answer.header(header::CONTENT_LENGTH, range.end.saturating_sub(range.start));
        let mut pieces = file.pieces(range.clone());
        // Read the first chunk before the response starts, so that a failure has an error status.
        let first = pieces.next().unwrap_or(range);
        let first = self.platform.file_bytes(file, Some(first)).await.map_err(ApiError::from)?;
        let Some(second) = pieces.next() else { return Ok(answer.body(first)) };
        let rest = stream::iter(std::iter::once(second).chain(pieces));
        let (platform, file) = (self.platform.clone(), file.clone());
        let rest = rest.then(move |piece| {
            let (platform, file) = (platform.clone(), file.clone());
            async move { platform.file_bytes(&file, Some(piece)).await.map_err(io::Error::other) }
        });
        let bytes = stream::once(async move { Ok(first) }).chain(rest);
        Ok(answer.body(Body::from_bytes_stream(bytes)))
    }
}

/// Returns the error for a range that starts after the end of the file.
pub(crate) fn range_error(size: u64) -> Response {
    let error = ApiError::new(
        StatusCode::RANGE_NOT_SATISFIABLE,
        format!(
            "Range: must be within the {size} \
                                                                          bytes of the file"
        ),
    );
    let mut response = poem::Error::from(error).into_response();
    let unsatisfied = HeaderValue::from_str(&format!("bytes */{size}"));
    response.headers_mut().extend(unsatisfied.map(|value| (header::CONTENT_RANGE, value)));
    response
}

/// Sets the media type and the disposition of a file.
fn set_file_headers(answer: ResponseBuilder, file: &StoredFile) -> ResponseBuilder {
    let answer = answer.header(header::CONTENT_TYPE, &file.content_type);
    match file.disposition {
        Disposition::Inline => answer,
        // Browsers take the file name from the URL. Omitting it here rules out header injection.
        Disposition::Attachment => answer.header(header::CONTENT_DISPOSITION, "attachment"),
    }
}

/// Returns the cross-origin resource policy. Pages of any origin may embed images, audio, video and fonts. Other files
/// are opened or fetched, which this policy does not affect.
fn resource_policy(content_type: &str) -> &'static str {
    let is_embedded =
        ["image/", "audio/", "video/", "font/"].iter().any(|kind| content_type.starts_with(kind));
    if is_embedded { "cross-origin" } else { "same-origin" }
}

/// Wraps an endpoint that serves files. Its responses, whatever their status, cannot run code in this origin.
pub(crate) struct SandboxEndpoint<E>(pub(crate) E);

impl<E: Endpoint<Output = Response>> Endpoint for SandboxEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let mut response = outcome_response(self.0.call(request).await);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX_POLICY));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // The URL grants access to the file, so it must not leak through the referrer.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.entry(RESOURCE_POLICY).or_insert(HeaderValue::from_static("same-origin"));
        Ok(response)
    }
}

/// The part of a file that a request selects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ByteSelection {
    All,
    Part(Range<u64>),
    /// A range that starts after the end.
    Unsatisfiable,
}

/// Returns the part of a file of `size` bytes and this ETag that the request selects.
pub(crate) fn select_bytes(request: &Request, tag: &str, size: u64) -> ByteSelection {
    // A range of a different version is useless to the client, so it gets the whole file. A date never matches, because
    // `Last-Modified` is not sent.
    if request.headers().get(header::IF_RANGE).is_some_and(|of| of.as_bytes() != tag.as_bytes()) {
        return ByteSelection::All;
    }
    let mut headers = request.headers().get_all(header::RANGE).iter();
    match (headers.next().and_then(|range| range.to_str().ok()), headers.next()) {
        (Some(range), None) => parse_range(range, size).unwrap_or(ByteSelection::All),
        _ => ByteSelection::All,
    }
}

/// Parses a `Range` header (RFC 9110, 14.2). Returns `None`, so that the header is ignored, unless it is a single byte
/// range.
fn parse_range(header: &str, size: u64) -> Option<ByteSelection> {
    let (unit, range) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    let number = |text: &str| -> Option<u64> {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        // A number that overflows exceeds any file size.
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    let range = if first.is_empty() {
        // A suffix range: the last `n` bytes.
        size.saturating_sub(number(last)?)..size
    } else {
        let first = number(first)?;
        let end = if last.is_empty() { size } else { number(last)?.saturating_add(1) };
        if end <= first && !last.is_empty() {
            return None;
        }
        first..end.min(size)
    };
    Some(if range.start < range.end { ByteSelection::Part(range) } else { ByteSelection::Unsatisfiable })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn range_header_parses_as_in_rfc_9110() {
        use ByteSelection::{Part, Unsatisfiable};
        for (header, size, expected) in [
            ("bytes=0-3", 10, Some(Part(0..4))),
            ("bytes=4-4", 10, Some(Part(4..5))),
            ("bytes=4-", 10, Some(Part(4..10))),
            ("bytes=4-100", 10, Some(Part(4..10))),
            ("bytes=-3", 10, Some(Part(7..10))),
            ("bytes=-30", 10, Some(Part(0..10))),
            ("Bytes = 1-2 ", 10, Some(Part(1..3))),
            ("bytes=0-99999999999999999999999", 10, Some(Part(0..10))),
            ("bytes=10-", 10, Some(Unsatisfiable)),
            ("bytes=10-12", 10, Some(Unsatisfiable)),
            ("bytes=99999999999999999999999-", 10, Some(Unsatisfiable)),
            ("bytes=-0", 10, Some(Unsatisfiable)),
            ("bytes=0-", 0, Some(Unsatisfiable)),
            ("bytes=-5", 0, Some(Unsatisfiable)),
            ("bytes=5-4", 10, None),
            ("bytes=0-1,3-4", 10, None),
            ("bytes=-", 10, None),
            ("bytes=a-b", 10, None),
            ("bytes=+1-2", 10, None),
            ("lines=0-3", 10, None),
            ("bytes", 10, None),
            ("", 10, None),
        ] {
            assert_eq!(parse_range(header, size), expected, "{header} of {size}");
        }
    }

    proptest! {
        #[test]
        fn range_selects_the_expected_slice(size in 0usize..300, first in 0usize..320, last in 0usize..320) {
            let bytes: Vec<usize> = (0..size).collect();
            let slice = |wanted: Option<ByteSelection>| match wanted {
                Some(ByteSelection::Part(range)) => bytes[range.start as usize..range.end as usize].to_vec(),
                Some(ByteSelection::Unsatisfiable) => Vec::new(),
                Some(ByteSelection::All) | None => bytes.clone(),
            };
            let part = |header: String| slice(parse_range(&header, size as u64));
            prop_assert_eq!(part(format!("bytes={first}-")), &bytes[first.min(size)..]);
            prop_assert_eq!(part(format!("bytes=-{last}")), &bytes[size - last.min(size)..]);
            let expected = if first <= last { &bytes[first.min(size)..(last + 1).min(size)] } else { &bytes[..] };
            prop_assert_eq!(part(format!("bytes={first}-{last}")), expected);
        }

        #[test]
        fn range_never_exceeds_the_file_size(header in "(bytes)?=?[-0-9, a]{0,30}", size: u64) {
            if let Some(ByteSelection::Part(range)) = parse_range(&header, size) {
                prop_assert!(range.start < range.end && range.end <= size);
            }
        }
    }
}
