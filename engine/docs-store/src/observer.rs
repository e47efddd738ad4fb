//! Observation of transactions for metrics: [`Observer`].

use std::{fmt, sync::Arc};

use docs_model::error::{Error, ErrorKind};

use super::{Mode, StoreError, StoreFailure as _};

/// The outcome of an attempt at an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptOutcome {
    /// Committed, or there was nothing to commit.
    Done,
    /// Conflict with another transaction. The operation is retried within its deadline.
    Conflict,
    /// A key that the operation creates already exists.
    Exists,
    /// The commit was sent, but its outcome is unknown.
    Unknown,
    /// The store was unavailable.
    Unavailable,
    /// Rejected by the operation itself, or permanently by the store.
    Refused,
}

impl AttemptOutcome {
    /// Classifies the error of a failed attempt.
    pub(crate) fn from_error(error: &Error) -> Self {
        match error.store() {
            Some(StoreError::Conflict) => Self::Conflict,
            Some(StoreError::Exists(_)) => Self::Exists,
            Some(StoreError::Unknown(_)) => Self::Unknown,
            Some(StoreError::Unavailable(_)) => Self::Unavailable,
            _ => Self::Refused,
        }
    }
}

/// Receives events of transactions and operations.
///
/// Methods are called on the request path: an implementation must not block or fail.
pub trait Observer: fmt::Debug + Send + Sync + 'static {
    /// Called when a transaction begins.
    fn transaction_begun(&self, mode: Mode);

    /// Called when a transaction ends, committed or not.
    fn transaction_ended(&self, mode: Mode);

    /// Called after each attempt at an operation.
    fn operation_attempted(&self, operation: &'static str, outcome: AttemptOutcome);

    /// Called when an operation has failed after all attempts.
    fn operation_failed(&self, operation: &'static str, kind: ErrorKind);
}

/// Reports the beginning and, on drop, the end of a transaction to an observer.
pub(crate) struct ObserverGuard {
    observer: Arc<dyn Observer>,
    mode: Mode,
}

impl ObserverGuard {
    pub(crate) fn begin(observer: &Arc<dyn Observer>, mode: Mode) -> Self {
        observer.transaction_begun(mode);
        Self { observer: Arc::clone(observer), mode }
    }
}

impl Drop for ObserverGuard {
    fn drop(&mut self) {
        self.observer.transaction_ended(self.mode);
    }
}
