//! Storage of objects in a table.

use std::{collections::HashSet, sync::Arc, time::SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_store::{Hash, StoreError, StoreResult};
use tokio_postgres::Row;

use super::{session::Request, state::PostgresState, txn_purpose::TxnPurpose};
use crate::objects::{ObjectLocation, ObjectRows};

/// Maximum number of rows inserted per statement.
const INSERT_ROWS: usize = 500;
/// Maximum number of bytes inserted per statement, unless a single object is larger.
const INSERT_BYTES: usize = 16 * 1024 * 1024;
/// SQL expression that sorts hashes in the order of the index.
const HASH_ORDER: &str =
    "translate(h, 'abcdefghijklmnopqrstuvwxyz234567', '0123456789abcdefghijklmnopqrstuv')";

pub(super) struct PostgresObjectRows(pub(super) Arc<PostgresState>);

impl PostgresObjectRows {
    async fn read(&self, request: Request) -> StoreResult<Vec<Row>> {
        self.0.session(TxnPurpose::Read).await?.read_outside_txn(request).await
    }

    /// Runs an idempotent change. A lost reply is treated like any failure.
    async fn write(&self, request: Request) -> StoreResult<Vec<Row>> {
        let session = self.0.session(TxnPurpose::Maintenance).await?;
        let answers = session
            .commit(vec![request])
            .await
            .map_err(|refusal| refusal.into_store_error(TxnPurpose::Maintenance))?;
        Ok(answers.into_iter().flatten().collect())
    }
}

#[async_trait]
impl ObjectRows for PostgresObjectRows {
    async fn touch(&self, domain: &str, hashes: &[Hash], now: DateTime<Utc>) -> StoreResult<Vec<Hash>> {
        // Lock rows in order, so that concurrent touches of the same objects cannot deadlock.
        let sql = "\
            WITH here AS MATERIALIZED ( \
                SELECT h FROM obj WHERE domain = $1 AND h = ANY($2::text[]) AND NOT dying \
                ORDER BY h FOR NO KEY UPDATE \
            ) \
            UPDATE obj SET touched = greatest(touched, $3) FROM here \
            WHERE obj.domain = $1 AND obj.h = here.h RETURNING obj.h";
        let params: Request = Request::new(sql, vec![text(domain), Box::new(texts(hashes)), time(now)]);
        let here: HashSet<Hash> =
            self.write(params).await?.iter().map(|row| hash(row, 0)).collect::<StoreResult<_>>()?;
        Ok(hashes.iter().filter(|hash| !here.contains(hash)).copied().collect())
    }

    async fn insert(
        &self,
        domain: &str,
        mut rows: Vec<(Hash, usize, ObjectLocation)>,
        now: DateTime<Utc>,
    ) -> StoreResult<()> {
        let sql = "\
            INSERT INTO obj (domain, h, len, data, loc, touched) \
            SELECT $1, h, len, data, loc, $6 \
            FROM unnest($2::text[], $3::bigint[], $4::bytea[], $5::text[]) AS u (h, len, data, loc) \
            ORDER BY h COLLATE \"C\" \
            ON CONFLICT (domain, h) DO UPDATE SET \
                touched = greatest(obj.touched, excluded.touched), \
                data = CASE WHEN obj.dying THEN excluded.data ELSE obj.data END, \
                loc = CASE WHEN obj.dying THEN excluded.loc ELSE obj.loc END, \
                dying = false";
        while !rows.is_empty() {
            let mut bytes = 0;
            let fits = rows.iter().take(INSERT_ROWS).take_while(|(_, _, location)| {
                bytes += if let ObjectLocation::Row(data) = location { data.len() } else { 0 };
                bytes <= INSERT_BYTES
            });
            let count = fits.count().max(1);
            let mut params = ObjectColumns::default();
            rows.drain(..count).try_for_each(|row| params.push(row))?;
            let ObjectColumns { hashes, lens, data, places } = params;
            let params = vec![
                text(domain),
                Box::new(hashes),
                Box::new(lens),
                Box::new(data),
                Box::new(places),
                time(now),
            ];
            self.write(Request::new(sql, params)).await?;
        }
        Ok(())
    }

    async fn read(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<ObjectLocation>>> {
        let sql = "SELECT h, data, loc FROM obj WHERE domain = $1 AND h = ANY($2::text[]) AND NOT dying";
        let rows = Self::read(self, Request::new(sql, vec![text(domain), Box::new(texts(hashes))])).await?;
        let location = |row: &Row| -> StoreResult<(Hash, ObjectLocation)> {
            let data: Option<&[u8]> = get(row, 1)?;
            let loc: Option<String> = get(row, 2)?;
            match (data, loc) {
                (Some(data), _) => Ok((hash(row, 0)?, ObjectLocation::Row(Bytes::copy_from_slice(data)))),
                (None, Some(loc)) => Ok((hash(row, 0)?, ObjectLocation::Blob(loc))),
                (None, None) => Err(StoreError::Corrupt("an object has neither bytes nor a location".into())),
            }
        };
        let found: std::collections::HashMap<Hash, ObjectLocation> =
            rows.iter().map(location).collect::<StoreResult<_>>()?;
        Ok(hashes.iter().map(|hash| found.get(hash).cloned()).collect())
    }

    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        before: DateTime<Utc>,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        let from = after.map_or_else(|| "''".to_owned(), |_| HASH_ORDER.replace("(h,", "($4::text,"));
        let mut params = vec![text(domain), time(before), Box::new(i64::from(max)) as _];
        params.extend(after.map(|hash| text(&hash.to_string())));
        let sql = format!(
            "SELECT h FROM obj WHERE domain = $1 AND {HASH_ORDER} > {from} AND touched <= $2 ORDER BY {HASH_ORDER} LIMIT $3"
        );
        Self::read(self, Request::new(sql, params)).await?.iter().map(|row| hash(row, 0)).collect()
    }

    async fn condemn(
        &self,
        domain: &str,
        hashes: &[Hash],
        before: DateTime<Utc>,
    ) -> StoreResult<Vec<(Hash, String)>> {
        let sql = "\
            WITH old AS MATERIALIZED ( \
                SELECT h FROM obj WHERE domain = $1 AND h = ANY($2::text[]) AND (dying OR touched <= $3) \
                ORDER BY h FOR UPDATE \
            ), gone AS ( \
                DELETE FROM obj USING old WHERE obj.domain = $1 AND obj.h = old.h AND obj.loc IS NULL \
            ) \
            UPDATE obj SET dying = true FROM old \
            WHERE obj.domain = $1 AND obj.h = old.h AND obj.loc IS NOT NULL RETURNING obj.h, obj.loc";
        let request = Request::new(sql, vec![text(domain), Box::new(texts(hashes)), time(before)]);
        self.write(request).await?.iter().map(|row| Ok((hash(row, 0)?, get(row, 1)?))).collect()
    }

    async fn remove(&self, domain: &str, rows: &[(Hash, String)]) -> StoreResult<()> {
        let sql = "\
            DELETE FROM obj USING unnest($2::text[], $3::text[]) AS u (h, loc) \
            WHERE obj.domain = $1 AND obj.h = u.h AND obj.loc = u.loc AND obj.dying";
        let (hashes, places): (Vec<String>, Vec<String>) =
            rows.iter().map(|(hash, location)| (hash.to_string(), location.clone())).unzip();
        self.write(Request::new(sql, vec![text(domain), Box::new(hashes), Box::new(places)])).await.map(drop)
    }

    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>> {
        // Skip from each domain directly to the next one, without visiting its objects.
        let sql = "\
            WITH RECURSIVE walk (domain) AS ( \
                SELECT min(domain) FROM obj WHERE domain > $1 \
                UNION ALL \
                SELECT (SELECT min(obj.domain) FROM obj WHERE obj.domain > walk.domain) FROM walk \
                WHERE walk.domain IS NOT NULL \
            ) \
            SELECT domain FROM walk WHERE domain IS NOT NULL LIMIT $2";
        let params: Vec<Param> = vec![text(after.unwrap_or_default()), Box::new(i64::from(max))];
        Self::read(self, Request::new(sql, params)).await?.iter().map(|row| get(row, 0)).collect()
    }

    async fn referenced_blobs(&self, blobs: &[String]) -> StoreResult<Vec<String>> {
        let sql = "SELECT loc FROM obj WHERE loc = ANY($1::text[])";
        let rows = Self::read(self, Request::new(sql, vec![Box::new(blobs.to_vec())])).await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }
}

/// Columns of rows to insert.
#[derive(Default)]
struct ObjectColumns {
    hashes: Vec<String>,
    lens: Vec<i64>,
    data: Vec<Option<Vec<u8>>>,
    places: Vec<Option<String>>,
}

impl ObjectColumns {
    fn push(&mut self, (hash, len, location): (Hash, usize, ObjectLocation)) -> StoreResult<()> {
        let (data, location) = match location {
            ObjectLocation::Row(data) => (Some(data.into()), None),
            ObjectLocation::Blob(name) => (None, Some(name)),
        };
        self.hashes.push(hash.to_string());
        self.lens.push(i64::try_from(len).map_err(|_| StoreError::TooLarge("an object"))?);
        self.data.push(data);
        self.places.push(location);
        Ok(())
    }
}

type Param = Box<dyn tokio_postgres::types::ToSql + Sync + Send>;

fn text(text: &str) -> Param {
    Box::new(text.to_owned())
}

fn texts(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(Hash::to_string).collect()
}

/// Converts a time to PostgreSQL's range. No object is older than the Unix epoch.
fn time(at: DateTime<Utc>) -> Param {
    Box::new(SystemTime::from(at.max(DateTime::UNIX_EPOCH)))
}

fn get<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, column: usize) -> StoreResult<T> {
    row.try_get(column).map_err(|e| StoreError::Corrupt(format!("a row of table obj is malformed: {e}")))
}

fn hash(row: &Row, column: usize) -> StoreResult<Hash> {
    let text: &str = get(row, column)?;
    text.parse().map_err(|e| StoreError::Corrupt(format!("table obj has the invalid hash `{text}`: {e}")))
}
