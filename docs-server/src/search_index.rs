//! Opens the search index of a server.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use docs_core::ports::SearchIndex;

use crate::{ServerConfig, ServerError, StoreUrl, search_place::SearchPlace};

const SEARCH_INDEX_FLAG: &str = "--search-index";

/// Opens the configured index. The default is a folder for an SQLite store, and memory for other stores.
pub(crate) fn open(config: &ServerConfig) -> Result<Arc<dyn SearchIndex>, ServerError> {
    match (&config.search_index, &config.store) {
        (Some(SearchPlace::Folder(folder)), _) => in_folder(folder),
        (None, StoreUrl::Sqlite(file)) => open_for_file(file),
        (Some(SearchPlace::Memory), _) | (None, StoreUrl::Memory | StoreUrl::Postgres(_)) => Ok(in_memory()),
    }
}

/// Returns the index folder for an SQLite file: its path with the suffix `.search`.
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
    let index = docs_search::TantivySearch::folder(folder);
    Ok(Arc::new(index.map_err(|error| flag_error(&error))?))
}

#[cfg(feature = "search")]
fn flag_error(error: &docs_search::OpenError) -> ServerError {
    let advice = match error {
        docs_search::OpenError::InUse { .. } => "use a separate folder for each server, or `memory`",
        _ => "use another folder, or `memory`",
    };
    ServerError::for_flag(SEARCH_INDEX_FLAG, format_args!("{error}: {advice}"))
}

/// Opens the index for an SQLite file. If another server already uses it, the index is in memory.
#[cfg(feature = "search")]
fn open_for_file(file: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    match docs_search::TantivySearch::folder(folder_of(file)) {
        Ok(index) => Ok(Arc::new(index)),
        Err(error @ docs_search::OpenError::InUse { .. }) => {
            tracing::warn!("{error}; use an index in memory");
            Ok(in_memory())
        }
        Err(error) => Err(flag_error(&error)),
    }
}

#[cfg(not(feature = "search"))]
fn in_folder(_: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    Err(ServerError::Feature { flag: SEARCH_INDEX_FLAG, feature: "search" })
}

#[cfg(not(feature = "search"))]
fn open_for_file(file: &Path) -> Result<Arc<dyn SearchIndex>, ServerError> {
    let folder = folder_of(file);
    tracing::debug!(folder = %folder.display(), "use search index in memory without the feature `search`");
    Ok(in_memory())
}
