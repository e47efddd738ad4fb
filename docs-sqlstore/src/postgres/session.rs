//! A connection in a transaction.
//!
//! Requests of a connection are carried out in the order in which they are sent, and they are sent before anybody
//! waits for an answer: so several of them cost one round trip, and what is sent when a session is dropped comes
//! before whatever the next holder of the connection sends.

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

use super::error::{describe, store_error};

/// How long the server may take to answer before it counts as gone.
pub(super) const ANSWER: Duration = Duration::from_secs(30);

/// The arguments of a statement.
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

/// What a transaction is for. Statements outside of one cannot write: see [`SETTINGS`](super::connect::SETTINGS).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Reads one snapshot.
    Read,
    /// Reads and writes, serializable.
    Write,
    /// Changes what no transaction of the store reads (the feed, objects) or what reads the same after it (the parts
    /// of a counter).
    Upkeep,
}

impl Work {
    const fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write => "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
            Self::Upkeep => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        }
    }
}

/// Why a transaction was not committed.
pub(super) enum Refusal {
    /// Nothing was applied, because of the request of this number.
    At(usize, Error),
    /// Nothing was applied.
    Not(StoreError),
    /// COMMIT was sent and there is no answer.
    Unsure(String),
}

impl Refusal {
    /// The error of a change that may be made twice.
    pub(super) fn again(self, work: Work) -> StoreError {
        match self {
            Self::At(_, error) => store_error(&error, work),
            Self::Not(error) => error,
            Self::Unsure(why) => StoreError::Unavailable(why),
        }
    }
}

type Reply<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Sends a request and gives the future of its answer. Dropping that takes nothing back. An error here means that
/// nothing was sent.
fn send<'a, T: Send + 'a>(
    request: impl Future<Output = Result<T, Error>> + Send + 'a,
) -> Result<Reply<'a, T>, Error> {
    let mut request = request.boxed();
    match request.as_mut().now_or_never() {
        None => Ok(request),
        // The database can have answered already, when this thread lost its turn after sending: also with an error,
        // which is an answer like any other. Every other error says that nothing was sent.
        Some(Err(error)) if error.as_db_error().is_none() => Err(error),
        Some(answer) => Ok(ready(answer).boxed()),
    }
}

async fn rows(client: &Client, statement: Statement, params: Params) -> Result<Vec<Row>, Error> {
    pin!(client.query_raw(&statement, params).await?).try_collect().await
}

/// A connection of the pool that goes back to it without a transaction, or not at all.
pub(super) struct Session {
    /// There until the session is dropped.
    client: Option<Client>,
    work: Work,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// BEGIN was sent, and no answer to a COMMIT has come.
    open: bool,
    /// The connection may hold advisory locks.
    locked: bool,
    /// Nobody can tell what the connection is at: it does not go back to the pool.
    lost: bool,
}

/// The requests of a commit, all of them sent.
struct Flight<'a> {
    begin: Option<Reply<'a, ()>>,
    requests: Vec<Reply<'a, Vec<Row>>>,
    commit: Result<Reply<'a, ()>, Error>,
    unlock: Option<Reply<'a, ()>>,
}

impl Session {
    pub(super) fn new(client: Client, work: Work) -> Self {
        Self { client: Some(client), work, state: Mutex::default() }
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("the connection is taken out only when the session is dropped")
    }

    /// Tells whether the transaction has begun: whether there is anything to commit or roll back.
    pub(super) fn is_open(&self) -> bool {
        self.state.lock().open
    }

    /// Puts the session in the state of one whose BEGIN was sent and failed.
    #[cfg(test)]
    pub(super) fn pretend_begun(&self) {
        self.state.lock().open = true;
    }

