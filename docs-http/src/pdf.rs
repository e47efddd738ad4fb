//! `/files/…/pdf/…`: generated PDF files.

use std::time::Duration;

use bytes::Bytes;
use docs_core::{
    Error, ErrorKind, Platform,
    model::SpaceId,
    platform::{PdfAnswer, PdfFile},
};
use futures_util::stream;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use poem::{
    Body, Endpoint, Request, Response,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
};

use crate::{
    endpoints::is_not_modified,
    files::{ByteSelection, range_error, select_bytes},
    preference::{APPLIED_HEADER, preferences},
    wire::error::ApiError,
};

/// Characters left unescaped in a header file name: letters, digits, and these.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');
/// Default and maximum time that a request waits for a pending file. It is below the timeout of most proxies.
const MAX_PDF_WAIT: Duration = Duration::from_secs(50);

/// Serves PDF files. The URL is sealed like that of other files, and valid for an hour as long as its recipient may
/// read the content.
///
/// A request waits until the file is complete. With `Prefer: respond-async`, the response for a pending file is 202
/// with `Retry-After`.
pub(crate) struct PdfFiles(pub(crate) Platform);

impl Endpoint for PdfFiles {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let missing = || ApiError::from(Error::not_found("PDF"));
        let space: SpaceId =
            request.raw_path_param("owner").and_then(|id| id.parse().ok()).ok_or_else(missing)?;
        let sealed = request.raw_path_param("sealed").ok_or_else(missing)?;
        let preference = Preference::from_headers(request.headers());
        let found = self.0.pdf_file(&space, sealed, preference.wait()).await.map_err(ApiError::from)?;
        match found {
            PdfAnswer::Ready(file) => self.file(&request, file).await,
            PdfAnswer::Pending(again) => Ok(preference.pending_response(again)),
            _ => Err(ApiError::internal("the PDF result is unknown to this version").into()),
        }
    }
}

impl PdfFiles {
    async fn file(&self, request: &Request, file: PdfFile) -> poem::Result<Response> {
        let tag = format!("\"{}\"", file.tag);
        let name = utf8_percent_encode(&file.name, NAME);
        let answer = Response::builder()
            .content_type("application/pdf")
            .header(header::CONTENT_DISPOSITION, format!("inline; filename*=UTF-8''{name}"))
            // The permissions of the reader can change, and the URL expires.
            .header(header::CACHE_CONTROL, "private, no-cache")
            .header(header::ACCEPT_RANGES, "bytes")
            .header(header::ETAG, &tag);
        if is_not_modified(request, &tag) {
            return Ok(answer.status(StatusCode::NOT_MODIFIED).finish());
        }
        if request.method() == Method::HEAD {
            return Ok(answer.header(header::CONTENT_LENGTH, file.size).finish());
        }
        let size = file.size;
        let (answer, range) = match select_bytes(request, &tag, size) {
            ByteSelection::Unsatisfiable => return Ok(range_error(size)),
            ByteSelection::All => (answer, 0..size),
            ByteSelection::Part(range) => {
                let told = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
                (answer.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, told), range)
            }
        };
        // Read the first chunk before the response starts, so that a failure has an error status.
        let first = read_chunk(&self.0, &file, range.start, range.end).await.map_err(ApiError::from)?;
        let length = range.end - range.start;
        let platform = self.0.clone();
        let rest = (platform, file, range.start + first.len() as u64, range.end);
        let rest = stream::unfold(rest, |(platform, file, at, end)| async move {
            if at >= end {
                return None;
            }
            let read = read_chunk(&platform, &file, at, end).await;
            // A failure aborts the response, which the client detects by the missing bytes.
            let read = read.map_err(|error| std::io::Error::other(error.to_string()));
            let next = read.as_ref().map_or(end, |read| at + read.len() as u64);
            Some((read, (platform, file, next, end)))
        });
        let bytes = futures_util::StreamExt::chain(stream::iter([Ok(first)]), rest);
        Ok(answer.header(header::CONTENT_LENGTH, length).body(Body::from_bytes_stream(bytes)))
    }
}

/// Reads the next chunk of a file, up to the offset `end`.
async fn read_chunk(platform: &Platform, file: &PdfFile, at: u64, end: u64) -> docs_core::Result<Bytes> {
    let mut piece = platform.pdf_piece(file, at).await?;
    if piece.is_empty() && at < end {
        return Err(Error::internal("stream of PDF file ended early"));
    }
    piece.truncate(usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX));
    Ok(piece)
}

/// The preferences of a request (RFC 7240).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Preference {
    responds_async: bool,
    wait: Option<Duration>,
}

impl Preference {
    fn from_headers(headers: &HeaderMap) -> Self {
        let mut found = Self::default();
        for (name, value) in preferences(headers) {
            match name.as_str() {
                "respond-async" => found.responds_async = true,
                "wait" if found.wait.is_none() => found.wait = value.parse().ok().map(Duration::from_secs),
                _ => {}
            }
        }
        found
    }

    /// Returns how long the request waits.
    fn wait(self) -> Duration {
        let unsaid = if self.responds_async { Duration::ZERO } else { MAX_PDF_WAIT };
        self.wait.unwrap_or(unsaid).min(MAX_PDF_WAIT)
    }

    /// Returns the response for a pending file. A client that did not request asynchronous responses would save a 202
    /// as an empty file, so it gets an error.
    fn pending_response(self, again: Duration) -> Response {
        let mut response = if self.responds_async {
            let applied = HeaderValue::from_static("respond-async");
            Response::builder()
                .status(StatusCode::ACCEPTED)
                .header(header::CACHE_CONTROL, "no-store")
                .header(APPLIED_HEADER, applied)
                .finish()
        } else {
            let why = "the PDF is still being rendered; try again, or send `Prefer: respond-async`";
            poem::Error::from(ApiError::from(Error::new(ErrorKind::Unavailable, why))).into_response()
        };
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(again.as_secs().max(1)));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preference(values: &[&'static str]) -> Preference {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("prefer", HeaderValue::from_static(value));
        }
        Preference::from_headers(&headers)
    }

    #[test]
    fn prefer_header_parses_as_in_rfc_7240() {
        let seconds = Duration::from_secs;
        for (values, responds_async, wait) in [
            (&[][..], false, MAX_PDF_WAIT),
            (&["respond-async"], true, Duration::ZERO),
            (&["Respond-Async; x=y, wait=10"], true, seconds(10)),
            (&["respond-async", "wait=\"7\""], true, seconds(7)),
            (&["wait=5"], false, seconds(5)),
            (&["wait=100000, wait=1"], false, MAX_PDF_WAIT),
            (&["wait=soon, return=minimal, , ="], false, MAX_PDF_WAIT),
            (&["wait=-1, respond-async"], true, Duration::ZERO),
        ] {
            let read = preference(values);
            assert_eq!((read.responds_async, read.wait()), (responds_async, wait), "{values:?}");
        }
    }
}
