//! Fault injection for stores: [`FaultStore`].

mod plan;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use docs_store::{Batch, FeedPos, Key, Mode, Scan, Store, StoreError, StoreResult, StoreVersion, Txn, Value};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Semaphore, watch};

pub use plan::{CallKind, Fault, FaultPlan, Rates};

/// A [`Store`] that injects the faults of a [`FaultPlan`] and otherwise delegates to the wrapped store. Clones share
/// their state.
///
/// Faults depend only on the plan and on the sequence number of the call, so a test with a fixed order of calls is
/// deterministic.
///
/// A failed call ends its transaction: every later call on it returns `Conflict`, and its writes are never applied.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use docs_store::{Batch, Mode, Op, Store, StoreError, Value};
/// use docs_memstore::{Fault, FaultStore, MemStore, FaultPlan, CallKind};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let plan = FaultPlan::none().with_fault(CallKind::Commit, 2, Fault::UnknownApplied);
/// let store = FaultStore::new(Arc::new(MemStore::new()), plan);
/// let mut answers = Vec::new();
/// for key in ["u!a", "u!b"] {
///     let batch = Batch { ops: vec![Op::Create(key.into(), Value::Unit)], feed: vec![] };
///     answers.push(store.begin(Mode::Write, &[]).await?.commit(batch).await);
/// }
/// assert!(matches!(answers[..], [Ok(()), Err(StoreError::Unknown(_))]));
/// let found = store.begin(Mode::Read, &[]).await?.get(&["u!b".into()]).await?;
/// assert!(found[0].is_some());
/// # Ok::<(), StoreError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FaultStore<S: Store + ?Sized> {
    inner: Arc<S>,
    faults: Arc<Faults>,
}

impl<S: Store + ?Sized> FaultStore<S> {
    /// Wraps a store with a fault plan.
    #[must_use]
    pub fn new(inner: Arc<S>, plan: FaultPlan) -> Self {
        Self { inner, faults: Arc::new(Faults::new(plan)) }
    }

    /// Returns the wrapped store, which is accessed without faults.
    #[must_use]
    pub fn inner(&self) -> &Arc<S> {
        &self.inner
    }

    /// Replaces the plan. Call counters are not reset, and held calls remain held.
    pub fn set_plan(&self, plan: FaultPlan) {
        *self.faults.plan.write() = plan;
    }

    /// Returns the number of calls of a kind.
    #[must_use]
    pub fn calls(&self, step: CallKind) -> u64 {
        self.faults.calls[step as usize].load(Ordering::SeqCst)
    }

    /// Returns the number of applied commits, including those with a lost response.
    #[must_use]
    pub fn applied(&self) -> u64 {
        self.faults.applied.load(Ordering::SeqCst)
    }

    /// Returns the number of injected faults, by kind of call and fault.
    #[must_use]
    pub fn injected(&self) -> BTreeMap<(CallKind, Fault), u64> {
        self.faults.injected.lock().clone()
    }

    /// Waits until at least `calls` calls are held at the same time.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait without side effects.
    pub async fn wait_until_held(&self, calls: usize) {
        // `self` owns the sender, so the wait ends only when the number is reached.
        let _ = self.faults.held.subscribe().wait_for(|held| *held >= calls).await;
    }

    /// Releases `calls` calls that are held now or will be held later.
    pub fn release(&self, calls: usize) {
        self.faults.gate.add_permits(calls);
    }
}

impl<S: Store + ?Sized> Clone for FaultStore<S> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), faults: self.faults.clone() }
    }
}

impl<S: Store + ?Sized> fmt::Debug for FaultStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultStore")
            .field("plan", &*self.faults.plan.read())
            .field("injected", &self.injected())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl<S: Store + ?Sized> Store for FaultStore<S> {
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        let call = self.faults.enter(CallKind::Begin).await?;
        let inner = self.inner.begin(mode, hot).await?;
        let txn = FaultTxn { inner, faults: self.faults.clone(), over: AtomicBool::new(false) };
        call.leave().await;
        Ok(Box::new(txn))
    }

    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        let call = self.faults.enter(CallKind::Version).await?;
        let version = self.inner.version().await?;
        call.leave().await;
        Ok(version)
    }

    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        let call = self.faults.enter(CallKind::Changes).await?;
        let items = self.inner.changes(topic, after, max).await?;
        let repeat = call.fault == Some(Fault::Repeat);
        call.leave().await;
        Ok(if repeat { repeat_items(items, max) } else { items })
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        let call = self.faults.enter(CallKind::Changed).await?;
        let changed = self.inner.changed(topic, after, wait).await?;
        call.leave().await;
        Ok(changed)
    }

    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        let call = self.faults.enter(CallKind::Trim).await?;
        self.inner.trim(topic, upto).await?;
        call.leave().await;
        Ok(())
    }
}