    /// Waits for advisory locks, at most for the `lock_timeout` of the session, and begins behind them. They are held
    /// until the session is dropped or has committed; if the time is over, some may be missing.
    pub(super) async fn lock(&self, ids: Vec<i64>) -> StoreResult<()> {
        let locks = "SELECT count(pg_advisory_lock(id)) FROM unnest($1::bigint[]) AS id";
        let statement = self.client().prepare_cached(locks).await.map_err(|e| self.failed(&e))?;
        let (lock, begin) = {
            let mut state = self.state.lock();
            // Whoever stops waiting here leaves a connection that still waits.
            *state = State { open: true, locked: true, lost: true };
            let lock =
                send(rows(self.client(), statement, vec![Box::new(ids)])).map_err(|e| self.failed(&e))?;
            let begin = send(self.client().batch_execute(self.work.begin())).map_err(|e| self.failed(&e))?;
            (lock, begin)
        };
        self.in_time(async {
            match lock.await {
                Err(e) if e.code() != Some(&SqlState::LOCK_NOT_AVAILABLE) => return Err(self.failed(&e)),
                _ => {}
            }
            begin.await.map_err(|e| self.failed(&e))
        })
        .await?;
        self.state.lock().lost = false;
        Ok(())
    }

    /// Begins when all that are committing are done, and keeps others from committing: what it reads, nobody changes.
    ///
    /// A lock of a table is taken without a snapshot, so that the snapshot comes after it. Every write of an operation
    /// begins with its rows; readers go on.
    pub(super) async fn lock_out(&self) -> StoreResult<()> {
        self.in_time(async {
            let (begin, lock) = {
                let mut state = self.state.lock();
                let begin = if state.open { None } else { Some(self.send_begin(&mut state)?) };
                (begin, send(self.client().batch_execute(LOCK_OUT)).map_err(|e| self.failed(&e))?)
            };
            if let Some(begin) = begin {
                self.begun(begin).await?;
            }
            lock.await.map_err(|e| self.failed(&e))
        })
        .await
    }

