//! The memory budget for fetched and imported documents of a platform.
//!
//! A fetch reserves bytes as they arrive, so a download from a slow server holds little memory. Converting or storing a
//! document reserves memory before it begins and waits while the budget is exhausted, so concurrent imports are
//! serialized instead of adding up. One organization cannot exhaust the budget for others, and a transfer that stalls
//! ends when others wait for its memory.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard};

use crate::{
    Error, ErrorKind, Result,
    model::OrgId,
    platform::kernel::platform::Platform,
    ports::{Clock, FetchMeter, Web, WebError, WebResponse},
};

/// The default budget in bytes. Set by [`Builder::import_memory`](crate::platform::Builder::import_memory).
pub(in crate::platform) const IMPORT_MEMORY: u64 = 256 << 20;
/// Bytes reserved per byte of text: the original text, the text with rewritten links, and the stored text.
const BYTES_PER_TEXT_BYTE: u64 = 3;
/// Bytes reserved per page and file, in addition to the text.
const BYTES_PER_ITEM: u64 = 6 << 10;
/// Bytes reserved per byte of text for deriving links, up to [`LINK_BYTES`]. A link of a dozen bytes needs about a
/// kilobyte while its entries are written.
const LINK_BYTES_PER_TEXT_BYTE: u64 = 100;
/// Maximum bytes reserved for deriving the links of an import, which proceeds in batches.
const LINK_BYTES: u64 = 32 << 20;
/// Maximum time that a fetch or import waits for memory.
const LONGEST_WAIT: TimeDelta = TimeDelta::seconds(120);
/// Time within which a transfer must grow by [`Transfer::min_growth`] while others wait for memory. A transfer that
/// waits for memory itself may wait longer while other work is running.
const STALLED: TimeDelta = TimeDelta::seconds(3);
/// Interval between the searches for stalled transfers while data waits for memory.
const RETRY: TimeDelta = TimeDelta::seconds(1);
const EXHAUSTED: &str = "the memory for imports is in use; try again later";

#[derive(Clone)]
pub(in crate::platform) struct ImportMemory(Arc<Budget>);

struct Budget {
    total: u64,
    state: Mutex<State>,
    freed: Notify,
    /// Held by the one import whose result exceeds the free budget.
    excess: Arc<AsyncMutex<()>>,
}

#[derive(Default)]
struct State {
    used: u64,
    by: HashMap<OrgId, Share>,
    /// Queued work, in order of arrival.
    waiting: BTreeMap<u64, (OrgId, u64)>,
    arrivals: u64,
    /// Data that is being received, by the number of its reservation.
    transfers: BTreeMap<u64, Transfer>,
    reservations: u64,
}

/// Data that is being received.
struct Transfer {
    org: OrgId,
    /// The reserved bytes.
    bytes: u64,
    /// The last time when the data had grown by [`Transfer::min_growth`], or when it began to wait for memory, and its
    /// size at that time.
    since: DateTime<Utc>,
    grown_to: u64,
    state: TransferState,
    can_end: bool,
    end: Arc<Notify>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TransferState {
    /// The server waits for the sender.
    Receiving,
    /// The sender waits for memory.
    Waiting,
    /// The transfer was ended but still holds its memory.
    Ending,
}

impl Transfer {
    /// Returns the number of bytes by which a transfer must grow within [`STALLED`]: 24 KiB, or a 512th of its size.
    fn min_growth(&self) -> u64 {
        (24 << 10).max(self.bytes / 512)
    }
}

/// The bytes in use by an organization.
#[derive(Clone, Copy, Default)]
struct Share {
    /// Fetched and converted data.
    held: u64,
    /// Data that is being converted.
    running: u64,
}

impl State {
    fn share(&self, org: &OrgId) -> Share {
        self.by.get(org).copied().unwrap_or_default()
    }

    fn change(&mut self, org: &OrgId, change: impl FnOnce(&mut Share)) {
        let share = self.by.entry(org.clone()).or_default();
        let before = share.held + share.running;
        change(share);
        let after = share.held + share.running;
        self.used = self.used - before + after;
        if after == 0 {
            self.by.remove(org);
        }
    }

