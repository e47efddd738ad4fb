//! [`SqliteStore`]: the store contract on one SQLite file.

mod backup;
mod blocking;
mod error;
mod feed;
mod file;
mod objects;
mod pool;
mod presence;
mod rows;
mod session;
mod state;
#[cfg(test)]
mod tests;
mod version;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
#[cfg(doc)]
use docs_store::StoreError;
use docs_store::{FeedPos, Key, Mode, Store, StoreResult, StoreVersion, Txn};
use tokio::time::{Instant, sleep, timeout};

use self::{
    blocking::{run_blocking, run_detached},
    file::{File, OpenFailure},
    objects::SqliteObjectRows,
    presence::Presence,
    session::{SqliteSession, SqliteTxn},
    state::SqliteState,
};
use crate::{OpenError, Options, objects::TableObjects};

/// Interval between a waiting feed reader's checks for commits of other processes.
const FEED_POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Interval between attempts to open the file while another process is opening or closing it, which no event signals.
const OPEN_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// A [`Store`] in one SQLite file. Clones refer to the same store.
///
/// There is one writer at a time. A write transaction waits in [`begin`](Store::begin) for earlier ones, in order of
/// arrival, and then never conflicts. Read transactions wait only for each other, and only if there are more than
/// [`Options::connections`]. If the wait exceeds [`Options::wait`], the result is [`StoreError::Unavailable`]. A
/// transaction that is open for longer than [`MAX_TXN`](docs_store::MAX_TXN) fails with [`StoreError::Conflict`], and
/// is ended when another transaction needs its connection.
///
/// A commit is on the disk when it is acknowledged, see [`Durability`](crate::Durability). After a disk failure, it can
/// be unknown whether a commit was applied: [`StoreError::Unknown`]. A full disk does not cause this, and writing
/// resumes once there is space.
///
/// While the file is open, it has two companion files, `-wal` and `-shm`. The first contains commits, so all three
/// files belong together. Dropping the last clone, when no transaction is open, moves everything into the main file and
/// removes the companions, which takes as long as writing a few megabytes. Several processes on one machine may open
/// the same file; network drives are not supported. Never replace the file while it is open.
///
/// All calls need a tokio runtime with time enabled. Dropping the store does not.
///
/// # Example
/// ```
/// use docs_store::{Batch, Mode, Op, Store, Value};
/// use docs_sqlstore::{Options, SqliteStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("docs.sqlite");
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let store = SqliteStore::open(path, Options::new()).await?;
/// let ops = vec![Op::Create("u!host!a".into(), Value::Unit)];
/// store.begin(Mode::Write, &[]).await?.commit(Batch { ops, feed: vec![] }).await?;
/// let found = store.begin(Mode::Read, &[]).await?.get(&["u!host!a".into()]).await?;
/// assert!(matches!(found[..], [Some(Value::Unit)]));
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<SqliteState>,
    objects: TableObjects,
}

impl SqliteStore {
    /// Opens a database. Creates a missing file, and migrates the tables of an older version.
    ///
    /// # Errors
    /// [`OpenError::Unusable`] if the folder does not exist, or if the file cannot be written, is not an SQLite
    /// database, or belongs to another program; [`OpenError::InUse`] or [`OpenError::Taken`] if [`Options::sharing`]
    /// conflicts with that of other processes, which is coordinated by a file with the suffix `.lock`;
    /// [`OpenError::Newer`] if a newer program version has migrated the database; [`OpenError::Kind`] for an invalid
    /// record kind. A rejected database is unchanged.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the database unchanged or fully migrated.
    pub async fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let layout = options.layout()?;
        let file = File::new(path.as_ref(), &options)?;
        let until = Instant::now() + options.busy_timeout();
        let conn = loop {
            let (opening, tables) = (file.clone(), layout.clone());
            match run_blocking(move || opening.open(&tables)).await {
                Ok(Ok(conn)) => break conn,
                Ok(Err(OpenFailure::Busy(_))) if Instant::now() < until => sleep(OPEN_RETRY_INTERVAL).await,
                Ok(Err(OpenFailure::Busy(error) | OpenFailure::Refused(error))) => return Err(error),
                Err(error) => {
                    let place = file.path().display().to_string();
                    return Err(OpenError::Unusable { place, why: error.to_string() });
                }
            }
        };
        let presence = Presence::take(file.path(), &options).await?;
        let shared = Arc::new(SqliteState::new((file, presence), layout, &options));
        shared.pool(Mode::Write).add(conn);
        let objects = TableObjects::new(SqliteObjectRows(Arc::clone(&shared)), &options);
        Ok(Self { shared, objects })
    }

    /// Returns the objects in the same file.
    #[must_use]
    pub fn objects(&self) -> TableObjects {
        self.objects.clone()
    }

    /// Returns the absolute path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.shared.file.path().to_owned()
    }

    /// Writes a copy of the database to a new file without blocking other work.
    ///
    /// The copy contains exactly the commits before its start, and appears under its name once it is complete. The
    /// whole database is read once; meanwhile, the log grows. Objects outside the database ([`Options::blobs`]) are not
    /// copied. Copy them afterwards: all objects that the copy references already exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the file exists or cannot be written; `Corrupt`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves a complete copy or none; the copy may continue in the background.
    pub async fn backup(&self, path: impl AsRef<Path>) -> StoreResult<()> {
        let (file, path) = (Arc::clone(&self.shared.file), path.as_ref().to_owned());
        run_blocking(move || backup::write(&file, &path)).await?
    }

    /// Returns `true` if there are items after a position, and the item number of the position.
    async fn check_feed(&self, topic: u16, pos: Option<FeedPos>) -> StoreResult<(bool, i64)> {
        self.shared
            .read(move |conn| {
                let seen = feed::number(conn, topic, pos.as_ref())?;
                Ok((feed::has_items_after(conn, topic, seen)?, seen))
            })
            .await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self, mode: Mode, _hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        let session = run_detached(SqliteSession::begin(Arc::clone(&self.shared), mode)).await?;
        Ok(Box::new(SqliteTxn(session)))
    }

    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        self.shared.versions.current_version().await
    }

    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        self.shared
            .read(move |conn| {
                let seen = feed::number(conn, topic, after.as_ref())?;
                feed::items_after(conn, topic, seen, max)
            })
            .await
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        // Start watching before the lookup, so that no item in between is missed.
        let mut last = self.shared.topics.watch(topic);
        let mut told = *last.borrow_and_update();
        let (has, seen) = self.check_feed(topic, after).await?;
        if has {
            return Ok(true);
        }
        let waiting = async {
            loop {
                // `self` keeps the sender alive, so this ends when the number has grown, or after the interval.
                // Published items may have been trimmed, so the table is checked in either case.
                if let Ok(Ok(last)) = timeout(FEED_POLL_INTERVAL, last.wait_for(|last| *last > told)).await {
                    told = *last;
                }
                if self.shared.read(move |conn| feed::has_items_after(conn, topic, seen)).await? {
                    return Ok(true);
                }
            }
        };
        timeout(wait, waiting).await.unwrap_or(Ok(false))
    }

    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        let upto = upto.clone();
        let upto = self.shared.read(move |conn| feed::number(conn, topic, Some(&upto))).await?;
        while self.shared.write(move |conn| feed::trim(conn, topic, upto)).await? {}
        Ok(())
    }
}
