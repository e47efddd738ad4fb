//! SQL statements for each table, and conversion of columns.
//!
//! All statements use the primary key, so that a transaction conflicts on the requested rows and not on whole tables.

use docs_store::{Key, Op, Scan, StoreError, StoreResult, Value};
use tokio_postgres::Row;

use super::session::Request;
use crate::{
    layout::{Layout, Table},
    value::Cell,
};

/// Returns the selected columns of a table: key and value.
fn columns(table: Table<'_>) -> &'static str {
    match table {
        Table::Records(_) => "k, doc::text",
        Table::Rows => "k, v::text, n",
        Table::Counters => "k, sum(n)::bigint",
    }
}

const fn group_by(table: Table<'_>) -> &'static str {
    if matches!(table, Table::Counters) { " GROUP BY k" } else { "" }
}

pub(super) fn get(table: Table<'_>, keys: Vec<String>) -> Request {
    let sql = format!("SELECT {} FROM {table} WHERE k = ANY($1::text[]){}", columns(table), group_by(table));
    Request::new(sql, vec![Box::new(keys)])
}

pub(super) fn scan(table: Table<'_>, scan: &Scan) -> Request {
    let order = if scan.rev { "DESC" } else { "ASC" };
    let sql = format!(
        "SELECT {} FROM {table} WHERE k >= $1 AND k < $2{} ORDER BY k {order} LIMIT $3",
        columns(table),
        group_by(table)
    );
    let ends = (scan.from.to_string(), scan.to.to_string());
    Request::new(sql, vec![Box::new(ends.0), Box::new(ends.1), Box::new(i64::from(scan.limit))])
}

/// Decodes a row of [`get`] or [`scan`].
pub(super) fn entry(table: Table<'_>, row: &Row) -> StoreResult<(Key, Value)> {
    let read = || -> Result<_, tokio_postgres::Error> {
        let key: &str = row.try_get(0)?;
        let cell = match table {
            Table::Records(_) => Cell::Json(row.try_get(1)?),
            Table::Counters => Cell::Int(row.try_get(1)?),
            Table::Rows => match (row.try_get::<_, Option<String>>(1)?, row.try_get(2)?) {
                (Some(json), _) => Cell::Json(json),
                (None, Some(n)) => Cell::Int(n),
                (None, None) => Cell::Unit,
            },
        };
        Ok((Key::from(key), Value::from(cell)))
    };
    read().map_err(|e| StoreError::Corrupt(format!("a row of table {table} is malformed: {e}")))
}

/// Selects those of the keys that exist.
pub(super) fn existing_keys(table: &str, keys: Vec<String>) -> Request {
    Request::new(format!("SELECT k FROM {table} WHERE k = ANY($1::text[])"), vec![Box::new(keys)])
}

/// Columns of keys and values.
#[derive(Default)]
struct RowColumns {
    keys: Vec<String>,
    json: Vec<Option<String>>,
    numbers: Vec<Option<i64>>,
}

impl RowColumns {
    fn push(&mut self, table: Table<'_>, key: &Key, value: &Value) -> StoreResult<()> {
        let (json, number) = match (table, Cell::from_value(value)?) {
            (Table::Records(_), _) => (Some(Cell::record_json(value)?), None),
            (_, Cell::Json(json)) => (Some(json), None),
            (_, Cell::Int(n)) => (None, Some(n)),
            (_, Cell::Unit) => (None, None),
        };
        self.keys.push(key.to_string());
        self.json.push(json);
        self.numbers.push(number);
        Ok(())
    }

    fn insert(self, table: Table<'_>, replace: bool) -> Request {
        let keys = Box::new(self.keys);
        let (sql, params): (_, super::session::Params) = match table {
            Table::Records(_) => (
                format!(
                    "INSERT INTO {table} (k, doc) \
                     SELECT k, doc::jsonb FROM unnest($1::text[], $2::text[]) AS u (k, doc)"
                ),
                vec![keys, Box::new(self.json)],
            ),
            _ => (
                format!(
                    "INSERT INTO {table} (k, v, n) \
                     SELECT k, v::jsonb, n FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (k, v, n)"
                ),
                vec![keys, Box::new(self.json), Box::new(self.numbers)],
            ),
        };
        let replacing = match table {
            _ if !replace => "",
            Table::Records(_) => " ON CONFLICT (k) DO UPDATE SET doc = excluded.doc",
            _ => " ON CONFLICT (k) DO UPDATE SET v = excluded.v, n = excluded.n",
        };
        Request::new(format!("{sql}{replacing}"), params)
    }
}

struct TableChanges<'a> {
    table: Table<'a>,
    creates: RowColumns,
    puts: RowColumns,
    deletes: Vec<String>,
    adds: Vec<(String, i64)>,
}

impl<'a> TableChanges<'a> {
    fn new(table: Table<'a>) -> Self {
        let (creates, puts) = (RowColumns::default(), RowColumns::default());
        Self { table, creates, puts, deletes: Vec::new(), adds: Vec::new() }
    }

    fn push(&mut self, op: &Op) -> StoreResult<()> {
        let is_counter = self.table == Table::Counters;
        match op {
            Op::Delete(key) => self.deletes.push(key.to_string()),
            Op::Add(key, by) if is_counter => self.adds.push((key.to_string(), *by)),
            Op::Add(..) => return Err(StoreError::Misuse("an addition to a key that is not a counter")),
            Op::Put(..) | Op::Create(..) if is_counter => {
                return Err(StoreError::Misuse("a counter can only be added to"));
            }
            Op::Put(key, value) => self.puts.push(self.table, key, value)?,
            Op::Create(key, value) => self.creates.push(self.table, key, value)?,
        }
        Ok(())
    }
}

/// Statements of a batch.
#[derive(Default)]
pub(super) struct BatchPlan {
    pub(super) requests: Vec<Request>,
    /// For each of the first statements, the table and the keys to create.
    pub(super) creates: Vec<(String, Vec<String>)>,
}

impl BatchPlan {
    /// Builds at most one statement per table and kind of operation.
    ///
    /// The keys of a statement are sorted, so that two statements on the same keys cannot deadlock. Index rows come
    /// first, so that a writer that waits for their table holds no other locks ([`Session::lock_out`]).
    ///
    /// [`Session::lock_out`]: super::session::Session::lock_out
    pub(super) fn from_ops(layout: &Layout, ops: &[Op]) -> StoreResult<Self> {
        let mut sorted: Vec<&Op> = ops.iter().collect();
        sorted.sort_unstable_by_key(|op| op.key());
        let mut tables: Vec<TableChanges<'_>> = Vec::new();
        for op in sorted {
            let table = layout.table_of(op.key());
            let at = tables.iter().position(|changes| changes.table == table);
            let at = at.unwrap_or_else(|| {
                tables.push(TableChanges::new(table));
                tables.len() - 1
            });
            tables[at].push(op)?;
        }
        tables.sort_by_key(|changes| changes.table != Table::Rows);
        let mut plan = Self::default();
        for TableChanges { table, creates, .. } in &mut tables {
            if !creates.keys.is_empty() {
                plan.creates.push((table.to_string(), creates.keys.clone()));
                plan.requests.push(std::mem::take(creates).insert(*table, false));
            }
        }
        tables.into_iter().for_each(|changes| plan.push(changes));
        Ok(plan)
    }

    fn push(&mut self, TableChanges { table, puts, deletes, adds, .. }: TableChanges<'_>) {
        if !puts.keys.is_empty() {
            self.requests.push(puts.insert(table, true));
        }
        if !deletes.is_empty() {
            if table == Table::Counters {
                // A reader of a counter depends on its rows and on the range where new rows are inserted. Folding
                // may have replaced the rows without a conflict, but a new row always conflicts with readers.
                let sql = "INSERT INTO ctr (k, n) SELECT k, 0 FROM unnest($1::text[]) AS u (k)";
                self.requests.push(Request::new(sql, vec![Box::new(deletes.clone())]));
            }
            let sql = format!("DELETE FROM {table} WHERE k = ANY($1::text[])");
            self.requests.push(Request::new(sql, vec![Box::new(deletes)]));
        }
        if !adds.is_empty() {
            let (keys, by): (Vec<String>, Vec<i64>) = adds.into_iter().unzip();
            let sql = "INSERT INTO ctr (k, n) SELECT k, n FROM unnest($1::text[], $2::bigint[]) AS u (k, n)";
            self.requests.push(Request::new(sql, vec![Box::new(keys), Box::new(by)]));
        }
    }
}