    /// Returns `true` if more data can be fetched: an organization may hold as much as it leaves free. A lone import
    /// may exceed the budget, so that a document larger than the budget can be imported.
    fn can_hold(&self, org: &OrgId, import: Share, bytes: u64, total: u64) -> bool {
        let Share { held, running } = self.share(org);
        import.held + import.running == self.used
            || held + running + 2 * bytes <= total.saturating_sub(self.used)
    }

    /// Records that a transfer has grown to a number of bytes.
    fn receive(&mut self, reservation: &Reservation, bytes: u64, now: DateTime<Utc>) {
        let transfer = self.transfer(reservation, now);
        transfer.bytes = bytes;
        let has_grown = bytes.saturating_sub(transfer.grown_to) >= transfer.min_growth();
        // The time that the sender spent waiting for memory does not count as a stall.
        if transfer.state == TransferState::Waiting || has_grown {
            (transfer.since, transfer.grown_to) = (now, bytes);
        }
        if transfer.state != TransferState::Ending {
            transfer.state = TransferState::Receiving;
        }
    }

    fn transfer(&mut self, reservation: &Reservation, now: DateTime<Utc>) -> &mut Transfer {
        self.transfers.entry(reservation.number).or_insert_with(|| Transfer {
            org: reservation.org.clone(),
            bytes: reservation.own.held,
            since: now,
            grown_to: reservation.own.held,
            state: TransferState::Receiving,
            can_end: reservation.can_end,
            end: Arc::clone(&reservation.end),
        })
    }

    /// Records that a transfer waits for a number of bytes, and ends stalled transfers of the largest organizations to
    /// free them, but none of an organization that uses less than the waiting one. If no work is running, transfers
    /// that wait for each other are ended too, the largest first.
    fn wait_to_receive(&mut self, reservation: &Reservation, bytes: u64, now: DateTime<Utc>, total: u64) {
        let transfer = self.transfer(reservation, now);
        if transfer.state == TransferState::Receiving {
            (transfer.state, transfer.since) = (TransferState::Waiting, now);
        }
        let usage = |org: &OrgId| {
            let Share { held, running } = self.share(org);
            held + running
        };
        let own = usage(&reservation.org);
        let rank = (own, reservation.own.held, reservation.number);
        let is_blocked = self.by.values().all(|share| share.running == 0);
        let missing = (own + 2 * bytes).saturating_sub(total.saturating_sub(self.used));
        let (mut freed, mut late) = (0, Vec::new());
        for (number, transfer) in &self.transfers {
            let all = usage(&transfer.org);
            let is_late = match transfer.state {
                TransferState::Ending => {
                    freed += transfer.bytes;
                    false
                }
                TransferState::Receiving => all >= own,
                TransferState::Waiting => is_blocked && (all, transfer.bytes, *number) > rank,
            };
            if is_late && transfer.can_end && transfer.bytes > 0 && now - transfer.since >= STALLED {
                late.push((all, transfer.bytes, *number));
            }
        }
        late.sort_unstable_by(|a, b| b.cmp(a));
        for (_, bytes, number) in late {
            if freed >= missing {
                break;
            }
            freed += bytes;
            if let Some(transfer) = self.transfers.get_mut(&number) {
                transfer.state = TransferState::Ending;
                transfer.end.notify_one();
            }
        }
    }

    /// Returns `true` if queued work can begin. The organization with the least running work goes first; among equals,
    /// arrival order decides.
    fn can_run(&self, arrival: u64, total: u64) -> bool {
        let first = self.waiting.iter().min_by_key(|(at, (org, _))| (self.share(org).running, **at));
        let Some((_, (org, bytes))) = first.filter(|(at, _)| **at == arrival) else { return false };
        let free = total.saturating_sub(self.used);
        let own = self.share(org).running;
        // Fetched data alone must never block all work.
        self.by.values().all(|share| share.running == 0)
            || (*bytes <= free && (own == 0 || own + bytes <= free))
    }
}

impl Default for ImportMemory {
    fn default() -> Self {
        Self::new(IMPORT_MEMORY)
    }
}

impl ImportMemory {
    pub(in crate::platform) fn new(bytes: u64) -> Self {
        let (state, freed) = (Mutex::default(), Notify::new());
        Self(Arc::new(Budget { total: bytes, state, freed, excess: Arc::default() }))
    }

