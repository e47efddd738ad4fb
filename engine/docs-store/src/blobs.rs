//! Storage of large content outside the store: [`Blobs`].

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::StoreResult;

/// Named byte blobs in a folder or bucket. A store of [`Objects`](super::Objects) puts content here that is too large
/// for its tables.
///
/// A name is a relative path of ASCII letters, digits, `-`, `_` and `/`, at most 200 bytes long.
///
/// # Contract
/// - `put` of an existing name replaces its bytes atomically. The caller only ever puts identical bytes under the same
///   name.
/// - After `put` is acknowledged, every later `get` and `list` sees the blob, also in other processes.
#[async_trait]
pub trait Blobs: Send + Sync + 'static {
    /// Stores bytes under a name.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn put(&self, name: &str, bytes: Bytes) -> StoreResult<()>;

    /// Reads the bytes of a name; `None` if the name does not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn get(&self, name: &str) -> StoreResult<Option<Bytes>>;

    /// Deletes a name. Succeeds if the name does not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn delete(&self, name: &str) -> StoreResult<()>;

    /// Lists the direct children of a folder in any order: blobs named `{folder}/{rest}` without `/` in the rest.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn list(&self, folder: &str) -> StoreResult<Vec<Blob>>;
}

/// A blob in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub name: String,
    /// The time of the last `put`, by the clock of the blob storage.
    pub stored_at: DateTime<Utc>,
}
