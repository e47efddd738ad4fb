//! Mutation tests of the conformance suite: it must reject stores with weak isolation.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_memstore::MemStore;
use docs_store::{
    Batch, FeedPos, Hash, Key, Mode, Objects, Op, Scan, Store, StoreError, StoreResult, Txn, Value,
    conformance::{Anomaly, Factory, Plain, Workload, isolation},
};

/// The isolation level of a broken store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Isolation {
    /// All reads of a transaction use one snapshot, and keys that it overwrites must not have changed.
    Snapshot,
    /// All reads use one snapshot, without validation.
    StaleSnapshot,
    /// Every read uses the latest snapshot, without validation.
    ReadCommitted,
}

/// A store that ignores the read sets of its transactions.
struct Broken {
    inner: MemStore,
    isolation: Isolation,
}

struct BrokenTxn {
    store: MemStore,
    isolation: Isolation,
    snapshot: Box<dyn Txn>,
}

#[async_trait]
impl Store for Broken {
    async fn begin(&self, _: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        let snapshot = self.inner.begin(Mode::Read, hot).await?;
        Ok(Box::new(BrokenTxn { store: self.inner.clone(), isolation: self.isolation, snapshot }))
    }

    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        self.inner.changes(topic, after, max).await
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        self.inner.changed(topic, after, wait).await
    }

    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        self.inner.trim(topic, upto).await
    }
}

#[async_trait]
impl Txn for BrokenTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        match self.isolation {
            Isolation::ReadCommitted => self.store.begin(Mode::Read, &[]).await?.get(keys).await,
            _ => self.snapshot.get(keys).await,
        }
    }

    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        match self.isolation {
            Isolation::ReadCommitted => self.store.begin(Mode::Read, &[]).await?.scan(scans).await,
            _ => self.snapshot.scan(scans).await,
        }
    }

    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()> {
        let txn = self.store.begin(Mode::Write, &[]).await?;
        if self.isolation == Isolation::Snapshot {
            let keys: Vec<Key> = batch.ops.iter().map(Op::key).cloned().collect();
            let plain = |values: Vec<Option<Value>>| -> Vec<Option<Plain>> {
                values.iter().map(|value| value.as_ref().map(Plain::from)).collect()
            };
            if plain(txn.get(&keys).await?) != plain(self.snapshot.get(&keys).await?) {
                return Err(StoreError::Conflict);
            }
        }
        txn.commit(batch).await
    }
}

#[async_trait]
impl Factory for Isolation {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(Broken { inner: MemStore::new(), isolation: *self })
    }

    async fn objects(&self) -> Arc<dyn Objects> {
        unreachable!("these tests are about transactions")
    }

    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        store
    }

    async fn pass(&self, _: Duration) {}

    async fn damage(&self, _: &str, _: Hash) {}
}

async fn check(store: Arc<dyn Store>, transactions: u32) -> Result<(), Anomaly> {
    let history = Workload { seed: 5, transactions, ..Workload::default() }.record(&store).await;
    assert_eq!(history.committed.len(), transactions as usize);
    history.check()
}

#[tokio::test(flavor = "multi_thread")]
async fn thirty_thousand_transactions_are_serializable() {
    assert_eq!(check(Arc::new(MemStore::new()), 30_000).await, Ok(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn list_append_check_detects_cycles_in_snapshot_isolation() {
    let found = check(Isolation::Snapshot.store().await, 1_000).await;
    assert!(matches!(&found, Err(Anomaly::Cycle(_))), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_appends_are_caught() {
    for isolation in [Isolation::StaleSnapshot, Isolation::ReadCommitted] {
        let found = check(isolation.store().await, 1_000).await;
        assert!(matches!(&found, Err(Anomaly::Lost { .. } | Anomaly::NeverWas { .. })), "{found:?}");
    }
}

/// Runs the test of one guarantee in a task. Evaluates to `true` if the store passed.
macro_rules! passes {
    ($guarantee:ident, $isolation:expr) => {{
        let isolation = $isolation;
        tokio::spawn(async move { isolation::$guarantee(&isolation).await }).await.is_ok()
    }};
}

#[tokio::test(flavor = "multi_thread")]
async fn isolation_tests_detect_stores_without_conflict_checks() {
    for isolation in [Isolation::StaleSnapshot, Isolation::ReadCommitted] {
        assert!(!passes!(no_lost_update, isolation));
        assert!(!passes!(no_write_skew, isolation));
        assert!(!passes!(three_txn_cycle, isolation));
        assert!(!passes!(absent_key_read_conflicts, isolation));
        assert!(!passes!(phantom_insert_in_scanned_range, isolation));
        assert!(!passes!(phantom_in_empty_range, isolation));
        assert!(!passes!(phantom_delete, isolation));
        assert!(!passes!(limit_cut_scan_depends_on_prefix_only, isolation));
        assert!(!passes!(bank_total_constant, isolation));
        assert!(!passes!(commit_order_replay, isolation));
        assert!(!passes!(list_append_serializable, isolation));
    }
    assert!(!passes!(snapshot_stable_during_txn, Isolation::ReadCommitted));
    assert!(!passes!(no_read_skew, Isolation::ReadCommitted));
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshot_isolation_passes_only_the_tests_it_guarantees() {
    for kept in [
        passes!(no_lost_update, Isolation::Snapshot),
        passes!(no_read_skew, Isolation::Snapshot),
        passes!(no_dirty_read, Isolation::Snapshot),
        passes!(snapshot_stable_during_txn, Isolation::Snapshot),
    ] {
        assert!(kept);
    }
    for broken in [
        passes!(no_write_skew, Isolation::Snapshot),
        passes!(three_txn_cycle, Isolation::Snapshot),
        passes!(absent_key_read_conflicts, Isolation::Snapshot),
        passes!(phantom_insert_in_scanned_range, Isolation::Snapshot),
        passes!(phantom_in_empty_range, Isolation::Snapshot),
        passes!(phantom_delete, Isolation::Snapshot),
        passes!(limit_cut_scan_depends_on_prefix_only, Isolation::Snapshot),
        passes!(list_append_serializable, Isolation::Snapshot),
    ] {
        assert!(!broken);
    }
}
