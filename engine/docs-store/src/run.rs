//! Execution of operations: retries, backoff, and recovery from unknown commit outcomes.

use std::{fmt, future::ready, marker::PhantomData, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::{
    BoxFuture,
    error::{Error, ErrorKind, Result},
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use super::{
    AttemptOutcome, AuditMode, Key, Mode, Observer, Receipt, RecordKind, Store, StoreError,
    StoreFailure as _, Tx, Value, all_keys, audit,
};

/// Maximum number of attempts at an operation.
pub const MAX_ATTEMPTS: u32 = 10;
/// Number of conflicts after which an operation requests exclusive commits; see [`all_keys`].
const ALONE_AFTER: u32 = 3;
/// Time after which an operation requests exclusive commits, regardless of the number of attempts.
const ALONE_FROM: Duration = Duration::from_secs(1);
/// Maximum time during which an operation is retried.
pub const RETRY_DEADLINE: Duration = Duration::from_secs(3);
/// Maximum time during which the store is queried for an unknown commit outcome. It is sufficient for a restart of the
/// store.
pub const RECOVERY_DEADLINE: Duration = Duration::from_secs(8);
/// A write operation, decided on a snapshot and stored by a single commit.
///
/// Generated ids and the current time are fields, set before the first attempt, so that every attempt has the same
/// effect. [`apply`](Operation::apply) has access only to the transaction and can therefore be repeated.
#[async_trait]
pub trait Operation: Send + Sync {
    /// The result. It is stored as JSON with the receipt, so it must be small: ids rather than views. To return a view
    /// of the written data, use [`run_and_show`].
    type Output: Serialize + DeserializeOwned + Send + Sync;

    /// The name in logs and metrics.
    const NAME: &'static str;

    /// Returns keys known to be contended; see [`Store::begin`].
    fn hot_keys(&self) -> Vec<Key> {
        Vec::new()
    }

    /// Returns the error for a unique value that already exists, given its key.
    fn taken_error(&self, _key: &Key) -> Error {
        Error::conflict("the resource already exists")
    }

    /// Returns additional information for the audit log, as a sentence, that the changed records do not contain.
    fn detail(&self) -> Option<&str> {
        None
    }

    /// Reads, decides and writes in the transaction. Nothing is stored before it returns.
    ///
    /// # Errors
    /// Any reason that makes the operation impossible. The transaction is then dropped.
    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output>;
}

/// A write that has been decided but not stored. The transaction sees its own writes, so the response can be read from
/// it.
///
/// `'e` is the lifetime of other data that the reader borrows.
pub struct PendingWrite<'t, 'e, T> {
    pub tx: &'t Tx,
    /// The result of the operation.
    pub out: T,
    outlives: PhantomData<&'t &'e ()>,
}

impl<'t, T> PendingWrite<'t, '_, T> {
    #[must_use]
    pub const fn new(tx: &'t Tx, out: T) -> Self {
        Self { tx, out, outlives: PhantomData }
    }
}

impl<T: fmt::Debug> fmt::Debug for PendingWrite<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").field("tx", self.tx).field("out", &self.out).finish()
    }
}

/// Stored responses of idempotent requests. The same commit stores the response, the changes of the request and their
/// receipt, so they either all exist or none does.
#[async_trait]
pub trait Answers<V>: Send + Sync {
    /// Returns the stored response, or `None` if the request is new.
    ///
    /// # Errors
    /// Any error of the store, or a rejection if the response cannot be replayed.
    async fn find(&self, tx: &Tx) -> Result<Option<V>>;

    /// Adds a response to the writes of the transaction.
    ///
    /// # Errors
    /// Any error of the store.
    async fn keep(&self, tx: &mut Tx, answer: &V) -> Result<()>;
}

#[derive(Clone, Copy, Debug)]
pub struct WriteContext<'a> {
    /// All record kinds. The audit log uses them to distinguish records from derived rows, and to find the owners of
    /// records that the operation did not read.
    pub kinds: &'a [RecordKind],
    /// The identity of this run.
    pub receipt: &'a Receipt,
    /// The observer for attempts and transactions.
    pub observer: Option<&'a Arc<dyn Observer>>,
}