    fn reservation(&self, org: &OrgId) -> Reservation {
        let number = {
            let mut state = self.0.state.lock();
            state.reservations += 1;
            state.reservations
        };
        Reservation {
            budget: Arc::clone(&self.0),
            org: org.clone(),
            number,
            can_end: true,
            end: Arc::default(),
            own: Share::default(),
            waits: Arc::default(),
            _excess: None,
        }
    }
}

/// The part of the budget reserved by one import. Released on drop.
pub(in crate::platform) struct Reservation {
    budget: Arc<Budget>,
    org: OrgId,
    number: u64,
    /// `false` for a fetch, which has a time limit of its own.
    can_end: bool,
    /// Notified when the transfer is ended.
    end: Arc<Notify>,
    own: Share,
    waits: Arc<Waits>,
    _excess: Option<OwnedMutexGuard<()>>,
}

/// Time that an import spends waiting for memory. It does not count toward the import's time limits.
#[derive(Default)]
pub(in crate::platform) struct Waits(Mutex<(TimeDelta, Option<DateTime<Utc>>)>);

impl Waits {
    /// Returns the total waiting time until now, including a wait still in progress.
    pub(in crate::platform) fn time(&self, now: DateTime<Utc>) -> TimeDelta {
        let (ended, since) = *self.0.lock();
        ended + since.map_or(TimeDelta::zero(), |since| now - since)
    }
}

/// Adds a waiting period to [`Waits`] on drop.
struct Waiting<'a> {
    platform: &'a Platform,
    waits: &'a Waits,
}

impl<'a> Waiting<'a> {
    fn begin(platform: &'a Platform, waits: &'a Waits) -> Self {
        waits.0.lock().1 = Some(platform.clock().now());
        Self { platform, waits }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let now = self.platform.clock().now();
        *self.waits.0.lock() = (self.waits.time(now), None);
    }
}

impl Reservation {
    /// Returns the waiting times of this import.
    pub(in crate::platform) fn waits(&self) -> Arc<Waits> {
        Arc::clone(&self.waits)
    }

    /// Reserves bytes for fetched data. Waits while the organization exceeds its share.
    async fn hold(&mut self, clock: &dyn Clock, bytes: u64) {
        loop {
            let freed = self.budget.freed.notified();
            let now = clock.now();
            {
                let mut state = self.budget.state.lock();
                if state.can_hold(&self.org, self.own, bytes, self.budget.total) {
                    state.change(&self.org, |share| share.held += bytes);
                    state.receive(self, self.own.held + bytes, now);
                    break;
                }
                state.wait_to_receive(self, bytes, now, self.budget.total);
            }
            tokio::select! {
                () = freed => {}
                () = clock.wait_until(now + RETRY) => {}
            }
        }
        self.own.held += bytes;
    }

    /// Waits until the transfer is ended because it has stalled while others wait for its memory.
    pub(in crate::platform) async fn stalled(&self) {
        self.end.notified().await;
    }

    /// Records that the data has arrived completely, so that it cannot stall any more.
    fn complete(&self) {
        self.budget.state.lock().transfers.remove(&self.number);
    }

    /// Releases the bytes of fetched data that is no longer needed.
    pub(in crate::platform) fn release(&mut self, bytes: u64) {
        let bytes = bytes.min(self.own.held);
        self.own.held -= bytes;
        self.budget.state.lock().change(&self.org, |share| share.held -= bytes);
        self.budget.freed.notify_waiters();
    }

