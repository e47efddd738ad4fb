//! Fault injection for search indexes: [`FaultSearch`].

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use docs_model::SpaceId;
use docs_ports::{
    SearchError, SearchIndex,
    search::{IndexChange, IndexedSpace, PageDocument, PageHit, SearchQuery},
};
use docs_store::FeedPos;
use tokio::sync::watch;

/// A [`SearchIndex`] that rejects or holds changes on request, and otherwise delegates to the wrapped index.
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
    /// Number of batches left to reject.
    refusing: AtomicUsize,
    is_open: watch::Sender<bool>,
    /// Number of applied batches.
    applied: watch::Sender<u64>,
    /// Number of pages in the applied batches.
    put: AtomicUsize,
}

impl<S: SearchIndex> FaultSearch<S> {
    /// Wraps an index, initially without faults.
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

    /// Rejects the next `batches` batches of changes.
    pub fn refuse(&self, batches: usize) {
        self.refusing.store(batches, Ordering::SeqCst);
    }

    /// Holds all further batches of changes.
    pub fn hold(&self) {
        self.is_open.send_replace(false);
    }

    /// Releases held batches, and stops holding new ones.
    pub fn release(&self) {
        self.is_open.send_replace(true);
    }

    /// Returns the number of applied batches.
    #[must_use]
    pub fn applied(&self) -> u64 {
        *self.applied.borrow()
    }

    /// Waits until at least `batches` batches have been applied in total.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait without side effects.
    pub async fn wait_until_applied(&self, batches: u64) {
        // `self` owns the sender, so the wait ends only when the number is reached.
        let _ = self.applied.subscribe().wait_for(|applied| *applied >= batches).await;
    }

    /// Returns the number of pages indexed since the last call.
    pub fn take_put(&self) -> usize {
        self.put.swap(0, Ordering::SeqCst)
    }
}

#[async_trait]
impl<S: SearchIndex> SearchIndex for FaultSearch<S> {
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError> {
        let one_less = |batches: usize| batches.checked_sub(1);
        if self.refusing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok() {
            return Err(SearchError::Unavailable("made unavailable by fault injection".to_owned()));
        }
        // `self` owns the sender, so the wait ends only with `release`.
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
