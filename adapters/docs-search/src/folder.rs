//! The folder of an index. Only one process uses it at a time.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
};

use crate::{database::IndexFile, generation::OpenedIndex};

/// A folder that is locked by this process until this value is dropped or the process ends.
pub(crate) struct Folder {
    pub(crate) file: IndexFile,
    _lock: File,
}

impl Folder {
    /// Locks a subfolder of the folder, so that only files of the index are ever deleted.
    pub(crate) fn take(folder: &Path) -> Result<Self, OpenError> {
        let folder = folder.join("sqlite");
        let place = folder.display().to_string();
        let unusable = |error: io::Error| OpenError::Folder { place: place.clone(), why: error.to_string() };
        docs_disk::create_folder(&folder).map_err(unusable)?;
        let lock = docs_disk::create_file(&folder.join("lock")).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { file: IndexFile::new(folder.join("index.db")), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { place }),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    /// Opens the index, or rebuilds it if it is unusable.
    pub(crate) fn open(&self) -> Result<OpenedIndex, OpenError> {
        let place = self.file.path().display().to_string();
        let unusable = |error: &dyn std::fmt::Display| OpenError::Folder {
            place: place.clone(),
            why: error.to_string(),
        };
        match OpenedIndex::open(&self.file) {
            Err(error) if error.is_damage() => {
                tracing::warn!(%place, %error, "rebuild unusable search index");
                self.file.remove().map_err(|error| unusable(&error))?;
                OpenedIndex::open(&self.file).map_err(|error| unusable(&error))
            }
            opened => opened.map_err(|error| unusable(&error)),
        }
    }
}

/// The error of opening an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder cannot be created or written.
    #[error("the folder {place} cannot store a search index: {why}")]
    Folder {
        /// Path of the folder.
        place: String,
        /// Error reported by the operating system.
        why: String,
    },
    /// Another process uses the folder.
    #[error("the search index in {place} is in use by another process")]
    InUse {
        /// Path of the folder.
        place: String,
    },
    /// The writing thread cannot be started.
    #[error("failed to start the search index: {0}")]
    Start(String),
}
