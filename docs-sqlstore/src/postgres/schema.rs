//! Creation and migration of the tables when a store is opened.

use deadpool_postgres::{Client, Transaction};
use tokio_postgres::Error;

use super::error::describe;
use crate::{
    layout::{Layout, Table},
    options::OpenError,
};

/// Oldest supported server version. The store needs `xid8`, `xid8` snapshots, and the detection of lost sessions.
const MIN_SERVER_VERSION: i32 = 140_000;
/// Minimum number of predicate locks per transaction. With fewer, a transaction that reads a few dozen rows locks a
/// whole table.
const MIN_PREDICATE_LOCKS: i32 = 1_024;
/// Migrations in order. The schema version is the number of applied migrations.
const MIGRATIONS: &[&str] =
    &[include_str!("../../migrations/postgres/0001.sql"), include_str!("../../migrations/postgres/0002.sql")];

/// Properties of an opened database.
pub(super) struct SchemaInfo {
    /// Name of the schema that contains the tables.
    pub(super) schema: String,
    /// Era of the feed.
    pub(super) era: i32,
}

/// Checks the server, and creates or migrates the tables.
pub(super) async fn prepare(
    client: &mut Client,
    layout: &Layout,
    place: &str,
) -> Result<SchemaInfo, OpenError> {
    let unusable = |why: String| OpenError::Unusable { place: place.to_owned(), why };
    let failed = |error: Error| unusable(describe(&error));
    let server = server(client).await.map_err(failed)?;
    if server.version < MIN_SERVER_VERSION {
        let (major, oldest) = (server.version / 10_000, MIN_SERVER_VERSION / 10_000);
        return Err(unusable(format!("its version is PostgreSQL {major}, must be {oldest} or newer")));
    }
    if server.encoding != "UTF8" {
        return Err(unusable(format!("its encoding is {}, must be UTF8", server.encoding)));
    }
    if server.pred_locks < MIN_PREDICATE_LOCKS {
        tracing::warn!(
            max_pred_locks_per_transaction = server.pred_locks,
            "large read transactions will be retried; set the value to {MIN_PREDICATE_LOCKS} or more"
        );
    }
    let Some(schema) = server.schema else {
        return Err(unusable("no schema of its `search_path` exists; create one, or set another".into()));
    };
    let transaction = client.build_transaction().read_only(false).start().await.map_err(failed)?;
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    let version = lock(&transaction).await.map_err(failed)?;
    if version > known {
        let (found, known) = (i64::from(version), i64::from(known));
        return Err(OpenError::Newer { place: place.to_owned(), found, known });
    }
    migrate(&transaction, version).await.map_err(failed)?;
    create_kind_tables(&transaction, layout).await.map_err(failed)?;
    let era = era(&transaction).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(SchemaInfo { schema, era })
}

struct Server {
    version: i32,
    encoding: String,
    pred_locks: i32,
    schema: Option<String>,
}

async fn server(client: &Client) -> Result<Server, Error> {
    let sql = "\
        SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'), \
        current_setting('max_pred_locks_per_transaction')::integer, current_schema()::text";
    let row = client.query_one(sql, &[]).await?;
    Ok(Server {
        version: row.try_get(0)?,
        encoding: row.try_get(1)?,
        pred_locks: row.try_get(2)?,
        schema: row.try_get(3)?,
    })
}

/// Locks the schema until the transaction ends, so that it cannot be opened concurrently, and returns its version.
async fn lock(transaction: &Transaction<'_>) -> Result<i32, Error> {
    // A migration may take longer than other statements.
    transaction
        .batch_execute(
            "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'; \
             SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.docs_schema', 0))",
        )
        .await?;
    if !has_table(transaction, "docs_schema").await? {
        let sql = "\
            CREATE TABLE docs_schema (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())";
        transaction.batch_execute(sql).await?;
    }
    let sql = "SELECT coalesce(max(version), 0) FROM docs_schema";
    transaction.query_one(sql, &[]).await?.try_get(0)
}

async fn migrate(transaction: &Transaction<'_>, version: i32) -> Result<(), Error> {
    for (number, sql) in (1_i32..).zip(MIGRATIONS) {
        if number > version {
            transaction.batch_execute(sql).await?;
            transaction.execute("INSERT INTO docs_schema (version) VALUES ($1)", &[&number]).await?;
            tracing::info!(version = number, "migrate tables");
        }
    }
    Ok(())
}

/// Creates the tables of record kinds that are not part of a migration.
async fn create_kind_tables(transaction: &Transaction<'_>, layout: &Layout) -> Result<(), Error> {
    for kind in layout.kinds() {
        let table = Table::Records(kind).to_string();
        if !has_table(transaction, &table).await? {
            let sql = format!(
                "CREATE TABLE IF NOT EXISTS {table} (k text COLLATE \"C\" PRIMARY KEY, doc jsonb NOT NULL)"
            );
            transaction.batch_execute(&sql).await?;
        }
    }
    Ok(())
}

async fn has_table(transaction: &Transaction<'_>, table: &str) -> Result<bool, Error> {
    let sql = "\
        SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = $1)";
    transaction.query_one(sql, &[&table]).await?.try_get(0)
}

/// Returns the era of the feed. Starts a new era if the database was copied to a cluster with lower transaction ids.
async fn era(transaction: &Transaction<'_>) -> Result<i32, Error> {
    let next = "pg_snapshot_xmax(pg_current_snapshot())";
    let sql = format!(
        "UPDATE feed_era SET era = era + 1, upto = '0' WHERE upto >= {next} \
         OR EXISTS (SELECT FROM feed WHERE feed.era = feed_era.era AND feed.xid >= {next})"
    );
    if transaction.execute(&sql, &[]).await? > 0 {
        tracing::info!("continue feed in a new era, because the database was copied from another cluster");
    }
    transaction.query_one("SELECT era FROM feed_era", &[]).await?.try_get(0)
}
