//! Memory limits for responses, from their production until clients have read them.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use docs_core::{BoxFuture, platform::AnswerMemory};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{connection::Connection, table::ConnectionTable};

/// Bytes reserved for a request while its response is being produced.
const RESERVATION_BYTES: usize = 1 << 20;
/// Duration of the reservation. A request that takes longer is waiting for something other than memory.
const RESERVATION_TIME: Duration = Duration::from_secs(1);
/// Maximum number of concurrent requests that are admitted although memory is exhausted, for clients that hold no
/// response memory.
const RESERVED_REQUESTS: usize = 8;
/// The part of the limit that complete responses may use in addition while they wait for memory: 1 divided by this
/// number.
const WAITING_SHARE: usize = 2;
/// Maximum time that a request waits for memory.
const MEMORY_WAIT: Duration = Duration::from_secs(10);
/// Minimum interval between searches for stalled responses, shared by all waiting requests.
const STALL_SEARCH_INTERVAL: Duration = Duration::from_millis(20);

/// Response memory, shared by all connections.
#[derive(Debug)]
pub(super) struct Memory {
    most: usize,
    used: Mutex<MemoryUsage>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct MemoryUsage {
    all: usize,
    by: HashMap<Holder, usize>,
    /// Number of requests admitted as [`AdmissionReason::Reserved`].
    reserved: usize,
    /// Number of requests that wait for memory.
    waiting: usize,
    /// Bytes of complete responses that wait for memory.
    held: usize,
    /// Time of the last search for stalled responses.
    searched: Option<Instant>,
}

/// Counts a waiting request until dropped.
struct WaitGuard<'a>(&'a Memory);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.used.lock().waiting -= 1;
    }
}

/// Counts the bytes of a waiting response until dropped.
struct HeldResponse<'a>(&'a Memory, usize);

impl Drop for HeldResponse<'_> {
    fn drop(&mut self) {
        self.0.used.lock().held -= self.1;
    }
}

/// The client that memory is charged to: an address, or a single connection of a trusted proxy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    Network(IpAddr),
    Connection(u64),
}

impl Holder {
    const fn for_connection(connection: &Connection) -> Self {
        match connection.peer.is_trusted {
            true => Self::Connection(connection.id),
            false => Self::Network(connection.peer.network),
        }
    }
}

/// Memory of one response, released on drop.
#[derive(Debug)]
pub(super) struct Charge {
    memory: Arc<Memory>,
    connection: Arc<Connection>,
    holder: Holder,
    /// `true` while the request uses one of the [`RESERVED_REQUESTS`].
    is_reserved: AtomicBool,
    /// Bytes of the response in memory.
    bytes: AtomicUsize,
    /// Bytes reserved for a large response while it is built.
    reserved: AtomicUsize,
    /// State of the reservation for producing the response.
    expected: Mutex<ReservationState>,
}

/// The reason that a request was admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AdmissionReason {
    /// Memory was available, or the response is an error.
    Free,
    /// The request is one of the [`RESERVED_REQUESTS`].
    Reserved,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReservationState {
    Active,
    /// Paused while the request waits for the client.
    Paused,
    /// Released, because the response exists or takes too long.
    Released,
}

