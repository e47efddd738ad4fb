//! A transaction and its connection.
//!
//! The connection belongs to a [`SqliteSession`], which the transaction shares with its calls in progress on blocking
//! threads. A call whose future is dropped runs to completion there. The last owner of the session rolls back and
//! passes the connection to the next in line, which does not require the runtime.

use std::sync::Arc;

use async_trait::async_trait;
use docs_store::{
    Batch, Key, Mode, Scan, StoreError, StoreResult, Txn, Value,
    limits::{check_batch, check_key, check_scan},
};
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::time::Instant;

use super::{
    blocking::run_blocking,
    error::ConnectionResult,
    pool::{SessionLease, TxnKey},
    rows,
    state::{SqliteState, commit},
};

/// The connection of a transaction until it ends.
pub(super) struct SqliteSession {
    shared: Arc<SqliteState>,
    mode: Mode,
    ticket: TxnKey,
    /// `None` once the transaction has ended.
    lease: Arc<SessionLease>,
}

impl SqliteSession {
    /// Begins a transaction. Its snapshot has been taken when this returns.
    pub(super) async fn begin(shared: Arc<SqliteState>, mode: Mode) -> StoreResult<Arc<Self>> {
        let until = Instant::now() + shared.wait;
        shared.end_overdue();
        let lease = shared.pool(mode).lease(until).await?;
        let lease = Arc::new(Mutex::new(Some(lease)));
        let ticket = shared.pool(mode).enter(&lease);
        let session = Arc::new(Self { shared, mode, ticket, lease });
        let starting = Arc::clone(&session);
        match run_blocking(move || starting.start(until)).await? {
            Ok(()) => Ok(session),
            Err(StoreError::Conflict) => {
                let why = "the transaction timed out before it began; check for a slow disk";
                Err(StoreError::Unavailable(why.to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    fn start(&self, until: Instant) -> StoreResult<()> {
        self.run(|conn| {
            conn.busy_timeout(until.saturating_duration_since(Instant::now()))?;
            let begin = match self.mode {
                Mode::Write => "BEGIN IMMEDIATE",
                Mode::Read => "BEGIN",
            };
            conn.prepare_cached(begin)?.execute([])?;
            // SQLite takes the snapshot at the first read.
            let first = "SELECT EXISTS (SELECT 1 FROM docs_schema)";
            Ok(conn.prepare_cached(first)?.query_row([], |_| Ok(()))?)
        })
    }

    /// Runs work on the connection unless the transaction has expired.
    pub(super) fn run<T>(&self, work: impl FnOnce(&Connection) -> ConnectionResult<T>) -> StoreResult<T> {
        let mut lease = self.lease.lock();
        if self.is_expired() {
            *lease = None;
        }
        let held = lease.as_mut().ok_or_else(|| self.ended_error())?;
        let result = held.run(work);
        // Some read errors make SQLite roll back. Later statements would run outside the transaction.
        if !held.is_open() {
            *lease = None;
        }
        result
    }

    fn commit(&self, batch: &Batch) -> StoreResult<()> {
        check_batch(self.mode, batch)?;
        // From here on, the transaction has ended, whatever the result.
        let lease = self.lease.lock().take();
        let mut lease = lease.filter(|_| !self.is_expired()).ok_or_else(|| self.ended_error())?;
        if batch.is_empty() {
            return Ok(());
        }
        let shared = &self.shared;
        let fed = lease.run(|conn| {
            let fed = rows::apply(conn, &shared.layout, batch)?;
            commit(conn)?;
            Ok(fed)
        })?;
        shared.topics.notify(&fed);
        Ok(())
    }

    /// Returns the error for the owner of a transaction that was ended. A read transaction cannot conflict.
    fn ended_error(&self) -> StoreError {
        match self.mode {
            Mode::Write => StoreError::Conflict,
            Mode::Read => StoreError::Unavailable("the transaction was open for too long; read again".into()),
        }
    }

    fn is_expired(&self) -> bool {
        self.shared.clock.now() > self.ticket.end
    }
}

impl Drop for SqliteSession {
    fn drop(&mut self) {
        self.shared.pool(self.mode).leave(self.ticket);
    }
}

/// A transaction, as used by callers.
pub(super) struct SqliteTxn(pub(super) Arc<SqliteSession>);

#[async_trait]
impl Txn for SqliteTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        keys.iter().try_for_each(|key| check_key(key))?;
        let (session, keys) = (Arc::clone(&self.0), keys.to_vec());
        run_blocking(move || session.run(|conn| rows::get(conn, &session.shared.layout, &keys))).await?
    }

    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        scans.iter().try_for_each(check_scan)?;
        let (session, scans) = (Arc::clone(&self.0), scans.to_vec());
        run_blocking(move || {
            let layout = &session.shared.layout;
            session.run(|conn| scans.iter().map(|scan| rows::scan(conn, layout, scan)).collect())
        })
        .await?
    }

    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()> {
        let session = self.0;
        run_blocking(move || session.commit(&batch)).await?
    }
}
