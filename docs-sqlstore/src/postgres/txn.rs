//! A transaction of the store.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docs_store::{
    Batch, Key, MAX_TXN, Mode, Op, Scan, StoreError, StoreResult, Txn, Value,
    limits::{check_batch, check_key, check_scan},
};

use super::{
    feed, fold,
    session::{PostgresSession, Request, TxnFailure},
    sql::{self, BatchPlan},
    state::PostgresState,
    txn_purpose::TxnPurpose,
};
use crate::layout::Table;

pub(super) struct PostgresTxn {
    shared: Arc<PostgresState>,
    session: PostgresSession,
    mode: Mode,
    end: DateTime<Utc>,
}

impl PostgresTxn {
    pub(super) fn new(shared: Arc<PostgresState>, session: PostgresSession, mode: Mode) -> Self {
        let time = TimeDelta::from_std(MAX_TXN).unwrap_or(TimeDelta::MAX);
        let end = shared.clock.now().checked_add_signed(time).unwrap_or(DateTime::<Utc>::MAX_UTC);
        Self { shared, session, mode, end }
    }

    fn check_time(&self) -> StoreResult<()> {
        if self.shared.clock.now() <= self.end {
            return Ok(());
        }
        Err(match self.mode {
            Mode::Write => StoreError::Conflict,
            Mode::Read => StoreError::Unavailable(format!(
                "a transaction was open for more than {} s; start again and read less",
                MAX_TXN.as_secs()
            )),
        })
    }

    /// Runs reads of several tables in one round trip. Returns the results in order.
    async fn read(&self, reads: Vec<(Table<'_>, Request)>) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        if reads.is_empty() {
            return Ok(Vec::new());
        }
        let (tables, requests): (Vec<Table<'_>>, Vec<Request>) = reads.into_iter().unzip();
        let answers = self.session.read(requests).await?;
        let entries = |(table, rows): (Table<'_>, Vec<tokio_postgres::Row>)| {
            rows.iter().map(|row| sql::entry(table, row)).collect()
        };
        tables.into_iter().zip(answers).map(entries).collect()
    }

    /// Returns the tables that a range covers; none for an empty range.
    fn tables_of(&self, scan: &Scan) -> Vec<Table<'_>> {
        if scan.limit == 0 || scan.from >= scan.to {
            return Vec::new();
        }
        let layout = &self.shared.layout;
        layout.table_of_range(scan).map_or_else(|| layout.tables().collect(), |table| vec![table])
    }

    /// Returns the error for the first key, in batch order, that was to be created but already exists.
    async fn exists(&self, creates: Vec<(String, Vec<String>)>, batch: &Batch) -> StoreError {
        let mut found: HashSet<String> = HashSet::new();
        for (table, keys) in creates {
            match self.session.read_outside_txn(sql::existing_keys(&table, keys)).await {
                Ok(rows) => found.extend(rows.iter().filter_map(|row| row.try_get(0).ok())),
                Err(error) => return error,
            }
        }
        let is_create = |op: &&Op| matches!(op, Op::Create(..));
        let taken = batch.ops.iter().filter(is_create).find(|op| found.contains(&**op.key()));
        // The key may have been deleted since, in which case a retry may succeed.
        taken.map_or(StoreError::Conflict, |op| StoreError::Exists(op.key().clone()))
    }
}

#[async_trait]
impl Txn for PostgresTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        self.check_time()?;
        keys.iter().try_for_each(|key| check_key(key))?;
        let mut tables: Vec<(Table<'_>, Vec<String>)> = Vec::new();
        for key in keys {
            let table = self.shared.layout.table_of(key);
            match tables.iter_mut().find(|(other, _)| *other == table) {
                Some((_, keys)) => keys.push(key.to_string()),
                None => tables.push((table, vec![key.to_string()])),
            }
        }
        let reads = tables.into_iter().map(|(table, keys)| (table, sql::get(table, keys))).collect();
        let found: HashMap<Key, Value> = self.read(reads).await?.into_iter().flatten().collect();
        Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
    }

    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        self.check_time()?;
        scans.iter().try_for_each(check_scan)?;
        let tables: Vec<Vec<Table<'_>>> = scans.iter().map(|scan| self.tables_of(scan)).collect();
        let reads = scans
            .iter()
            .zip(&tables)
            .flat_map(|(scan, tables)| tables.iter().map(move |table| (*table, sql::scan(*table, scan))));
        let mut found = self.read(reads.collect()).await?.into_iter();
        let merged = scans.iter().zip(&tables).map(|(scan, tables)| {
            let mut page: Vec<(Key, Value)> = found.by_ref().take(tables.len()).flatten().collect();
            if tables.len() > 1 {
                page.sort_unstable_by(|(a, _), (b, _)| if scan.rev { b.cmp(a) } else { a.cmp(b) });
                page.truncate(scan.limit as usize);
            }
            page
        });
        Ok(merged.collect())
    }

    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()> {
        check_batch(self.mode, &batch)?;
        self.check_time()?;
        // A read transaction needs no reply: its end is sent when the session is dropped.
        if self.mode == Mode::Read || (batch.is_empty() && !self.session.is_open()) {
            return Ok(());
        }
        let BatchPlan { mut requests, creates } = BatchPlan::from_ops(&self.shared.layout, &batch.ops)?;
        requests.extend(feed::insert_items(self.shared.era, &batch.feed));
        if requests.is_empty() {
            // Only a successful commit confirms that the data read is consistent.
            requests.push(Request::new("SELECT", Vec::new()));
        }
        match self.session.commit(requests).await {
            Ok(_) => {}
            Err(TxnFailure::Unknown(why)) => return Err(StoreError::Unknown(why)),
            Err(TxnFailure::Request(n, error)) => {
                return Err(match n < creates.len() && is_taken(&error) {
                    true => self.exists(creates, &batch).await,
                    false => super::error::store_error(&error, TxnPurpose::Write),
                });
            }
            Err(refusal @ TxnFailure::NotApplied(_)) => {
                return Err(refusal.into_store_error(TxnPurpose::Write));
            }
        }
        if !batch.feed.is_empty() {
            self.shared.news.send_modify(|news| *news += 1);
        }
        fold::spawn_sample_fold(&self.shared, &batch.ops);
        Ok(())
    }
}

fn is_taken(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION)
}
