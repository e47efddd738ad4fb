//! Running an operation: attempts, backing off, and what happened when nobody answered.

use std::{fmt, future::ready, marker::PhantomData, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::{
    BoxFuture,
    error::{Error, ErrorKind, Result},
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use super::{
    AttemptOutcome, Key, KeyBuf, Kind, Logged, Mode, Observer, Store, StoreError, StoreFailure as _, Tx,
    Value, audit, everything,
};

/// Most attempts at one operation.
pub const MAX_ATTEMPTS: u32 = 10;
/// After how many conflicts an operation asks that nobody else commits while it runs, see [`everything`].
const ALONE_AFTER: u32 = 3;
/// After how long it does so, however few attempts that were.
const ALONE_FROM: Duration = Duration::from_secs(1);
/// How long attempts may go on.
pub const DEADLINE: Duration = Duration::from_secs(3);
/// How long a store is asked what became of a commit, from when nobody answered: a restart fits into it.
pub const RECOVERY: Duration = Duration::from_secs(8);
/// Class of the receipts of operations; behind it the time of the operation.
pub const RECEIPTS: &str = "op";

/// One write of the platform: decided on a snapshot, stored by one commit.
///
/// Ids and the time are fields, set before the first attempt, so that every attempt does the same.
/// [`apply`](Operation::apply) has nothing but the transaction, so it can be run again.
#[async_trait]
pub trait Operation: Send + Sync {
    /// What it answers. Kept as JSON with the receipt, so it is small: ids, not views. A view of what was written is
    /// read by [`run_and_show`].
    type Out: Serialize + DeserializeOwned + Send + Sync;

    /// Its name in logs and metrics.
    const NAME: &'static str;

    /// Keys that are known to be contended, see [`Store::begin`].
    fn hot(&self) -> Vec<Key> {
        Vec::new()
    }

    /// The error that says a unique value is taken, given the key that was.
    fn taken(&self, _key: &Key) -> Error {
        Error::conflict("this exists already")
    }

    /// What the audit log says of the change besides its name, as a sentence: what cannot be seen of the records.
    fn detail(&self) -> Option<&str> {
        None
    }

    /// Reads, decides, and writes to the transaction. Nothing is stored until it returns.
    ///
    /// # Errors
    /// Whatever makes the operation impossible; the transaction is then dropped.
    async fn apply(&self, tx: &mut Tx) -> Result<Self::Out>;
}

/// What identifies one run of an operation: its receipt is stored with its effect.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// When the operation was asked for.
    pub at: DateTime<Utc>,
    /// 128 random bits: the name of the run, and the seed of its back-off.
    pub id: uuid::Uuid,
    /// Whether the audit log tells of the run. The id of its entry is made of the run's.
    pub logged: Logged,
}

impl Receipt {
    fn key(&self) -> Key {
        KeyBuf::new(RECEIPTS).time(self.at).part(&self.id.simple().to_string()).key()
    }

    /// Full jitter: anything up to `min(2^attempt ms, 100 ms)`.
    fn pause(&self, attempt: u32) -> Duration {
        let bound = (1_u64 << attempt.min(7)).min(100) * 1_000;
        let (seed, _) = self.id.as_u64_pair();
        Duration::from_micros(seed.rotate_left(attempt * 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound)
    }
}

/// A write that is decided and not yet stored, as its answer is read: the transaction sees what it is about to store.
///
/// `'e` is how long what the reader borrows besides it lives.
pub struct Written<'t, 'e, T> {
    /// The transaction.
    pub tx: &'t Tx,
    /// What the operation answered.
    pub out: T,
    outlives: PhantomData<&'t &'e ()>,
}

impl<'t, T> Written<'t, '_, T> {
    /// What a transaction sees, with what an operation answered.
    #[must_use]
    pub const fn new(tx: &'t Tx, out: T) -> Self {
        Self { tx, out, outlives: PhantomData }
    }
}

impl<T: fmt::Debug> fmt::Debug for Written<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").field("tx", self.tx).field("out", &self.out).finish()
    }
}

/// Where answers are kept for requests that may be sent again: by the commit of what the request changed, as its
/// receipt is, so that there is never the one without the other.
#[async_trait]
pub trait Answers<V>: Send + Sync {
    /// The answer that was given before; `None` where the request is new.
    ///
    /// # Errors
    /// The store's, and a refusal where the answer cannot be given again.
    async fn find(&self, tx: &Tx) -> Result<Option<V>>;

