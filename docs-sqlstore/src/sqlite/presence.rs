//! The lock file beside a database, by which programs notice each other.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use crate::{OpenError, Options, Sharing};

/// The pause between two tries to take the lock.
const AGAIN: Duration = Duration::from_millis(50);

/// A lock on the file beside a database. The system releases it with the process, however that ends, and the last
/// program removes the file where it can.
#[derive(Debug)]
pub(super) struct Presence {
    path: PathBuf,
    lock: File,
}

impl Presence {
    /// Takes the lock, and waits for programs that are just ending.
    pub(super) async fn take(database: &Path, options: &Options) -> Result<Self, OpenError> {
        let sharing = options.the_sharing();
        let place = database.display().to_string();
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let until = Instant::now() + options.busy_timeout();
        loop {
            match lock(&path, sharing) {
                Ok(Some(lock)) => return Ok(Self { path, lock }),
                Ok(None) if Instant::now() < until => sleep(AGAIN).await,
                Ok(None) => return Err(sharing.refused(place)),
                Err(why) => {
                    let why = format!("{why}: make `{}` a file that the program can write", path.display());
                    return Err(OpenError::Unusable { place, why });
                }
            }
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // Nobody else has it: who opens it from here on finds that its name is gone, and creates another.
        if cfg!(unix) && self.lock.try_lock().is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Tries to lock a file; `None` where others hold it, or the last of them has just removed it.
fn lock(path: &Path, sharing: Sharing) -> io::Result<Option<File>> {
    let lock = docs_disk::create_file(path)?;
    let taken = match sharing {
        Sharing::Shared => lock.try_lock_shared(),
        Sharing::Alone => lock.try_lock(),
    };
    match taken {
        Ok(()) => Ok(is_named(&lock, path)?.then_some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(why)) => Err(why),
    }
}

/// Tests if a path still leads to an open file.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
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
