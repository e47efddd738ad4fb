//! The shared memory budget of all imports of a platform. An import reserves memory before it reads and waits while
//! the budget is exhausted, so that concurrent imports run one after the other instead of adding up.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::{Error, ErrorKind, Result, platform::kernel::platform::Platform};

/// The default budget in bytes. [`Builder::import_memory`](crate::platform::Builder::import_memory) changes it.
pub(in crate::platform) const IMPORT_MEMORY: u64 = 256 << 20;
/// Bytes that an import reserves before its size is known, for fetched, unpacked and converted data.
pub(in crate::platform) const UNKNOWN_IMPORT: u64 = 96 << 20;
/// The initial reservation of a single document in bytes. It is smaller because a slow web server can hold it for the
/// time limit of an import.
pub(in crate::platform) const UNKNOWN_DOCUMENT: u64 = 24 << 20;
/// Reserved bytes per byte of text: the original text, the text with rewritten links, and the stored text.
const BYTES_PER_TEXT_BYTE: u64 = 3;
/// Reserved bytes per page and file, in addition to the text.
const BYTES_PER_ITEM: u64 = 6 << 10;
/// Maximum time that a request waits for its reservation.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// Bytes per permit.
const UNIT: u64 = 1 << 10;

/// The memory budget of a platform.
pub(in crate::platform) struct ImportMemory {
    free: Arc<Semaphore>,
    units: u32,
    /// Held by the one import that is larger than the free budget.
    excess: Arc<Mutex<()>>,
}

impl Default for ImportMemory {
    fn default() -> Self {
        Self::new(IMPORT_MEMORY)
    }
}

impl ImportMemory {
    pub(in crate::platform) fn new(bytes: u64) -> Self {
        let most = u64::from(u32::MAX).min(Semaphore::MAX_PERMITS as u64);
        let units = bytes.div_ceil(UNIT).clamp(1, most) as u32;
        Self { free: Arc::new(Semaphore::new(units as usize)), units, excess: Arc::default() }
    }

    /// Waits until the bytes are available, in FIFO order. A larger amount than the budget reserves all of it.
    async fn reserve(&self, bytes: u64) -> Result<Reservation> {
        let units = self.units_of(bytes);
        let permit = Arc::clone(&self.free).acquire_many_owned(units).await.map_err(Error::internal)?;
        Ok(Reservation { permit: Some(permit), _excess: None })
    }

    /// Gives back what a reservation does not need, or adds what it lacks.
    async fn resize(&self, reservation: &mut Reservation, bytes: u64) {
        let wanted = self.units_of(bytes) as usize;
        let held = reservation.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted <= held {
            if let Some(permit) = &mut reservation.permit {
                drop(permit.split(held - wanted));
            }
            return;
        }
        let missing = u32::try_from(wanted - held).unwrap_or(u32::MAX);
        match (Arc::clone(&self.free).try_acquire_many_owned(missing), &mut reservation.permit) {
            (Ok(more), Some(permit)) => permit.merge(more),
            (Ok(more), none) => *none = Some(more),
            (Err(_), _) => reservation._excess = Some(Arc::clone(&self.excess).lock_owned().await),
        }
    }

    fn units_of(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).clamp(1, self.units)
    }
}

/// A part of the budget, returned on drop.
pub(in crate::platform) struct Reservation {
    permit: Option<OwnedSemaphorePermit>,
    _excess: Option<OwnedMutexGuard<()>>,
}

/// The size of the data that an import holds.
#[derive(Clone, Copy, Default)]
pub(in crate::platform) struct ImportSize {
    pub(in crate::platform) text_bytes: u64,
    pub(in crate::platform) items: u64,
}

impl ImportSize {
    const fn bytes(self) -> u64 {
        let texts = self.text_bytes.saturating_mul(BYTES_PER_TEXT_BYTE);
        texts.saturating_add(self.items.saturating_mul(BYTES_PER_ITEM))
    }
}

impl Platform {
    /// Reserves memory for a job, which waits without a time limit.
    pub(in crate::platform) async fn reserve_import(&self, bytes: u64) -> Result<Reservation> {
        self.inner.memory.of::<ImportMemory>().reserve(bytes).await
    }

    /// Reserves memory for a request, which waits up to [`LONGEST_WAIT`].
    ///
    /// # Errors
    /// `Unavailable` when the memory does not become available in time.
    pub(in crate::platform) async fn reserve_request(&self, bytes: u64) -> Result<Reservation> {
        let until = self.clock().now() + LONGEST_WAIT;
        tokio::select! {
            biased;
            reserved = self.reserve_import(bytes) => reserved,
            () = self.clock().wait_until(until) => {
                Err(Error::new(ErrorKind::Unavailable, "the memory for imports is in use; try again later"))
            }
        }
    }

    /// Makes a reservation as large as an import is. Its texts are in memory by now, so it keeps the part that it
    /// holds. Where the rest is not free, one import at a time exceeds the budget, which waits for nothing then.
    pub(in crate::platform) async fn resize_import(
        &self,
        reservation: &mut Reservation,
        size: ImportSize,
    ) -> Result<()> {
        self.inner.memory.of::<ImportMemory>().resize(reservation, size.bytes()).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn reservations_are_fifo_and_never_exceed_the_budget() {
        let memory = ImportMemory::new(100 << 10);
        let first = memory.reserve(60 << 10).await.expect("free");
        let mut second = Box::pin(memory.reserve(60 << 10));
        let mut third = Box::pin(memory.reserve(1 << 10));
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none(), "first come, first served");
        drop(first);
        let second = second.await.expect("free");
        drop(third.await.expect("free"));
        drop(second);
        let all = memory.reserve(u64::MAX).await.expect("all of it");
        assert_eq!(memory.free.available_permits(), 0);
        drop(all);
        assert_eq!(memory.free.available_permits(), 100);
    }

    #[tokio::test]
    async fn one_import_at_a_time_exceeds_the_budget() {
        let memory = ImportMemory::new(100 << 10);
        let mut first = memory.reserve(50 << 10).await.expect("free");
        let mut second = memory.reserve(50 << 10).await.expect("free");
        memory.resize(&mut first, 80 << 10).await;
        let mut waits = Box::pin(memory.resize(&mut second, 80 << 10));
        assert!((&mut waits).now_or_never().is_none(), "another import exceeds the budget");
        drop(first);
        waits.await;
        drop(second);
        assert_eq!(memory.free.available_permits(), 100);
    }
}