    /// Waits for memory to process the data. `bytes` includes the data itself. If it exceeds the budget, the whole
    /// budget is reserved.
    pub(in crate::platform) async fn run(&mut self, bytes: u64) {
        self.complete();
        let missing = bytes.min(self.budget.total).saturating_sub(self.own.held);
        let turn = Turn::new(&self.budget, &self.org, missing);
        loop {
            let freed = self.budget.freed.notified();
            {
                let mut state = self.budget.state.lock();
                if state.can_run(turn.arrival, self.budget.total) {
                    state.change(&self.org, |share| share.running += missing);
                    break;
                }
            }
            freed.await;
        }
        self.own.running += missing;
    }

    /// Ends the processing and retains the bytes of its result. If the result is larger and not enough memory is free,
    /// one import at a time may exceed the budget.
    pub(in crate::platform) async fn settle(&mut self, bytes: u64) {
        let missing = bytes.saturating_sub(self.own.held + self.own.running);
        let kept = {
            let mut state = self.budget.state.lock();
            let is_free = missing <= self.budget.total.saturating_sub(state.used);
            let kept = if is_free { bytes } else { bytes - missing };
            let Share { held, running } = self.own;
            state.change(&self.org, |share| {
                share.held = share.held - held + kept;
                share.running -= running;
            });
            kept
        };
        self.own = Share { held: kept, running: 0 };
        self.budget.freed.notify_waiters();
        if kept < bytes && self._excess.is_none() {
            self._excess = Some(Arc::clone(&self.budget.excess).lock_owned().await);
        }
    }

    /// Reserves memory for data that has grown to a number of bytes while it is processed. If not enough is free, one
    /// import at a time may exceed the budget. Others can begin while this one waits.
    async fn grow(&mut self, bytes: u64) {
        let missing = bytes.saturating_sub(self.own.held + self.own.running);
        if missing == 0 {
            return;
        }
        let is_free = {
            let mut state = self.budget.state.lock();
            let is_free = missing <= self.budget.total.saturating_sub(state.used);
            if is_free {
                state.change(&self.org, |share| share.running += missing);
            }
            is_free
        };
        if is_free {
            self.own.running += missing;
        } else {
            self.settle(bytes).await;
        }
    }

    /// Returns the number of bytes of fetched and converted data.
    pub(in crate::platform) const fn held(&self) -> u64 {
        self.own.held
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Share { held, running } = self.own;
        self.complete();
        self.budget.state.lock().change(&self.org, |share| {
            share.held -= held;
            share.running -= running;
        });
        self.budget.freed.notify_waiters();
    }
}

/// The position of waiting work in the queue. Left on drop.
struct Turn<'a> {
    budget: &'a Budget,
    arrival: u64,
}

impl<'a> Turn<'a> {
    fn new(budget: &'a Budget, org: &OrgId, bytes: u64) -> Self {
        let mut state = budget.state.lock();
        state.arrivals += 1;
        let arrival = state.arrivals;
        state.waiting.insert(arrival, (org.clone(), bytes));
        Self { budget, arrival }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.budget.state.lock().waiting.remove(&self.arrival);
        self.budget.freed.notify_waiters();
    }
}

/// The size of the data held by an import.
#[derive(Clone, Copy, Default)]
pub(in crate::platform) struct ImportSize {
    pub(in crate::platform) text_bytes: u64,
    pub(in crate::platform) items: u64,
}

impl ImportSize {
    pub(in crate::platform) const fn bytes(self) -> u64 {
        let texts = self.text_bytes.saturating_mul(BYTES_PER_TEXT_BYTE);
        texts.saturating_add(self.items.saturating_mul(BYTES_PER_ITEM))
    }

    /// Returns the bytes to reserve while the data is stored and its links are derived.
    pub(in crate::platform) fn bytes_to_store(self) -> u64 {
        let links = self.text_bytes.saturating_mul(LINK_BYTES_PER_TEXT_BYTE).min(LINK_BYTES);
        self.bytes().saturating_add(links)
    }
}

/// Reserves the bytes of a fetch as they arrive.
struct Meter<'a> {
    platform: &'a Platform,
    /// The time spent waiting before the fetch.
    earlier: TimeDelta,
    waits: Arc<Waits>,
    reservation: AsyncMutex<&'a mut Reservation>,
}

