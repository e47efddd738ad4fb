//! The memory of responses that are being produced or that clients have not read yet.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{connection::Connection, table::Table};

/// Bytes reserved for a request while its response is produced.
const EXPECTED: usize = 1 << 20;
/// Duration of that reservation. A longer request waits for something other than memory.
const EXPECTED_FOR: Duration = Duration::from_secs(1);
/// Divisor for the share of an address: each may use one in this number of the memory.
const SHARE: usize = 2;
/// Maximum time that a request waits for memory.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval at which a waiting request checks again for a connection that can be closed.
const RETRY: Duration = Duration::from_millis(20);

/// The memory of responses, shared by all connections.
#[derive(Debug)]
pub(super) struct Memory {
    most: usize,
    used: Mutex<Used>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    by: HashMap<Holder, usize>,
}

/// The owner of memory: an address, or one connection of a trusted proxy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    Network(IpAddr),
    Connection(u64),
}

impl Holder {
    const fn of(connection: &Connection) -> Self {
        match connection.peer.is_trusted {
            true => Self::Connection(connection.id),
            false => Self::Network(connection.peer.network),
        }
    }
}

/// The memory of one response. Dropping it frees the memory.
#[derive(Debug)]
pub(super) struct Charge {
    memory: Arc<Memory>,
    connection: Arc<Connection>,
    holder: Holder,
    /// Bytes of the response that are in memory.
    bytes: AtomicUsize,
    /// State of the reservation for a response that is being produced.
    expected: Mutex<Expected>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Counted,
    /// Paused while the request waits for its client.
    Paused,
    /// Released: the response exists, or takes too long.
    Over,
}

impl Memory {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: Mutex::default(), freed: Notify::new() })
    }

    /// Waits until there is memory for a response. If there is not enough, closes the stalled connection with the most
    /// unread bytes. Returns `None` after [`PATIENCE`].
    pub(super) async fn admit(
        self: &Arc<Self>,
        table: &Table,
        connection: &Arc<Connection>,
    ) -> Option<Arc<Charge>> {
        let holder = Holder::of(connection);
        let end = Instant::now() + PATIENCE;
        let mut look = Instant::now();
        loop {
            let freed = self.freed.notified();
            let full = match self.try_admit(holder) {
                Ok(()) => return Some(Arc::new(self.charge(connection, holder))),
                Err(full) => full,
            };
            let now = Instant::now();
            if now >= end {
                return None;
            }
            // All requests that wait are woken when memory is freed: only some of them look at all connections.
            if now >= look {
                look = now + RETRY;
                make_room(table, (connection, holder), full);
            }
            tokio::select! {
                () = freed => {}
                () = sleep_until(look.min(end)) => {}
            }
        }
    }

    /// Returns the charge of a response beyond the limit, such as an error response.
    pub(super) fn overdraw(self: &Arc<Self>, connection: &Arc<Connection>) -> Arc<Charge> {
        let charge = self.charge(connection, Holder::of(connection));
        *charge.expected.lock() = Expected::Over;
        Arc::new(charge)
    }

    fn charge(self: &Arc<Self>, connection: &Arc<Connection>, holder: Holder) -> Charge {
        Charge {
            memory: Arc::clone(self),
            connection: Arc::clone(connection),
            holder,
            bytes: AtomicUsize::new(0),
            expected: Mutex::new(Expected::Counted),
        }
    }

    fn try_admit(&self, holder: Holder) -> Result<(), Full> {
        let mut used = self.used.lock();
        let own = used.by.get(&holder).copied().unwrap_or_default();
        // Even with little memory, a server answers one request at a time.
        if own > 0 && own + EXPECTED > self.most / SHARE {
            return Err(Full::Share);
        }
        if used.all > 0 && used.all + EXPECTED > self.most {
            return Err(Full::All);
        }
        used.add(holder, EXPECTED);
        Ok(())
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

/// Ends stalled responses: those of the connection itself where its share is used up, or of the connection that holds
/// most.
fn make_room(table: &Table, (connection, holder): (&Arc<Connection>, Holder), full: Full) {
    let is_other = |it: &Connection| it.id != connection.id;
    let own = || connection.reset_stalled(Instant::now());
    match full {
        Full::Share => own() || table.close_unread(|it| is_other(it) && Holder::of(it) == holder),
        Full::All => table.close_unread(is_other) || own(),
    };
}

impl Used {
    fn add(&mut self, holder: Holder, bytes: usize) {
        self.all += bytes;
        *self.by.entry(holder).or_default() += bytes;
    }
}

/// The exhausted limit: the share of the holder, or all memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Full {
    Share,
    All,
}

impl Charge {
    /// Runs the work that produces the response. After [`EXPECTED_FOR`], releases the reservation.
    pub(super) async fn expect<T: Send>(&self, work: impl Future<Output = T> + Send) -> T {
        let mut work = std::pin::pin!(work);
        let result = match tokio::time::timeout(EXPECTED_FOR, &mut work).await {
            Ok(result) => result,
            Err(_) => {
                self.expected(Expected::Over);
                work.await
            }
        };
        self.expected(Expected::Over);
        result
    }

    /// Pauses the reservation while the request waits for its client.
    pub(super) fn pause(&self) {
        self.expected(Expected::Paused);
    }

    /// Resumes the reservation after a wait.
    pub(super) fn resume(&self) {
        self.expected(Expected::Counted);
    }

    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.connection.unread.fetch_add(bytes, Ordering::Relaxed);
        self.memory.add(self.holder, bytes);
    }

    pub(super) fn free(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.connection.unread.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.free(self.holder, bytes);
    }

    fn expected(&self, now: Expected) {
        let mut expected = self.expected.lock();
        if *expected == Expected::Over || *expected == now {
            return;
        }
        match (*expected == Expected::Counted, now == Expected::Counted) {
            (true, false) => self.memory.free(self.holder, EXPECTED),
            (false, true) => self.memory.add(self.holder, EXPECTED),
            _ => {}
        }
        *expected = now;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.expected(Expected::Over);
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.free(bytes);
    }
}
