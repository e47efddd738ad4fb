//! [`Objects`] over a table of objects, the same for both databases.
//!
//! Small bytes lie in the table. Large ones lie in [`Blobs`], each time under a new name, and the table says where: so
//! removing what nobody needs can never remove what somebody has just stored again.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use docs_ports::{Clock, Ids, RandomIds, id_text};
use docs_store::{Blobs, Hash, Objects, StoreError, StoreResult};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::options::{INLINE, Options};

/// Blobs that are read or written at the same time for one call.
const BLOBS_AT_ONCE: usize = 8;

/// Where the bytes of an object are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In the table.
    Row(Bytes),
    /// In a blob of this name.
    Blob(String),
}

/// The table of objects. An object that is *condemned* is about to be removed and counts as absent.
#[async_trait]
pub(crate) trait ObjectRows: Send + Sync + 'static {
    /// Marks those that are there as touched, and answers which are absent.
    async fn touch(&self, domain: &str, hashes: &[Hash], now: DateTime<Utc>) -> StoreResult<Vec<Hash>>;

    /// Stores rows that were absent. A row that has come since stays and is touched; a condemned one is replaced.
    async fn insert(
        &self,
        domain: &str,
        rows: Vec<(Hash, usize, Place)>,
        now: DateTime<Utc>,
    ) -> StoreResult<()>;

    /// Where the objects are, in the order asked.
    async fn read(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Place>>>;

    /// Up to `max` hashes after `after`, in hash order, last touched at `before` or earlier; condemned ones too.
    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        before: DateTime<Utc>,
        max: u32,
    ) -> StoreResult<Vec<Hash>>;

    /// Condemns those last touched at `before` or earlier; answers all of the given that are condemned now, with the
    /// name of their blob. Rows without a blob are removed at once.
    async fn condemn(
        &self,
        domain: &str,
        hashes: &[Hash],
        before: DateTime<Utc>,
    ) -> StoreResult<Vec<(Hash, String)>>;

    /// Removes rows that are condemned and whose blob has this name.
    async fn remove(&self, domain: &str, rows: &[(Hash, String)]) -> StoreResult<()>;
}

/// The [`Objects`] of a store in a database: in its tables, and where [`Options::blobs`] says. Clones are the same.
#[derive(Clone)]
pub struct TableObjects {
    rows: Arc<dyn ObjectRows>,
    blobs: Option<Arc<dyn Blobs>>,
    clock: Arc<dyn Clock>,
}

impl TableObjects {
    pub(crate) fn new(rows: impl ObjectRows, options: &Options) -> Self {
        Self { rows: Arc::new(rows), blobs: options.the_blobs(), clock: options.the_clock() }
    }

    /// Stores the bytes of a new object, unless they go into the table.
    async fn place(&self, hash: Hash, bytes: Bytes) -> StoreResult<(Hash, usize, Place)> {
        let len = bytes.len();
        let place = match &self.blobs {
            Some(blobs) if len > INLINE => {
                let text = hash.to_string();
                let name = format!("{}/{text}-{}", &text[..2], id_text(RandomIds.next()));
                blobs.put(&name, bytes).await?;
                Place::Blob(name)
            }
            _ => Place::Row(bytes),
        };
        Ok((hash, len, place))
    }

    async fn bytes(&self, hash: Hash, place: Option<Place>) -> StoreResult<Option<Bytes>> {
        let bytes = match place {
            None => return Ok(None),
            Some(Place::Row(bytes)) => bytes,
            Some(Place::Blob(name)) => {
                let blobs = self.blobs.as_ref().ok_or_else(|| {
                    let why = "its bytes lie outside the database, and no place for them was given";
                    StoreError::Unavailable(format!("object {hash} cannot be read: {why}"))
                })?;
                let bytes = blobs.get(&name).await?;
                bytes.ok_or_else(|| {
                    StoreError::Corrupt(format!("the blob `{name}` of object {hash} is gone"))
                })?
            }
        };
        if Hash::of(&bytes) != hash {
            return Err(StoreError::Corrupt(format!("the bytes of object {hash} do not fit its hash")));
        }
        Ok(Some(bytes))
    }

    fn before(&self, untouched_for: Duration) -> Option<DateTime<Utc>> {
        // A span that chrono cannot express is longer than any object has been there.
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
        if objects.iter().any(|(hash, bytes)| Hash::of(bytes) != *hash) {
            return Err(StoreError::Misuse("an object under a hash that is not its own"));
        }
        if objects.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        let hashes: Vec<Hash> = objects.iter().map(|(hash, _)| *hash).collect();
        let mut absent = self.rows.touch(domain, &hashes, now).await?;
        absent.sort_unstable();
        absent.dedup();
        let mut new = Vec::with_capacity(absent.len());
        for (hash, bytes) in objects {
            if let Ok(at) = absent.binary_search(hash) {
                // Each once, however often it was given.
                absent.remove(at);
                new.push(self.place(*hash, bytes.clone()));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let placed = stream::iter(new).buffered(BLOBS_AT_ONCE).try_collect().await?;
        self.rows.insert(domain, placed, now).await
    }

    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let places = self.rows.read(domain, hashes).await?;
        let reads: Vec<_> = hashes.iter().zip(places).map(|(hash, place)| self.bytes(*hash, place)).collect();
        stream::iter(reads).buffered(BLOBS_AT_ONCE).try_collect().await
    }

    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        untouched_for: Duration,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        match self.before(untouched_for) {
            Some(before) => self.rows.list(domain, after, before, max).await,
            None => Ok(Vec::new()),
        }
    }

    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()> {
        let Some(before) = self.before(untouched_for) else { return Ok(()) };
        if hashes.is_empty() {
            return Ok(());
        }
        let condemned = self.rows.condemn(domain, hashes, before).await?;
        if condemned.is_empty() {
            return Ok(());
        }
        let Some(blobs) = &self.blobs else {
            return Err(StoreError::Unavailable(
                "no place was given for large objects, where some lie".into(),
            ));
        };
        // The bytes go first: whatever ends this half way leaves a row that the next sweep finds again.
        let gone: Vec<_> = condemned.iter().map(|(_, name)| blobs.delete(name)).collect();
        stream::iter(gone).buffer_unordered(BLOBS_AT_ONCE).try_collect::<()>().await?;
        self.rows.remove(domain, &condemned).await
    }
}
