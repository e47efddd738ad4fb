//! Full-text search with tantivy: [`TantivySearch`], an index in a folder.
//!
//! The engine stores words, positions and texts in segments that are mapped into memory. This crate finds the pages
//! that match a query and orders them by the rules of `docs-ports`, which all indexes share. A dedicated thread writes
//! batches, each as one commit that also records the feed position. Readers never wait for the writer.
//!
//! An index belongs to one process. Servers that share a store each have their own index and follow the feed
//! independently. A missing, damaged or outdated index is rebuilt from the store. For an in-memory index, see
//! `docs_memstore::MemSearch`.

mod current;
mod documents;
mod evaluate;
mod failure;
mod folder;
mod places;
mod private_directory;
mod readers;
mod schema;
mod select;
mod snapshot;
mod stored_page;
mod terms;
mod writer;

use std::{fmt, path::Path, sync::Arc};

use async_trait::async_trait;
use docs_model::SpaceId;
use docs_model::feed::FeedPos;
use docs_ports::{
    SearchError, SearchIndex,
    search::{IndexChange, IndexedSpace, PageDocument, PageHit, SearchQuery},
};

pub use self::folder::OpenError;
use self::{
    current::Current,
    failure::IndexResult,
    folder::Folder,
    readers::Readers,
    snapshot::Snapshot,
    writer::{IndexWriter, Task},
};

/// A full-text index in a folder. Clones refer to the same index.
///
/// ```
/// use docs_ports::SearchIndex as _;
/// use docs_search::TantivySearch;
///
/// # let temporary = tempfile::tempdir()?;
/// # let folder = temporary.path();
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let index = TantivySearch::folder(folder)?;
/// assert_eq!(index.position().await?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TantivySearch {
    current: Arc<Current>,
    readers: Arc<Readers>,
    writer: Arc<IndexWriter>,
}

impl TantivySearch {
    /// Opens the persistent index in a folder, or creates it if it does not exist. The index uses its own subfolder, in
    /// which unusable files are deleted.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn folder(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let (current, writer) = IndexWriter::start(Folder::take(path.as_ref())?)?;
        Ok(Self { current, readers: Arc::new(Readers::new()), writer: Arc::new(writer) })
    }

    /// Runs a read on a blocking thread. A search counts towards the limit of its tenant.
    async fn run_read<T: Send + 'static>(
        &self,
        tenant: Option<&str>,
        look: impl FnOnce(&Snapshot) -> IndexResult<T> + Send + 'static,
    ) -> Result<T, SearchError> {
        let stopped = |error: &dyn fmt::Display| SearchError::Unavailable(error.to_string());
        let turn = self.readers.acquire(tenant).await.map_err(|error| stopped(&error))?;
        let current = Arc::clone(&self.current);
        let looked = tokio::task::spawn_blocking(move || {
            let looked = current.get().read(look);
            drop(turn);
            looked
        });
        looked.await.map_err(|error| stopped(&error))?.map_err(SearchError::from)
    }
}

impl fmt::Debug for TantivySearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TantivySearch").finish_non_exhaustive()
    }
}

#[async_trait]
impl SearchIndex for TantivySearch {
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError> {
        self.writer.ask(|answer| Task::Apply { changes, position, answer }).await
    }

    async fn position(&self) -> Result<Option<FeedPos>, SearchError> {
        self.writer.ask(Task::Position).await
    }

    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError> {
        let spaces = spaces.to_vec();
        self.run_read(None, move |snapshot| snapshot.indexed(&spaces)).await
    }

    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError> {
        let after = after.cloned();
        self.run_read(None, move |snapshot| snapshot.spaces(after.as_ref(), limit)).await
    }

    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError> {
        let (tenant, query) = (query.tenant.clone(), query.clone());
        self.run_read(Some(&tenant), move |snapshot| snapshot.find_pages(&query)).await
    }

    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError> {
        let space = space.clone();
        self.run_read(None, move |snapshot| snapshot.documents(&space)).await
    }

    async fn clear(&self) -> Result<(), SearchError> {
        self.writer.ask(Task::Clear).await
    }
}
