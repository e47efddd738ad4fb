//! The conformance suite on a PostgreSQL server, and tests of PostgreSQL features.
//!
//! `DOCS_TEST_POSTGRES` is the URL of a server and a database where the tests may create schemas and terminate
//! sessions. Without it, the tests are skipped with a message.

use std::{
    io::{Write as _, stderr},
    sync::{Arc, Once},
    time::Duration,
};

use async_trait::async_trait;
use docs_core::{
    ports::{Ids as _, RandomIds, id_text},
    store::{
        Batch, Entity as _, FeedItem, Hash, Key, Mode, Objects, Op, Store, StoreResult, Txn, Value,
        conformance::{Factory, Note},
    },
};
use docs_memstore::ManualClock;
use docs_sqlstore::{OpenError, Options, PostgresStore};
use parking_lot::Mutex;
use tokio_postgres::{Client, NoTls};

/// Environment variable with the server URL.
const SERVER: &str = "DOCS_TEST_POSTGRES";

/// Creates stores in separate schemas, with a clock controlled by the test. The schemas are dropped at the end.
pub(super) struct Postgres {
    server: String,
    pub(super) clock: ManualClock,
    /// The last schema belongs to the test's store or objects.
    schemas: Mutex<Vec<String>>,
}

impl Postgres {
    /// Returns `None` if no server is configured.
    pub(super) fn new() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            static SAID: Once = Once::new();
            // Written directly to stderr, because the test harness hides the output of passing tests.
            SAID.call_once(|| drop(writeln!(stderr(), "not run: {SERVER} names no PostgreSQL server")));
            return None;
        };
        Some(Self { server, clock: ManualClock::default(), schemas: Mutex::default() })
    }

    /// Opens a session that is independent of the store.
    async fn admin(&self) -> Client {
        connect(&self.server).await
    }

    /// Creates a schema. Its name is also the `application_name` of its stores.
    pub(super) async fn new_schema(&self) -> String {
        let schema = format!("docs_test_{}", id_text(RandomIds.next()));
        self.admin()
            .await
            .batch_execute(&format!("CREATE SCHEMA {schema}"))
            .await
            .expect("a schema can be made");
        self.schemas.lock().push(schema.clone());
        schema
    }

    fn schema(&self) -> String {
        self.schemas.lock().last().cloned().expect("there is a store")
    }

    fn url(&self, schema: &str) -> String {
        let more = if self.server.contains('?') { '&' } else { '?' };
        format!("{}{more}application_name={schema}&options=-c%20search_path%3D{schema}", self.server)
    }

    fn options(&self) -> Options {
        Options::new().clock(Arc::new(self.clock.clone())).kinds([Note::KIND])
    }

    /// Opens a store on the schema.
    pub(super) async fn open(&self, schema: &str) -> Result<PostgresStore, OpenError> {
        PostgresStore::open(&self.url(schema), self.options()).await
    }

    async fn fresh(&self) -> PostgresStore {
        let schema = self.new_schema().await;
        self.open(&schema).await.expect("the store can be opened")
    }

    /// Terminates all sessions of the schema's stores, as a server shutdown would.
    async fn kill(&self) {
        let sql = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name = $1";
        self.admin().await.query(sql, &[&self.schema()]).await.expect("sessions can be ended");
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server is there");
    // The task ends when the client is dropped.
    tokio::spawn(connection);
    client
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let (server, schemas) = (self.server.clone(), std::mem::take(&mut *self.schemas.lock()));
        // On a separate thread, because the test's runtime cannot block here.
        let clean = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let admin = connect(&server).await;
                let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity \
                           WHERE application_name = ANY($1::text[])";
                admin.query(end, &[&schemas]).await.map_err(std::io::Error::other)?;
                for schema in schemas {
                    let sql =
                        format!("SET client_min_messages = warning; DROP SCHEMA IF EXISTS {schema} CASCADE");
                    admin.batch_execute(&sql).await.map_err(std::io::Error::other)?;
                }
                Ok(())
            })
        };
        let cleaned: std::thread::Result<std::io::Result<()>> = std::thread::spawn(clean).join();
        if !matches!(cleaned, Ok(Ok(()))) {
            println!("the schemas of the test are left behind: {cleaned:?}");
        }
    }
}

#[async_trait]
impl Factory for Postgres {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.fresh().await)
    }

    async fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(self.fresh().await.objects())
    }

    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        self.kill().await;
        drop(store);
        Arc::new(self.open(&self.schema()).await.expect("the store can be opened again"))
    }

    async fn pass(&self, by: Duration) {
        self.clock.advance(by);
    }

    async fn damage(&self, domain: &str, hash: Hash) {
        let sql = format!(
            "UPDATE {}.obj SET data = data || '\\x00'::bytea WHERE domain = $1 AND h = $2",
            self.schema()
        );
        let done = self.admin().await.execute(&sql, &[&domain, &hash.to_string()]).await;
        assert_eq!(done.expect("the table is there"), 1, "the object is there");
    }
}

/// Returns the factory, or returns from the test if no server is configured.
macro_rules! postgres {
    () => {
        match crate::postgres::Postgres::new() {
            Some(factory) => factory,
            None => return,
        }
    };
}

mod connections;
mod feed;
mod opening;
mod proxy;
#[cfg(feature = "tls")]
mod tls;
mod transactions;

mod suite {
    docs_core::suite!(postgres!());
}

fn put(key: &str, n: i64) -> Op {
    Op::Put(key.into(), Value::Int(n))
}

fn create(key: &str) -> Op {
    Op::Create(key.into(), Value::Unit)
}

fn ops(ops: Vec<Op>) -> Batch {
    Batch { ops, feed: Vec::new() }
}

fn item(topic: u16, key: &str) -> FeedItem {
    FeedItem { topic, key: key.into() }
}

async fn begin(store: &PostgresStore, mode: Mode) -> Box<dyn Txn> {
    store.begin(mode, &[]).await.expect("the server is there")
}

/// Commits changes in a transaction that reads nothing.
async fn commit(store: &PostgresStore, changes: Vec<Op>) -> StoreResult<()> {
    store.begin(Mode::Write, &[]).await?.commit(ops(changes)).await
}

/// Reads a number, or 0 if the key does not exist.
async fn int(txn: &dyn Txn, key: &str) -> StoreResult<i64> {
    Ok(match txn.get(&[Key::from(key)]).await?.remove(0) {
        Some(Value::Int(n)) => n,
        _ => 0,
    })
}

/// Reads a number in a new transaction.
async fn now(store: &PostgresStore, key: &str) -> i64 {
    int(&*begin(store, Mode::Read).await, key).await.expect("reading is fine")
}