impl Memory {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: Mutex::default(), freed: Notify::new() })
    }

    /// Waits until memory for a response is available. Each address may use at most as much memory as is still free, so
    /// a single address gets at most a half, and two addresses a third each. If memory is short, stalled responses are
    /// aborted. Returns `None` after [`MEMORY_WAIT`].
    pub(super) async fn admit(
        self: &Arc<Self>,
        table: &ConnectionTable,
        connection: &Arc<Connection>,
    ) -> Option<Arc<Charge>> {
        let holder = Holder::for_connection(connection);
        let end = Instant::now() + MEMORY_WAIT;
        let mut waiting = None;
        loop {
            let freed = self.freed.notified();
            if let Some(reason) = self.try_admit(holder) {
                return Some(Arc::new(self.charge(connection, reason)));
            }
            let now = Instant::now();
            if now >= end {
                return None;
            }
            waiting.get_or_insert_with(|| self.wait());
            let again = self.make_room(table, now);
            tokio::select! {
                () = freed => {}
                () = sleep_until(again.min(end)) => {}
            }
        }
    }

    /// Returns a charge that ignores the limit, for example for an error response.
    pub(super) fn overdraw(self: &Arc<Self>, connection: &Arc<Connection>) -> Arc<Charge> {
        let charge = self.charge(connection, AdmissionReason::Free);
        *charge.expected.lock() = ReservationState::Released;
        Arc::new(charge)
    }

    fn charge(self: &Arc<Self>, connection: &Arc<Connection>, reason: AdmissionReason) -> Charge {
        Charge {
            memory: Arc::clone(self),
            connection: Arc::clone(connection),
            holder: Holder::for_connection(connection),
            is_reserved: AtomicBool::new(reason == AdmissionReason::Reserved),
            bytes: AtomicUsize::new(0),
            reserved: AtomicUsize::new(0),
            expected: Mutex::new(ReservationState::Active),
        }
    }

    fn try_admit(&self, holder: Holder) -> Option<AdmissionReason> {
        let mut used = self.used.lock();
        let own = used.by.get(&holder).copied().unwrap_or_default();
        let free = self.most.saturating_sub(used.all);
        // A request is always admitted if no memory is in use, even if the limit is too low for it.
        let place = match () {
            () if used.all == 0 || own + RESERVATION_BYTES <= free => AdmissionReason::Free,
            () if own == 0 && used.reserved < RESERVED_REQUESTS => AdmissionReason::Reserved,
            () => return None,
        };
        used.reserved += usize::from(place == AdmissionReason::Reserved);
        used.add(holder, RESERVATION_BYTES);
        Some(place)
    }

    fn wait(&self) -> WaitGuard<'_> {
        self.used.lock().waiting += 1;
        WaitGuard(self)
    }

    /// Charges a complete response if the limit permits it. A response is always permitted if no memory is in use.
    fn try_add(&self, holder: Holder, bytes: usize) -> bool {
        let mut used = self.used.lock();
        let is_free = used.all == 0 || used.all.saturating_add(bytes) <= self.most;
        if is_free {
            used.add(holder, bytes);
        }
        is_free
    }

    /// Counts a response that waits for memory. Returns `None` if waiting responses use half of the limit.
    fn hold(&self, bytes: usize) -> Option<HeldResponse<'_>> {
        let mut used = self.used.lock();
        if used.held > 0 && used.held.saturating_add(bytes) > self.most / WAITING_SHARE {
            return None;
        }
        used.held += bytes;
        Some(HeldResponse(self, bytes))
    }

    /// Aborts one stalled response per waiting request, at most once per [`STALL_SEARCH_INTERVAL`], because a search
    /// scans all connections. Returns the time of the next search.
    fn make_room(&self, table: &ConnectionTable, now: Instant) -> Instant {
        let mut used = self.used.lock();
        match used.searched.map(|last| last + STALL_SEARCH_INTERVAL) {
            Some(next) if now < next => next,
            _ => {
                used.searched = Some(now);
                let usage = |connection: &_| {
                    used.by.get(&Holder::for_connection(connection)).copied().unwrap_or_default()
                };
                table.end_stalled(used.waiting, usage);
                now + STALL_SEARCH_INTERVAL
            }
        }
    }

    fn add(&self, holder: Holder, bytes: usize) {
        self.used.lock().add(holder, bytes);
    }

    fn free(&self, holder: Holder, bytes: usize) {
        let mut used = self.used.lock();
        used.all -= bytes;
        if let Some(own) = used.by.get_mut(&holder) {
            *own -= bytes;
            if *own == 0 {
                used.by.remove(&holder);
            }
        }
        drop(used);
        self.freed.notify_waiters();
    }
}

