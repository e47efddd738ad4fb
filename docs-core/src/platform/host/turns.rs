//! Limit on workers that wait for external hosts: at most half of the workers at a time, so that an unresponsive host
//! does not delay PDF and purge jobs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Number of workers of a platform, and of those that may be waiting for hosts.
#[derive(Default)]
pub(in crate::platform) struct Turns {
    counts: Mutex<Counts>,
    freed: Notify,
}

#[derive(Default)]
struct Counts {
    workers: usize,
    taken: usize,
}

/// Counts a worker until it is dropped.
pub(in crate::platform) struct Worker<'t>(&'t Turns);

/// Holds a turn until it is dropped.
pub(in crate::platform) struct Turn<'t>(&'t Turns);

/// The jobs that a worker may claim.
pub(in crate::platform) enum Reach<'t> {
    /// All jobs. Held with a turn, or without one by a caller that is not a worker.
    All(Option<Turn<'t>>),
    /// Jobs that do not wait for hosts.
    Rest,
}

impl Turns {
    pub(in crate::platform) fn worker(&self) -> Worker<'_> {
        self.counts().workers += 1;
        Worker(self)
    }

    /// Returns the jobs that a worker may claim now.
    pub(in crate::platform) fn reach(&self) -> Reach<'_> {
        let mut counts = self.counts();
        // A single worker claims all jobs.
        if counts.taken >= (counts.workers / 2).max(1) {
            return Reach::Rest;
        }
        counts.taken += 1;
        drop(counts);
        Reach::All(Some(Turn(self)))
    }

    /// Waits until a turn is released.
    pub(in crate::platform) async fn freed(&self) {
        self.freed.notified().await;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic cannot leave the two counters inconsistent.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'t> Reach<'t> {
    pub(in crate::platform) fn turn(self) -> Option<Turn<'t>> {
        match self {
            Self::All(turn) => turn,
            Self::Rest => None,
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.0.counts().workers -= 1;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.counts().taken -= 1;
        self.0.freed.notify_one();
    }
}
