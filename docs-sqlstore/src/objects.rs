//! [`Objects`] in a database table, for both databases.
//!
//! Small objects are stored in the table. Large ones are stored in [`Blobs`], each time under a new name, which the
//! table contains. Collecting a garbage object can therefore never delete the blob of a concurrent write of the same
//! object.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use docs_ports::{Clock, Ids, RandomIds, id_text};
use docs_store::{Blobs, Hash, MAX_PUT, Objects, OrphanPage, StoreError, StoreResult};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::options::{INLINE_BYTES, Options};

/// Maximum number of concurrent blob reads or writes per call.
const BLOB_CONCURRENCY: usize = 8;
/// Number of blob names looked up per query.
const BLOB_NAME_BATCH: usize = 500;
/// Name of the blob that identifies the owning store.
const OWNER_BLOB: &str = "owner";

/// The storage location of an object's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ObjectLocation {
    /// In the table.
    Row(Bytes),
    /// In the blob with this name.
    Blob(String),
}

/// The table of objects. An object marked as *condemned* is about to be deleted and counts as absent.
#[async_trait]
pub(crate) trait ObjectRows: Send + Sync + 'static {
    /// Touches the existing objects, and returns the absent ones.
    async fn touch(&self, domain: &str, hashes: &[Hash], now: DateTime<Utc>) -> StoreResult<Vec<Hash>>;

    /// Inserts rows of absent objects. A row inserted concurrently is touched instead; a condemned one is replaced.
    async fn insert(
        &self,
        domain: &str,
        rows: Vec<(Hash, usize, ObjectLocation)>,
        now: DateTime<Utc>,
    ) -> StoreResult<()>;

    /// Returns the locations of the objects, in the same order.
    async fn read(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<ObjectLocation>>>;

    /// Returns up to `max` hashes greater than `after`, in hash order, of objects last touched at or before `before`,
    /// including condemned ones.
    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        before: DateTime<Utc>,
        max: u32,
    ) -> StoreResult<Vec<Hash>>;

    /// Condemns the objects that were last touched at or before `before`. Returns all of the given objects that are now
    /// condemned, with the names of their blobs. Rows without a blob are deleted immediately.
    async fn condemn(
        &self,
        domain: &str,
        hashes: &[Hash],
        before: DateTime<Utc>,
    ) -> StoreResult<Vec<(Hash, String)>>;

    /// Deletes condemned rows with these blob names.
    async fn remove(&self, domain: &str, rows: &[(Hash, String)]) -> StoreResult<()>;

    /// Returns up to `max` domains after `after` that have rows, in order.
    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>>;

    /// Returns those of the blobs that any row references, including condemned rows.
    async fn referenced_blobs(&self, blobs: &[String]) -> StoreResult<Vec<String>>;
}

/// The [`Objects`] of a database store: in its tables, and in [`Options::blobs`]. Clones share the same objects.
#[derive(Clone)]
pub struct TableObjects {
    rows: Arc<dyn ObjectRows>,
    blobs: Option<Arc<dyn Blobs>>,
    clock: Arc<dyn Clock>,
}

impl TableObjects {
    pub(crate) fn new(rows: impl ObjectRows, options: &Options) -> Self {
        Self { rows: Arc::new(rows), blobs: options.blob_store(), clock: options.time_source() }
    }

    /// Stores a large new object as a blob, and returns its location.
    async fn store_large(&self, hash: Hash, bytes: Bytes) -> StoreResult<(Hash, usize, ObjectLocation)> {
        let len = bytes.len();
        let location = match &self.blobs {
            Some(blobs) if len > INLINE_BYTES => {
                let text = hash.to_string();
                let name = format!("{}/{text}-{}", &text[..2], id_text(RandomIds.next()));
                blobs.put(&name, bytes).await?;
                ObjectLocation::Blob(name)
            }
            _ => ObjectLocation::Row(bytes),
        };
        Ok((hash, len, location))
    }

    async fn bytes(&self, hash: Hash, location: Option<ObjectLocation>) -> StoreResult<Option<Bytes>> {
        let bytes = match location {
            None => return Ok(None),
            Some(ObjectLocation::Row(bytes)) => bytes,
            Some(ObjectLocation::Blob(name)) => {
                let blobs = self.blobs.as_ref().ok_or_else(|| {
                    let why = "its bytes are stored outside of the database, and no blob storage is \
                               configured";
                    StoreError::Unavailable(format!("cannot read object {hash}: {why}"))
                })?;
                let bytes = blobs.get(&name).await?;
                bytes.ok_or_else(|| {
                    StoreError::Corrupt(format!("the blob `{name}` of object {hash} no longer exists"))
                })?
            }
        };
        if Hash::compute(&bytes) != hash {
            return Err(StoreError::Corrupt(format!("the bytes of object {hash} do not match its hash")));
        }
        Ok(Some(bytes))
    }

    fn touch_cutoff(&self, untouched_for: Duration) -> Option<DateTime<Utc>> {
        // A duration beyond chrono's range exceeds the age of any object.
        self.clock.now().checked_sub_signed(TimeDelta::from_std(untouched_for).ok()?)
    }
}

