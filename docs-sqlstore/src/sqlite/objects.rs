//! The table of objects.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_store::{Hash, StoreError, StoreResult};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{error::ConnectionResult, state::SqliteState};
use crate::objects::{ObjectLocation, ObjectRows};

#[derive(Clone)]
pub(crate) struct SqliteObjectRows(pub(super) Arc<SqliteState>);

impl fmt::Debug for SqliteObjectRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").finish_non_exhaustive()
    }
}

#[async_trait]
impl ObjectRows for SqliteObjectRows {
    async fn touch(&self, domain: &str, hashes: &[Hash], now: DateTime<Utc>) -> StoreResult<Vec<Hash>> {
        let (domain, hashes) = (domain.to_owned(), hashes.to_vec());
        self.0.write(move |conn| touch(conn, &domain, hashes, now)).await
    }

    async fn insert(
        &self,
        domain: &str,
        rows: Vec<(Hash, usize, ObjectLocation)>,
        now: DateTime<Utc>,
    ) -> StoreResult<()> {
        let domain = domain.to_owned();
        self.0.write(move |conn| rows.iter().try_for_each(|row| insert(conn, &domain, row, now))).await
    }

    async fn read(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<ObjectLocation>>> {
        let (domain, hashes) = (domain.to_owned(), hashes.to_vec());
        self.0.read(move |conn| hashes.iter().map(|hash| read(conn, &domain, hash)).collect()).await
    }

    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        before: DateTime<Utc>,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        let domain = domain.to_owned();
        self.0
            .read(move |conn| {
                let sql = "SELECT raw FROM obj WHERE domain = ?1 AND raw > ?2 AND touched <= ?3 \
                           ORDER BY raw LIMIT ?4";
                let after = after.as_ref().map_or(&[][..], |hash| hash.as_bytes());
                let mut select = conn.prepare_cached(sql)?;
                let raw = |row: &Row<'_>| row.get(0).map(Hash::from_bytes);
                let found = select.query_map(params![domain, after, before.timestamp_millis(), max], raw)?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn condemn(
        &self,
        domain: &str,
        hashes: &[Hash],
        before: DateTime<Utc>,
    ) -> StoreResult<Vec<(Hash, String)>> {
        let (domain, hashes) = (domain.to_owned(), hashes.to_vec());
        self.0.write(move |conn| condemn(conn, &domain, hashes, before)).await
    }

    async fn remove(&self, domain: &str, rows: &[(Hash, String)]) -> StoreResult<()> {
        let (domain, rows) = (domain.to_owned(), rows.to_vec());
        self.0
            .write(move |conn| {
                let sql = "DELETE FROM obj WHERE domain = ?1 AND h = ?2 AND loc = ?3 AND dying IS NOT NULL";
                for (hash, loc) in rows {
                    conn.prepare_cached(sql)?.execute(params![domain, hash.to_string(), loc])?;
                }
                Ok(())
            })
            .await
    }

    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>> {
        let mut after = after.unwrap_or_default().to_owned();
        self.0
            .read(move |conn| {
                // Skip from each domain directly to the next one, without visiting its objects.
                let mut next = conn.prepare_cached("SELECT min(domain) FROM obj WHERE domain > ?1")?;
                let mut found = Vec::new();
                while found.len() < max as usize {
                    let domain: Option<String> = next.query_row([&after], |row| row.get(0))?;
                    let Some(domain) = domain else { break };
                    after.clone_from(&domain);
                    found.push(domain);
                }
                Ok(found)
            })
            .await
    }

    async fn referenced_blobs(&self, blobs: &[String]) -> StoreResult<Vec<String>> {
        let blobs = blobs.to_vec();
        self.0
            .read(move |conn| {
                let mut select = conn.prepare_cached("SELECT 1 FROM obj WHERE loc = ?1")?;
                let mut named = Vec::new();
                for blob in blobs {
                    if select.exists([&blob])? {
                        named.push(blob);
                    }
                }
                Ok(named)
            })
            .await
    }
}

fn touch(
    conn: &Connection,
    domain: &str,
    hashes: Vec<Hash>,
    now: DateTime<Utc>,
) -> ConnectionResult<Vec<Hash>> {
    // Clocks of processes differ, so a touch must never make an object appear older.
    let sql = "UPDATE obj SET touched = max(touched, ?3) WHERE domain = ?1 AND h = ?2 AND dying IS NULL";
    let mut update = conn.prepare_cached(sql)?;
    let mut absent = Vec::new();
    for hash in hashes {
        if update.execute(params![domain, hash.to_string(), now.timestamp_millis()])? == 0 {
            absent.push(hash);
        }
    }
    Ok(absent)
}

fn insert(
    conn: &Connection,
    domain: &str,
    (hash, len, location): &(Hash, usize, ObjectLocation),
    now: DateTime<Utc>,
) -> ConnectionResult<()> {
    let text = hash.to_string();
    let replaced = "DELETE FROM obj WHERE domain = ?1 AND h = ?2 AND dying IS NOT NULL";
    conn.prepare_cached(replaced)?.execute(params![domain, text])?;
    let sql = "INSERT INTO obj (domain, h, raw, len, touched, loc, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
               ON CONFLICT (domain, h) DO UPDATE SET touched = max(touched, excluded.touched)";
    let (loc, data): (Option<&str>, Option<&[u8]>) = match location {
        ObjectLocation::Row(bytes) => (None, Some(bytes)),
        ObjectLocation::Blob(name) => (Some(name), None),
    };
    let len = i64::try_from(*len).map_err(|_| StoreError::TooLarge("an object"))?;
    let row = params![domain, text, hash.as_bytes(), len, now.timestamp_millis(), loc, data];
    conn.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

fn read(conn: &Connection, domain: &str, hash: &Hash) -> ConnectionResult<Option<ObjectLocation>> {
    let sql = "SELECT loc, data FROM obj WHERE domain = ?1 AND h = ?2 AND dying IS NULL";
    let location = |row: &Row<'_>| {
        Ok(match row.get::<_, Option<String>>(0)? {
            Some(name) => ObjectLocation::Blob(name),
            None => ObjectLocation::Row(Bytes::from(row.get::<_, Vec<u8>>(1)?)),
        })
    };
    Ok(conn.prepare_cached(sql)?.query_row(params![domain, hash.to_string()], location).optional()?)
}

fn condemn(
    conn: &Connection,
    domain: &str,
    hashes: Vec<Hash>,
    before: DateTime<Utc>,
) -> ConnectionResult<Vec<(Hash, String)>> {
    let remove = "DELETE FROM obj WHERE domain = ?1 AND h = ?2 AND touched <= ?3 AND loc IS NULL";
    let mark = "UPDATE obj SET dying = 1 WHERE domain = ?1 AND h = ?2 AND touched <= ?3 AND dying IS NULL";
    let marked = "SELECT loc FROM obj WHERE domain = ?1 AND h = ?2 AND dying IS NOT NULL";
    let mut condemned = Vec::new();
    for hash in hashes {
        let text = hash.to_string();
        let row = params![domain, text, before.timestamp_millis()];
        if conn.prepare_cached(remove)?.execute(row)? > 0 {
            continue;
        }
        conn.prepare_cached(mark)?.execute(row)?;
        let mut select = conn.prepare_cached(marked)?;
        if let Some(loc) = select.query_row(params![domain, text], |row| row.get(0)).optional()? {
            condemned.push((hash, loc));
        }
    }
    Ok(condemned)
}
