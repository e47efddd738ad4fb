//! Transactions for operations: with typed records, and with reads that see earlier writes of the transaction.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{
    Batch, FeedItem, Indexed, Key, KeyBuf, MAX_SCAN, Mode, Op, Row, Scan, StoreError, StoreResult, Txn,
    Value, decode,
    indexed::same_value,
    observer::{Observer, ObserverGuard},
    owner_trail::OwnerTrail,
};

/// A transaction with typed records, index maintenance and an overlay of its own writes.
///
/// Reads see the snapshot overlaid with the transaction's own writes. Nothing is stored before [`commit`](Tx::commit).
/// Dropping the transaction discards its writes.
pub struct Tx {
    txn: Box<dyn Txn>,
    writes: BTreeMap<Key, PendingValue>,
    feed: Vec<FeedItem>,
    trail: Option<OwnerTrail>,
    _observed: Option<ObserverGuard>,
}

enum PendingValue {
    Put(Value),
    Create(Value),
    Delete,
    Add(i64),
}

impl PendingValue {
    /// Returns the value that a read sees, given the value in the snapshot.
    fn apply_to(&self, below: Option<&Value>) -> StoreResult<Option<Value>> {
        match self {
            Self::Put(value) | Self::Create(value) => Ok(Some(value.clone())),
            Self::Delete => Ok(None),
            Self::Add(n) => match below {
                None => Ok(Some(Value::Int(*n))),
                Some(Value::Int(m)) => Ok(Some(Value::Int(m + n))),
                Some(_) => Err(StoreError::Misuse("an addition to a key that is not a counter")),
            },
        }
    }
}

impl fmt::Debug for Tx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tx").field("writes", &self.writes.len()).field("feed", &self.feed.len()).finish()
    }
}

impl Tx {
    /// Wraps a transaction of a store.
    #[must_use]
    pub fn new(txn: Box<dyn Txn>) -> Self {
        Self { txn, writes: BTreeMap::new(), feed: Vec::new(), trail: None, _observed: None }
    }

    /// Wraps a transaction of a store that was begun in `mode`, and reports it to an observer.
    #[must_use]
    pub fn with_observer(txn: Box<dyn Txn>, mode: Mode, observer: &Arc<dyn Observer>) -> Self {
        Self { _observed: Some(ObserverGuard::begin(observer, mode)), ..Self::new(txn) }
    }

    /// Reads one key.
    ///
    /// # Errors
    /// See [`Txn::get`].
    pub async fn get_value(&self, key: &Key) -> StoreResult<Option<Value>> {
        Ok(self.get_values(std::slice::from_ref(key)).await?.pop().flatten())
    }

