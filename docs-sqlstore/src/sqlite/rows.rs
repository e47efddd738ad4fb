//! Statements on keys and values within a transaction.

use std::collections::BTreeMap;

use docs_store::{Batch, Key, Op, Scan, StoreError, Value};
use rusqlite::{Connection, Error, ErrorCode, Row, params, types::ValueRef};

use super::error::{ConnectionResult, Failure};
use crate::{
    layout::{Layout, Table},
    value::Cell,
};

/// The last position published by a commit, for each topic.
pub(super) type FeedEnds = BTreeMap<u16, i64>;

/// Reads keys. Returns the values in order.
pub(super) fn get(conn: &Connection, layout: &Layout, keys: &[Key]) -> ConnectionResult<Vec<Option<Value>>> {
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        let table = layout.table_of(key);
        let mut select =
            conn.prepare_cached(&format!("SELECT {} FROM {table} WHERE k = ?1", columns(table)))?;
        let mut rows = select.query([&**key])?;
        found.push(rows.next()?.map(row_value).transpose()?);
    }
    Ok(found)
}

pub(super) fn scan(conn: &Connection, layout: &Layout, scan: &Scan) -> ConnectionResult<Vec<(Key, Value)>> {
    if scan.limit == 0 || scan.from >= scan.to {
        return Ok(Vec::new());
    }
    if let Some(table) = layout.table_of_range(scan) {
        return scan_table(conn, table, scan);
    }
    let mut page = Vec::new();
    for table in layout.tables() {
        page.append(&mut scan_table(conn, table, scan)?);
    }
    page.sort_unstable_by(|(a, _), (b, _)| if scan.rev { b.cmp(a) } else { a.cmp(b) });
    page.truncate(usize::try_from(scan.limit).unwrap_or(usize::MAX));
    Ok(page)
}

fn scan_table(conn: &Connection, table: Table<'_>, scan: &Scan) -> ConnectionResult<Vec<(Key, Value)>> {
    let order = if scan.rev { "DESC" } else { "ASC" };
    let mut select = conn.prepare_cached(&format!(
        "SELECT {}, k FROM {table} WHERE k >= ?1 AND k < ?2 ORDER BY k {order} LIMIT ?3",
        columns(table)
    ))?;
    let mut rows = select.query(params![&*scan.from, &*scan.to, scan.limit])?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row.get_ref(2)?.as_str().map_err(Error::from)?;
        page.push((Key::from(key), row_value(row)?));
    }
    Ok(page)
}

/// Applies a batch within the open transaction.
pub(super) fn apply(conn: &Connection, layout: &Layout, batch: &Batch) -> ConnectionResult<FeedEnds> {
    for op in &batch.ops {
        let table = layout.table_of(op.key());
        match op {
            Op::Put(key, value) => drop(insert(conn, table, (key, value), OnConflict::Replace)?),
            Op::Create(key, value) => {
                if insert(conn, table, (key, value), OnConflict::Keep)? == 0 {
                    return Err(StoreError::Exists(key.clone()).into());
                }
            }
            Op::Delete(key) => {
                conn.prepare_cached(&format!("DELETE FROM {table} WHERE k = ?1"))?.execute([&**key])?;
            }
            Op::Add(key, by) => add(conn, key, *by)?,
        }
    }
    let mut fed = FeedEnds::new();
    for item in &batch.feed {
        let mut insert = conn.prepare_cached("INSERT INTO feed (topic, k) VALUES (?1, ?2)")?;
        fed.insert(item.topic, insert.insert(params![item.topic, &*item.key])?);
    }
    Ok(fed)
}

#[derive(Clone, Copy)]
enum OnConflict {
    Replace,
    Keep,
}

/// Inserts a row. Returns the number of changed rows.
fn insert(
    conn: &Connection,
    table: Table<'_>,
    (key, value): (&Key, &Value),
    on_conflict: OnConflict,
) -> ConnectionResult<usize> {
    let (names, values, set) = match table {
        Table::Records(_) => ("k, doc", "?1, ?2", "doc = excluded.doc"),
        Table::Counters => return Err(StoreError::Misuse("a counter is never overwritten").into()),
        Table::Rows => ("k, v, n", "?1, ?2, ?3", "v = excluded.v, n = excluded.n"),
    };
    let action = match on_conflict {
        OnConflict::Replace => format!("UPDATE SET {set}"),
        OnConflict::Keep => "NOTHING".to_owned(),
    };
    let sql = format!("INSERT INTO {table} ({names}) VALUES ({values}) ON CONFLICT (k) DO {action}");
    let mut insert = conn.prepare_cached(&sql)?;
    Ok(match table {
        Table::Records(_) => insert.execute(params![&**key, Cell::record_json(value)?])?,
        Table::Counters | Table::Rows => match Cell::from_value(value)? {
            Cell::Json(text) => insert.execute(params![&**key, text, None::<i64>])?,
            Cell::Int(n) => insert.execute(params![&**key, None::<&str>, n])?,
            Cell::Unit => insert.execute(params![&**key, None::<&str>, None::<i64>])?,
        },
    })
}

fn add(conn: &Connection, key: &Key, by: i64) -> ConnectionResult<()> {
    let sql = "INSERT INTO ctr (k, n) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET n = n + excluded.n";
    match conn.prepare_cached(sql)?.execute(params![&**key, by]) {
        Ok(_) => Ok(()),
        // A sum that exceeds 64 bits becomes a floating-point number, which the column rejects.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(StoreError::Misuse("an addition overflows a counter").into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the selected columns of a table: JSON and a number.
fn columns(table: Table<'_>) -> &'static str {
    match table {
        Table::Records(_) => "doc, NULL",
        Table::Counters => "NULL, n",
        Table::Rows => "v, n",
    }
}

fn row_value(row: &Row<'_>) -> ConnectionResult<Value> {
    let cell = match (row.get_ref(0)?, row.get_ref(1)?) {
        (ValueRef::Null, ValueRef::Null) => Cell::Unit,
        (ValueRef::Null, ValueRef::Integer(n)) => Cell::Int(n),
        (json, _) => Cell::Json(json.as_str().map_err(Error::from).map_err(Failure::from)?.to_owned()),
    };
    Ok(cell.into())
}