impl MemoryUsage {
    fn add(&mut self, holder: Holder, bytes: usize) {
        self.all += bytes;
        *self.by.entry(holder).or_default() += bytes;
    }
}

impl Charge {
    /// Runs the work that produces the response. The reservation is released when the work is done, or after
    /// [`RESERVATION_TIME`].
    pub(super) async fn with_reservation<T: Send>(&self, work: impl Future<Output = T> + Send) -> T {
        let mut work = std::pin::pin!(work);
        let result = match tokio::time::timeout(RESERVATION_TIME, &mut work).await {
            Ok(result) => result,
            Err(_) => {
                self.set_reservation(ReservationState::Released);
                work.await
            }
        };
        self.set_reservation(ReservationState::Released);
        result
    }

    /// Pauses the reservation while the request waits for the client.
    pub(super) fn pause(&self) {
        self.set_reservation(ReservationState::Paused);
    }

    /// Resumes the reservation after the wait.
    pub(super) fn resume(&self) {
        self.set_reservation(ReservationState::Active);
    }

    /// Waits until memory for a large response is free, and reserves it before the response is built: the expected
    /// size, at most [half](WAITING_SHARE) of the limit. Returns `false` after [`MEMORY_WAIT`].
    async fn reserve(&self, table: &ConnectionTable, bytes: usize) -> bool {
        let bytes = bytes.min(self.memory.most / WAITING_SHARE);
        if bytes <= RESERVATION_BYTES || self.reserved.load(Ordering::Relaxed) > 0 {
            return true;
        }
        self.set_reservation(ReservationState::Released);
        let end = Instant::now() + MEMORY_WAIT;
        let mut waiting = None;
        loop {
            let freed = self.memory.freed.notified();
            if self.memory.try_add(self.holder, bytes) {
                self.reserved.store(bytes, Ordering::Relaxed);
                return true;
            }
            let now = Instant::now();
            if now >= end {
                return false;
            }
            if waiting.is_none() {
                waiting = Some(self.memory.wait());
                // The request uses no memory yet, so others may use the place.
                self.release_place();
            }
            let again = self.memory.make_room(table, now);
            tokio::select! {
                () = freed => {}
                () = sleep_until(again.min(end)) => {}
            }
        }
    }

    /// Releases the bytes reserved for a large response, if any.
    fn release_reserved(&self) {
        let reserved = self.reserved.swap(0, Ordering::Relaxed);
        if reserved > 0 {
            self.memory.free(self.holder, reserved);
        }
    }

    /// Charges a complete response. A response that is larger than the reservation waits until memory is free. Waiting
    /// responses use at most [half](WAITING_SHARE) of the limit in addition. Returns `false` if the response must be
    /// dropped: beyond this half, or after [`MEMORY_WAIT`].
    pub(super) async fn admit_response(&self, table: &ConnectionTable, bytes: usize) -> bool {
        // Few responses have reserved memory at a time, so it need not be exact.
        let has_reserved = self.reserved.load(Ordering::Relaxed) > 0;
        if bytes <= RESERVATION_BYTES || has_reserved {
            self.add(bytes);
            self.release_reserved();
            return true;
        }
        let end = Instant::now() + MEMORY_WAIT;
        let mut waiting = None;
        loop {
            let freed = self.memory.freed.notified();
            if self.memory.try_add(self.holder, bytes) {
                self.record(bytes);
                return true;
            }
            let now = Instant::now();
            if waiting.is_none() {
                waiting = self.memory.hold(bytes).map(|held| (held, self.memory.wait()));
                // Held bytes are counted, so other requests may use the place.
                self.release_place();
            }
            if waiting.is_none() || now >= end {
                return false;
            }
            let again = self.memory.make_room(table, now);
            tokio::select! {
                () = freed => {}
                () = sleep_until(again.min(end)) => {}
            }
        }
    }

    pub(super) fn add(&self, bytes: usize) {
        self.memory.add(self.holder, bytes);
        self.record(bytes);
    }

