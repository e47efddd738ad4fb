//! Version of the file content. SQLite reports to each connection whether others have committed since its last check.

use std::sync::Arc;

use docs_store::{Mode, StoreResult, StoreVersion};
use parking_lot::Mutex;
use rusqlite::Connection;

use super::{blocking::run_blocking, file::File};

/// A connection used only for checks, because SQLite does not count a connection's own commits.
pub(super) struct Versions {
    file: Arc<File>,
    watch: Arc<Mutex<VersionWatch>>,
}

#[derive(Default)]
struct VersionWatch {
    conn: Option<Connection>,
    /// Number of connections opened so far. Each connection counts from its own start.
    opened: u64,
}

impl Versions {
    pub(super) fn new(file: &Arc<File>) -> Self {
        Self { file: Arc::clone(file), watch: Arc::default() }
    }

    /// Returns the current version, or `None` if the check would have to wait.
    pub(super) async fn current_version(&self) -> StoreResult<Option<StoreVersion>> {
        // Reads shared memory without waiting. Moving this to a blocking thread would cost more.
        if let Some(version) = self.watch.lock().read_version() {
            return Ok(Some(version));
        }
        let (file, watch) = (Arc::clone(&self.file), Arc::clone(&self.watch));
        run_blocking(move || {
            // Another task may have opened it. Open the connection outside the lock, so that other tasks need not wait.
            if let Some(version) = watch.lock().read_version() {
                return Some(version);
            }
            let conn = connect(&file);
            let mut watch = watch.lock();
            watch.set_connection(conn);
            watch.read_version()
        })
        .await
    }
}

/// Opens a connection that never waits. Returns `None` if the file cannot be opened; a later read reports the reason.
fn connect(file: &File) -> Option<Connection> {
    let conn = file.connect(Mode::Read).ok()?;
    conn.busy_timeout(std::time::Duration::ZERO).ok()?;
    Some(conn)
}

impl VersionWatch {
    /// Sets the connection for checks unless there already is one.
    fn set_connection(&mut self, conn: Option<Connection>) {
        if self.conn.is_none() && conn.is_some() {
            self.conn = conn;
            self.opened += 1;
        }
    }

    fn read_version(&mut self) -> Option<StoreVersion> {
        let conn = self.conn.as_ref()?;
        let read = conn.prepare_cached("PRAGMA data_version");
        match read.and_then(|mut read| read.query_row([], |row| row.get::<_, i64>(0))) {
            Ok(version) => {
                Some(StoreVersion::new(u128::from(self.opened) << 64 | u128::from(version.cast_unsigned())))
            }
            Err(_) => {
                self.conn = None;
                None
            }
        }
    }
}
