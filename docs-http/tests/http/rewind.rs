//! A store that can be reset to a saved state.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_core::store::{FeedPos, Key, Mode, Store, StoreResult, Txn};
use docs_memstore::MemStore;
use parking_lot::RwLock;

/// An in-memory store that can be reset without the platform noticing. Clones share the same state.
#[derive(Clone, Default)]
pub(crate) struct Rewind(Arc<RwLock<MemStore>>);

impl Rewind {
    /// Returns a copy of the current state.
    pub(crate) fn save(&self) -> MemStore {
        self.0.read().fork()
    }

    /// Resets the store to a saved state.
    pub(crate) fn rewind(&self, to: &MemStore) {
        *self.0.write() = to.fork();
    }

    fn now(&self) -> MemStore {
        self.0.read().clone()
    }
}

#[async_trait]
impl Store for Rewind {
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        self.now().begin(mode, hot).await
    }

    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        self.now().changes(topic, after, max).await
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        self.now().changed(topic, after, wait).await
    }

    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        self.now().trim(topic, upto).await
    }
}