    /// Adds an answer to what the transaction stores.
    ///
    /// # Errors
    /// The store's.
    async fn keep(&self, tx: &mut Tx, answer: &V) -> Result<()>;
}

/// What a write is run with.
#[derive(Clone, Copy, Debug)]
pub struct WriteContext<'a> {
    /// The kinds of all records that there are: by them the audit log tells records from rows, and to whom a record
    /// belongs that the operation did not read.
    pub kinds: &'a [Kind],
    /// What tells this write from all others.
    pub receipt: &'a Receipt,
    /// Who counts attempts and transactions.
    pub observer: Option<&'a Arc<dyn Observer>>,
}

/// Runs an operation until it is stored or refused, and answers what it answers; see [`run_and_show`].
///
/// # Errors
/// What [`Operation::apply`] refuses, and the store's errors.
///
/// # Cancel safety
/// Dropping the future leaves the operation done whole or not at all.
pub async fn run<O: Operation>(
    store: &Arc<dyn Store>,
    context: WriteContext<'_>,
    operation: &O,
) -> Result<O::Out> {
    run_and_show(store, context, operation, None, |written| Box::pin(ready(Ok(written.out)))).await
}

/// Runs an operation until it is stored or refused, and answers with what `show` reads of it.
///
/// A conflict is tried again, at most [`MAX_ATTEMPTS`] times within [`DEADLINE`]; whoever has met some asks the store
/// that others wait ([`everything`]), and has done so before it gives up. A commit whose outcome is unknown
/// is never guessed: its receipt tells, as soon as the store can be asked again within [`RECOVERY`], and the same
/// receipt keeps a second attempt from being applied twice.
///
/// `show` reads from the transaction of the write, once in each attempt, before the commit: after that nothing is read
/// that could fail. What it reads is part of what the transaction depends on, as all reads of a serializable
/// transaction are, so it reads no more than the answer needs. Where it refuses with `NotFound` or `Forbidden`, the
/// write is stored nevertheless, and the refusal is the answer: whether somebody may see a change does not decide
/// whether they may make it. Any other failure of it undoes the attempt.
///
/// With `answers`, a write that was answered before is not done again, and what is answered is kept with what is
/// written; a write that changes nothing, and a refusal, are not.
///
/// # Errors
/// What [`Operation::apply`] and `show` refuse, and the store's errors.
///
/// # Cancel safety
/// Dropping the future leaves the operation done whole or not at all.
pub async fn run_and_show<'e, O: Operation, V: Send + Sync>(
    store: &Arc<dyn Store>,
    context: WriteContext<'_>,
    operation: &O,
    answers: Option<&dyn Answers<V>>,
    show: impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync,
) -> Result<V> {
    let answer = run_unobserved(store, context, operation, answers, show).await;
    if let (Err(error), Some(observer)) = (&answer, context.observer) {
        observer.failed(O::NAME, error.kind());
    }
    answer
}

