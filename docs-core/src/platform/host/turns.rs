//! Fair sharing of workers. At most half of the workers wait for external hosts at a time, so that an unresponsive host
//! does not delay PDF and purge jobs. The jobs of one organization always leave at least one worker to other
//! organizations. Likewise, its jobs that wait for hosts leave one of the workers that may wait.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::store::jobs::{BusyOwner, JobClass};

/// The workers of a platform, their running jobs, and how many of them wait for external hosts.
#[derive(Default)]
pub(in crate::platform) struct Turns {
    counts: Mutex<Counts>,
    freed: Notify,
    /// Held while a worker chooses a job, until the job is counted in its owner's share.
    claims: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Counts {
    workers: usize,
    taken: usize,
    /// Running jobs by owner.
    by: HashMap<String, Running>,
}

/// Numbers of running jobs of one owner.
#[derive(Clone, Copy, Default)]
struct Running {
    all: usize,
    /// Number of jobs of classes that wait for external hosts.
    remote: usize,
}

/// A running job, counted in the share of its owner until dropped.
pub(in crate::platform) struct Share<'t> {
    turns: &'t Turns,
    owner: String,
    class: JobClass,
}

/// A worker, counted until dropped.
pub(in crate::platform) struct Worker<'t>(&'t Turns);

/// Permission to run a job that waits for external hosts. Released on drop.
pub(in crate::platform) struct Turn<'t>(&'t Turns);

/// The jobs that a worker may claim.
pub(in crate::platform) enum ClaimScope<'t> {
    /// All jobs. Claimed with a turn, or without one by a caller that is not a worker.
    All(Option<Turn<'t>>),
    /// Jobs that do not wait for external hosts.
    Rest,
}

impl Turns {
    pub(in crate::platform) fn worker(&self) -> Worker<'_> {
        self.counts().workers += 1;
        Worker(self)
    }

    /// Returns the jobs that a worker may claim now.
    pub(in crate::platform) fn reach(&self) -> ClaimScope<'_> {
        let mut counts = self.counts();
        // A single worker claims all jobs.
        if counts.taken >= (counts.workers / 2).max(1) {
            return ClaimScope::Rest;
        }
        counts.taken += 1;
        drop(counts);
        ClaimScope::All(Some(Turn(self)))
    }

    /// Waits until other workers have made their claims.
    pub(in crate::platform) async fn claim(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.claims.lock().await
    }

    /// Returns the owners that have used up their shares.
    pub(in crate::platform) fn busy(&self) -> Vec<BusyOwner> {
        let counts = self.counts();
        let of_all = counts.workers.saturating_sub(1).max(1);
        let of_remote = (counts.workers / 2).saturating_sub(1).max(1);
        let busy = counts.by.iter().filter_map(|(owner, running)| {
            let classes: &[JobClass] = match () {
                () if running.all >= of_all => &JobClass::ALL,
                () if running.remote >= of_remote => &[JobClass::Remote],
                () => return None,
            };
            Some(BusyOwner { owner: owner.clone(), classes })
        });
        busy.collect()
    }

    /// Counts a running job.
    pub(in crate::platform) fn share(&self, owner: &str, class: JobClass) -> Share<'_> {
        let mut counts = self.counts();
        let running = counts.by.entry(owner.to_owned()).or_default();
        running.all += 1;
        running.remote += usize::from(class == JobClass::Remote);
        Share { turns: self, owner: owner.to_owned(), class }
    }

    /// Waits until a turn is released.
    pub(in crate::platform) async fn wait_for_release(&self) {
        self.freed.notified().await;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic cannot leave the counters inconsistent.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'t> ClaimScope<'t> {
    /// Returns the job classes in this scope.
    pub(in crate::platform) const fn classes(&self) -> &'static [JobClass] {
        match self {
            Self::All(_) => &JobClass::ALL,
            Self::Rest => &[JobClass::Local],
        }
    }

    pub(in crate::platform) fn turn(self) -> Option<Turn<'t>> {
        match self {
            Self::All(turn) => turn,
            Self::Rest => None,
        }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut counts = self.turns.counts();
        if let Some(running) = counts.by.get_mut(&self.owner) {
            running.all -= 1;
            running.remote -= usize::from(self.class == JobClass::Remote);
            if running.all == 0 {
                counts.by.remove(&self.owner);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_leaves_workers_to_others() {
        let turns = Turns::default();
        let _workers: Vec<_> = (0..4).map(|_| turns.worker()).collect();
        assert_eq!(turns.busy(), []);
        let import = turns.share("org", JobClass::Remote);
        let skipped = |classes| BusyOwner { owner: "org".to_owned(), classes };
        assert_eq!(turns.busy(), [skipped(&[JobClass::Remote])], "one of the two that may wait for hosts");
        let pdfs = [turns.share("org", JobClass::Local), turns.share("org", JobClass::Local)];
        assert_eq!(turns.busy(), [skipped(&JobClass::ALL)], "three of four");
        let _other = turns.share("other", JobClass::Local);
        assert_eq!(turns.busy(), [skipped(&JobClass::ALL)]);
        drop((import, pdfs));
        assert_eq!(turns.busy(), []);
    }

    #[test]
    fn a_single_worker_runs_jobs_of_any_owner() {
        let turns = Turns::default();
        let _worker = turns.worker();
        assert_eq!(turns.busy(), []);
    }
}