    fn record(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.connection.unread.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn free(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.connection.unread.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.free(self.holder, bytes);
    }

    /// Releases the reserved place of the request, if it uses one.
    fn release_place(&self) {
        if self.is_reserved.swap(false, Ordering::Relaxed) {
            self.memory.used.lock().reserved -= 1;
            self.memory.freed.notify_waiters();
        }
    }

    fn set_reservation(&self, now: ReservationState) {
        let mut expected = self.expected.lock();
        if *expected == ReservationState::Released || *expected == now {
            return;
        }
        match (*expected == ReservationState::Active, now == ReservationState::Active) {
            (true, false) => self.memory.free(self.holder, RESERVATION_BYTES),
            (false, true) => self.memory.add(self.holder, RESERVATION_BYTES),
            _ => {}
        }
        *expected = now;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set_reservation(ReservationState::Released);
        self.release_place();
        self.release_reserved();
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.free(bytes);
    }
}

/// The memory for the response of a request.
pub(super) struct RequestMemory {
    pub(super) charge: Arc<Charge>,
    pub(super) table: Arc<ConnectionTable>,
}

impl AnswerMemory for RequestMemory {
    fn reserve(&self, bytes: usize) -> BoxFuture<'_, bool> {
        Box::pin(self.charge.reserve(&self.table, bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::Pin, task::Poll};

    use docs_http::TrustedProxies;

    use super::{
        super::{ConnectionConfig, peer::Peer},
        *,
    };

    fn connection(client: u64) -> Arc<Connection> {
        let address = format!("192.0.2.{client}:1").parse().expect("an address");
        let peer = Peer::new(address, &TrustedProxies::default());
        Arc::new(Connection::new(client, peer, ConnectionConfig::RESPONSE_PACE))
    }

    /// Returns a charge for a connection of a client.
    fn charge(memory: &Arc<Memory>, client: u64) -> Charge {
        let charge = memory.charge(&connection(client), AdmissionReason::Free);
        // The response exists.
        *charge.expected.lock() = ReservationState::Released;
        charge
    }

    async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
    }

    #[tokio::test(start_paused = true)]
    async fn unread_responses_of_all_clients_are_bounded() {
        let table = ConnectionTable::new(&ConnectionConfig::default(), 100);
        let memory = Memory::new(84 * RESERVATION_BYTES);
        let bytes = 12 * RESERVATION_BYTES;
        let charges: Vec<_> = (1..=60).map(|client| charge(&memory, client)).collect();
        let mut responses: Vec<_> =
            charges.iter().map(|charge| Box::pin(charge.admit_response(&table, bytes))).collect();
        let (mut sent, mut dropped, mut waiting) = (0, 0, Vec::new());
        for (at, response) in responses.iter_mut().enumerate() {
            match poll_once(response).await {
                Poll::Ready(true) => sent += 1,
                Poll::Ready(false) => dropped += 1,
                Poll::Pending => waiting.push(at),
            }
        }
        assert_eq!((sent, waiting.len(), dropped), (7, 3, 50));
        assert!(memory.used.lock().all <= memory.most);
        // A client reads its response.
        charges[0].free(bytes);
        assert_eq!(poll_once(&mut responses[waiting[0]]).await, Poll::Ready(true));
        assert_eq!(poll_once(&mut responses[waiting[1]]).await, Poll::Pending);
        // The others are dropped in the end.
        assert!(!(&mut responses[waiting[1]]).await);
        assert!(!(&mut responses[waiting[2]]).await);
        assert_eq!(memory.used.lock().held, 0);
    }