impl fmt::Debug for TableObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableObjects").field("blobs", &self.blobs.is_some()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for TableObjects {
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()> {
        if objects.iter().any(|(hash, bytes)| Hash::compute(bytes) != *hash) {
            return Err(StoreError::Misuse("an object has the hash of other bytes"));
        }
        if objects.is_empty() {
            return Ok(());
        }
        // If storing takes too long, the blob may count as a leftover before its row is inserted.
        let now = self.clock.now();
        let hashes: Vec<Hash> = objects.iter().map(|(hash, _)| *hash).collect();
        let mut absent = self.rows.touch(domain, &hashes, now).await?;
        absent.sort_unstable();
        absent.dedup();
        let mut new = Vec::with_capacity(absent.len());
        for (hash, bytes) in objects {
            if let Ok(at) = absent.binary_search(hash) {
                // Each object is stored once, even if it occurs several times.
                absent.remove(at);
                new.push(self.store_large(*hash, bytes.clone()));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let located: Vec<_> = stream::iter(new).buffered(BLOB_CONCURRENCY).try_collect().await?;
        let has_blobs = located.iter().any(|(.., location)| matches!(location, ObjectLocation::Blob(_)));
        if has_blobs && (self.clock.now() - now).to_std().is_ok_and(|took| took >= MAX_PUT) {
            return Err(StoreError::Unavailable("the blob storage exceeded its time limit".into()));
        }
        self.rows.insert(domain, located, now).await
    }

    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let locations = self.rows.read(domain, hashes).await?;
        let reads: Vec<_> =
            hashes.iter().zip(locations).map(|(hash, location)| self.bytes(*hash, location)).collect();
        stream::iter(reads).buffered(BLOB_CONCURRENCY).try_collect().await
    }

    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        untouched_for: Duration,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        match self.touch_cutoff(untouched_for) {
            Some(before) => self.rows.list(domain, after, before, max).await,
            None => Ok(Vec::new()),
        }
    }

    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()> {
        let Some(before) = self.touch_cutoff(untouched_for) else { return Ok(()) };
        if hashes.is_empty() {
            return Ok(());
        }
        let condemned = self.rows.condemn(domain, hashes, before).await?;
        if condemned.is_empty() {
            return Ok(());
        }
        let Some(blobs) = &self.blobs else {
            return Err(StoreError::Unavailable(
                "some objects are stored as blobs, and no blob storage is configured".into(),
            ));
        };
        // Delete the blobs first. After an interruption, the next sweep finds the remaining rows.
        let gone: Vec<_> = condemned.iter().map(|(_, name)| blobs.delete(name)).collect();
        stream::iter(gone).buffer_unordered(BLOB_CONCURRENCY).try_collect::<()>().await?;
        self.rows.remove(domain, &condemned).await
    }

    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>> {
        self.rows.domains(after, max).await
    }

    async fn leftovers(
        &self,
        owner: &str,
        after: Option<&str>,
        untouched_for: Duration,
    ) -> StoreResult<OrphanPage> {
        let (Some(blobs), Some(before)) = (&self.blobs, self.touch_cutoff(untouched_for.max(2 * MAX_PUT)))
        else {
            return Ok(OrphanPage::default());
        };
        require_owner(&**blobs, owner).await?;
        let Some(folder) = folder_after(after) else { return Ok(OrphanPage::default()) };
        let old = blobs.list(&folder).await?.into_iter().filter(|blob| blob.stored_at <= before);
        let mut names: BTreeSet<String> =
            old.map(|blob| blob.name).filter(|name| is_blob_name(name)).collect();
        // List the blobs before reading rows: any row inserted later belongs to a blob stored later.
        let listed: Vec<String> = names.iter().cloned().collect();
        for some in listed.chunks(BLOB_NAME_BATCH) {
            for name in self.rows.referenced_blobs(some).await? {
                names.remove(&name);
            }
        }
        Ok(OrphanPage { names: names.into_iter().collect(), next: Some(folder) })
    }

    async fn delete_leftovers(&self, names: &[String]) -> StoreResult<()> {
        let Some(blobs) = &self.blobs else { return Ok(()) };
        let gone: Vec<_> = names.iter().map(|name| blobs.delete(name)).collect();
        stream::iter(gone).buffer_unordered(BLOB_CONCURRENCY).try_collect().await
    }
}

/// Alphabet of hashes. Two of its characters name the folder of a blob.
const FOLDER_LETTERS: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// Returns the folder after the given one, or `None` after the last.
fn folder_after(folder: Option<&str>) -> Option<String> {
    let number = match folder.map(str::as_bytes) {
        None => 0,
        Some([a, b]) => {
            let digit = |letter: &u8| FOLDER_LETTERS.iter().position(|other| other == letter);
            digit(a)? * 32 + digit(b)? + 1
        }
        Some(_) => return None,
    };
    let letter = |digit: usize| FOLDER_LETTERS.get(digit).map(|letter| char::from(*letter));
    Some([letter(number / 32)?, letter(number % 32)?].iter().collect())
}

/// Returns `true` if a name has the format generated by `store_large`. Other blobs must not be deleted.
fn is_blob_name(name: &str) -> bool {
    let parts = name.split_once('/').and_then(|(folder, rest)| Some((folder, rest.split_once('-')?)));
    parts.is_some_and(|(folder, (hash, _))| hash.starts_with(folder) && hash.parse::<Hash>().is_ok())
}

/// Claims blob storage for a store. Fails if another store has claimed it.
async fn require_owner(blobs: &dyn Blobs, owner: &str) -> StoreResult<()> {
    match blobs.get(OWNER_BLOB).await? {
        Some(found) if found == owner.as_bytes() => Ok(()),
        Some(_) => Err(StoreError::Misuse("the blob storage belongs to another database")),
        None => blobs.put(OWNER_BLOB, Bytes::copy_from_slice(owner.as_bytes())).await,
    }
}
