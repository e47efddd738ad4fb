//! A request body as a stream of chunks.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream::BoxStream};
use poem::{Body, Request, http::header};

use super::error::ApiError;

/// Returns the length of the body that the request announces.
pub(crate) fn announced_length(request: &Request) -> Option<u64> {
    request.header(header::CONTENT_LENGTH).and_then(|length| length.parse().ok())
}

/// A stream of bytes.
pub(crate) struct Chunks(BoxStream<'static, std::io::Result<Bytes>>);

impl Chunks {
    pub(crate) fn new(body: Body) -> Self {
        Self(body.into_bytes_stream().boxed())
    }

    /// Returns the next chunk, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let next = self.0.next().await.transpose();
        next.map_err(ApiError::from_body_error)
    }
}
