//! [`SqliteStore`]: the contract over one SQLite file.

mod backup;
mod error;
mod feed;
mod file;
mod objects;
mod pool;
mod presence;
mod rows;
mod session;
mod shared;
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
    file::{File, NotOpen},
    objects::Rows,
    presence::Presence,
    session::{Session, SqliteTxn},
    shared::{Shared, blocking, detached},
};
use crate::{OpenError, Options, objects::TableObjects};

/// How often somebody who waits for the feed looks for what other processes wrote.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How often opening is tried again while another process is opening or closing the file.
const OPEN_AGAIN: Duration = Duration::from_millis(20);

/// A [`Store`] in one SQLite file. Clones are the same store.
///
/// There is one writer at a time: a write transaction waits in [`begin`](Store::begin) for those before it, first come
/// first served, and then never conflicts. Read transactions wait for nobody but each other, when there are more than
/// [`Options::connections`]. The wait is bounded by [`Options::wait`]; after it the answer is
/// [`StoreError::Unavailable`]. A transaction open for more than [`MAX_TXN`](docs_store::MAX_TXN) fails with
/// [`StoreError::Conflict`], and whoever needs its place ends it.
///
/// A commit is on the disk when it is acknowledged, see [`Durability`](crate::Durability). A failing disk can leave
/// it open whether a commit happened: [`StoreError::Unknown`]. A full disk cannot, and once there is room writing goes
/// on by itself.
///
/// The file has two companions while it is open, `-wal` and `-shm`; the first holds commits, so all three belong
/// together. Dropping the last clone, when no transaction is open, moves everything into the file and removes them,
/// which takes as long as writing a few megabytes. Several processes of one machine may open the same file; a network
/// drive will not do. Never replace the file while it is open.
///
/// All calls need a tokio runtime with time enabled; dropping needs none.
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
    shared: Arc<Shared>,
    objects: TableObjects,
}

impl SqliteStore {
    /// Opens a database; makes the file where there is none, and brings an older one up to date.
    ///
    /// # Errors
    /// [`OpenError::Unusable`] when the folder does not exist, the file cannot be written, is no SQLite database or
    /// that of another program; [`OpenError::InUse`] or [`OpenError::Taken`] where [`Options::sharing`] and that of
    /// other programs exclude each other, which the file with `.lock` at the end of its name tells them;
    /// [`OpenError::Newer`] when a newer program has been here; [`OpenError::Kind`] for the
    /// name of a kind. A database that is refused was not changed.
    ///
    /// # Cancel safety
    /// Dropping the future leaves a database as it was or up to date.
    pub async fn open(path: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let layout = options.layout()?;
        let file = File::new(path.as_ref(), &options)?;
        let until = Instant::now() + options.busy_timeout();
        let conn = loop {
            let (opening, tables) = (file.clone(), layout.clone());
            match blocking(move || opening.open(&tables)).await {
                Ok(Ok(conn)) => break conn,
                Ok(Err(NotOpen::Busy(_))) if Instant::now() < until => sleep(OPEN_AGAIN).await,
                Ok(Err(NotOpen::Busy(error) | NotOpen::Refused(error))) => return Err(error),
                Err(error) => {
                    let place = file.path().display().to_string();
                    return Err(OpenError::Unusable { place, why: error.to_string() });
                }
            }
        };
        let presence = Presence::take(file.path(), &options).await?;
        let shared = Arc::new(Shared::new((file, presence), layout, &options));
        shared.pool(Mode::Write).add(conn);
        let objects = TableObjects::new(Rows(Arc::clone(&shared)), &options);
        Ok(Self { shared, objects })
    }

    /// The objects in the same file.
    #[must_use]
    pub fn objects(&self) -> TableObjects {
        self.objects.clone()
    }

    /// Where the file is: an absolute path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.shared.file.path().to_owned()
    }

    /// Writes a copy of the database to a new file, while work goes on: what was committed when it began, and nothing
    /// of what comes later. The copy is complete when it appears under its name.
    ///
    /// It reads the whole database once, and the log grows as long as that takes. Objects outside the database
    /// ([`Options::blobs`]) are not in the copy; copy them afterwards, since what a copy refers to is never younger.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when there is a file of that name, or it cannot be written; `Corrupt`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the whole copy or none; it may go on in the background.
    pub async fn backup(&self, path: impl AsRef<Path>) -> StoreResult<()> {
        let (file, path) = (Arc::clone(&self.shared.file), path.as_ref().to_owned());
        blocking(move || backup::write(&file, &path)).await?
    }

    /// Tells whether there is an item after a position, and which number an item has to exceed to be one.
    async fn seen(&self, topic: u16, pos: Option<FeedPos>) -> StoreResult<(bool, i64)> {
        self.shared
            .read(move |conn| {
                let seen = feed::number(conn, topic, pos.as_ref())?;
                Ok((feed::has(conn, topic, seen)?, seen))
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
        let session = detached(Session::begin(Arc::clone(&self.shared), mode)).await?;
        Ok(Box::new(SqliteTxn(session)))
    }

    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        self.shared.versions.now().await
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
                feed::after(conn, topic, seen, max)
            })
            .await
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        // Watched before it is looked up, so that nothing falls in between.
        let mut last = self.shared.topics.watch(topic);
        let mut told = *last.borrow_and_update();
        let (has, seen) = self.seen(topic, after).await?;
        if has {
            return Ok(true);
        }
        let waiting = async {
            loop {
                // The sender lives as long as the store, so this ends when the number has grown, or to look again. What
                // was told may have been trimmed meanwhile, so it is looked for in either case.
                if let Ok(Ok(last)) = timeout(LOOK_AGAIN, last.wait_for(|last| *last > told)).await {
                    told = *last;
                }
                if self.shared.read(move |conn| feed::has(conn, topic, seen)).await? {
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
