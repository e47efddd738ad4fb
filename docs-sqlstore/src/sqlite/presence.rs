//! The lock file next to a database, through which processes detect each other.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{OpenError, Options, SharingMode};

/// Interval between attempts to acquire the lock. File locks have no acquisition with a deadline.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A lock on the lock file. The operating system releases it when the process ends, even after a crash. The last
/// process deletes the file if possible.
#[derive(Debug)]
pub(super) struct Presence {
    path: PathBuf,
    lock: File,
}

impl Presence {
    /// Acquires the lock. Waits for processes that are exiting.
    pub(super) async fn take(database: &Path, options: &Options) -> Result<Self, OpenError> {
        let sharing = options.sharing_mode();
        let place = database.display().to_string();
        let unusable = |why: String| OpenError::Unusable { place: place.clone(), why };
        let path = lock_of(database).map_err(|why| unusable(why.to_string()))?;
        if has_other_names(database) {
            return Err(unusable(
                "the file has hard links, under which other programs would not find its lock; remove them"
                    .to_owned(),
            ));
        }
        let until = Instant::now() + options.busy_timeout();
        loop {
            match lock(&path, sharing) {
                Ok(Some(lock)) => return Ok(Self { path, lock }),
                Ok(None) if Instant::now() < until => sleep(LOCK_RETRY_INTERVAL).await,
                Ok(None) => return Err(sharing.in_use_error(place)),
                Err(why) => {
                    let needs = format!("the program needs write access to the file `{}`", path.display());
                    return Err(unusable(format!("{why}; {needs}")));
                }
            }
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // No other process holds the lock. One that opens the file now will notice that it was unlinked, and create
        // another.
        if cfg!(unix) && self.lock.try_lock().is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the path of the lock file. Symbolic links are resolved, so that all names of a database share one lock file.
fn lock_of(database: &Path) -> io::Result<PathBuf> {
    let database = match database.canonicalize() {
        Ok(database) => database,
        // The database does not exist yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = database.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new(".")).canonicalize()?;
            parent.join(database.file_name().unwrap_or_default())
        }
        Err(error) => return Err(error),
    };
    let mut path = database.into_os_string();
    path.push(".lock");
    Ok(path.into())
}

/// Returns `true` if a file has hard links.
#[cfg(unix)]
fn has_other_names(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    fs::metadata(file).is_ok_and(|file| file.nlink() > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &Path) -> bool {
    false
}

/// Tries to lock a file. Returns `None` if others hold the lock, or if the last of them has just deleted the file.
fn lock(path: &Path, sharing: SharingMode) -> io::Result<Option<File>> {
    let lock = docs_disk::create_file(path)?;
    let taken = match sharing {
        SharingMode::Shared => lock.try_lock_shared(),
        SharingMode::Exclusive => lock.try_lock(),
    };
    match taken {
        Ok(()) => Ok(is_at_path(&lock, path)?.then_some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(why)) => Err(why),
    }
}

/// Returns `true` if a path still refers to this open file.
#[cfg(unix)]
fn is_at_path(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
