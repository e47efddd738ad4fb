//! A request body as a stream of chunks.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream::BoxStream};
use poem::Body;

use super::error::ApiError;

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
