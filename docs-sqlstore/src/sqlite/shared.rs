//! State shared by the store, its transactions and its objects.

use std::{panic::resume_unwind, sync::Arc, time::Duration};

use docs_ports::Clock;
use docs_store::{Mode, StoreError, StoreResult};
use rusqlite::Connection;
use tokio::{
    task::{JoinError, JoinSet, spawn_blocking},
    time::Instant,
};

use super::{
    error::{Failure, Outcome},
    feed::Topics,
    file::File,
    pool::Pool,
    presence::Presence,
    version::Versions,
};
use crate::layout::Layout;

/// An open database.
pub(super) struct Shared {
    pub(super) versions: Versions,
    // Fields are dropped in order, so the writer is last of the pools: closing it may move the log into the file.
    readers: Arc<Pool>,
    writer: Arc<Pool>,
    pub(super) file: Arc<File>,
    pub(super) layout: Layout,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) wait: Duration,
    pub(super) topics: Topics,
    // Released last, when the connections are closed.
    _presence: Presence,
}

impl Shared {
    pub(super) fn new((file, presence): (File, Presence), layout: Layout, options: &crate::Options) -> Self {
        let (file, clock) = (Arc::new(file), options.time_source());
        Self {
            versions: Versions::new(&file),
            readers: Arc::new(Pool::new(Mode::Read, options.the_connections(), &file, &clock)),
            writer: Arc::new(Pool::new(Mode::Write, 1, &file, &clock)),
            file,
            layout,
            clock,
            wait: options.busy_timeout(),
            topics: Topics::default(),
            _presence: presence,
        }
    }

    pub(super) fn pool(&self, mode: Mode) -> &Arc<Pool> {
        match mode {
            Mode::Read => &self.readers,
            Mode::Write => &self.writer,
        }
    }

    pub(super) fn end_overdue(&self) {
        self.readers.end_overdue();
        self.writer.end_overdue();
    }

    /// Reads outside a transaction: each statement sees the latest commit.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.run(Mode::Read, work).await
    }

    /// Writes in a transaction of its own.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> StoreResult<T> {
        let in_transaction = |conn: &Connection| {
            conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            let done = work(conn)?;
            commit(conn)?;
            Ok(done)
        };
        // Such work is idempotent, so an unknown result can be retried.
        self.run(Mode::Write, in_transaction).await.map_err(|error| match error {
            StoreError::Unknown(why) => StoreError::Unavailable(why),
            other => other,
        })
    }

    async fn run<T: Send + 'static>(
        &self,
        mode: Mode,
        work: impl FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    ) -> StoreResult<T> {
        let until = Instant::now() + self.wait;
        self.end_overdue();
        let pool = Arc::clone(self.pool(mode));
        detached(async move {
            let mut lease = pool.lease(until).await?;
            blocking(move || {
                lease.run(|conn| {
                    conn.busy_timeout(until.saturating_duration_since(Instant::now()))?;
                    work(conn)
                })
            })
            .await?
        })
        .await
    }
}

/// Commits the open transaction.
pub(super) fn commit(conn: &Connection) -> Outcome<()> {
    conn.prepare_cached("COMMIT")?.execute([]).map(drop).map_err(Failure::of_commit)
}

/// Runs work on a blocking thread. Once started it runs to completion, even if its future is dropped.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> StoreResult<T> {
    spawn_blocking(work).await.map_err(stopped)
}

/// Runs a future as a task that is cancelled when this future is dropped.
///
/// A place in a queue has to be taken when it becomes available. Without a task, a caller that holds the future without
/// polling it would block everything queued after it.
pub(super) async fn detached<T: Send + 'static>(
    future: impl Future<Output = StoreResult<T>> + Send + 'static,
) -> StoreResult<T> {
    let mut task = JoinSet::new();
    task.spawn(future);
    match task.join_next().await {
        Some(result) => result.map_err(stopped)?,
        None => Err(shutting_down()),
    }
}

/// Error of a task without a result. A panic is resumed in the caller.
fn stopped(error: JoinError) -> StoreError {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => shutting_down(),
    }
}

fn shutting_down() -> StoreError {
    StoreError::Unavailable("the program is ending".to_owned())
}
