//! Objects stored outside the database.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use docs_core::ports::Clock as _;
use docs_core::store::{Blob, Blobs, Hash, Objects, StoreError, StoreResult};
use docs_sqlstore::{INLINE_BYTES, SqliteStore, TableObjects};
use parking_lot::Mutex;

use super::Sqlite;

/// In-memory blobs. Just before a blob is deleted, the object in `again` is stored once more.
#[derive(Default)]
struct Memory {
    blobs: Mutex<BTreeMap<String, Bytes>>,
    again: OnceLock<(TableObjects, Bytes)>,
    /// Reported modification time of all blobs.
    stored_at: Mutex<DateTime<Utc>>,
}

#[async_trait]
impl Blobs for Memory {
    async fn put(&self, name: &str, bytes: Bytes) -> StoreResult<()> {
        self.blobs.lock().insert(name.to_owned(), bytes);
        Ok(())
    }

    async fn get(&self, name: &str) -> StoreResult<Option<Bytes>> {
        Ok(self.blobs.lock().get(name).cloned())
    }

    async fn list(&self, folder: &str) -> StoreResult<Vec<Blob>> {
        let blobs = self.blobs.lock();
        let below =
            blobs.keys().filter(|name| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
        let at = *self.stored_at.lock();
        Ok(below.map(|name| Blob { name: name.clone(), stored_at: at }).collect())
    }

    async fn delete(&self, name: &str) -> StoreResult<()> {
        if let Some((objects, bytes)) = self.again.get() {
            objects.put("d", &[(Hash::compute(bytes), bytes.clone())]).await?;
        }
        self.blobs.lock().remove(name);
        Ok(())
    }
}

fn large(seed: u8) -> (Hash, Bytes) {
    let bytes = Bytes::from(vec![seed; INLINE_BYTES + 1]);
    (Hash::compute(&bytes), bytes)
}

async fn with_blobs(home: &Sqlite) -> (SqliteStore, Arc<Memory>) {
    let blobs = Arc::new(Memory::default());
    let options = home.options().blobs(blobs.clone());
    (SqliteStore::open(home.path("a.sqlite"), options).await.expect("the folder is there"), blobs)
}

#[tokio::test]
async fn large_objects_are_stored_as_blobs_until_deleted() {
    let home = Sqlite::new();
    let (store, blobs) = with_blobs(&home).await;
    let objects = store.objects();
    let small = Bytes::from(vec![1; INLINE_BYTES]);
    let all = [large(2), (Hash::compute(&small), small), large(3)];
    objects.put("d", &all).await.expect("there is room");
    objects.put("d", &all).await.expect("there is room");
    assert_eq!(blobs.blobs.lock().len(), 2);
    let hashes = all.clone().map(|(hash, _)| hash);
    let bytes = all.clone().map(|(_, bytes)| Some(bytes));
    assert!(objects.get("d", &hashes).await.expect("all is there") == bytes);
    // Without blob storage, large objects cannot be read, and the error states the reason.
    let without = home.open("a.sqlite").await.objects();
    let read = without.get("d", &hashes).await;
    assert!(matches!(&read, Err(StoreError::Unavailable(why)) if why.contains("outside")), "{read:?}");
    objects.delete("d", &hashes, Duration::ZERO).await.expect("deleting is fine");
    assert!(blobs.blobs.lock().is_empty());
    assert_eq!(objects.list("d", None, Duration::ZERO, 9).await, Ok(vec![]));
}

#[tokio::test]
async fn object_put_during_its_deletion_is_retained() {
    let home = Sqlite::new();
    let (store, blobs) = with_blobs(&home).await;
    let objects = store.objects();
    let (hash, bytes) = large(7);
    objects.put("d", &[(hash, bytes.clone())]).await.expect("there is room");
    assert!(blobs.again.set((objects.clone(), bytes.clone())).is_ok());
    objects.delete("d", &[hash], Duration::ZERO).await.expect("deleting is fine");
    assert!(objects.get("d", &[hash]).await.expect("it was put again") == [Some(bytes)]);
    assert_eq!(blobs.blobs.lock().len(), 1);
}

#[tokio::test]
async fn interrupted_object_deletion_can_be_completed() {
    let home = Sqlite::new();
    let (store, blobs) = with_blobs(&home).await;
    let (hash, bytes) = large(9);
    store.objects().put("d", &[(hash, bytes)]).await.expect("there is room");
    // Without blob storage, the object is condemned but not deleted.
    let half = home.open("a.sqlite").await.objects();
    assert!(half.delete("d", &[hash], Duration::ZERO).await.is_err());
    assert_eq!(store.objects().get("d", &[hash]).await, Ok(vec![None]));
    assert_eq!(store.objects().list("d", None, Duration::ZERO, 9).await, Ok(vec![hash]));
    store.objects().delete("d", &[hash], Duration::ZERO).await.expect("deleting is fine");
    assert!(blobs.blobs.lock().is_empty());
    assert_eq!(store.objects().list("d", None, Duration::ZERO, 9).await, Ok(vec![]));
}

#[tokio::test]
async fn leftover_blobs_of_interrupted_puts_are_removed() {
    let home = Sqlite::new();
    let (store, blobs) = with_blobs(&home).await;
    let objects = store.objects();
    let (hash, bytes) = large(5);
    objects.put("d", &[(hash, bytes.clone())]).await.expect("there is room");
    let kept: Vec<String> = blobs.blobs.lock().keys().cloned().collect();
    // A blob whose process died before it inserted the row, and files of another program.
    let left = format!("{}-left", kept[0].split_once('-').expect("a name").0);
    for name in [left.as_str(), "ab/notes.txt", "readme"] {
        blobs.put(name, bytes.clone()).await.expect("put");
    }
    let now = home.clock.now();
    let day = Duration::from_secs(86_400);
    let mut found = Vec::new();
    for (stored_at, expected) in [(now, vec![]), (now - TimeDelta::days(2), vec![left.clone()])] {
        *blobs.stored_at.lock() = stored_at;
        found = all_leftovers(&objects, "store 1", day).await.expect("listed");
        assert_eq!(found, expected);
    }
    let other = all_leftovers(&objects, "store 2", day).await;
    assert!(matches!(other, Err(StoreError::Misuse(_))), "{other:?}");
    objects.delete_leftovers(&found).await.expect("removed");
    objects.delete_leftovers(&found).await.expect("removing what is not there is fine");
    let mut names: Vec<String> = blobs.blobs.lock().keys().cloned().collect();
    names.retain(|name| name != "owner");
    let mut expected = [kept[0].as_str(), "ab/notes.txt", "readme"];
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(objects.get("d", &[hash]).await.expect("read"), [Some(bytes)]);
}

/// Reads all pages of leftover blobs.
async fn all_leftovers(objects: &TableObjects, owner: &str, untouched: Duration) -> StoreResult<Vec<String>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = objects.leftovers(owner, after.as_deref(), untouched).await?;
        found.extend(page.names);
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}
