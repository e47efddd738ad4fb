//! Connection pools that reclaim connections from expired transactions.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Arc, Weak},
};

use chrono::{DateTime, TimeDelta, Utc};
use docs_ports::Clock;
use docs_store::{MAX_TXN, Mode, StoreError, StoreResult};
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::{error::ConnectionResult, file::File};

/// Connections for one transaction mode: one for writing, several for reading.
///
/// Waiting transactions are served in order of arrival. Invariant: each connection that is not idle has a [`Lease`].
pub(super) struct Pool {
    mode: Mode,
    file: Arc<File>,
    clock: Arc<dyn Clock>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
    open: Mutex<OpenTxns>,
}

/// The open transactions.
#[derive(Default)]
struct OpenTxns {
    begun: u64,
    leases: BTreeMap<TxnKey, Weak<SessionLease>>,
}

/// Expiry of a transaction, and a number that makes it unique.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct TxnKey {
    pub(super) end: DateTime<Utc>,
    number: u64,
}

/// The right to use a connection. Dropping it rolls back an open transaction and returns the connection to the pool.
pub(super) struct Lease {
    pool: Arc<Pool>,
    conn: Option<Connection>,
    spoiled: bool,
    /// Dropped last, so that the next in line finds the connection idle.
    _permit: OwnedSemaphorePermit,
}

/// The lease of a transaction until it ends. Locked only by blocking calls.
pub(super) type SessionLease = Mutex<Option<Lease>>;

impl Pool {
    pub(super) fn new(mode: Mode, size: usize, file: &Arc<File>, clock: &Arc<dyn Clock>) -> Self {
        Self {
            mode,
            file: Arc::clone(file),
            clock: Arc::clone(clock),
            permits: Arc::new(Semaphore::new(size)),
            idle: Mutex::default(),
            open: Mutex::default(),
        }
    }

    /// Adds a connection that was opened elsewhere.
    pub(super) fn add(&self, conn: Connection) {
        self.idle.lock().push(conn);
    }

    /// Waits for a connection until a deadline. Meanwhile, expired transactions are ended.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] after the deadline.
    pub(super) async fn lease(self: &Arc<Self>, until: Instant) -> StoreResult<Lease> {
        let mut turn = pin!(Arc::clone(&self.permits).acquire_owned());
        let waiting = async {
            loop {
                tokio::select! {
                    biased;
                    permit = &mut turn => return permit,
                    () = self.clock.wait_until(self.next_end()) => self.end_overdue(),
                }
            }
        };
        match timeout_at(until, waiting).await {
            Ok(Ok(permit)) => {
                Ok(Lease { pool: Arc::clone(self), conn: None, spoiled: false, _permit: permit })
            }
            // The semaphore is never closed, so the deadline has passed.
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable(self.busy_message().to_owned())),
        }
    }

    /// Registers a transaction that begins now.
    pub(super) fn enter(&self, lease: &Arc<SessionLease>) -> TxnKey {
        let end = self.new_txn_end();
        let mut open = self.open.lock();
        open.begun += 1;
        let ticket = TxnKey { end, number: open.begun };
        open.leases.insert(ticket, Arc::downgrade(lease));
        ticket
    }

    pub(super) fn leave(&self, ticket: TxnKey) {
        self.open.lock().leases.remove(&ticket);
    }

    /// Ends expired transactions, so that an abandoned one releases its connection and the old page versions that its
    /// snapshot retains.
    pub(super) fn end_overdue(&self) {
        let now = self.clock.now();
        let overdue = {
            let mut open = self.open.lock();
            if open.leases.keys().next().is_none_or(|first| now <= first.end) {
                return;
            }
            let rest = open.leases.split_off(&TxnKey { end: now, number: 0 });
            std::mem::replace(&mut open.leases, rest)
        };
        for lease in overdue.into_values().filter_map(|lease| lease.upgrade()) {
            tracing::warn!(mode = ?self.mode, "roll back transaction that was open for too long");
            // Waits for the transaction's call in progress.
            tokio::task::spawn_blocking(move || drop(lease.lock().take()));
        }
    }

    /// Returns the earliest time when a transaction can expire, whether open or beginning now.
    fn next_end(&self) -> DateTime<Utc> {
        let first = self.open.lock().leases.keys().next().map(|ticket| ticket.end);
        let end = first.unwrap_or_else(|| self.new_txn_end());
        end.checked_add_signed(TimeDelta::milliseconds(1)).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// Returns the expiry of a transaction that begins now.
    fn new_txn_end(&self) -> DateTime<Utc> {
        let limit = TimeDelta::from_std(MAX_TXN).unwrap_or(TimeDelta::MAX);
        self.clock.now().checked_add_signed(limit).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    fn busy_message(&self) -> &'static str {
        match self.mode {
            Mode::Write => {
                "timed out waiting for other write transactions; try again, and if this persists, check for \
                 slow writers or a slow disk"
            }
            Mode::Read => {
                "timed out waiting for a connection; try again, and if this persists, allow more connections"
            }
        }
    }
}

impl Lease {
    /// Runs work on the connection, which is opened on first use.
    pub(super) fn run<T>(&mut self, work: impl FnOnce(&Connection) -> ConnectionResult<T>) -> StoreResult<T> {
        let result = self.conn().and_then(work);
        result.map_err(|failure| {
            self.spoiled |= failure.is_fatal();
            failure.into()
        })
    }

    /// Returns `true` if a transaction is open on the connection.
    pub(super) fn is_open(&self) -> bool {
        self.conn.as_ref().is_some_and(|conn| !conn.is_autocommit())
    }

    fn conn(&mut self) -> ConnectionResult<&Connection> {
        let conn = match self.conn.take().or_else(|| self.pool.idle.lock().pop()) {
            Some(conn) => conn,
            None => self.pool.file.connect(self.pool.mode)?,
        };
        Ok(self.conn.insert(conn))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(conn) = self.conn.take() else { return };
        // SQLite may have rolled back on its own, as it does if the disk is full.
        if !conn.is_autocommit()
            && let Err(error) = conn.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "close connection to end a transaction that cannot be rolled back");
            return;
        }
        if !self.spoiled {
            self.pool.idle.lock().push(conn);
        }
    }
}