    /// Reads several keys in one call. Returns the values in request order.
    ///
    /// # Errors
    /// See [`Txn::get`].
    pub async fn get_values(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        // A key written by this transaction needs no read and no dependency on its previous value.
        let asked: Vec<Key> = keys
            .iter()
            .filter(|k| matches!(self.writes.get(*k), None | Some(PendingValue::Add(_))))
            .cloned()
            .collect();
        let mut found = if asked.is_empty() { Vec::new() } else { self.txn.get(&asked).await? }.into_iter();
        keys.iter()
            .map(|key| match self.writes.get(key) {
                None => Ok(found.next().flatten()),
                Some(write @ PendingValue::Add(_)) => write.apply_to(found.next().flatten().as_ref()),
                Some(write) => write.apply_to(None),
            })
            .collect()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// See [`Txn::get`]; [`StoreError::Corrupt`] if the value is not a record of this type.
    pub async fn get<T: Indexed>(&self, key: &Key) -> StoreResult<Option<Arc<T>>> {
        let found = self.get_value(key).await?.map(decode::<T>).transpose()?;
        self.record_reads(found.iter());
        Ok(found)
    }

    /// Reads several records in one call. Returns them in request order.
    ///
    /// # Errors
    /// See [`get`](Tx::get).
    pub async fn get_many<T: Indexed>(&self, keys: &[Key]) -> StoreResult<Vec<Option<Arc<T>>>> {
        let found = self.get_values(keys).await?.into_iter().map(|value| value.map(decode::<T>).transpose());
        let found: Vec<Option<Arc<T>>> = found.collect::<StoreResult<_>>()?;
        self.record_reads(found.iter().flatten());
        Ok(found)
    }

    /// Reads a counter, or returns 0 if it does not exist. The transaction then depends on the counter. To increment it
    /// without a dependency, use [`add`](Tx::add).
    ///
    /// # Errors
    /// See [`Txn::get`]; [`StoreError::Corrupt`] if the value is not a number.
    pub async fn number(&self, key: &Key) -> StoreResult<i64> {
        Ok(self.numbers(std::slice::from_ref(key)).await?[0])
    }

    /// Reads several counters in one call.
    ///
    /// # Errors
    /// See [`number`](Tx::number).
    pub async fn numbers(&self, keys: &[Key]) -> StoreResult<Vec<i64>> {
        self.get_values(keys)
            .await?
            .into_iter()
            .zip(keys)
            .map(|(value, key)| match value {
                None => Ok(0),
                Some(Value::Int(n)) => Ok(n),
                Some(_) => Err(StoreError::Corrupt(format!("`{key}` has no number"))),
            })
            .collect()
    }

    /// Reads a range, at most [`MAX_SCAN`] entries.
    ///
    /// # Errors
    /// See [`Txn::scan`].
    pub async fn scan(&self, scan: &Scan) -> StoreResult<Vec<(Key, Value)>> {
        if scan.from >= scan.to {
            return Ok(Vec::new());
        }
        let own: Vec<(&Key, &PendingValue)> = self.writes.range(scan.from.clone()..scan.to.clone()).collect();
        let extra = u32::try_from(own.len()).unwrap_or(u32::MAX);
        // Each own write in the range may hide an entry of the snapshot.
        let wanted = Scan { limit: scan.limit.saturating_add(extra).min(MAX_SCAN), ..scan.clone() };
        let found = self.txn.scan(std::slice::from_ref(&wanted)).await?.pop().unwrap_or_default();
        if own.is_empty() {
            return Ok(found);
        }
        let cut = found.len() == wanted.limit as usize;
        let last = found.last().map(|(key, _)| key.clone());
        let mut merged: BTreeMap<Key, Value> = found.into_iter().collect();
        for (key, write) in own {
            // The snapshot's entries beyond the limit are unknown, so own writes there belong to the next page.
            let beyond =
                cut && last.as_ref().is_some_and(|last| if scan.rev { key < last } else { key > last });
            if beyond {
                continue;
            }
            match write.apply_to(merged.get(key))? {
                Some(value) => drop(merged.insert(key.clone(), value)),
                None => drop(merged.remove(key)),
            }
        }
        let limit = scan.limit as usize;
        Ok(if scan.rev {
            merged.into_iter().rev().take(limit).collect()
        } else {
            merged.into_iter().take(limit).collect()
        })
    }

    /// Reads several ranges in one call. Returns the entries of each range in request order.
    ///
    /// # Errors
    /// See [`Txn::scan`].
    pub async fn scan_many(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        if self.writes.is_empty() {
            return if scans.is_empty() { Ok(Vec::new()) } else { self.txn.scan(scans).await };
        }
        let mut found = Vec::with_capacity(scans.len());
        for scan in scans {
            found.push(self.scan(scan).await?);
        }
        Ok(found)
    }

    /// Reads the first entries under a prefix.
    ///
    /// # Errors
    /// See [`scan`](Tx::scan).
    pub async fn scan_prefix(&self, prefix: &KeyBuf, limit: u32) -> StoreResult<Vec<(Key, Value)>> {
        self.scan(&prefix.scan(limit)).await
    }

    /// Stores a new record with its rows. If the key or a unique value already exists, the commit fails with
    /// [`StoreError::Exists`], which contains the existing key.
    pub fn create<T: Indexed>(&mut self, record: T) -> Arc<T> {
        let record = Arc::new(record);
        self.record_write(&*record);
        for row in record.rows() {
            self.write_row(row);
        }
        self.create_value(record.key(), Value::Live(Arc::clone(&record) as Arc<dyn super::Record>));
        record
    }

    /// Replaces the record `old` with `new`, writing only the difference between their rows.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] if a row cannot be represented as JSON.
    pub fn put<T: Indexed>(&mut self, old: &T, new: T) -> StoreResult<Arc<T>> {
        debug_assert_eq!(old.key(), new.key(), "the key of a record is unchanged");
        let mut gone: BTreeMap<Key, Row> =
            old.rows().into_iter().map(|row| (Arc::clone(row.key()), row)).collect();
        for row in new.rows() {
            match (gone.remove(row.key()), row) {
                (Some(Row::Count(_)), Row::Count(_)) => {}
                (Some(was), row) => match (was.value(), row.value()) {
                    (Some(a), Some(b)) if same_value(a, b)? => {}
                    (_, Some(value)) => self.put_value(Arc::clone(row.key()), value.clone()),
                    (_, None) => self.write_row(row),
                },
                (None, row) => self.write_row(row),
            }
        }
        for row in gone.into_values() {
            self.drop_row(&row);
        }
        self.record_write(old);
        self.record_write(&new);
        let new = Arc::new(new);
        self.put_value(new.key(), Value::Live(Arc::clone(&new) as Arc<dyn super::Record>));
        Ok(new)
    }

    /// Deletes a record and its rows.
    pub fn delete<T: Indexed>(&mut self, old: &T) {
        self.record_write(old);
        for row in old.rows() {
            self.drop_row(&row);
        }
        self.delete_value(old.key());
    }

    /// Deletes the records with the given keys, skipping missing ones.
    ///
    /// # Errors
    /// See [`get`](Tx::get).
    pub async fn delete_all<T: Indexed>(&mut self, keys: &[Key]) -> StoreResult<()> {
        for record in self.get_many::<T>(keys).await?.into_iter().flatten() {
            self.delete(&*record);
        }
        Ok(())
    }

    /// Starts tracking the owners of read and changed records for the audit log.
    pub(super) fn leave_trail(&mut self) {
        self.trail = Some(OwnerTrail::default());
    }

    pub(super) fn trail(&self) -> Option<&OwnerTrail> {
        self.trail.as_ref()
    }

    /// Returns the keys that the transaction changes.
    pub(super) fn changed_keys(&self) -> impl Iterator<Item = &Key> {
        self.writes.keys()
    }

    fn record_reads<'a, T: Indexed>(&self, records: impl Iterator<Item = &'a Arc<T>>) {
        if let Some(trail) = &self.trail {
            records.for_each(|record| trail.record_read(record.key(), record.owner()));
        }
    }

