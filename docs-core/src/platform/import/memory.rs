//! The memory that the imports of a platform hold together. An import reserves what it may need before it reads, and
//! waits while others hold the budget: imports at once take turns instead of adding up.

use std::{sync::Arc, time::Duration};

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

use crate::{Error, ErrorKind, Result, platform::Platform};

/// The memory of all imports together, unless [`Builder::import_memory`](crate::platform::Builder::import_memory)
/// sets another.
pub(in crate::platform) const IMPORT_MEMORY: u64 = 256 << 20;
/// Bytes that an import reserves before its size is known: for what it fetches, unpacks and converts.
pub(in crate::platform) const UNKNOWN_IMPORT: u64 = 96 << 20;
/// The same for single documents: less, because a slow web server holds them for as long as an import may take.
pub(in crate::platform) const UNKNOWN_DOCUMENT: u64 = 24 << 20;
/// Bytes that an import reserves for each byte of text: the text as it was read, with its links rewritten, and stored.
const BYTES_PER_TEXT_BYTE: u64 = 3;
/// Bytes that an import reserves for each page and file, on top of its text.
const BYTES_PER_ITEM: u64 = 6 << 10;
/// The longest wait of a request for its reservation.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// Bytes of a permit.
const UNIT: u64 = 1 << 10;

/// The budget of a platform.
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

    /// Waits until bytes are free; more than the budget has count as all of it. First come, first served.
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

/// A part of the budget, given back when it is dropped.
pub(in crate::platform) struct Reservation {
    permit: Option<OwnedSemaphorePermit>,
    _excess: Option<OwnedMutexGuard<()>>,
}

/// What an import holds, once that is known.
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
    /// Reserves memory for a job, which may wait as long as it takes.
    pub(in crate::platform) async fn reserve_import(&self, bytes: u64) -> Result<Reservation> {
        self.inner.import_memory.reserve(bytes).await
    }

    /// Reserves memory for a request, which waits for some time only.
    ///
    /// # Errors
    /// `Unavailable` when others hold the memory for longer than that.
    pub(in crate::platform) async fn reserve_request(&self, bytes: u64) -> Result<Reservation> {
        let until = self.clock().now() + LONGEST_WAIT;
        tokio::select! {
            biased;
            reserved = self.reserve_import(bytes) => reserved,
            () = self.clock().wait_until(until) => {
                Err(Error::new(ErrorKind::Unavailable, "other imports take the memory for imports; try again later"))
            }
        }
    }

    /// Makes a reservation as large as an import is. Its texts are in memory by now, so it keeps the part that it holds.
    /// Where the rest is not free, one import at a time exceeds the budget, which waits for nothing then.
    pub(in crate::platform) async fn resize_import(
        &self,
        reservation: &mut Reservation,
        size: ImportSize,
    ) -> Result<()> {
        self.inner.import_memory.resize(reservation, size.bytes()).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reservations_wait_for_those_before_and_never_exceed_the_budget() {
        let memory = ImportMemory::new(100 << 10);
        let first = memory.reserve(60 << 10).await.expect("free");
        let mut second = Box::pin(memory.reserve(60 << 10));
        let mut third = Box::pin(memory.reserve(1 << 10));
        assert!(polled_once(&mut second).is_none());
        assert!(polled_once(&mut third).is_none(), "first come, first served");
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
        assert!(polled_once(&mut waits).is_none(), "another import exceeds the budget");
        drop(first);
        waits.await;
        drop(second);
        assert_eq!(memory.free.available_permits(), 100);
    }

    /// The result of a future that is polled once.
    fn polled_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        }
    }
}
