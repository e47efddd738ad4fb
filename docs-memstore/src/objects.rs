//! In-memory object storage.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    ops::Bound,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use docs_ports::{Clock, SystemClock};
use docs_store::{Hash, Objects, OrphanPage, StoreError, StoreResult};
use parking_lot::RwLock;

/// [`Objects`] in memory. Clones share their content.
///
/// Bytes are verified against their hash when written and when read.
#[derive(Clone)]
pub struct MemObjects(Arc<ObjectState>);

struct ObjectState {
    domains: RwLock<HashMap<String, BTreeMap<Hash, StoredObject>>>,
    clock: Arc<dyn Clock>,
}

#[derive(Clone)]
struct StoredObject {
    bytes: Bytes,
    touched: DateTime<Utc>,
}

impl MemObjects {
    /// Creates an empty store with the system clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }

    /// Creates an empty store with this clock, which determines touch times.
    #[must_use]
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(ObjectState { domains: RwLock::default(), clock }))
    }

    /// Creates an independent copy of the current content.
    #[must_use]
    pub fn fork(&self) -> Self {
        let domains = RwLock::new(self.0.domains.read().clone());
        Self(Arc::new(ObjectState { domains, clock: self.0.clock.clone() }))
    }

    /// Damages an object, as a failing disk would. Returns `None` if the object does not exist.
    ///
    /// For tests: reading the object afterwards fails with [`StoreError::Corrupt`].
    pub fn damage(&self, domain: &str, hash: Hash) -> Option<()> {
        let mut domains = self.0.domains.write();
        let object = domains.get_mut(domain)?.get_mut(&hash)?;
        let mut bytes = object.bytes.to_vec();
        match bytes.first_mut() {
            Some(first) => *first = !*first,
            None => bytes.push(0),
        }
        object.bytes = bytes.into();
        Some(())
    }

    /// Returns the number of objects in all domains.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.domains.read().values().map(BTreeMap::len).sum()
    }

    /// Returns `true` if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for MemObjects {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemObjects").field("objects", &self.len()).finish()
    }
}

#[async_trait]
impl Objects for MemObjects {
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()> {
        if objects.iter().any(|(hash, bytes)| Hash::compute(bytes) != *hash) {
            return Err(StoreError::Misuse("an object has the hash of other bytes"));
        }
        if objects.is_empty() {
            return Ok(());
        }
        let touched = self.0.clock.now();
        let mut domains = self.0.domains.write();
        let stored = domains.entry(domain.to_owned()).or_default();
        for (hash, bytes) in objects {
            stored.insert(*hash, StoredObject { bytes: bytes.clone(), touched });
        }
        Ok(())
    }

    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>> {
        let found: Vec<Option<Bytes>> = {
            let domains = self.0.domains.read();
            let stored = domains.get(domain);
            hashes.iter().map(|hash| Some(stored?.get(hash)?.bytes.clone())).collect()
        };
        for (hash, bytes) in hashes.iter().zip(&found) {
            if bytes.as_ref().is_some_and(|bytes| Hash::compute(bytes) != *hash) {
                return Err(StoreError::Corrupt(format!("the bytes of object {hash} do not match its hash")));
            }
        }
        Ok(found)
    }

    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        untouched_for: Duration,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        let now = self.0.clock.now();
        let domains = self.0.domains.read();
        let Some(stored) = domains.get(domain) else { return Ok(Vec::new()) };
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let old =
            stored.range((from, Bound::Unbounded)).filter(|(_, object)| object.is_old(now, untouched_for));
        Ok(old.map(|(hash, _)| *hash).take(max as usize).collect())
    }

    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()> {
        let now = self.0.clock.now();
        let mut domains = self.0.domains.write();
        let Some(stored) = domains.get_mut(domain) else { return Ok(()) };
        for hash in hashes {
            if stored.get(hash).is_some_and(|object| object.is_old(now, untouched_for)) {
                stored.remove(hash);
            }
        }
        if stored.is_empty() {
            domains.remove(domain);
        }
        Ok(())
    }

    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>> {
        let domains = self.0.domains.read();
        let mut names: Vec<&String> =
            domains.keys().filter(|name| after.is_none_or(|after| name.as_str() > after)).collect();
        names.sort_unstable();
        Ok(names.into_iter().take(max as usize).cloned().collect())
    }

    /// Always empty, because an object is stored completely or not at all.
    async fn leftovers(&self, _: &str, _: Option<&str>, _: Duration) -> StoreResult<OrphanPage> {
        Ok(OrphanPage::default())
    }

    async fn delete_leftovers(&self, _: &[String]) -> StoreResult<()> {
        Ok(())
    }
}

impl StoredObject {
    fn is_old(&self, now: DateTime<Utc>, untouched_for: Duration) -> bool {
        // A duration beyond chrono's range exceeds the age of any object.
        TimeDelta::from_std(untouched_for).is_ok_and(|span| now - self.touched >= span)
    }
}
