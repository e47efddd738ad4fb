//! The folder of an index. Only one process uses it at a time.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use docs_model::feed::FeedPos;
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, merge_policy::LogMergePolicy,
    schema::Schema, store::Compressor,
};

use crate::{
    failure::{Failure, IndexResult},
    private_directory::PrivateDirectory,
    schema::Fields,
};

/// Version of the format. An index of another version is rebuilt.
const FORMAT: &str = "1";
/// Memory in bytes for words of a batch that are not written yet.
const WRITER_MEMORY: usize = 50_000_000;

/// A folder that is locked by this process until this value is dropped or the process ends.
pub(crate) struct Folder {
    /// The folder of the index files.
    path: PathBuf,
    pub(crate) fields: Fields,
    schema: Schema,
    _lock: File,
}

/// An opened index.
pub(crate) struct OpenedIndex {
    pub(crate) writer: IndexWriter,
    pub(crate) reader: IndexReader,
    /// Feed position of the last commit.
    pub(crate) position: Option<FeedPos>,
}

impl Folder {
    /// Locks a subfolder of the folder, so that only files of the index are ever deleted.
    pub(crate) fn take(folder: &Path) -> Result<Self, OpenError> {
        let folder = folder.join("fulltext");
        let place = folder.display().to_string();
        let unusable = |error: io::Error| OpenError::Folder { place: place.clone(), why: error.to_string() };
        docs_disk::create_folder(&folder).map_err(unusable)?;
        let lock = docs_disk::create_file(&folder.join("lock")).map_err(unusable)?;
        let (fields, schema) = Fields::new();
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: folder.join("index"), fields, schema, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { place }),
            Err(TryLockError::Error(error)) => Err(unusable(error)),
        }
    }

    /// Opens the index, or rebuilds it if it is unusable.
    pub(crate) fn open_or_rebuild(&self) -> Result<OpenedIndex, OpenError> {
        let place = self.path.display().to_string();
        let unusable = |error: &dyn std::fmt::Display| OpenError::Folder {
            place: place.clone(),
            why: error.to_string(),
        };
        match self.open() {
            Err(error) if error.is_damage() => {
                tracing::warn!(%place, %error, "rebuild unusable search index");
                self.remove().map_err(|error| unusable(&error))?;
                self.open().map_err(|error| unusable(&error))
            }
            opened => opened.map_err(|error| unusable(&error)),
        }
    }

    /// Opens the index, and compares its files with their checksums.
    pub(crate) fn open(&self) -> IndexResult<OpenedIndex> {
        docs_disk::create_folder(&self.path)?;
        let directory = PrivateDirectory::open(&self.path).map_err(tantivy::TantivyError::from)?;
        let settings = IndexSettings { docstore_compression: Compressor::None, ..IndexSettings::default() };
        // Opening compares the schema.
        let builder = Index::builder().schema(self.schema.clone()).settings(settings);
        let index = caught(|| Ok(builder.open_or_create(directory)?))?;
        let damaged = caught(|| Ok(index.validate_checksum()?))?;
        if let Some(file) = damaged.iter().next() {
            return Err(Failure::invalid_content(format!("the checksum of {} is wrong", file.display())));
        }
        let payload = index.load_metas()?.payload;
        let position = match payload.as_deref().map(parse_payload) {
            None => None,
            Some(Some(position)) => position,
            Some(None) => return Err(Failure::invalid_content("the index has another format")),
        };
        let writer = index.writer_with_num_threads(1, WRITER_MEMORY)?;
        let mut merges = LogMergePolicy::default();
        // A query looks up its words in each segment, so that few segments matter more than few merges.
        merges.set_min_num_segments(3);
        merges.set_min_layer_size(500);
        merges.set_level_log_size(3.0);
        merges.set_del_docs_ratio_before_merge(0.3);
        writer.set_merge_policy(Box::new(merges));
        let reader = caught(|| Ok(index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?))?;
        Ok(OpenedIndex { writer, reader, position })
    }

    /// Removes all files of the index.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Runs a function on content that may be damaged. The engine can panic on such content.
pub(crate) fn caught<T>(run: impl FnOnce() -> IndexResult<T>) -> IndexResult<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(Failure::invalid_content("the engine panicked on the content")))
}

/// Returns the payload of a commit.
pub(crate) fn payload(position: Option<&FeedPos>) -> String {
    position.map_or_else(|| FORMAT.to_owned(), |position| format!("{FORMAT} {}", position.0))
}

/// Parses the payload of a commit. Returns `None` for another format.
fn parse_payload(payload: &str) -> Option<Option<FeedPos>> {
    let rest = payload.strip_prefix(FORMAT)?;
    if rest.is_empty() {
        return Some(None);
    }
    rest.strip_prefix(' ').map(|position| Some(FeedPos(position.into())))
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