/// Runs an operation until it is stored or rejected, and returns its result. See [`run_and_show`].
///
/// # Errors
/// Any error of [`Operation::apply`] and of the store.
///
/// # Cancel safety
/// If the future is dropped, the operation is stored as a whole or not at all.
pub async fn run<O: Operation>(
    store: &Arc<dyn Store>,
    context: WriteContext<'_>,
    operation: &O,
) -> Result<O::Output> {
    run_and_show(store, context, operation, None, |written| Box::pin(ready(Ok(written.out)))).await
}

/// Runs an operation until it is stored or rejected, and returns the response that `show` reads.
///
/// Conflicts are retried, at most [`MAX_ATTEMPTS`] times within [`RETRY_DEADLINE`]. After repeated conflicts, the
/// operation asks the store to delay other commits ([`all_keys`]); it does so at least once before giving up. An
/// unknown commit outcome is never guessed: the receipt determines it if the store is reachable again within
/// [`RECOVERY_DEADLINE`], and prevents the operation from being applied twice.
///
/// `show` reads from the transaction of the write, once per attempt and before the commit, so no read can fail
/// afterwards. As in any serializable transaction, the transaction depends on these reads, so `show` should read no
/// more than the response requires. If `show` fails with `NotFound` or `Forbidden`, the write is nevertheless stored
/// and that error is the response: a write does not require read permission. Any other error of `show` discards the
/// attempt.
///
/// With `answers`, a write that already has a stored response is not repeated, and a new response is stored with the
/// write. Errors and responses of writes without changes are not stored.
///
/// # Errors
/// Any error of [`Operation::apply`], of `show` and of the store.
///
/// # Cancel safety
/// If the future is dropped, the operation is stored as a whole or not at all.
pub async fn run_and_show<'e, O: Operation, V: Send + Sync>(
    store: &Arc<dyn Store>,
    context: WriteContext<'_>,
    operation: &O,
    answers: Option<&dyn Answers<V>>,
    show: impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync,
) -> Result<V> {
    let answer = run_unobserved(store, context, operation, answers, show).await;
    if let (Err(error), Some(observer)) = (&answer, context.observer) {
        observer.operation_failed(O::NAME, error.kind());
    }
    answer
}

/// Runs an operation. Attempts are reported to the observer; the failure of the operation is not.
async fn run_unobserved<'e, O: Operation, V: Send + Sync>(
    store: &Arc<dyn Store>,
    context: WriteContext<'_>,
    operation: &O,
    answers: Option<&dyn Answers<V>>,
    show: impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync,
) -> Result<V> {
    let receipt = context.receipt;
    let started = Instant::now();
    let mut exists_seen = false;
    let mut certainty = CommitCertainty::Certain;
    let mut unknown_since = None;
    // Hot keys are passed from the first attempt on, because an attempt that does not queue for them makes queued
    // attempts fail.
    let mut hot = operation.hot_keys();
    let mut is_alone = false;
    for attempt in 1.. {
        if !is_alone && (attempt > ALONE_AFTER || started.elapsed() >= ALONE_FROM) {
            is_alone = true;
            hot.push(all_keys());
        }
        let begun = store.begin(Mode::Write, &hot).await;
        let done = match begun {
            Ok(txn) => {
                let tx = match context.observer {
                    Some(observer) => Tx::with_observer(txn, Mode::Write, observer),
                    None => Tx::new(txn),
                };
                Attempt { kinds: context.kinds, receipt, certainty, operation, answers }.make(tx, &show).await
            }
            Err(error) => Err(error.into()),
        };
        if let Some(observer) = context.observer {
            let outcome = done.as_ref().map_or_else(AttemptOutcome::from_error, |_| AttemptOutcome::Done);
            observer.operation_attempted(O::NAME, outcome);
        }
        let error = match done {
            Ok(answer) => return answer,
            Err(error) => error,
        };
        match error.store() {
            // An earlier attempt was applied. The next attempt finds its receipt.
            Some(StoreError::Exists(key)) if *key == receipt.key() => certainty = CommitCertainty::Unknown,
            // Retry once, so that the operation reads the conflicting record and returns its own error.
            Some(StoreError::Exists(_)) if !exists_seen => exists_seen = true,
            Some(StoreError::Exists(key)) => return Err(operation.taken_error(key).caused_by(error)),
            Some(StoreError::Unknown(_)) => certainty = CommitCertainty::Unknown,
            // Retry until the store can determine the outcome of the earlier attempt.
            Some(StoreError::Unavailable(_)) if certainty == CommitCertainty::Unknown => {}
            Some(StoreError::Conflict) => {}
            _ => return Err(error),
        }
        let over = match certainty {
            CommitCertainty::Certain => {
                is_alone && (attempt >= MAX_ATTEMPTS || started.elapsed() >= RETRY_DEADLINE)
            }
            // Queries are cheap, and the caller needs the outcome.
            CommitCertainty::Unknown => {
                unknown_since.get_or_insert_with(Instant::now).elapsed() >= RECOVERY_DEADLINE
            }
        };
        if over {
            tracing::warn!(operation = O::NAME, attempt, error = ?error, "abandon transaction");
            return Err(certainty.report(error));
        }
        tracing::debug!(operation = O::NAME, attempt, error = ?error, "retry transaction");
        tokio::time::sleep(receipt.pause(attempt)).await;
    }
    unreachable!("the last attempt returns")
}

