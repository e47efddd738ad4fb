//! Content-addressed storage of immutable objects: [`Objects`].

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Hash, StoreResult};

/// A store of immutable bytes addressed by their hash.
///
/// Objects are not transactional: they are put first, and a transaction references them afterwards. Each object belongs
/// to a *domain* (the storage area of an organization). The same bytes in two domains are two objects, so that a tenant
/// cannot find out if another tenant stores some content.
///
/// # Contract
/// - `put` of existing bytes succeeds and marks them as touched.
/// - `get` returns objects in request order and verifies them against their hash; a mismatch is
///   [`StoreError::Corrupt`](super::StoreError::Corrupt).
/// - `delete` removes only objects that have been untouched for `untouched_for`.
/// - `domains` lists every domain that has an object, ordered by name.
/// - `leftovers` lists bytes without an object, and never those of a `put` that may still be acknowledged.
#[async_trait]
pub trait Objects: Send + Sync + 'static {
    /// Stores objects. Each hash must be [`Hash::compute`] the bytes.
    ///
    /// # Errors
    /// [`StoreError::Misuse`](super::StoreError::Misuse) when a hash does not match its bytes; `Unavailable`.
    ///
    /// # Cancel safety
    /// If the future is dropped, some of the objects may be stored. Each object is stored as a whole or not at all.
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()>;

    /// Reads objects; `None` for those that the domain does not have.
    ///
    /// # Errors
    /// `Corrupt`, `Unavailable`.
    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>>;

    /// Lists up to `max` hashes after `after`, in hash order, of objects untouched for `untouched_for`.
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

    /// Deletes those of the objects that have been untouched for `untouched_for`. The others remain.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()>;

    /// Lists up to `max` domains that have objects, after `after`.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>>;

    /// Lists a page of orphaned bytes: stored by a `put` that was interrupted before it was acknowledged, at least
    /// `untouched_for` ago. `after` is the [`next`](OrphanPage::next) of the previous page.
    ///
    /// `owner` identifies the store that owns the objects. A location claimed by another owner is
    /// [`StoreError::Misuse`](super::StoreError::Misuse), because all its bytes would look orphaned to this one.
    ///
    /// # Errors
    /// `Unavailable`; `Misuse`.
    async fn leftovers(
        &self,
        owner: &str,
        after: Option<&str>,
        untouched_for: Duration,
    ) -> StoreResult<OrphanPage>;

    /// Deletes bytes that [`leftovers`](Objects::leftovers) listed.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete_leftovers(&self, names: &[String]) -> StoreResult<()>;
}

/// Maximum duration of a [`put`](Objects::put) that stores bytes outside the tables. A longer one fails instead of
/// being acknowledged late, so older bytes without an object will never get one.
pub const MAX_PUT: Duration = Duration::from_secs(60 * 60);

/// A page of orphaned bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrphanPage {
    pub names: Vec<String>,
    /// The start of the next page; absent on the last one. An empty page can have a next one.
    pub next: Option<String>,
}
