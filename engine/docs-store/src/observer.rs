//! Who is told of transactions, to count them: [`Observer`].

use std::{fmt, sync::Arc};

use docs_model::error::{Error, ErrorKind};

use super::{Mode, StoreError, StoreFailure as _};

/// How an attempt at an operation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptOutcome {
    /// It is stored, or there was nothing to store.
    Done,
    /// It met another transaction, and is made again while there is time.
    Conflict,
    /// A key that it creates was there.
    Exists,
    /// Nobody answered whether it is stored.
    Unknown,
    /// The store could not be used.
    Unavailable,
    /// The operation itself, or the store for good, refused.
    Refused,
}

impl AttemptOutcome {
    /// How an attempt ended that failed.
    pub(crate) fn of(error: &Error) -> Self {
        match error.store() {
            Some(StoreError::Conflict) => Self::Conflict,
            Some(StoreError::Exists(_)) => Self::Exists,
            Some(StoreError::Unknown(_)) => Self::Unknown,
            Some(StoreError::Unavailable(_)) => Self::Unavailable,
            _ => Self::Refused,
        }
    }
}

/// Is told of transactions and of runs of operations as they happen.
///
/// Calls are made on the way of requests: they neither wait nor fail.
pub trait Observer: fmt::Debug + Send + Sync + 'static {
    /// A transaction has begun.
    fn begun(&self, mode: Mode);

    /// A transaction has ended, committed or not.
    fn ended(&self, mode: Mode);

    /// An attempt at an operation has ended.
    fn attempted(&self, operation: &'static str, outcome: AttemptOutcome);

    /// An operation was not done, after all its attempts.
    fn failed(&self, operation: &'static str, kind: ErrorKind);
}

/// A transaction that an observer was told of.
pub(crate) struct Observed {
    observer: Arc<dyn Observer>,
    mode: Mode,
}

impl Observed {
    pub(crate) fn begin(observer: &Arc<dyn Observer>, mode: Mode) -> Self {
        observer.begun(mode);
        Self { observer: Arc::clone(observer), mode }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.observer.ended(self.mode);
    }
}