/// The outcome of earlier attempts: `Unknown` if one may have been applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommitCertainty {
    Certain,
    Unknown,
}

impl CommitCertainty {
    /// Returns the error of an operation whose last attempt failed with `error`.
    fn report(self, error: Error) -> Error {
        match self {
            Self::Certain => error,
            Self::Unknown => StoreError::Unknown(error.to_string()).into(),
        }
    }
}

/// An attempt at an operation.
struct Attempt<'r, O, V> {
    kinds: &'r [RecordKind],
    receipt: &'r Receipt,
    certainty: CommitCertainty,
    operation: &'r O,
    answers: Option<&'r dyn Answers<V>>,
}

impl<O: Operation, V: Send + Sync> Attempt<'_, O, V> {
    /// Makes the attempt. `Ok` contains the response of a stored operation, which may be a rejection by `show`. `Err`
    /// means that the operation was not stored.
    async fn make<'e>(
        &self,
        mut tx: Tx,
        show: &(impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync),
    ) -> Result<Result<V>> {
        if self.receipt.logged != AuditMode::Unaudited {
            tx.leave_trail();
        }
        // Uses the snapshot of the operation, so that the operation never sees its own effect.
        if self.certainty == CommitCertainty::Unknown
            && let Some(out) = recover(&tx, self.receipt).await?
        {
            return separate_rejection(show(PendingWrite::new(&tx, out)).await);
        }
        if let Some(answers) = self.answers
            && let Some(answer) = answers.find(&tx).await?
        {
            return Ok(Ok(answer));
        }
        let out = self.operation.apply(&mut tx).await?;
        let json = serde_json::to_vec(&out).map_err(Error::internal)?;
        let answer = separate_rejection(show(PendingWrite::new(&tx, out)).await)?;
        if !tx.is_empty() {
            audit::log(&mut tx, self.kinds, self.receipt, O::NAME, self.operation.detail()).await?;
            tx.create_value(self.receipt.key(), Value::Json(Bytes::from(json)));
            if let (Some(answers), Ok(answer)) = (self.answers, &answer) {
                answers.keep(&mut tx, answer).await?;
            }
            tx.commit().await?;
        }
        Ok(answer)
    }
}

/// Separates a rejection by `show`, which is a valid response, from a failure of the attempt.
fn separate_rejection<V>(shown: Result<V>) -> Result<Result<V>> {
    match shown {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Err(error),
        answer => Ok(answer),
    }
}

async fn recover<T: DeserializeOwned>(tx: &Tx, receipt: &Receipt) -> Result<Option<T>> {
    match tx.get_value(&receipt.key()).await? {
        Some(Value::Json(json)) => serde_json::from_slice(&json).map(Some).map_err(Error::internal),
        Some(_) => Err(StoreError::Corrupt("a receipt has no response".into()).into()),
        None => Ok(None),
    }
}