    /// Large responses that wait for memory must not keep the reserved places: clients without responses need them.
    #[tokio::test(start_paused = true)]
    async fn waiting_responses_release_reserved_places() {
        let table = ConnectionTable::new(&ConnectionConfig::default(), 100);
        let memory = Memory::new(84 * RESERVATION_BYTES);
        memory.add(holder(250), 84 * RESERVATION_BYTES);
        let mut charges = Vec::new();
        for client in 1..=16 {
            let reason = memory.try_admit(holder(client)).expect("a place");
            assert_eq!(reason, AdmissionReason::Reserved);
            let charge = memory.charge(&connection(client.into()), reason);
            charge.set_reservation(ReservationState::Released);
            let mut response = {
                let table = &table;
                Box::pin(async move { charge.admit_response(table, 4 * RESERVATION_BYTES).await })
            };
            let expected = if client <= 10 { Poll::Pending } else { Poll::Ready(false) };
            assert_eq!(poll_once(&mut response).await, expected, "client {client}");
            charges.push(response);
        }
        assert_eq!(memory.used.lock().reserved, 0);
    }

    /// Large responses are only built if their memory is free, so that the work is proportional to the sent bytes.
    #[tokio::test(start_paused = true)]
    async fn large_responses_are_built_only_with_free_memory() {
        let table = ConnectionTable::new(&ConnectionConfig::default(), 100);
        let memory = Memory::new(84 * RESERVATION_BYTES);
        let charges: Vec<_> = (1..=60)
            .map(|client| {
                let reason = memory.try_admit(holder(client)).expect("a place");
                memory.charge(&connection(client.into()), reason)
            })
            .collect();
        let mut built: Vec<_> =
            charges.iter().map(|charge| Box::pin(charge.reserve(&table, 100 * RESERVATION_BYTES))).collect();
        let mut ready = Vec::new();
        for _ in 0..2 {
            for (at, building) in built.iter_mut().enumerate() {
                if !ready.contains(&at) && poll_once(building).await == Poll::Ready(true) {
                    ready.push(at);
                }
            }
        }
        assert_eq!(ready.len(), 2, "each gets half of the memory");
        assert_eq!(memory.used.lock().all, memory.most);
        let other = memory.try_admit(holder(100));
        assert_eq!(other, Some(AdmissionReason::Reserved), "waiting requests do not use the reserved places");
        // The response is smaller than expected, so the rest of its memory is free.
        let bytes = 20 * RESERVATION_BYTES;
        assert!(charges[ready[0]].admit_response(&table, bytes).await);
        assert_eq!(memory.used.lock().all, memory.most - 22 * RESERVATION_BYTES + RESERVATION_BYTES);
        // No client reads, so all other requests fail in the end.
        for (at, building) in built.into_iter().enumerate() {
            assert!(ready.contains(&at) || !building.await, "{at}");
        }
        drop(charges);
        assert_eq!(memory.used.lock().all, RESERVATION_BYTES);
    }

    fn holder(number: u8) -> Holder {
        Holder::Network(IpAddr::from([192, 0, 2, number]))
    }

    #[test]
    fn addresses_share_the_memory_and_leave_some_free() {
        for addresses in [1, 2, 20] {
            let memory = Memory::new(84 * RESERVATION_BYTES);
            for _ in 0..84 {
                for address in 0..addresses {
                    memory.try_admit(holder(address));
                }
            }
            let used = memory.used.lock();
            let least = used.by.values().min().expect("an address");
            assert!(
                *least >= 84 / (usize::from(addresses) + 1) * RESERVATION_BYTES,
                "{addresses}: {:?}",
                used.by
            );
            assert!(used.all + least <= memory.most + RESERVATION_BYTES, "{addresses}: {:?}", used.by);
        }
    }

    #[test]
    fn addresses_without_responses_have_reserved_places() {
        let memory = Memory::new(10 * RESERVATION_BYTES);
        memory.add(holder(1), 20 * RESERVATION_BYTES);
        assert_eq!(memory.try_admit(holder(1)), None, "it uses the memory");
        let admitted: Vec<_> = (2..).map_while(|number| memory.try_admit(holder(number))).collect();
        assert_eq!(admitted, [AdmissionReason::Reserved; RESERVED_REQUESTS]);
        let charge = memory.charge(&connection(1), AdmissionReason::Reserved);
        charge.set_reservation(ReservationState::Released);
        drop(charge);
        assert_eq!(memory.try_admit(holder(100)), Some(AdmissionReason::Reserved));
    }
}