    fn record_write<T: Indexed>(&mut self, record: &T) {
        if let Some(trail) = &mut self.trail {
            trail.record_write(record.key(), record.owner());
        }
    }

    pub(super) fn write_row(&mut self, row: Row) {
        match row {
            Row::Index(key, value) => self.put_value(key, value),
            Row::Unique(key, value) => self.create_value(key, value),
            Row::Count(key) => self.add(key, 1),
        }
    }

    fn drop_row(&mut self, row: &Row) {
        match row {
            Row::Index(key, _) | Row::Unique(key, _) => self.delete_value(Arc::clone(key)),
            Row::Count(key) => self.add(Arc::clone(key), -1),
        }
    }

    /// Sets a key that does not belong to a record.
    pub fn put_value(&mut self, key: Key, value: Value) {
        self.writes.insert(key, PendingValue::Put(value));
    }

    /// Sets a key that must not exist.
    pub fn create_value(&mut self, key: Key, value: Value) {
        // If this transaction deleted the key, the key existed, so setting it again must not fail with `Exists`.
        let write = match self.writes.get(&key) {
            Some(PendingValue::Delete) => PendingValue::Put(value),
            _ => PendingValue::Create(value),
        };
        self.writes.insert(key, write);
    }

    pub fn delete_value(&mut self, key: Key) {
        self.writes.insert(key, PendingValue::Delete);
    }

    /// Adds to a counter without depending on its value.
    pub fn add(&mut self, key: Key, n: i64) {
        let write = match self.writes.get(&key) {
            Some(PendingValue::Add(m)) => PendingValue::Add(m + n),
            Some(PendingValue::Put(Value::Int(m))) => PendingValue::Put(Value::Int(m + n)),
            _ => PendingValue::Add(n),
        };
        self.writes.insert(key, write);
    }

    /// Adds an item to the change feed. It is published when the transaction commits. Duplicates are ignored.
    pub fn feed(&mut self, topic: u16, key: Key) {
        let item = FeedItem { topic, key };
        if !self.feed.contains(&item) {
            self.feed.push(item);
        }
    }

    /// Returns the number of keys that the transaction changes so far.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.writes.len()
    }

    /// Returns `true` if the transaction would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.feed.is_empty()
    }

    /// Commits all writes atomically.
    ///
    /// # Errors
    /// See [`Txn::commit`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the batch is applied as a whole or not at all.
    pub async fn commit(self) -> StoreResult<()> {
        let ops = self
            .writes
            .into_iter()
            .map(|(key, write)| match write {
                PendingValue::Put(value) => Op::Put(key, value),
                PendingValue::Create(value) => Op::Create(key, value),
                PendingValue::Delete => Op::Delete(key),
                PendingValue::Add(n) => Op::Add(key, n),
            })
            .collect();
        self.txn.commit(Batch { ops, feed: self.feed }).await
    }
}
