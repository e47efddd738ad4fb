//! Immutable content by hash: [`Objects`].

use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::StoreResult;

/// The BLAKE3-256 hash of an object's bytes: its name. Written as 52 characters of lower-case base32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A hash from its raw bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::model::BASE32.encode(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// The text is not a hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a hash: 52 characters of lower-case base32 are needed")]
pub struct NotAHash;

impl FromStr for Hash {
    type Err = NotAHash;
    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let bytes = crate::model::BASE32.decode(text.as_bytes()).map_err(|_| NotAHash)?;
        Ok(Self(bytes.try_into().map_err(|_| NotAHash)?))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

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
}