/// Runs an operation; only its attempts are told.
async fn run_unobserved<'e, O: Operation, V: Send + Sync>(
    store: &Arc<dyn Store>,
    context: WriteContext<'_>,
    operation: &O,
    answers: Option<&dyn Answers<V>>,
    show: impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync,
) -> Result<V> {
    let receipt = context.receipt;
    let started = Instant::now();
    let mut exists_seen = false;
    let mut certainty = Certainty::Certain;
    let mut unknown_since = None;
    // From the first attempt on: whoever comes without waiting its turn makes those fail that do wait.
    let mut hot = operation.hot();
    let mut is_alone = false;
    for attempt in 1.. {
        if !is_alone && (attempt > ALONE_AFTER || started.elapsed() >= ALONE_FROM) {
            is_alone = true;
            hot.push(everything());
        }
        let begun = store.begin(Mode::Write, &hot).await;
        let done = match begun {
            Ok(txn) => {
                let tx = match context.observer {
                    Some(observer) => Tx::observed(txn, Mode::Write, observer),
                    None => Tx::new(txn),
                };
                Attempt { kinds: context.kinds, receipt, certainty, operation, answers }.make(tx, &show).await
            }
            Err(error) => Err(error.into()),
        };
        if let Some(observer) = context.observer {
            let outcome = done.as_ref().map_or_else(AttemptOutcome::of, |_| AttemptOutcome::Done);
            observer.attempted(O::NAME, outcome);
        }
        let error = match done {
            Ok(answer) => return answer,
            Err(error) => error,
        };
        match error.store() {
            // An earlier attempt had been applied after all; the next one finds its receipt.
            Some(StoreError::Exists(key)) if *key == receipt.key() => certainty = Certainty::Unknown,
            // Once more, so that it reads the winner and refuses in its own words.
            Some(StoreError::Exists(_)) if !exists_seen => exists_seen = true,
            Some(StoreError::Exists(key)) => return Err(operation.taken(key).caused_by(error)),
            Some(StoreError::Unknown(_)) => certainty = Certainty::Unknown,
            // The store is asked until it tells what became of the earlier attempt.
            Some(StoreError::Unavailable(_)) if certainty == Certainty::Unknown => {}
            Some(StoreError::Conflict) => {}
            _ => return Err(error),
        }
        let over = match certainty {
            Certainty::Certain => is_alone && (attempt >= MAX_ATTEMPTS || started.elapsed() >= DEADLINE),
            // Asking costs nothing but time, and the answer is owed.
            Certainty::Unknown => unknown_since.get_or_insert_with(Instant::now).elapsed() >= RECOVERY,
        };
        if over {
            tracing::warn!(operation = O::NAME, attempt, error = ?error, "gave up");
            return Err(match certainty {
                Certainty::Certain => error,
                Certainty::Unknown => StoreError::Unknown(error.to_string()).into(),
            });
        }
        tracing::debug!(operation = O::NAME, attempt, error = ?error, "trying again");
        tokio::time::sleep(receipt.pause(attempt)).await;
    }
    unreachable!("the loop ends by its bound")
}

/// Whether an earlier attempt may have been applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Certain,
    Unknown,
}

/// One attempt at an operation.
struct Attempt<'r, O, V> {
    kinds: &'r [Kind],
    receipt: &'r Receipt,
    certainty: Certainty,
    operation: &'r O,
    answers: Option<&'r dyn Answers<V>>,
}

impl<O: Operation, V: Send + Sync> Attempt<'_, O, V> {
    /// What is answered once the operation is stored, be it a refusal to show it; an error where it is not stored.
    async fn make<'e>(
        &self,
        mut tx: Tx,
        show: &(impl for<'t> Fn(Written<'t, 'e, O::Out>) -> BoxFuture<'t, Result<V>> + Send + Sync),
    ) -> Result<Result<V>> {
        if self.receipt.logged != Logged::No {
            tx.leave_trail();
        }
        // On one snapshot with what follows: the operation never meets its own effect.
        if self.certainty == Certainty::Unknown
            && let Some(out) = recover(&tx, self.receipt).await?
        {
            return answered(show(Written::new(&tx, out)).await);
        }
        if let Some(answers) = self.answers
            && let Some(answer) = answers.find(&tx).await?
        {
            return Ok(Ok(answer));
        }
        let out = self.operation.apply(&mut tx).await?;
        let json = serde_json::to_vec(&out).map_err(Error::internal)?;
        let answer = answered(show(Written::new(&tx, out)).await)?;
        if !tx.is_empty() {
            audit::log(&mut tx, self.kinds, self.receipt, (O::NAME, self.operation.detail())).await?;
            tx.create_value(self.receipt.key(), Value::Json(Bytes::from(json)));
            if let (Some(answers), Ok(answer)) = (self.answers, &answer) {
                answers.keep(&mut tx, answer).await?;
            }
            tx.commit().await?;
        }
        Ok(answer)
    }
}

/// Tells a refusal to show something, which is an answer, from a failure, which is none.
fn answered<V>(shown: Result<V>) -> Result<Result<V>> {
    match shown {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Err(error),
        answer => Ok(answer),
    }
}

async fn recover<T: DeserializeOwned>(tx: &Tx, receipt: &Receipt) -> Result<Option<T>> {
    match tx.get_value(&receipt.key()).await? {
        Some(Value::Json(json)) => serde_json::from_slice(&json).map(Some).map_err(Error::internal),
        Some(_) => Err(StoreError::Corrupt("a receipt without its answer".into()).into()),
        None => Ok(None),
    }
}
