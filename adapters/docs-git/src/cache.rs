//! The cache of repositories on disk, with its size limit.

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use docs_ports::GitError;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::failure::no_room;

/// A folder of cached repositories. The least recently used ones are evicted when the size limit is exceeded.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Maximum total size in bytes.
    pub(crate) limit: u64,
    /// The repositories that are in use or requested by waiting tasks.
    used: Mutex<HashMap<String, FolderUse>>,
    /// Excludes other processes from the folder.
    _lock: Option<FolderLock>,
}

#[derive(Debug, Default)]
struct FolderUse {
    users: usize,
    /// Held while writing.
    lock: Arc<tokio::sync::Mutex<()>>,
}

/// A guard that prevents the eviction of a repository.
#[derive(Debug)]
pub(crate) struct Lease {
    cache: Arc<Cache>,
    name: String,
}

/// A cached repository with exclusive write access.
#[derive(Debug)]
pub(crate) struct CachedRepository {
    pub(crate) path: PathBuf,
    pub(crate) lease: Lease,
    pub(crate) lock: OwnedMutexGuard<()>,
}

/// Name prefix of repositories that are being deleted.
const DELETING_PREFIX: &str = "gone-";

/// The lock file of a folder.
const LOCK_FILE: &str = "in-use";

/// The file in a repository whose modification time is the time of the last use.
const LAST_USE_FILE: &str = "docs-used";

impl Cache {
    pub(crate) fn new(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit, used: Mutex::default(), _lock: None }
    }

    /// Attaches the lock of the folder.
    pub(crate) fn with_lock(self, lock: FolderLock) -> Self {
        Self { _lock: Some(lock), ..self }
    }

    /// Waits until no other task writes to a repository, and returns its location.
    ///
    /// The name depends on the URL as well as the id. Otherwise, a user who can choose an id could read repositories
    /// fetched by others.
    pub(crate) async fn repository(self: &Arc<Self>, id: &str, identity: &str) -> CachedRepository {
        let mut hasher = blake3::Hasher::new_derive_key("docs-git cache of repositories");
        hasher.update(&(id.len() as u64).to_le_bytes());
        hasher.update(id.as_bytes());
        hasher.update(identity.as_bytes());
        let name = format!("{}.git", hasher.finalize().to_hex());
        let lock = {
            let mut used = self.used.lock();
            let entry = used.entry(name.clone()).or_default();
            entry.users += 1;
            Arc::clone(&entry.lock)
        };
        let lease = Lease { cache: Arc::clone(self), name };
        let path = self.folder.join(&lease.name);
        CachedRepository { path, lease, lock: lock.lock_owned().await }
    }

    /// Evicts the least recently used repositories until the total size is within the limit. Repositories in use are
    /// skipped.
    pub(crate) fn trim(&self) -> Result<(), GitError> {
        let mut found = self.list().map_err(|error| no_room(&error.to_string()))?;
        let mut bytes = found.iter().map(|it| it.bytes).sum::<u64>();
        found.sort_by_key(|it| it.last_used);
        for repository in found {
            if repository.name.starts_with(DELETING_PREFIX) {
                // A shutdown interrupted the deletion of this repository, or the deletion is in progress.
                remove(&self.folder.join(&repository.name))?;
                bytes = bytes.saturating_sub(repository.bytes);
            } else if bytes > self.limit && self.remove(&repository.name)? {
                tracing::debug!(repository = repository.name, "evict cached repository");
                bytes = bytes.saturating_sub(repository.bytes);
            }
        }
        Ok(())
    }

    /// Deletes a repository that is not in use. Later requests create it again.
    fn remove(&self, name: &str) -> Result<bool, GitError> {
        let gone = self.folder.join(format!("{DELETING_PREFIX}{name}"));
        {
            let used = self.used.lock();
            if used.contains_key(name) {
                return Ok(false);
            }
            remove(&gone)?;
            match fs::rename(self.folder.join(name), &gone) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
                Err(error) => return Err(no_room(&error.to_string())),
                Ok(()) => {}
            }
        }
        remove(&gone)?;
        Ok(true)
    }

    fn list(&self) -> io::Result<Vec<CacheEntry>> {
        let mut listed = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if is_ours(name.strip_prefix(DELETING_PREFIX).unwrap_or(&name)) && entry.file_type()?.is_dir() {
                listed.push(CacheEntry {
                    bytes: size_of(&entry.path()),
                    last_used: last_used(&entry.path()),
                    name,
                });
            }
        }
        Ok(listed)
    }
}

/// A cached repository.
struct CacheEntry {
    name: String,
    bytes: u64,
    last_used: SystemTime,
}

impl Lease {
    /// Begins a use of a repository: records the time, and deletes the repository if it exceeds the limit and no other
    /// task uses it.
    pub(crate) fn begin(&self, path: &Path, limit: u64) -> Result<(), GitError> {
        let is_alone = self.cache.used.lock().get(&self.name).is_some_and(|used| used.users == 1);
        if is_alone && size_of(path) > limit {
            remove(path)?;
        }
        let note = || {
            docs_disk::create_folder(path)?;
            docs_disk::create_file(&path.join(LAST_USE_FILE))?.set_modified(SystemTime::now())
        };
        note().map_err(|error: io::Error| no_room(&error.to_string()))
    }

    /// Evicts repositories after a use. A failure is logged and does not affect the use.
    pub(crate) fn make_room(&self) {
        if let Err(error) = self.cache.trim() {
            tracing::warn!(%error, "failed to evict cached repositories");
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut used = self.cache.used.lock();
        if let Some(entry) = used.get_mut(&self.name) {
            entry.users -= 1;
            if entry.users == 0 {
                used.remove(&self.name);
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct FolderLock(File);

impl FolderLock {
    /// Creates a folder if it is missing, and locks it.
    pub(crate) fn acquire(folder: &Path) -> io::Result<Self> {
        docs_disk::create_folder(folder)?;
        let file = docs_disk::create_file(&folder.join(LOCK_FILE))?;
        file.try_lock()?;
        Ok(Self(file))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A process that is being started has a copy of the file descriptor, so closing alone may not release the lock.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "cannot unlock the Git cache");
        }
    }
}

/// Returns `true` for the name of a cached repository. Other files are never deleted, even if the folder is
/// misconfigured.
fn is_ours(name: &str) -> bool {
    name.strip_suffix(".git")
        .is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn last_used(path: &Path) -> SystemTime {
    let date = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
    date(&path.join(LAST_USE_FILE)).or_else(|_| date(path)).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Deletes a folder recursively.
pub(crate) fn remove(path: &Path) -> Result<(), GitError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(no_room(&error.to_string())),
        _ => Ok(()),
    }
}

/// Returns the total size of the readable files in a folder. A concurrent fetch adds and removes files.
fn size_of(path: &Path) -> u64 {
    let mut size = 0;
    let mut todo = vec![path.to_owned()];
    while let Some(folder) = todo.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => todo.push(entry.path()),
                Ok(_) => size += entry.metadata().map_or(0, |found| found.len()),
                Err(_) => {}
            }
        }
    }
    size
}
