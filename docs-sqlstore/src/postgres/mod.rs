//! A store in a PostgreSQL database.

mod connect;
mod error;
mod feed;
mod fold;
mod objects;
mod presence;
mod schema;
mod session;
mod sql;
mod state;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod txn;
mod txn_purpose;
mod version;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_store::{FeedPos, Key, Mode, Store, StoreResult, StoreVersion, Txn, all_keys};
use tokio::sync::{Semaphore, watch};
use tokio_postgres::{
    Socket,
    tls::{MakeTlsConnect, TlsConnect},
};

use self::{presence::Presence, state::PostgresState, txn_purpose::TxnPurpose};
use crate::{
    objects::TableObjects,
    options::{OpenError, Options},
};

/// A [`Store`] in a PostgreSQL database, shared by any number of processes. Clones refer to the same store.
///
/// Write transactions use PostgreSQL's serializable isolation. A read transaction sees one snapshot and never
/// conflicts. All reads of a call take a single round trip, and so does a commit. The tables are created in the first
/// schema of `search_path`; the views `v_space`, `v_member` and `v_site` help to inspect them.
///
/// The server must be PostgreSQL 14 or newer, with `max_pred_locks_per_transaction` set to 1024 or more. With fewer
/// locks, transactions that read a few dozen rows often have to be retried. A connection pooler between the store and
/// the server must not share a session among clients.
///
/// Hot keys are implemented as advisory locks: a transaction waits for earlier ones, at most as long as for a
/// connection, and then continues without the locks. [`all_keys`] also locks the table of index rows: writers wait
/// until that transaction ends.
///
/// In addition to [`Options::connections`], one connection holds an advisory lock through which the processes that use
/// a schema detect each other ([`Options::sharing`]).
///
/// A call that gets no connection within [`Options::wait`] returns
/// [`StoreError::Unavailable`](docs_store::StoreError::Unavailable). After a server outage, the store recovers
/// automatically. If the connection is lost during a commit, the result is
/// [`StoreError::Unknown`](docs_store::StoreError::Unknown).
///
/// A feed item is returned once all transactions in the database cluster that started to write before it have ended. A
/// long transaction, such as building an index, delays the feed; nothing is lost or reordered.
///
/// # Example
/// ```no_run
/// use docs_sqlstore::{Options, PostgresStore};
///
/// # async fn open() -> Result<(), docs_sqlstore::OpenError> {
/// let url = "postgres://docs:secret@db.example.com/docs";
/// let store = PostgresStore::open(url, Options::new().connections(8)).await?;
/// let objects = store.objects();
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct PostgresStore(Arc<PostgresState>);

/// Timeout for opening a store, including migrations.
const OPEN_TIMEOUT: Duration = Duration::from_secs(60);

impl PostgresStore {
    /// Opens the store at a URL such as `postgres://user:password@host:port/database`, and creates or migrates its
    /// tables.
    ///
    /// With the feature `tls`, encryption is determined by `sslmode` in the URL: `disable`, `prefer`, `require`,
    /// `verify-ca` or `verify-full`, as in libpq. `sslrootcert` is the path of a file with trusted certificates.
    /// Without the feature, connections are never encrypted.
    ///
    /// # Errors
    /// [`OpenError`] if the URL is malformed or requires TLS without the feature, if the server is unreachable or too
    /// old, or if a newer program version has migrated the tables.
    pub async fn open(url: &str, options: Options) -> Result<Self, OpenError> {
        #[cfg(feature = "tls")]
        {
            let (url, asked) = tls::split(url)?;
            let mut config = connect::config(&url, &options)?;
            config.ssl_mode(asked.ssl_mode());
            connect::name_addresses(&mut config);
            Self::open_config(config, options, tls::connector(&asked)?).await
        }
        #[cfg(not(feature = "tls"))]
        {
            let config = connect::config(url, &options)?;
            connect::check_plain(&config)?;
            Self::open_config(config, options, tokio_postgres::NoTls).await
        }
    }

    /// Opens the store with the caller's TLS connector. `sslmode` in the URL must be `disable`, `prefer` or `require`;
    /// the connector determines which certificates are accepted.
    ///
    /// # Errors
    /// The same as for [`open`](PostgresStore::open).
    pub async fn open_with_tls<T>(url: &str, options: Options, tls: T) -> Result<Self, OpenError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + Sync,
        T::TlsConnect: Send + Sync,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        Self::open_config(connect::config(url, &options)?, options, tls).await
    }

    async fn open_config<T>(
        config: tokio_postgres::Config,
        options: Options,
        tls: T,
    ) -> Result<Self, OpenError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + Sync,
        T::TlsConnect: Send + Sync,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let layout = options.layout()?;
        let place = connect::place(&config);
        let pool = connect::pool(config, &options, tls)?;
        let unusable = |why: String| OpenError::Unusable { place: place.clone(), why };
        let prepared = async {
            let mut client = pool.get().await.map_err(|e| unusable(error::connection_message(&e)))?;
            let found = schema::prepare(&mut client, &layout, &place).await?;
            drop(client);
            let presence = Presence::take(&pool, &place, &options).await?;
            Ok((found, presence))
        };
        // A server may accept the connection and then never respond.
        let (schema::SchemaInfo { schema, era }, presence) = tokio::time::timeout(OPEN_TIMEOUT, prepared)
            .await
            .map_err(|_| unusable("it does not respond; check its load and its locks".into()))??;
        Ok(Self(Arc::new(PostgresState {
            pool,
            layout,
            clock: options.time_source(),
            options,
            place,
            schema,
            era,
            news: watch::Sender::new(0),
            folding: Arc::new(Semaphore::new(1)),
            presence,
        })))
    }

    /// Returns the objects in the same database.
    #[must_use]
    pub fn objects(&self) -> TableObjects {
        let rows = objects::PostgresObjectRows(Arc::clone(&self.0));
        TableObjects::new(rows, &self.0.options)
    }

    /// Folds counters with many rows into one row each. The store also does this automatically for a sample of its
    /// additions.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`](docs_store::StoreError::Unavailable).
    pub async fn fold(&self, counters: &[Key]) -> StoreResult<()> {
        fold::fold(&self.0, counters).await
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        let work = if mode == Mode::Read { TxnPurpose::Read } else { TxnPurpose::Write };
        let session = self.0.session(work).await?;
        if mode == Mode::Write && !hot.is_empty() {
            let mut locks: Vec<i64> = hot.iter().map(|key| self.0.lock_id(key)).collect();
            // All transactions take locks in the same order.
            locks.sort_unstable();
            locks.dedup();
            session.lock(locks).await?;
            if hot.contains(&all_keys()) {
                session.lock_out().await?;
            }
        }
        Ok(Box::new(txn::PostgresTxn::new(Arc::clone(&self.0), session, mode)))
    }

    async fn version(&self) -> StoreResult<Option<StoreVersion>> {
        version::current_version(&self.0).await.map(Some)
    }

    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        feed::changes(&self.0, topic, after.as_ref(), max).await
    }

    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        feed::changed(&self.0, topic, after.as_ref(), wait).await
    }

    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        feed::trim(&self.0, topic, upto).await
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &self.0.place)
            .field("schema", &self.0.schema)
            .finish_non_exhaustive()
    }
}