    fn send_begin(&self, state: &mut State) -> StoreResult<Reply<'_, ()>> {
        let begin = send(self.client().batch_execute(self.work.begin())).map_err(|e| self.failed(&e))?;
        state.open = true;
        Ok(begin)
    }

    /// Waits until the transaction has begun; where it has not, nobody can tell what the connection is at.
    async fn begun(&self, begin: Reply<'_, ()>) -> StoreResult<()> {
        begin.await.map_err(|e| {
            self.state.lock().lost = true;
            self.failed(&e)
        })
    }

    /// Carries out reading requests in the transaction, all at once.
    pub(super) async fn read(&self, requests: Vec<Request>) -> StoreResult<Vec<Vec<Row>>> {
        self.in_time(async {
            let statements = self.prepare(&requests).await?;
            let (begin, replies) = self.send_all(statements, requests)?;
            if let Some(begin) = begin {
                self.begun(begin).await?;
            }
            let mut answers = Vec::with_capacity(replies.len());
            for reply in replies {
                answers.push(reply.await.map_err(|e| self.failed(&e))?);
            }
            Ok(answers)
        })
        .await
    }

    /// Carries out a reading request outside of a transaction.
    pub(super) async fn read_alone(&self, request: Request) -> StoreResult<Vec<Row>> {
        self.in_time(async {
            let statement = self.client().prepare_cached(&request.sql).await.map_err(|e| self.failed(&e))?;
            rows(self.client(), statement, request.params).await.map_err(|e| self.failed(&e))
        })
        .await
    }

    /// Carries out requests and COMMIT in one flight.
    ///
    /// There must be a request: of a transaction that has failed before, only it tells; COMMIT would roll back and
    /// answer as if nothing was wrong.
    pub(super) async fn commit(&self, requests: Vec<Request>) -> Result<Vec<Vec<Row>>, Refusal> {
        let statements = self.in_time(self.prepare(&requests)).await.map_err(Refusal::Not)?;
        let flight = self.launch(statements, requests).map_err(Refusal::Not)?;
        match tokio::time::timeout(ANSWER, self.land(flight)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.state.lock().lost = true;
                Err(Refusal::Unsure(late()))
            }
        }
    }

    async fn prepare(&self, requests: &[Request]) -> StoreResult<Vec<Statement>> {
        let statements = requests.iter().map(|request| self.client().prepare_cached(&request.sql));
        try_join_all(statements).await.map_err(|e| self.failed(&e))
    }

    /// Sends BEGIN, if it was not sent, and requests behind it.
    #[expect(clippy::type_complexity, reason = "the answers that are awaited next, and nowhere else")]
    fn send_all(
        &self,
        statements: Vec<Statement>,
        requests: Vec<Request>,
    ) -> StoreResult<(Option<Reply<'_, ()>>, Vec<Reply<'_, Vec<Row>>>)> {
        // Held while sending: nothing of another call comes between BEGIN being due and being sent.
        let mut state = self.state.lock();
        if state.lost {
            return Err(StoreError::Unavailable(
                "the connection of the transaction broke: begin anew".into(),
            ));
        }
        let begin = if state.open { None } else { Some(self.send_begin(&mut state)?) };
        let replies = statements
            .into_iter()
            .zip(requests)
            .map(|(statement, request)| send(rows(self.client(), statement, request.params)))
            .collect::<Result<_, _>>();
        Ok((begin, replies.map_err(|e| self.failed(&e))?))
    }

    /// Whatever fails before COMMIT is sent applies nothing.
    fn launch(&self, statements: Vec<Statement>, requests: Vec<Request>) -> StoreResult<Flight<'_>> {
        if self.client().is_closed() {
            return Err(StoreError::Unavailable("the connection to the database broke: try again".into()));
        }
        let (begin, requests) = self.send_all(statements, requests)?;
        let commit = send(self.client().batch_execute("COMMIT"));
        let unlock = self.state.lock().locked.then(|| send(self.client().batch_execute(UNLOCK)).ok());
        Ok(Flight { begin, requests, commit, unlock: unlock.flatten() })
    }

    async fn land(&self, flight: Flight<'_>) -> Result<Vec<Vec<Row>>, Refusal> {
        if let Some(begin) = flight.begin
            && let Err(error) = begin.await
        {
            self.state.lock().lost = true;
            // The requests behind a BEGIN that was refused cannot write. If there is no answer to it, then there is
            // none to COMMIT.
            let refused = error.as_db_error().is_some();
            return Err(if refused { Refusal::Not(self.failed(&error)) } else { unsure(&error) });
        }
        let mut answers = Vec::with_capacity(flight.requests.len());
        let mut failure = None;
        // Each is awaited, in the order of the answers, and COMMIT too: then it is known that the transaction is over.
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
        // A transaction that fails in COMMIT for its conflicts is over; one that is cancelled before it may not be.
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
            // An answer to an earlier request that is an error, also the last words of the server, tells that it did
            // not get to COMMIT, or that this rolled back.
            (Some((n, error)), _) if error.as_db_error().is_some() => Err(Refusal::At(n, error)),
            (None, Err(error)) if is_refusal(&error) => Err(Refusal::Not(self.failed(&error))),
            (Some((_, error)), _) | (None, Err(error)) => Err(unsure(&error)),
        }
    }

    async fn in_time<T>(&self, call: impl Future<Output = StoreResult<T>> + Send) -> StoreResult<T> {
        tokio::time::timeout(ANSWER, call).await.unwrap_or_else(|_| {
            self.state.lock().lost = true;
            Err(StoreError::Unavailable(late()))
        })
    }

    fn failed(&self, error: &Error) -> StoreError {
        store_error(error, self.work)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let state = self.state.get_mut();
        if state.lost {
            drop(Object::take(client));
            return;
        }
        // Sent, not awaited: it comes before all that the next holder sends. If it cannot be sent, the connection is
        // closed, and the pool throws it away.
        if state.open {
            drop(send(client.batch_execute("ROLLBACK")));
        }
        if state.locked {
            drop(send(client.batch_execute(UNLOCK)));
        }
    }
}

/// Waits for whoever writes rows, and lets nobody else.
const LOCK_OUT: &str = "LOCK TABLE ix IN EXCLUSIVE MODE";
const UNLOCK: &str = "SELECT pg_advisory_unlock_all()";

fn late() -> String {
    format!("the database did not answer within {} s: look at its load and its locks", ANSWER.as_secs())
}

fn is_conflict(error: &Error) -> bool {
    error.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
}

fn unsure(error: &Error) -> Refusal {
    Refusal::Unsure(describe(error))
}

/// Tells whether an error that answers COMMIT says that nothing was applied. The last words of a dying server do not:
/// it may die of them after the commit.
fn is_refusal(error: &Error) -> bool {
    let severity = error.as_db_error().and_then(|e| e.parsed_severity());
    matches!(severity, Some(Severity::Error))
}
