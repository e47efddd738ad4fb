//! The directory of an index on disk, with files that only the owner of the process can access.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
    error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError},
};

/// An [`MmapDirectory`] that removes the permissions of other users from each new file, regardless of the umask. The
/// folder itself is private, so no other user can open a file before that.
#[derive(Clone, Debug)]
pub(crate) struct PrivateDirectory {
    inner: MmapDirectory,
    folder: PathBuf,
}

impl PrivateDirectory {
    pub(crate) fn open(folder: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self { inner: MmapDirectory::open(folder)?, folder: folder.to_owned() })
    }

    fn restrict(&self, path: &Path) -> io::Result<()> {
        docs_disk::restrict(&self.folder.join(path))
    }
}

impl Directory for PrivateDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.inner.open_write(path)?;
        self.restrict(path).map_err(|error| OpenWriteError::wrap_io_error(error, path.to_owned()))?;
        Ok(file)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.inner.atomic_write(path, content)?;
        self.restrict(path)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let held = self.inner.acquire_lock(lock)?;
        self.restrict(&lock.filepath).map_err(LockError::wrap_io_error)?;
        Ok(held)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}
