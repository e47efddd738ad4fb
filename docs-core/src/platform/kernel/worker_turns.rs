//! Turns of organizations at the processes that handle untrusted documents.

use std::num::NonZeroUsize;

use crate::{
    Result,
    model::OrgId,
    platform::kernel::{
        platform::Platform,
        tenant_queue::{TenantQueue, WorkPermit},
    },
};

/// Admits as many conversions, PDF files and specifications at a time as the machine has cores. One organization cannot
/// take all places, unless there is only one.
pub(in crate::platform) struct WorkerTurns(TenantQueue);

impl WorkerTurns {
    fn new(places: usize) -> Self {
        Self(TenantQueue::new(places, places.saturating_sub(1).max(1)))
    }
}

impl Default for WorkerTurns {
    fn default() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }
}

impl Platform {
    /// Waits for the turn of an organization. The work ends its turn by dropping the permit.
    ///
    /// # Errors
    /// Errors of the store.
    pub(in crate::platform) async fn worker_turn(&self, org: &OrgId) -> Result<WorkPermit> {
        let tenant = self.tenant(org).await?;
        self.inner.memory.get_or_default::<WorkerTurns>().0.acquire_for(&tenant).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn places_of_one(places: usize) -> usize {
        let turns = WorkerTurns::new(places);
        let mut own = Vec::new();
        while let Some(Ok(turn)) = turns.0.acquire("busy").now_or_never() {
            own.push(turn);
        }
        let is_free = turns.0.acquire("other").now_or_never().is_some();
        assert_eq!(is_free, places > 1, "one place is left for others");
        own.len()
    }

    #[test]
    fn one_organization_leaves_a_place_to_others() {
        assert_eq!([1, 2, 3, 8].map(places_of_one), [1, 1, 2, 7]);
    }
}
