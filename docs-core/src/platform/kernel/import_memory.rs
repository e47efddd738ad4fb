//! The memory budget for fetched and imported documents of a platform.
//!
//! A fetch reserves bytes as they arrive, so a download from a slow server holds little memory. Converting or storing a
//! document reserves memory before it begins and waits while the budget is exhausted, so concurrent imports are
//! serialized instead of adding up. One organization cannot exhaust the budget for others, and a transfer that stalls
//! ends when others wait for its memory.

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

#[cfg(test)]
mod tests {
    use docs_memstore::ManualClock;
    use futures_util::FutureExt as _;
    use proptest::prelude::*;

    use super::*;

    fn org(number: u8) -> OrgId {
        format!("org{number}").parse().expect("an id")
    }

    fn clock() -> ManualClock {
        ManualClock::default()
    }

    fn used(memory: &ImportMemory) -> u64 {
        memory.0.state.lock().used
    }

    #[test]
    fn work_begins_by_arrival_within_the_budget() {
        let memory = ImportMemory::new(100);
        let [mut first, mut second, mut third] = [1, 2, 3].map(|number| memory.reservation(&org(number)));
        first.run(60).now_or_never().expect("free");
        let mut second_run = Box::pin(second.run(60));
        let mut third_run = Box::pin(third.run(1));
        assert!((&mut second_run).now_or_never().is_none());
        assert!((&mut third_run).now_or_never().is_none(), "work that arrived earlier waits");
        drop(first);
        (&mut second_run).now_or_never().expect("free");
        (&mut third_run).now_or_never().expect("free");
        drop((second_run, third_run));
        drop((second, third));
        assert_eq!(used(&memory), 0);
    }

    #[test]
    fn an_organization_with_running_work_waits_for_others() {
        let memory = ImportMemory::new(256);
        let mut busy: Vec<_> = (0..14).map(|_| memory.reservation(&org(1))).collect();
        let mut busy: Vec<_> = busy.iter_mut().map(|one| Box::pin(one.run(96))).collect();
        let begun = busy.iter_mut().filter_map(|one| one.now_or_never()).count();
        assert_eq!(begun, 1, "one at a time, because a second one would leave less than it uses");
        let mut other = memory.reservation(&org(2));
        other.run(96).now_or_never().expect("another organization does not wait");
    }

    #[test]
    fn slow_fetches_do_not_delay_the_work_of_others() {
        let memory = ImportMemory::new(256);
        let mut slow: Vec<_> = (0..14).map(|number| memory.reservation(&org(number))).collect();
        for reservation in &mut slow {
            reservation.hold(&clock(), 1).now_or_never().expect("free");
        }
        let mut other = memory.reservation(&org(99));
        other.run(96).now_or_never().expect("fetched bytes are all that slow fetches hold");
    }

    #[test]
    fn fetched_data_of_one_organization_leaves_memory_to_others() {
        let memory = ImportMemory::new(100);
        let (mut one, mut other) = (memory.reservation(&org(1)), memory.reservation(&org(2)));
        other.hold(&clock(), 1).now_or_never().expect("free");
        one.hold(&clock(), 49).now_or_never().expect("free");
        assert!(one.hold(&clock(), 10).now_or_never().is_none(), "it would use more than it leaves free");
        other.hold(&clock(), 20).now_or_never().expect("free");
    }

    #[test]
    fn imports_of_one_organization_share_its_memory() {
        let memory = ImportMemory::new(100);
        let mut all: Vec<_> = (0..14).map(|_| memory.reservation(&org(1))).collect();
        let held = all.iter_mut().filter_map(|one| one.hold(&clock(), 20).now_or_never()).count();
        assert_eq!(held, 2, "a third one would use more than it leaves free");
        memory.reservation(&org(2)).hold(&clock(), 30).now_or_never().expect("free");
        drop(all);
        let mut alone = memory.reservation(&org(1));
        alone.hold(&clock(), 150).now_or_never().expect("alone, a document may be larger than the budget");
    }

