//! Content-addressed storage of immutable objects: [`Objects`].

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Hash, StoreResult};

/// A store for immutable bytes addressed by their hash.
///
/// Objects are not transactional: they are stored first and then referenced by a transaction. Each object belongs to a
/// *domain*, the storage area of an organization. The same bytes in two domains are two objects, so that a tenant
/// cannot find out whether another tenant has stored certain content.
///
/// # Contract
/// - `put` of existing bytes succeeds and marks them as touched.
/// - `get` returns objects in request order and verifies their hashes. A mismatch is
///   [`StoreError::Corrupt`](super::StoreError::Corrupt).
/// - `delete` deletes only objects untouched for `untouched_for`.
/// - `domains` lists every domain that has an object, ordered by name.
/// - `leftovers` lists bytes that belong to no object, but never those of a `put` that may still be acknowledged.
#[async_trait]
pub trait Objects: Send + Sync + 'static {
    /// Stores objects. Each hash must equal [`Hash::compute`] of the bytes.
    ///
    /// # Errors
    /// [`StoreError::Misuse`](super::StoreError::Misuse) if a hash does not match the bytes; `Unavailable`.
    ///
    /// # Cancel safety
    /// If the future is dropped, some of the objects may have been stored, each of them completely.
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()>;

    /// Reads objects. The result is `None` for objects that the domain does not contain.
    ///
    /// # Errors
    /// `Corrupt`, `Unavailable`.
    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>>;

    /// Lists up to `max` hashes greater than `after`, in order, of objects untouched for `untouched_for`.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        untouched_for: Duration,
        max: u32,
    ) -> StoreResult<Vec<Hash>>;

    /// Deletes the given objects that have been untouched for `untouched_for`. The others remain.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()>;

    /// Lists up to `max` domains after `after` that have objects.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>>;

    /// Lists a page of orphaned bytes. They were stored at least `untouched_for` ago by a `put` that was interrupted
    /// before it was acknowledged. `after` is the [`next`](OrphanPage::next) of the previous page.
    ///
    /// `owner` identifies the store that owns the objects. A location claimed by another owner is
    /// [`StoreError::Misuse`](super::StoreError::Misuse), because all of its bytes would appear orphaned to this store.
    ///
    /// # Errors
    /// `Unavailable`; `Misuse`.
    async fn leftovers(
        &self,
        owner: &str,
        after: Option<&str>,
        untouched_for: Duration,
    ) -> StoreResult<OrphanPage>;

    /// Deletes bytes that [`leftovers`](Objects::leftovers) has listed.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete_leftovers(&self, names: &[String]) -> StoreResult<()>;
}

/// Maximum duration of a [`put`](Objects::put) that stores bytes outside the tables. A put that takes longer fails, so
/// older bytes that belong to no object are certainly orphaned.
pub const MAX_PUT: Duration = Duration::from_secs(60 * 60);

/// A page of orphaned bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrphanPage {
    pub names: Vec<String>,
    /// The start of the next page; absent on the last page. An empty page is not necessarily the last.
    pub next: Option<String>,
}
