//! Stores for the durability tests.

use std::sync::Arc;

use docs_core::store::{Mode, Store, Tx, decode, records::RevisionRecord, verify};
use docs_sqlstore::{Options, PostgresStore, SqliteStore};
use tempfile::TempDir;

use crate::durable::proxy::Proxy;

pub(crate) struct Stand {
    /// The store URL, in the format of `--store`.
    pub(crate) url: String,
    /// The folder of the store, deleted on drop.
    _folder: Option<TempDir>,
}

/// Creates a store in a new SQLite file.
pub(crate) fn sqlite() -> Stand {
    let folder = TempDir::new().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("docs.db").display());
    Stand { url, _folder: Some(folder) }
}

/// Creates a new schema on the server given by `DOCS_TEST_POSTGRES`. If that is not set, prints a message and returns
/// `None`.
pub(crate) async fn postgres() -> Option<Stand> {
    let Ok(server) = std::env::var("DOCS_TEST_POSTGRES") else {
        println!("not run: DOCS_TEST_POSTGRES names no server");
        return None;
    };
    let schema = format!(
        "durable_{}",
        docs_core::ports::id_text(docs_core::ports::Ids::next(&docs_core::ports::RandomIds))
    );
    let (client, connection) =
        tokio_postgres::connect(&server, tokio_postgres::NoTls).await.expect("the server can be reached");
    let connection = tokio::spawn(connection);
    client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a new schema");
    drop(client);
    connection.await.expect("the connection ends").expect("in order");
    let mark = if server.contains('?') { '&' } else { '?' };
    Some(Stand { url: format!("{server}{mark}options=-c%20search_path%3D{schema}"), _folder: None })
}

impl Stand {
    async fn open(&self) -> Arc<dyn Store> {
        match self.url.strip_prefix("sqlite:") {
            Some(path) => Arc::new(SqliteStore::open(path, Options::new()).await.expect("it opens")),
            None => Arc::new(PostgresStore::open(&self.url, Options::new()).await.expect("it opens")),
        }
    }

    /// Returns a proxy to the database, and the store URL through that proxy.
    pub(crate) async fn through_proxy(&self) -> (Proxy, String) {
        let config: tokio_postgres::Config = self.url.parse().expect("the URL of a server");
        let (host, port) = (&config.get_hosts()[0], config.get_ports().first().copied().unwrap_or(5432));
        let tokio_postgres::config::Host::Tcp(host) = host else { panic!("tests need a server on TCP") };
        let proxy = Proxy::new(&format!("{host}:{port}")).await;
        let url = self.url.replacen(&format!("{host}:{port}"), &proxy.at.to_string(), 1);
        assert!(url != self.url, "the URL of the server names its port");
        (proxy, url)
    }

    /// Returns the number of the space's revisions that were imported from Git.
    pub(crate) async fn imports(&self, space: &str) -> usize {
        let store = self.open().await;
        let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("the store is there"));
        let space = space.parse().expect("an id");
        let rows =
            tx.scan_prefix(&RevisionRecord::by_space(&space), 1_000).await.expect("the store can be read");
        let revisions =
            rows.into_iter().map(|(_, value)| decode::<RevisionRecord>(value).expect("a revision"));
        revisions.filter(|revision| revision.git.is_some()).count()
    }

    /// Asserts that all index rows, unique values and counters match the records.
    pub(crate) async fn verify(&self) {
        let drift = verify(self.open().await.as_ref()).await.expect("the store can be read");
        assert!(drift.is_none(), "{drift:?}");
    }
}
