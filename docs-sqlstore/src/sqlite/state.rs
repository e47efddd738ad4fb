//! State shared by the store, its transactions and its objects.

use std::{sync::Arc, time::Duration};

use docs_ports::Clock;
use docs_store::{Mode, StoreError, StoreResult};
use rusqlite::Connection;
use tokio::time::Instant;

use super::{
    blocking::{run_blocking, run_detached},
    error::{ConnectionResult, Failure},
    feed::Topics,
    file::File,
    pool::Pool,
    presence::Presence,
    version::Versions,
};
use crate::layout::Layout;

/// An open database.
pub(super) struct SqliteState {
    pub(super) versions: Versions,
    // Fields are dropped in order. The writer is the last pool, because closing it may move the log into the main file.
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

impl SqliteState {
    pub(super) fn new((file, presence): (File, Presence), layout: Layout, options: &crate::Options) -> Self {
        let (file, clock) = (Arc::new(file), options.time_source());
        Self {
            versions: Versions::new(&file),
            readers: Arc::new(Pool::new(Mode::Read, options.max_connections(), &file, &clock)),
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

    /// Reads outside a transaction. Each statement sees the latest commit.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> ConnectionResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.run(Mode::Read, work).await
    }

    /// Writes in a separate transaction.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> ConnectionResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let in_transaction = |conn: &Connection| {
            conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            let done = work(conn)?;
            commit(conn)?;
            Ok(done)
        };
        // This work is idempotent, so it can be retried if its result is unknown.
        self.run(Mode::Write, in_transaction).await.map_err(|error| match error {
            StoreError::Unknown(why) => StoreError::Unavailable(why),
            other => other,
        })
    }

    async fn run<T: Send + 'static>(
        &self,
        mode: Mode,
        work: impl FnOnce(&Connection) -> ConnectionResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let until = Instant::now() + self.wait;
        self.end_overdue();
        let pool = Arc::clone(self.pool(mode));
        run_detached(async move {
            let mut lease = pool.lease(until).await?;
            run_blocking(move || {
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
pub(super) fn commit(conn: &Connection) -> ConnectionResult<()> {
    conn.prepare_cached("COMMIT")?.execute([]).map(drop).map_err(Failure::from_commit)
}