    #[test]
    fn fetched_data_that_fills_the_budget_does_not_block_work() {
        let memory = ImportMemory::new(100);
        let mut waiting: Vec<_> = (0..8).map(|number| memory.reservation(&org(number))).collect();
        for (reservation, bytes) in waiting.iter_mut().zip([50, 25, 12, 6, 3]) {
            reservation.hold(&clock(), bytes).now_or_never().expect("its share");
        }
        waiting[0].run(90).now_or_never().expect("no work is running");
        assert!(waiting[1].run(90).now_or_never().is_none(), "one at a time");
    }

    #[test]
    fn one_import_at_a_time_exceeds_the_budget() {
        let memory = ImportMemory::new(100);
        let (mut first, mut second) = (memory.reservation(&org(1)), memory.reservation(&org(2)));
        first.run(50).now_or_never().expect("free");
        second.run(50).now_or_never().expect("free");
        first.settle(80).now_or_never().expect("it exceeds the budget alone");
        let mut waits = Box::pin(second.settle(80));
        assert!((&mut waits).now_or_never().is_none(), "another import exceeds the budget");
        drop(first);
        (&mut waits).now_or_never().expect("its turn");
        drop(waits);
        drop(second);
        assert_eq!(used(&memory), 0);
    }

    #[test]
    fn data_that_grows_while_it_is_processed_is_counted() {
        let memory = ImportMemory::new(100);
        let (mut first, mut second) = (memory.reservation(&org(1)), memory.reservation(&org(2)));
        first.run(40).now_or_never().expect("free");
        first.grow(30).now_or_never().expect("less than it has");
        assert_eq!(used(&memory), 40);
        first.grow(60).now_or_never().expect("free");
        assert_eq!(used(&memory), 60);
        second.run(40).now_or_never().expect("free");
        first.grow(70).now_or_never().expect("it exceeds the budget alone");
        let mut waits = Box::pin(second.grow(50));
        assert!((&mut waits).now_or_never().is_none(), "another import exceeds the budget");
        first.run(90).now_or_never().expect("no work is running, because the other import waits");
        first.grow(200).now_or_never().expect("it still exceeds the budget alone");
        drop(first);
        (&mut waits).now_or_never().expect("its turn");
        drop(waits);
        drop(second);
        assert_eq!(used(&memory), 0);
    }

    fn is_ended(reservation: &Reservation) -> bool {
        reservation.stalled().now_or_never().is_some()
    }

    /// Three organizations leave an eighth of the budget to others, and then send nothing.
    #[test]
    fn stalled_transfers_end_while_others_wait_for_memory() {
        const MIB: u64 = 1 << 20;
        let (memory, clock) = (ImportMemory::new(256 * MIB), clock());
        let mut slow: Vec<_> = (1..4).map(|number| memory.reservation(&org(number))).collect();
        for (one, bytes) in slow.iter_mut().zip([128, 64, 32]) {
            one.hold(&clock, bytes * MIB).now_or_never().expect("its share");
        }
        let mut other = memory.reservation(&org(9));
        assert!(other.hold(&clock, 40 * MIB).now_or_never().is_none(), "not enough is left");
        clock.advance(std::time::Duration::from_millis(2_900));
        assert!(other.hold(&clock, 40 * MIB).now_or_never().is_none());
        assert!(!slow.iter().any(is_ended), "they are not late yet");
        clock.advance(std::time::Duration::from_millis(100));
        assert!(other.hold(&clock, 40 * MIB).now_or_never().is_none());
        assert_eq!(slow.iter().map(is_ended).collect::<Vec<_>>(), [true, false, false], "the largest");
        slow.remove(0);
        other.hold(&clock, 40 * MIB).now_or_never().expect("free");
    }

