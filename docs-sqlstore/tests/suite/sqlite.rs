//! The conformance suite on an SQLite file, and tests of SQLite features.

mod crash;
mod file;
mod objects;
mod transactions;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use docs_core::store::{
    Batch, Hash, Key, Mode, Objects, Op, Store, StoreResult, Txn, Value,
    conformance::{Factory, Note},
};
use docs_memstore::ManualClock;
use docs_sqlstore::{Options, SqliteStore};
use parking_lot::Mutex;
use rusqlite::Connection;
use tempfile::TempDir;

/// Creates stores in a separate folder, with a clock controlled by the test.
pub(super) struct Sqlite {
    folder: TempDir,
    clock: ManualClock,
    /// Number of simulated crashes.
    crashes: Mutex<u32>,
}

impl Sqlite {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        Self { folder, clock: ManualClock::default(), crashes: Mutex::new(0) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self) -> Options {
        let kind = <Note as docs_core::store::Entity>::KIND;
        // Writes to the disk of a busy machine take seconds.
        Options::new().clock(Arc::new(self.clock.clone())).kinds([kind]).wait(Duration::from_secs(60))
    }

    async fn open(&self, name: &str) -> SqliteStore {
        SqliteStore::open(self.path(name), self.options()).await.expect("the database can be opened")
    }
}

#[async_trait]
impl Factory for Sqlite {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.open("store-0.sqlite").await)
    }

    async fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(self.open("objects.sqlite").await.objects())
    }

    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let (old, new) = {
            let mut crashes = self.crashes.lock();
            *crashes += 1;
            (format!("store-{}.sqlite", *crashes - 1), format!("store-{crashes}.sqlite"))
        };
        let (from, to) = (self.path(&old), self.path(&new));
        tokio::task::spawn_blocking(move || copy_as_a_crash(&from, &to)).await.expect("copying is fine");
        drop(store);
        Arc::new(self.open(&new).await)
    }

    async fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    async fn damage(&self, domain: &str, hash: Hash) {
        let conn = Connection::open(self.path("objects.sqlite")).expect("the database can be opened");
        let sql = "UPDATE obj SET data = CAST(data || x'00' AS BLOB) WHERE domain = ?1 AND h = ?2";
        let done = conn.execute(sql, [domain, &hash.to_string()]).expect("the table is there");
        assert_eq!(done, 1, "the object is there");
    }
}

/// Copies a database and its log as of one moment, while the database is open.
///
/// The lock blocks commits. A checkpoint may still write to the file, as during a crash, because the log contains the
/// same data.
fn copy_as_a_crash(from: &Path, to: &Path) {
    let lock = Connection::open(from).expect("the database can be opened");
    lock.execute_batch("BEGIN IMMEDIATE").expect("a commit under way comes to its end");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        std::fs::copy(name(from), name(to)).expect("there is room for a copy");
    }
}

fn put(key: &str, n: i64) -> Op {
    Op::Put(key.into(), Value::Int(n))
}

async fn begin(store: &SqliteStore, mode: Mode) -> Box<dyn Txn> {
    store.begin(mode, &[]).await.expect("the database is there")
}

async fn commit(store: &SqliteStore, ops: Vec<Op>) -> StoreResult<()> {
    begin(store, Mode::Write).await.commit(Batch { ops, feed: vec![] }).await
}

async fn int(txn: &dyn Txn, key: &str) -> Option<i64> {
    match txn.get(&[Key::from(key)]).await.expect("the transaction is open").remove(0) {
        Some(Value::Int(n)) => Some(n),
        other => other.map(|value| panic!("{value:?} where a number was put")),
    }
}

mod suite {
    docs_core::suite!(super::Sqlite::new());
}
