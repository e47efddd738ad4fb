//! Turns of workers at what waits for hosts outside: at most half of the workers wait at a time, so that a host that
//! says nothing keeps no PDF file and no purge waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The workers of a platform, and how many of them are at what waits for hosts.
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

/// Counts a worker as long as it is there.
pub(super) struct Worker<'t>(&'t Turns);

/// Keeps a turn until it is dropped.
pub(super) struct Turn<'t>(&'t Turns);

/// What a worker may claim.
pub(super) enum Reach<'t> {
    /// Every job: in a turn, or by somebody who is no worker.
    All(Option<Turn<'t>>),
    /// What waits for no host.
    Rest,
}

impl Turns {
    pub(super) fn worker(&self) -> Worker<'_> {
        self.counts().workers += 1;
        Worker(self)
    }

    /// What a worker may claim now.
    pub(super) fn reach(&self) -> Reach<'_> {
        let mut counts = self.counts();
        // A single worker does everything.
        if counts.taken >= (counts.workers / 2).max(1) {
            return Reach::Rest;
        }
        counts.taken += 1;
        drop(counts);
        Reach::All(Some(Turn(self)))
    }

    /// Waits until a turn was given back since somebody waited last.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic leaves nothing half done between two numbers.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'t> Reach<'t> {
    pub(super) fn turn(self) -> Option<Turn<'t>> {
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