#[async_trait]
impl FetchMeter for Meter<'_> {
    async fn keep(&self, bytes: usize) -> std::result::Result<(), WebError> {
        let mut reservation = self.reservation.lock().await;
        let now = self.platform.clock().now();
        let until = now + LONGEST_WAIT - (self.waits.time(now) - self.earlier);
        let _waiting = Waiting::begin(self.platform, &self.waits);
        tokio::select! {
            biased;
            () = reservation.hold(self.platform.clock().as_ref(), bytes as u64) => Ok(()),
            () = self.platform.clock().wait_until(until) => Err(WebError::Exhausted(EXHAUSTED.to_owned())),
        }
    }
}

impl Platform {
    /// Creates an empty reservation for an organization.
    pub(in crate::platform) fn import_memory(&self, org: &OrgId) -> Reservation {
        self.inner.memory.get_or_default::<ImportMemory>().reservation(org)
    }

    /// Fetches a document and adds its bytes to the reservation. Waits up to [`LONGEST_WAIT`] for memory.
    ///
    /// # Errors
    /// `Unavailable` if the memory does not become available in time.
    pub(in crate::platform) async fn fetch(
        &self,
        web: &dyn Web,
        url: &str,
        reservation: &mut Reservation,
    ) -> Result<std::result::Result<WebResponse, WebError>> {
        let before = reservation.own.held;
        reservation.can_end = false;
        let waits = reservation.waits();
        let earlier = waits.time(self.clock().now());
        let meter = Meter { platform: self, earlier, waits, reservation: AsyncMutex::new(reservation) };
        let fetched = web.get_metered(url, &meter).await;
        let reservation = meter.reservation.into_inner();
        reservation.complete();
        if fetched.is_err() {
            reservation.release(reservation.own.held - before);
        }
        match fetched {
            Err(WebError::Exhausted(_)) => Err(Error::new(ErrorKind::Unavailable, EXHAUSTED)),
            fetched => Ok(fetched),
        }
    }

    /// Adds received bytes to a reservation. Waits up to [`LONGEST_WAIT`] for memory.
    ///
    /// # Errors
    /// `Unavailable` if the memory does not become available in time, or if the transfer is ended.
    pub(in crate::platform) async fn hold_import(
        &self,
        reservation: &mut Reservation,
        bytes: u64,
    ) -> Result<()> {
        let (waits, end) = (reservation.waits(), Arc::clone(&reservation.end));
        let clock = self.clock();
        let held = self.wait_for_memory(&waits, reservation.hold(clock.as_ref(), bytes));
        tokio::select! {
            biased;
            held = held => held,
            () = end.notified() => Err(Error::new(ErrorKind::Unavailable, EXHAUSTED)),
        }
    }

    /// Waits up to [`LONGEST_WAIT`] for memory to process fetched data.
    ///
    /// # Errors
    /// `Unavailable` if the memory does not become available in time.
    pub(in crate::platform) async fn run_import(
        &self,
        reservation: &mut Reservation,
        bytes: u64,
    ) -> Result<()> {
        let waits = reservation.waits();
        self.wait_for_memory(&waits, reservation.run(bytes)).await
    }

    /// Reserves memory for data that has grown to a number of bytes. Waits up to [`LONGEST_WAIT`] while another import
    /// exceeds the budget.
    ///
    /// # Errors
    /// `Unavailable` if the memory does not become available in time.
    pub(in crate::platform) async fn grow_import(
        &self,
        reservation: &mut Reservation,
        bytes: u64,
    ) -> Result<()> {
        let waits = reservation.waits();
        self.wait_for_memory(&waits, reservation.grow(bytes)).await
    }

    /// Waits up to [`LONGEST_WAIT`] for a reservation.
    async fn wait_for_memory(&self, waits: &Waits, reserved: impl Future<Output = ()>) -> Result<()> {
        let until = self.clock().now() + LONGEST_WAIT;
        let _waiting = Waiting::begin(self, waits);
        tokio::select! {
            biased;
            () = reserved => Ok(()),
            () = self.clock().wait_until(until) => Err(Error::new(ErrorKind::Unavailable, EXHAUSTED)),
        }
    }
}
