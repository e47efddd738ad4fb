//! Immutable content by hash: [`Objects`].

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Hash, StoreResult};

/// A store of immutable bytes named by their hash.
///
/// Objects have no transactions: they are put first, then a transaction makes something refer to them. Each belongs
/// to a *domain* (an organization's storage area); the same bytes in two domains are two objects, so that nobody can
/// learn what another tenant stores.
///
/// # Contract
/// - `put` of bytes that are there already is fine and marks them as touched.
/// - `get` answers in the order asked and checks the bytes against their hash; bytes that do not match are
///   [`StoreError::Corrupt`](super::StoreError::Corrupt).
/// - `delete` removes only objects that were not touched for `untouched_for`.
/// - `domains` lists every domain that has an object, in the order of their names.
/// - `leftovers` lists bytes that no object has, and never those of a `put` that may still be acknowledged.
#[async_trait]
pub trait Objects: Send + Sync + 'static {
    /// Stores objects. The hash of each must be [`Hash::of`] its bytes.
    ///
    /// # Errors
    /// [`StoreError::Misuse`](super::StoreError::Misuse) when a hash does not fit its bytes; `Unavailable`.
    ///
    /// # Cancel safety
    /// Dropping the future may leave some of the objects stored; an object is stored whole or not at all.
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()>;

    /// Reads objects; `None` for those the domain does not have.
    ///
    /// # Errors
    /// `Corrupt`, `Unavailable`.
    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>>;

    /// Lists up to `max` hashes after `after`, in hash order, that were not touched for `untouched_for`.
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

    /// Removes those of the objects that were not touched for `untouched_for`; the others stay.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()>;

    /// Lists up to `max` domains that have objects, after `after`.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>>;

    /// Lists some of what no object has: bytes that a `put` stored which was broken off before it was acknowledged, at
    /// least `untouched_for` ago. `after` is the [`next`](Leftovers::next) of the page before.
    ///
    /// `owner` names the store that the objects belong to: a place that another one has taken for its own is
    /// [`StoreError::Misuse`](super::StoreError::Misuse), because to this one all its bytes look left over.
    ///
    /// # Errors
    /// `Unavailable`; `Misuse`.
    async fn leftovers(
        &self,
        owner: &str,
        after: Option<&str>,
        untouched_for: Duration,
    ) -> StoreResult<Leftovers>;

    /// Removes what [`leftovers`](Objects::leftovers) listed.
    ///
    /// # Errors
    /// `Unavailable`.
    async fn delete_leftovers(&self, names: &[String]) -> StoreResult<()>;
}

/// Longest time of a [`put`](Objects::put) that stores bytes outside its tables: it is refused rather than acknowledged
/// later, so that bytes which are older and have no object will never have one.
pub const MAX_PUT: Duration = Duration::from_secs(60 * 60);

/// A page of what no object has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// The names.
    pub names: Vec<String>,
    /// Where the next page begins; absent on the last one. A page may be empty and have a next.
    pub next: Option<String>,
}
