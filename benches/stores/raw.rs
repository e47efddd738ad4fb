//! The bare drivers, limited to the statements that the stores run for the same operation.

use std::path::Path;

use docs_benches::{Outcome, key, value};
use docs_core::store::{Key, Value};
use futures_util::future::try_join_all;
use rusqlite::{Connection, params};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, Statement, types::ToSql};

/// The driver of either database.
pub(crate) enum Raw {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Raw {
    pub(crate) fn get(&self, rt: &Runtime, key: &str) -> Outcome<String> {
        match self {
            Self::Sqlite(it) => it.get(key),
            Self::Postgres(it) => rt.block_on(it.get(key)),
        }
    }

    pub(crate) fn list(&self, rt: &Runtime, from: &str, to: &str) -> Outcome<usize> {
        match self {
            Self::Sqlite(it) => it.list(from, to),
            Self::Postgres(it) => rt.block_on(it.list(from, to)),
        }
    }

    pub(crate) fn write(&self, rt: &Runtime, n: usize) -> Outcome<()> {
        match self {
            Self::Sqlite(it) => it.write(n),
            Self::Postgres(it) => rt.block_on(it.write(n)),
        }
    }
}

fn json(n: usize) -> String {
    match value(n) {
        Value::Json(json) => String::from_utf8_lossy(&json).into_owned(),
        other => format!("{other:?}"),
    }
}

const GET: &str = "SELECT v, n FROM ix WHERE k = ?1";
const LIST: &str = "SELECT v, n, k FROM ix WHERE k >= ?1 AND k < ?2 ORDER BY k LIMIT 50";

pub(crate) struct Sqlite(Connection);

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let conn = Connection::open(path)?;
        conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        Ok(Self(conn))
    }

    fn get(&self, key: &str) -> Outcome<String> {
        self.0.execute_batch("BEGIN")?;
        let json = self.0.prepare_cached(GET)?.query_row([key], |row| row.get(0))?;
        self.0.execute_batch("COMMIT")?;
        Ok(json)
    }

    fn list(&self, from: &str, to: &str) -> Outcome<usize> {
        self.0.execute_batch("BEGIN")?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?));
        let rows: Vec<_> =
            self.0.prepare_cached(LIST)?.query_map([from, to], read)?.collect::<Result<_, _>>()?;
        self.0.execute_batch("COMMIT")?;
        Ok(rows.len())
    }

    fn write(&self, n: usize) -> Outcome<()> {
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        let _: String = self.0.prepare_cached(GET)?.query_row([&*key(n)], |row| row.get(0))?;
        let mut list = self.0.prepare_cached(LIST)?;
        let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(2);
        let _: Vec<String> = list.query_map([&*key(n), &*key(n + 10)], read)?.collect::<Result<_, _>>()?;
        let put = "INSERT INTO ix (k, v, n) VALUES (?1, ?2, NULL) ON CONFLICT (k) DO UPDATE SET v = excluded.v, n = NULL";
        for i in 0..5 {
            self.0.prepare_cached(put)?.execute(params![&*key(n + i * 7), json(n)])?;
        }
        let add = "INSERT INTO ctr (k, n) VALUES (?1, 1) ON CONFLICT (k) DO UPDATE SET n = n + excluded.n";
        self.0.prepare_cached(add)?.execute(["ctr!bench"])?;
        self.0.prepare_cached("INSERT INTO feed (topic, k) VALUES (1, ?1)")?.execute([&*key(n)])?;
        self.0.execute_batch("COMMIT")?;
        Ok(())
    }
}

pub(crate) struct Postgres {
    client: Client,
    get: Statement,
    list: Statement,
    put: Statement,
    add: Statement,
    feed: Statement,
}

/// Creates a schema on a server. Returns a URL that selects the schema.
pub(crate) async fn schema(server: &str, name: &str) -> Outcome<String> {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    let connection = tokio::spawn(connection);
    client.batch_execute(&format!("CREATE SCHEMA {name}")).await?;
    drop(client);
    connection.await??;
    let mark = if server.contains('?') { '&' } else { '?' };
    Ok(format!("{server}{mark}options=-c%20search_path%3D{name}"))
}

impl Postgres {
    pub(crate) async fn connect(url: &str) -> Outcome<Self> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        // The task ends when the client is dropped.
        tokio::spawn(connection);
        client.batch_execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan; SET jit = off").await?;
        Ok(Self {
            get: client.prepare("SELECT k, v::text, n FROM ix WHERE k = ANY($1::text[])").await?,
            list: client.prepare("SELECT k, v::text, n FROM ix WHERE k >= $1 AND k < $2 ORDER BY k LIMIT $3").await?,
            put: client.prepare("INSERT INTO ix (k, v) SELECT * FROM unnest($1::text[], $2::text[]::jsonb[]) ON CONFLICT (k) DO UPDATE SET v = excluded.v, n = NULL").await?,
            add: client.prepare("INSERT INTO ctr (k, n) VALUES ($1, 1)").await?,
            feed: client.prepare("INSERT INTO feed (topic, era, seq, k) VALUES (1, 0, 0, $1)").await?,
            client,
        })
    }

    async fn get(&self, key: &str) -> Outcome<String> {
        let begin = self.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        let keys = vec![key];
        let arguments: [&(dyn ToSql + Sync); 1] = [&keys];
        let read = self.client.query(&self.get, &arguments);
        let ((), rows) = tokio::try_join!(begin, read)?;
        self.client.batch_execute("COMMIT").await?;
        Ok(rows.first().ok_or("no row")?.try_get(1)?)
    }

    async fn list(&self, from: &str, to: &str) -> Outcome<usize> {
        let begin = self.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        let arguments: [&(dyn ToSql + Sync); 3] = [&from, &to, &50_i64];
        let read = self.client.query(&self.list, &arguments);
        let ((), rows) = tokio::try_join!(begin, read)?;
        self.client.batch_execute("COMMIT").await?;
        Ok(rows.len())
    }

    async fn write(&self, n: usize) -> Outcome<()> {
        let begin = self.client.batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE");
        let (at, to) = (key(n), key(n + 10));
        let keys = vec![&*at];
        let arguments: [&(dyn ToSql + Sync); 1] = [&keys];
        tokio::try_join!(begin, self.client.query(&self.get, &arguments))?;
        let arguments: [&(dyn ToSql + Sync); 3] = [&&*at, &&*to, &10_i64];
        self.client.query(&self.list, &arguments).await?;
        let puts: Vec<Key> = (0..5).map(|i| key(n + i * 7)).collect();
        let keys: Vec<&str> = puts.iter().map(|key| &**key).collect();
        let values = vec![json(n); 5];
        let put: [&(dyn ToSql + Sync); 2] = [&keys, &values];
        let add: [&(dyn ToSql + Sync); 1] = [&"ctr!bench"];
        let feed: [&(dyn ToSql + Sync); 1] = [&&*at];
        let writes = try_join_all([
            self.client.execute(&self.put, &put),
            self.client.execute(&self.add, &add),
            self.client.execute(&self.feed, &feed),
        ]);
        let (_, ()) = tokio::try_join!(writes, self.client.batch_execute("COMMIT"))?;
        Ok(())
    }
}
