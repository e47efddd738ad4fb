//! Large content outside the store: [`Blobs`].

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::StoreResult;

/// Bytes under names: where a store of [`Objects`](super::Objects) puts those that are too large for its tables, such
/// as a folder or a bucket.
///
/// A name is a relative path of ASCII letters, digits, `-`, `_` and `/`, at most 200 bytes long.
///
/// # Contract
/// - `put` of a name that is there replaces its bytes, whole or not at all; the caller only ever puts the same bytes
///   under a name again.
/// - What `put` acknowledged is there for every later `get` and `list`, also from another process.
#[async_trait]
pub trait Blobs: Send + Sync + 'static {
    /// Stores bytes under a name.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn put(&self, name: &str, bytes: Bytes) -> StoreResult<()>;

    /// Reads the bytes of a name; `None` where nothing is.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn get(&self, name: &str) -> StoreResult<Option<Bytes>>;

    /// Removes a name; one that is not there is fine.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn delete(&self, name: &str) -> StoreResult<()>;

    /// Lists the blobs of a folder: those whose name is the folder's, `/`, and a rest without `/`. In any order.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](super::StoreError::Unavailable).
    async fn list(&self, folder: &str) -> StoreResult<Vec<Blob>>;
}

/// A blob as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Its name.
    pub name: String,
    /// When it was put, by the clock of the place.
    pub stored_at: DateTime<Utc>,
}
