//! Cancellation of work on blocking threads, which continues after the waiting future is dropped.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use docs_ports::GitError;

/// Cancels its work when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct CancelOnDrop(Cancelled);

/// Set when the result of the work is no longer needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

impl CancelOnDrop {
    pub(crate) fn cancelled(&self) -> Cancelled {
        self.0.clone()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Cancelled {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if the work is cancelled.
    pub(crate) fn check(&self) -> Result<(), GitError> {
        if self.is_set() { Err(cancelled()) } else { Ok(()) }
    }
}

pub(crate) fn cancelled() -> GitError {
    GitError::Unreachable("the fetch was cancelled".to_owned())
}
