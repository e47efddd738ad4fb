//! Where a server keeps its search index.

use std::{
    convert::Infallible,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use docs_core::ports::SearchIndex;

use crate::{ServerConfig, ServerError, StoreUrl};

const FLAG: &str = "--search-index";

/// Where the search index of a server lies. It belongs to one process, and follows the store by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchPlace {
    /// In memory: made anew from the store at each start.
    Memory,
    /// In a folder, kept for the next start.
    Folder(PathBuf),
}

impl FromStr for SearchPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "memory" { Self::Memory } else { Self::Folder(text.into()) })
    }
}

impl fmt::Display for SearchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Folder(folder) => folder.display().fmt(f),
        }
    }
}

/// The index that a configuration asks for; without a word, one beside the file of SQLite, else one in memory.
pub(crate) fn open(config: &ServerConfig) -> Result<Arc<dyn SearchIndex>, ServerError> {
    match (&config.search_index, &config.store) {
        (Some(SearchPlace::Folder(folder)), _) => in_folder(folder),
        (None, StoreUrl::Sqlite(file)) => beside(file),
        (Some(SearchPlace::Memory), _) | (None, StoreUrl::Memory | StoreUrl::Postgres(_)) => Ok(in_memory()),
    }
}

/// The folder of the index that belongs to a file: its name with `.search` behind it.
fn folder_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".search");
    name.into()
}

fn in_memory() -> Arc<dyn SearchIndex> {
    Arc::new(docs_memstore::MemSearch::new())
}

#[cfg(feature = "search")]
fn in_folder(folder: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    let index = docs_search::SqliteSearch::folder(folder);
    Ok(Arc::new(index.map_err(|error| refused(&error))?))
}

#[cfg(feature = "search")]
fn refused(error: &docs_search::OpenError) -> ServerError {
    let advice = match error {
        docs_search::OpenError::InUse { .. } => "give each server a folder of its own, or `memory`",
        _ => "name another folder, or `memory`",
    };
    ServerError::flag(FLAG, format_args!("{error}: {advice}"))
}

/// The index beside a file. A second server on the file has its own in memory.
#[cfg(feature = "search")]
fn beside(file: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    match docs_search::SqliteSearch::folder(folder_of(file)) {
        Ok(index) => Ok(Arc::new(index)),
        Err(error @ docs_search::OpenError::InUse { .. }) => {
            tracing::warn!("{error}; this server keeps its own in memory");
            Ok(in_memory())
        }
        Err(error) => Err(refused(&error)),
    }
}

#[cfg(not(feature = "search"))]
fn in_folder(_: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    Err(ServerError::Feature { flag: FLAG, feature: "search" })
}

#[cfg(not(feature = "search"))]
fn beside(file: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    let folder = folder_of(file);
    tracing::debug!(folder = %folder.display(), "no search index is kept without the feature `search`");
    Ok(in_memory())
}
