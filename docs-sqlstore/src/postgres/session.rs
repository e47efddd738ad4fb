//! A connection with a transaction.
//!
//! Requests on a connection are executed in the order in which they are sent, and are sent without awaiting earlier
//! replies. Several requests therefore take one round trip, and requests sent when a session is dropped precede
//! everything sent by the next user of the connection.

use std::{future::ready, pin::pin, time::Duration};

use deadpool_postgres::{Client, Object};
use docs_store::{StoreError, StoreResult};
use futures_util::{
    FutureExt as _, TryStreamExt as _,
    future::{BoxFuture, try_join_all},
};
use parking_lot::Mutex;
use tokio_postgres::{
    Error, Row, Statement,
    error::{Severity, SqlState},
    types::ToSql,
};

use super::{
    error::{describe, store_error},
    txn_purpose::TxnPurpose,
};

/// Maximum response time. A slower server counts as unreachable.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Arguments of a statement.
pub(super) type Params = Vec<Box<dyn ToSql + Sync + Send>>;

/// A statement with its arguments.
pub(super) struct Request {
    sql: String,
    params: Params,
}

impl Request {
    pub(super) fn new(sql: impl Into<String>, params: Params) -> Self {
        Self { sql: sql.into(), params }
    }
}

/// Outcome of a transaction whose commit was not confirmed.
pub(super) enum TxnFailure {
    /// Nothing was applied, because the request with this index failed.
    Request(usize, Error),
    /// Nothing was applied.
    NotApplied(StoreError),
    /// COMMIT was sent, but no reply arrived.
    Unknown(String),
}

impl TxnFailure {
    /// Converts to the error of an idempotent change.
    pub(super) fn into_store_error(self, work: TxnPurpose) -> StoreError {
        match self {
            Self::Request(_, error) => store_error(&error, work),
            Self::NotApplied(error) => error,
            Self::Unknown(why) => StoreError::Unavailable(why),
        }
    }
}

type Reply<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Sends a request and returns a future of the reply. Dropping that future does not cancel the request. An error means
/// that nothing was sent.
fn send<'a, T: Send + 'a>(
    request: impl Future<Output = Result<T, Error>> + Send + 'a,
) -> Result<Reply<'a, T>, Error> {
    let mut request = request.boxed();
    match request.as_mut().now_or_never() {
        None => Ok(request),
        // The reply may already have arrived if this thread was preempted after sending. A database error is such a
        // reply. Any other error means that nothing was sent.
        Some(Err(error)) if error.as_db_error().is_none() => Err(error),
        Some(answer) => Ok(ready(answer).boxed()),
    }
}

async fn rows(client: &Client, statement: Statement, params: Params) -> Result<Vec<Row>, Error> {
    pin!(client.query_raw(&statement, params).await?).try_collect().await
}

/// A pooled connection. It is returned to the pool without an open transaction, or discarded.
pub(super) struct PostgresSession {
    /// `None` only while the session is being dropped.
    client: Option<Client>,
    work: TxnPurpose,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    /// BEGIN was sent, and COMMIT has not been answered.
    open: bool,
    /// The connection may hold advisory locks.
    locked: bool,
    /// The state of the connection is unknown, so it is not returned to the pool.
    lost: bool,
}

/// The sent requests of a commit.
struct PendingCommit<'a> {
    begin: Option<Reply<'a, ()>>,
    requests: Vec<Reply<'a, Vec<Row>>>,
    commit: Result<Reply<'a, ()>, Error>,
    unlock: Option<Reply<'a, ()>>,
}

impl PostgresSession {
    pub(super) fn new(client: Client, work: TxnPurpose) -> Self {
        Self { client: Some(client), work, state: Mutex::default() }
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("only dropping the session takes its connection")
    }

    /// Returns `true` if a transaction has begun and has to be committed or rolled back.
    pub(super) fn is_open(&self) -> bool {
        self.state.lock().open
    }

    /// Simulates a failed BEGIN.
    #[cfg(test)]
    pub(super) fn fail_begin(&self) {
        self.state.lock().open = true;
    }