/// Repeats each item, up to the page size. Items that no longer fit follow the last returned position, so they are read
/// again.
fn repeat_items(items: Vec<(FeedPos, Key)>, max: u32) -> Vec<(FeedPos, Key)> {
    items.into_iter().flat_map(|item| [item.clone(), item]).take(max as usize).collect()
}

struct FaultTxn {
    inner: Box<dyn Txn>,
    faults: Arc<Faults>,
    /// Set when a fault has ended the transaction.
    over: AtomicBool,
}

impl FaultTxn {
    async fn enter(&self, step: CallKind) -> StoreResult<Call> {
        if self.over.load(Ordering::SeqCst) {
            return Err(StoreError::Conflict);
        }
        let call = self.faults.enter(step).await;
        if call.is_err() {
            self.over.store(true, Ordering::SeqCst);
        }
        call
    }
}

#[async_trait]
impl Txn for FaultTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        let call = self.enter(CallKind::Get).await?;
        let found = self.inner.get(keys).await?;
        call.leave().await;
        Ok(found)
    }

    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        let call = self.enter(CallKind::Scan).await?;
        let pages = self.inner.scan(scans).await?;
        call.leave().await;
        Ok(pages)
    }

    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()> {
        let call = self.enter(CallKind::Commit).await?;
        self.inner.commit(batch).await?;
        self.faults.applied.fetch_add(1, Ordering::SeqCst);
        let lost = call.fault == Some(Fault::UnknownApplied);
        call.leave().await;
        if lost {
            Err(StoreError::Unknown("the response was dropped by fault injection".to_owned()))
        } else {
            Ok(())
        }
    }
}

/// State shared by the clones of a store and its transactions.
struct Faults {
    plan: RwLock<FaultPlan>,
    calls: [AtomicU64; CallKind::COUNT],
    applied: AtomicU64,
    injected: Mutex<BTreeMap<(CallKind, Fault), u64>>,
    gate: Semaphore,
    held: watch::Sender<usize>,
}

/// A call in progress. If it has a fault, the fault takes effect at the end.
struct Call {
    fault: Option<Fault>,
    faults: Arc<Faults>,
}

impl Call {
    /// Applies a fault after the work, before the call returns.
    async fn leave(self) {
        if self.fault == Some(Fault::HoldAfter) {
            self.faults.hold().await;
        }
    }
}

impl Faults {
    fn new(plan: FaultPlan) -> Self {
        Self {
            plan: RwLock::new(plan),
            calls: [const { AtomicU64::new(0) }; CallKind::COUNT],
            applied: AtomicU64::new(0),
            injected: Mutex::default(),
            gate: Semaphore::new(0),
            held: watch::Sender::new(0),
        }
    }

    /// Counts a call and applies faults that precede its work.
    async fn enter(self: &Arc<Self>, step: CallKind) -> StoreResult<Call> {
        let n = self.calls[step as usize].fetch_add(1, Ordering::SeqCst) + 1;
        let fault = {
            let plan = self.plan.read();
            let away = plan.is_unavailable(self.applied.load(Ordering::SeqCst));
            if away { Some(Fault::Unavailable) } else { plan.fault(step, n) }
        };
        if let Some(fault) = fault {
            *self.injected.lock().entry((step, fault)).or_default() += 1;
        }
        match fault {
            Some(Fault::Conflict) => return Err(StoreError::Conflict),
            Some(Fault::Unavailable) => {
                return Err(StoreError::Unavailable(
                    "the store was made unavailable by fault injection".to_owned(),
                ));
            }
            Some(Fault::UnknownLost) => {
                return Err(StoreError::Unknown("the batch was dropped by fault injection".to_owned()));
            }
            Some(Fault::Yield) => {
                for _ in 0..1 + n % 3 {
                    tokio::task::yield_now().await;
                }
            }
            Some(Fault::HoldBefore) => self.hold().await,
            Some(Fault::HoldAfter | Fault::UnknownApplied | Fault::Repeat) | None => {}
        }
        Ok(Call { fault, faults: self.clone() })
    }

    /// Waits until released.
    async fn hold(&self) {
        self.held.send_modify(|held| *held += 1);
        let _counted = HeldCallGuard(&self.held);
        // The semaphore is never closed.
        if let Ok(permit) = self.gate.acquire().await {
            permit.forget();
        }
    }
}

/// Counts a held call until it is released or dropped.
struct HeldCallGuard<'a>(&'a watch::Sender<usize>);

impl Drop for HeldCallGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}