    /// A transfer grows by 24 KiB, or by a 512th of its size.
    #[test]
    fn transfers_that_grow_are_not_ended() {
        const MIB: u64 = 1 << 20;
        let (memory, clock) = (ImportMemory::new(256 * MIB), clock());
        let mut steady = memory.reservation(&org(1));
        steady.hold(&clock, 100 * MIB).now_or_never().expect("its share");
        let mut other = memory.reservation(&org(2));
        for second in 0..10 {
            clock.advance(std::time::Duration::from_secs(1));
            steady.hold(&clock, 100 * MIB / 512 / 2).now_or_never().expect("its share");
            assert!(other.hold(&clock, 100 * MIB).now_or_never().is_none());
            assert!(!is_ended(&steady), "second {second}");
        }
        for _ in 0..10 {
            clock.advance(std::time::Duration::from_secs(1));
            steady.hold(&clock, 24 << 10).now_or_never().expect("its share");
            assert!(other.hold(&clock, 100 * MIB).now_or_never().is_none());
        }
        assert!(is_ended(&steady), "too slow for its size");
    }

    /// Uploads that wait for each other's memory do not wait forever: the largest is ended.
    #[test]
    fn transfers_that_wait_for_each_other_end() {
        let (memory, clock) = (ImportMemory::new(100), clock());
        let mut all: Vec<_> = [1, 2, 2].map(|number| memory.reservation(&org(number))).into();
        for (one, bytes) in all.iter_mut().zip([40, 10, 8]) {
            one.hold(&clock, bytes).now_or_never().expect("its share");
        }
        let wait = |all: &mut Vec<Reservation>| {
            for one in all {
                assert!(one.hold(&clock, 20).now_or_never().is_none());
            }
        };
        wait(&mut all);
        clock.advance(std::time::Duration::from_secs(3));
        let mut work = memory.reservation(&org(3));
        work.run(1).now_or_never().expect("no work is running");
        wait(&mut all);
        assert!(!all.iter().any(is_ended), "running work frees memory");
        drop(work);
        wait(&mut all);
        assert_eq!(all.iter().map(is_ended).collect::<Vec<_>>(), [true, false, false]);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Grow(usize, u64),
        Hold(usize, u64),
        Run(usize, u64),
        Settle(usize, u64),
        Release(usize, u64),
        Drop(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let (which, bytes) = (0..6_usize, 0..120_u64);
        prop_oneof![
            (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Grow(which, bytes)),
            (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Hold(which, bytes)),
            (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Run(which, bytes)),
            (which.clone(), bytes.clone()).prop_map(|(which, bytes)| Step::Settle(which, bytes)),
            (which.clone(), bytes).prop_map(|(which, bytes)| Step::Release(which, bytes)),
            which.prop_map(Step::Drop),
        ]
    }

    proptest! {
        #[test]
        fn all_memory_is_returned(steps in proptest::collection::vec(step(), 0..60)) {
            let memory = ImportMemory::new(100);
            let new = |which: usize| memory.reservation(&org(which as u8 / 2));
            let mut all: Vec<_> = (0..6).map(new).collect();
            for step in steps {
                match step {
                    Step::Grow(which, bytes) => { all[which].grow(bytes).now_or_never(); }
                    Step::Hold(which, bytes) => { all[which].hold(&clock(), bytes).now_or_never(); }
                    Step::Run(which, bytes) => { all[which].run(bytes).now_or_never(); }
                    Step::Settle(which, bytes) => { all[which].settle(bytes).now_or_never(); }
                    Step::Release(which, bytes) => all[which].release(bytes),
                    Step::Drop(which) => all[which] = new(which),
                }
                let own: u64 = all.iter().map(|one| one.own.held + one.own.running).sum();
                prop_assert_eq!(used(&memory), own);
                prop_assert!(memory.0.state.lock().waiting.is_empty());
            }
            drop(all);
            prop_assert_eq!(used(&memory), 0);
            let state = memory.0.state.lock();
            prop_assert!(state.by.is_empty() && state.transfers.is_empty());
        }
    }
}
