//! Full-text search by Tantivy: [`TantivySearch`], an index in memory or in a folder.
//!
//! What matches and in which order is decided by `docs-core`, as for every index; Tantivy keeps the words and where they
//! are. A thread of its own writes: a batch is one commit, and the position in the feed lies in it.
//!
//! An index belongs to one process. Servers that share a store each have their own and follow the feed by themselves;
//! a folder that is lost, damaged or of an older version is made anew from the store.

mod index;
mod lookup;
mod writer;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use docs_model::SpaceId;
use docs_model::feed::FeedPos;
use docs_ports::{
    SearchError, SearchIndex,
    search::{IndexChange, IndexedSpace, PageDocument, PageHit, SearchQuery, SpaceHit},
};

use self::{
    index::Opened,
    lookup::Lookup,
    writer::{Task, Writer},
};

/// A full-text index. Clones are the same one.
///
/// ```
/// use docs_ports::SearchIndex as _;
/// use docs_search::TantivySearch;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let index = TantivySearch::in_memory()?;
/// assert_eq!(index.position().await?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TantivySearch {
    lookup: Lookup,
    writer: Arc<Writer>,
}

/// An index cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder cannot be made or written to.
    #[error("the folder {place} cannot hold a search index: {why}")]
    Folder {
        /// The folder.
        place: String,
        /// What the system says.
        why: String,
    },
    /// Another process has the folder open.
    #[error("the search index in {place} is in use by another process")]
    InUse {
        /// The folder.
        place: String,
    },
    /// Tantivy cannot start.
    #[error("the search index cannot be started: {0}")]
    Start(String),
}

impl TantivySearch {
    /// An index in memory: made anew from the store whenever the process starts.
    ///
    /// # Errors
    /// [`OpenError::Start`].
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::over(index::in_memory()?)
    }

    /// An index in a folder, which is made when it is missing and kept for the next start. What is found there and
    /// cannot be used is removed.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn folder(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::over(index::in_folder(&PathBuf::from(path.as_ref()))?)
    }

    fn over(opened: Opened) -> Result<Self, OpenError> {
        let (lookup, writer) = Writer::start(opened)?;
        Ok(Self { lookup, writer: Arc::new(writer) })
    }

    /// Looks something up on a thread where that may take its time.
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Lookup) -> tantivy::Result<T> + Send + 'static,
    ) -> Result<T, SearchError> {
        let lookup = self.lookup.clone();
        match tokio::task::spawn_blocking(move || look(&lookup)).await {
            Ok(found) => found.map_err(|error| failed(&error)),
            Err(error) => Err(SearchError::Unavailable(error.to_string())),
        }
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
        self.look(move |lookup| lookup.indexed(&spaces)).await
    }

    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError> {
        let after = after.cloned();
        self.look(move |lookup| lookup.spaces(after.as_ref(), limit)).await
    }

    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError> {
        let query = query.clone();
        self.look(move |lookup| lookup.find_pages(&query)).await
    }

    async fn find_spaces(&self, query: &SearchQuery, pages: usize) -> Result<Vec<SpaceHit>, SearchError> {
        let query = query.clone();
        self.look(move |lookup| lookup.find_spaces(&query, pages)).await
    }

    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError> {
        let space = space.clone();
        self.look(move |lookup| lookup.documents(&space)).await
    }

    async fn clear(&self) -> Result<(), SearchError> {
        self.writer.ask(Task::Clear).await
    }
}

/// What a failure of Tantivy means.
fn failed(error: &tantivy::TantivyError) -> SearchError {
    use tantivy::TantivyError as E;
    match error {
        E::DataCorruption(_)
        | E::IncompatibleIndex(_)
        | E::SchemaError(_)
        | E::DeserializeError(_)
        | E::OpenReadError(_) => SearchError::Damaged(error.to_string()),
        other => SearchError::Unavailable(other.to_string()),
    }
}
