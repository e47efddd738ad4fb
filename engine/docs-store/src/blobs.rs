//! Storage of large content outside the store: [`Blobs`].

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::StoreResult;

/// Named byte blobs in a directory or bucket. An implementation of [`Objects`](super::Objects) stores content here that
/// is too large for its tables.
///
/// A name is a relative path of ASCII letters, digits, `-`, `_` and `/`, at most 200 bytes long.
///
/// # Contract
/// - `put` of an existing name replaces its bytes atomically. Callers only put identical bytes under the same name.
/// - Once `put` is acknowledged, every `get` and `list` sees the blob, including those of other processes.
#[async_trait]
pub trait Blobs: Send + Sync + 'static {
    /// Stores bytes under a name.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn put(&self, name: &str, bytes: Bytes) -> StoreResult<()>;

    /// Returns the bytes stored under a name, or `None` if the name does not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn get(&self, name: &str) -> StoreResult<Option<Bytes>>;

    /// Deletes a blob. Succeeds if the name does not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn delete(&self, name: &str) -> StoreResult<()>;

    /// Lists the blobs directly in a directory, in any order: those named `{folder}/{rest}` without `/` in the rest.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn list(&self, folder: &str) -> StoreResult<Vec<Blob>>;
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub name: String,
    /// The time of the last `put`, according to the clock of the blob storage.
    pub stored_at: DateTime<Utc>,
}
