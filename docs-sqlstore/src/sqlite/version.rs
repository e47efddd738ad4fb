//! What names the content of the file: SQLite tells a connection whether others have committed since it last looked.

use std::sync::Arc;

use docs_store::{Mode, StoreResult, StoreVersion};
use parking_lot::Mutex;
use rusqlite::Connection;

use super::{file::File, shared::blocking};

/// A connection that looks and does nothing else: SQLite does not count what a connection commits itself.
pub(super) struct Versions {
    file: Arc<File>,
    watch: Arc<Mutex<Watch>>,
}

#[derive(Default)]
struct Watch {
    conn: Option<Connection>,
    /// How many were opened: each counts from a start of its own.
    opened: u64,
}

impl Versions {
    pub(super) fn new(file: &Arc<File>) -> Self {
        Self { file: Arc::clone(file), watch: Arc::default() }
    }

    /// The version now; `None` where the file is in use in a way that would make this wait.
    pub(super) async fn now(&self) -> StoreResult<Option<StoreVersion>> {
        // A look at memory that the processes share, which waits for nothing: a thread of its own would cost more.
        if let Some(version) = self.watch.lock().look() {
            return Ok(Some(version));
        }
        let (file, watch) = (Arc::clone(&self.file), Arc::clone(&self.watch));
        blocking(move || {
            // Somebody else may have opened it meanwhile. It is opened outside of the lock, which others wait for.
            if let Some(version) = watch.lock().look() {
                return Some(version);
            }
            let conn = connect(&file);
            let mut watch = watch.lock();
            watch.take(conn);
            watch.look()
        })
        .await
    }
}

/// A connection that waits for nobody; none where the file cannot be opened: whoever goes on to read learns why.
fn connect(file: &File) -> Option<Connection> {
    let conn = file.connect(Mode::Read).ok()?;
    conn.busy_timeout(std::time::Duration::ZERO).ok()?;
    Some(conn)
}

impl Watch {
    /// Looks by a connection from now on, unless there is one.
    fn take(&mut self, conn: Option<Connection>) {
        if self.conn.is_none() && conn.is_some() {
            self.conn = conn;
            self.opened += 1;
        }
    }

    fn look(&mut self) -> Option<StoreVersion> {
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
