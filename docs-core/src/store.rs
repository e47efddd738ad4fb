//! The store: its contract and the code shared by all stores, from the crate `docs-store`, and the [records] of the
//! platform.

use std::sync::Arc;

pub use docs_store::*;

pub use crate::records;
use crate::{BoxFuture, Result};

/// All record kinds.
pub const KINDS: &[RecordKind] = records::KINDS;
/// The version of the derived rows of records. Increment it when the output of [`Indexed::rows`] changes for any
/// record. The rows of existing stores must then be [rebuilt](crate::platform::Caller::rebuild).
pub const LAYOUT: u32 = 11;

/// Recomputes all index rows, unique values and counters from the records, and returns the differences. Reads the whole
/// store in one snapshot. For administrators and tests.
///
/// # Errors
/// Errors of the store; [`StoreError::Corrupt`] if a record cannot be parsed.
pub async fn verify(store: &dyn Store) -> StoreResult<IndexDrift> {
    verify_kinds(store, KINDS).await
}

/// Runs an operation until it commits or fails. Calls [`docs_store::run`] with all [`KINDS`].
///
/// # Errors
/// Errors of [`Operation::apply`] and of the store.
///
/// # Cancel safety
/// If the future is dropped, the operation is either applied completely or not at all.
pub async fn run<O: Operation>(
    store: &Arc<dyn Store>,
    receipt: &Receipt,
    operation: &O,
) -> Result<O::Output> {
    docs_store::run(store, WriteContext { kinds: KINDS, receipt, observer: None }, operation).await
}

/// Runs an operation until it commits or fails, and returns the view read by `show`. Calls [`docs_store::run_and_show`]
/// with all [`KINDS`].
///
/// # Errors
/// Errors of [`Operation::apply`], of `show` and of the store.
///
/// # Cancel safety
/// If the future is dropped, the operation is either applied completely or not at all.
pub async fn run_and_show<'e, O: Operation, V: Send + Sync>(
    store: &Arc<dyn Store>,
    receipt: &Receipt,
    operation: &O,
    answers: Option<&dyn Answers<V>>,
    show: impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync,
) -> Result<V> {
    let context = WriteContext { kinds: KINDS, receipt, observer: None };
    docs_store::run_and_show(store, context, operation, answers, show).await
}
