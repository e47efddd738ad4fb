//! Search indexes that fail and wait on demand: [`FaultSearch`].

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docs_model::SpaceId;
use docs_ports::{
    SearchError, SearchIndex,
    search::{IndexChange, IndexedSpace, PageDocument, PageHit, SearchQuery},
};
use docs_store::FeedPos;
use tokio::sync::watch;

/// A [`SearchIndex`] that refuses changes or lets them wait when told to, and else does what the index inside it does.
///
/// # Example
/// ```
/// use docs_memstore::{FaultSearch, MemSearch};
/// use docs_ports::{SearchError, SearchIndex as _};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let index = FaultSearch::new(MemSearch::new());
/// index.refuse(1);
/// assert!(index.apply(vec![], None).await.is_err());
/// index.apply(vec![], None).await?;
/// assert_eq!(index.applied(), 1);
/// # Ok::<(), SearchError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FaultSearch<S> {
    inner: S,
    /// Batches to refuse.
    refusing: AtomicUsize,
    is_open: watch::Sender<bool>,
    /// Batches that were applied.
    applied: watch::Sender<u64>,
    /// Pages that they put.
    put: AtomicUsize,
}

impl<S: SearchIndex> FaultSearch<S> {
    /// An index that does what this one does until it is told otherwise.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            refusing: AtomicUsize::new(0),
            is_open: watch::Sender::new(true),
            applied: watch::Sender::new(0),
            put: AtomicUsize::new(0),
        }
    }

    /// Refuses that many batches of changes.
    pub fn refuse(&self, batches: usize) {
        self.refusing.store(batches, Ordering::SeqCst);
    }

    /// Lets batches of changes wait from here on.
    pub fn hold(&self) {
        self.is_open.send_replace(false);
    }

    /// Lets those that wait go on, and later ones pass.
    pub fn release(&self) {
        self.is_open.send_replace(true);
    }

    /// How many batches were applied.
    #[must_use]
    pub fn applied(&self) -> u64 {
        *self.applied.borrow()
    }

    /// Waits until that many batches were applied, since the beginning.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait and changes nothing.
    pub async fn until_applied(&self, batches: u64) {
        // The sender lives as long as `self`, so the wait ends by the number alone.
        let _ = self.applied.subscribe().wait_for(|applied| *applied >= batches).await;
    }

    /// How many pages were put since this was asked before.
    pub fn take_put(&self) -> usize {
        self.put.swap(0, Ordering::SeqCst)
    }
}

#[async_trait]
impl<S: SearchIndex> SearchIndex for FaultSearch<S> {
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError> {
        let one_less = |batches: usize| batches.checked_sub(1);
        if self.refusing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            return Err(SearchError::Unavailable("told to".to_owned()));
        }
        // The sender lives as long as `self`, so the wait ends when it opens.
        let _ = self.is_open.subscribe().wait_for(|open| *open).await;
        let put = changes.iter().filter(|change| matches!(change, IndexChange::PutPage(_))).count();
        self.inner.apply(changes, position).await?;
        self.put.fetch_add(put, Ordering::SeqCst);
        self.applied.send_modify(|applied| *applied += 1);
        Ok(())
    }

    async fn position(&self) -> Result<Option<FeedPos>, SearchError> {
        self.inner.position().await
    }

    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError> {
        self.inner.indexed(spaces).await
    }

    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError> {
        self.inner.spaces(after, limit).await
    }

    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError> {
        self.inner.find_pages(query).await
    }

    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError> {
        self.inner.documents(space).await
    }

    async fn clear(&self) -> Result<(), SearchError> {
        self.inner.clear().await
    }
}
