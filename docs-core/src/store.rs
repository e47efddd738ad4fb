//! The store: its contract and the code that all stores share, from the crate `docs-store`, and the [records] of the
//! platform.

use std::sync::Arc;

pub use docs_store::*;

pub use crate::records;
use crate::{BoxFuture, Result};

/// Every kind of record.
pub const KINDS: &[RecordKind] = records::KINDS;
/// The version of the rows that records bring along. Whoever changes what [`Indexed::rows`] of a record answers raises
/// it: the rows of stores that exist are then [made anew](crate::platform::Caller::rebuild).
pub const LAYOUT: u32 = 6;

/// Recomputes every index row, unique value and counter from the records and compares. Reads the whole store in one
/// snapshot: a check for administrators and tests.
///
/// # Errors
/// The store's; [`StoreError::Corrupt`] when a record does not parse.
pub async fn verify(store: &dyn Store) -> StoreResult<IndexDrift> {
    verify_kinds(store, KINDS).await
}

/// Runs an operation until it is stored or refused: [`docs_store::run`] with all [`KINDS`].
///
/// # Errors
/// What [`Operation::apply`] refuses, and the store's errors.
///
/// # Cancel safety
/// Dropping the future leaves the operation done whole or not at all.
pub async fn run<O: Operation>(
    store: &Arc<dyn Store>,
    receipt: &Receipt,
    operation: &O,
) -> Result<O::Output> {
    docs_store::run(store, WriteContext { kinds: KINDS, receipt, observer: None }, operation).await
}

/// Runs an operation until it is stored or refused, and answers with what `show` reads of it:
/// [`docs_store::run_and_show`] with all [`KINDS`].
///
/// # Errors
/// What [`Operation::apply`] and `show` refuse, and the store's errors.
///
/// # Cancel safety
/// Dropping the future leaves the operation done whole or not at all.
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
