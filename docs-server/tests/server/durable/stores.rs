//! Where the servers of these tests keep their data.

use std::sync::Arc;

use docs_core::store::{Mode, Store, Tx, decode, records::RevisionRecord, verify};
use docs_sqlstore::{Options, PostgresStore, SqliteStore};
use tempfile::TempDir;

use crate::durable::proxy::Proxy;

/// A store for one test.
pub(crate) struct Stand {
    /// As the server takes it.
    pub(crate) url: String,
    /// Removed with the stand.
    _folder: Option<TempDir>,
}

/// A new file.
pub(crate) fn sqlite() -> Stand {
    let folder = TempDir::new().expect("a folder");
    let url = format!("sqlite:{}", folder.path().join("docs.db").display());
    Stand { url, _folder: Some(folder) }
}

/// A new schema of the server that `DOCS_TEST_POSTGRES` names; `None`, and a line that says so, without one.
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

    /// The same database behind a proxy that can be cut.
    pub(crate) async fn through_proxy(&self) -> (Proxy, String) {
        let config: tokio_postgres::Config = self.url.parse().expect("the URL of a server");
        let (host, port) = (&config.get_hosts()[0], config.get_ports().first().copied().unwrap_or(5432));
        let tokio_postgres::config::Host::Tcp(host) = host else { panic!("tests need a server on TCP") };
        let proxy = Proxy::new(&format!("{host}:{port}")).await;
        let url = self.url.replacen(&format!("{host}:{port}"), &proxy.at.to_string(), 1);
        assert!(url != self.url, "the URL of the server names its port");
        (proxy, url)
    }

    /// How many revisions of a space came from Git.
    pub(crate) async fn imports(&self, space: &str) -> usize {
        let store = self.open().await;
        let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("the store is there"));
        let space = space.parse().expect("an id");
        let rows = tx.below(&RevisionRecord::of_space(&space), 1_000).await.expect("the store can be read");
        let revisions =
            rows.into_iter().map(|(_, value)| decode::<RevisionRecord>(value).expect("a revision"));
        revisions.filter(|revision| revision.git.is_some()).count()
    }

    /// Every index row, unique value and counter is what the records call for.
    pub(crate) async fn verify(&self) {
        let drift = verify(self.open().await.as_ref()).await.expect("the store can be read");
        assert!(drift.is_none(), "{drift:?}");
    }
}