    /// Waits for advisory locks, at most for the session's `lock_timeout`, and then begins the transaction.
    ///
    /// The locks are held until the session is dropped or has committed. After a timeout, some of them may be missing.
    pub(super) async fn lock(&self, ids: Vec<i64>) -> StoreResult<()> {
        let locks = "SELECT count(pg_advisory_lock(id)) FROM unnest($1::bigint[]) AS id";
        let statement = self.client().prepare_cached(locks).await.map_err(|e| self.record_failure(&e))?;
        let (lock, begin) = {
            let mut state = self.state.lock();
            // If the caller's future is dropped here, the connection is still waiting for its locks.
            *state = SessionState { open: true, locked: true, lost: true };
            let lock = send(rows(self.client(), statement, vec![Box::new(ids)]))
                .map_err(|e| self.record_failure(&e))?;
            let begin = send(self.client().batch_execute(self.work.begin_sql()))
                .map_err(|e| self.record_failure(&e))?;
            (lock, begin)
        };
        self.with_timeout(async {
            match lock.await {
                Err(e) if e.code() != Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                    return Err(self.record_failure(&e));
                }
                _ => {}
            }
            begin.await.map_err(|e| self.record_failure(&e))
        })
        .await?;
        self.state.lock().lost = false;
        Ok(())
    }

    /// Begins after all running commits have finished and blocks further ones, so that the data it reads does not
    /// change.
    ///
    /// A table lock is acquired without a snapshot, so the snapshot is newer than the lock. Every write operation
    /// starts with index rows, so it is blocked; readers are not.
    pub(super) async fn lock_out(&self) -> StoreResult<()> {
        self.with_timeout(async {
            let (begin, lock) = {
                let mut state = self.state.lock();
                let begin = if state.open { None } else { Some(self.send_begin(&mut state)?) };
                (begin, send(self.client().batch_execute(LOCK_OUT)).map_err(|e| self.record_failure(&e))?)
            };
            if let Some(begin) = begin {
                self.wait_until_begun(begin).await?;
            }
            lock.await.map_err(|e| self.record_failure(&e))
        })
        .await
    }

    fn send_begin(&self, state: &mut SessionState) -> StoreResult<Reply<'_, ()>> {
        let begin =
            send(self.client().batch_execute(self.work.begin_sql())).map_err(|e| self.record_failure(&e))?;
        state.open = true;
        Ok(begin)
    }

    /// Waits until the transaction has begun. If BEGIN fails, the state of the connection is unknown.
    async fn wait_until_begun(&self, begin: Reply<'_, ()>) -> StoreResult<()> {
        begin.await.map_err(|e| {
            self.state.lock().lost = true;
            self.record_failure(&e)
        })
    }

    /// Runs read requests in the transaction, in one round trip.
    pub(super) async fn read(&self, requests: Vec<Request>) -> StoreResult<Vec<Vec<Row>>> {
        self.with_timeout(async {
            let statements = self.prepare(&requests).await?;
            let (begin, replies) = self.send_all(statements, requests)?;
            if let Some(begin) = begin {
                self.wait_until_begun(begin).await?;
            }
            let mut answers = Vec::with_capacity(replies.len());
            for reply in replies {
                answers.push(reply.await.map_err(|e| self.record_failure(&e))?);
            }
            Ok(answers)
        })
        .await
    }

    /// Runs a read request outside a transaction.
    pub(super) async fn read_outside_txn(&self, request: Request) -> StoreResult<Vec<Row>> {
        self.with_timeout(async {
            let statement =
                self.client().prepare_cached(&request.sql).await.map_err(|e| self.record_failure(&e))?;
            rows(self.client(), statement, request.params).await.map_err(|e| self.record_failure(&e))
        })
        .await
    }

    /// Sends requests and COMMIT in one round trip.
    ///
    /// At least one request is required, because only its reply reveals an earlier failure of the transaction: COMMIT
    /// would roll back and report success.
    pub(super) async fn commit(&self, requests: Vec<Request>) -> Result<Vec<Vec<Row>>, TxnFailure> {
        let statements = self.with_timeout(self.prepare(&requests)).await.map_err(TxnFailure::NotApplied)?;
        let flight = self.send_commit(statements, requests).map_err(TxnFailure::NotApplied)?;
        match tokio::time::timeout(RESPONSE_TIMEOUT, self.receive_commit(flight)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.state.lock().lost = true;
                Err(TxnFailure::Unknown(timeout_message()))
            }
        }
    }

    async fn prepare(&self, requests: &[Request]) -> StoreResult<Vec<Statement>> {
        let statements = requests.iter().map(|request| self.client().prepare_cached(&request.sql));
        try_join_all(statements).await.map_err(|e| self.record_failure(&e))
    }

    /// Sends BEGIN if it has not been sent, followed by the requests.
    #[expect(clippy::type_complexity, reason = "the type is used in one place only")]
    fn send_all(
        &self,
        statements: Vec<Statement>,
        requests: Vec<Request>,
    ) -> StoreResult<(Option<Reply<'_, ()>>, Vec<Reply<'_, Vec<Row>>>)> {
        // Locked while sending, so that no other call sends between the check and BEGIN.
        let mut state = self.state.lock();
        if state.lost {
            return Err(StoreError::Unavailable(
                "the connection of the transaction was lost; start again".into(),
            ));
        }
        let begin = if state.open { None } else { Some(self.send_begin(&mut state)?) };
        let replies = statements
            .into_iter()
            .zip(requests)
            .map(|(statement, request)| send(rows(self.client(), statement, request.params)))
            .collect::<Result<_, _>>();
        Ok((begin, replies.map_err(|e| self.record_failure(&e))?))
    }

    /// Sends all requests of a commit. If this fails before COMMIT is sent, nothing is applied.
    fn send_commit(
        &self,
        statements: Vec<Statement>,
        requests: Vec<Request>,
    ) -> StoreResult<PendingCommit<'_>> {
        if self.client().is_closed() {
            return Err(StoreError::Unavailable("the connection to the database was lost; try again".into()));
        }
        let (begin, requests) = self.send_all(statements, requests)?;
        let commit = send(self.client().batch_execute("COMMIT"));
        let unlock = self.state.lock().locked.then(|| send(self.client().batch_execute(UNLOCK)).ok());
        Ok(PendingCommit { begin, requests, commit, unlock: unlock.flatten() })
    }

    async fn receive_commit(&self, flight: PendingCommit<'_>) -> Result<Vec<Vec<Row>>, TxnFailure> {
        if let Some(begin) = flight.begin
            && let Err(error) = begin.await
        {
            self.state.lock().lost = true;
            // After a rejected BEGIN, requests cannot write. If BEGIN is not answered, neither is COMMIT.
            let refused = error.as_db_error().is_some();
            return Err(if refused {
                TxnFailure::NotApplied(self.record_failure(&error))
            } else {
                unknown_outcome(&error)
            });
        }
        let mut answers = Vec::with_capacity(flight.requests.len());
        let mut failure = None;
        // All replies are awaited in order, including that of COMMIT. After that, the transaction has certainly ended.
        for (n, reply) in flight.requests.into_iter().enumerate() {
            match reply.await {
                Ok(rows) => answers.push(rows),
                Err(error) => drop(failure.get_or_insert((n, error))),
            }
        }
        let committed = match flight.commit {
            Ok(reply) => reply.await,
            Err(error) => Err(error),
        };
        // A transaction that fails in COMMIT because of conflicts has ended. One that is cancelled before COMMIT may
        // still be open.
        if committed.as_ref().map_or_else(is_conflict, |()| true) {
            self.state.lock().open = false;
        }
        if let Some(unlock) = flight.unlock
            && unlock.await.is_ok()
        {
            self.state.lock().locked = false;
        }
        match (failure, committed) {
            (None, Ok(())) => Ok(answers),
            // An error reply to an earlier request, including the final message of a terminating server, means that
            // COMMIT was not executed or rolled back.
            (Some((n, error)), _) if error.as_db_error().is_some() => Err(TxnFailure::Request(n, error)),
            (None, Err(error)) if is_rollback(&error) => {
                Err(TxnFailure::NotApplied(self.record_failure(&error)))
            }
            (Some((_, error)), _) | (None, Err(error)) => Err(unknown_outcome(&error)),
        }
    }

    async fn with_timeout<T>(&self, call: impl Future<Output = StoreResult<T>> + Send) -> StoreResult<T> {
        tokio::time::timeout(RESPONSE_TIMEOUT, call).await.unwrap_or_else(|_| {
            self.state.lock().lost = true;
            Err(StoreError::Unavailable(timeout_message()))
        })
    }

    fn record_failure(&self, error: &Error) -> StoreError {
        store_error(error, self.work)
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let state = self.state.get_mut();
        if state.lost {
            drop(Object::take(client));
            return;
        }
        // Sent but not awaited: it precedes everything that the next user sends. If it cannot be sent, the connection
        // is closed and the pool discards it.
        if state.open {
            drop(send(client.batch_execute("ROLLBACK")));
        }
        if state.locked {
            drop(send(client.batch_execute(UNLOCK)));
        }
    }
}

/// Waits for writers of index rows and blocks new ones.
const LOCK_OUT: &str = "LOCK TABLE ix IN EXCLUSIVE MODE";
const UNLOCK: &str = "SELECT pg_advisory_unlock_all()";

fn timeout_message() -> String {
    format!(
        "the database did not respond within {} s; check its load and its locks",
        RESPONSE_TIMEOUT.as_secs()
    )
}

fn is_conflict(error: &Error) -> bool {
    error.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
}

fn unknown_outcome(error: &Error) -> TxnFailure {
    TxnFailure::Unknown(describe(error))
}

/// Returns `true` if an error reply to COMMIT means that nothing was applied. The final message of a terminating server
/// does not mean that, because it may follow the commit.
fn is_rollback(error: &Error) -> bool {
    let severity = error.as_db_error().and_then(|e| e.parsed_severity());
    matches!(severity, Some(Severity::Error))
}
