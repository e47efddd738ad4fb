//! The layout version of a store, and the rebuild of all derived rows.
//!
//! Rows are a function of records ([`Indexed::rows`](super::Indexed::rows)). When that function changes, existing
//! records still have the old rows. The store therefore records the layout version of its rows, and a program with a
//! different version must rebuild the rows before it uses the store.

use async_trait::async_trait;
use docs_model::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{
    Key, KeyBuf, MAX_SCAN, Operation, RecordKind, Row, Scan, StoreError, StoreResult, Tx, Value, key,
    key::COUNTERS,
};

/// Maximum number of rows that a rebuild transaction deletes, and the approximate number that it creates.
const REBUILD_ROWS: u32 = 500;
/// Maximum number of records that a rebuild transaction reads.
const REBUILD_RECORDS: u32 = 100;

/// The layout of the derived rows in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreLayout {
    pub version: u32,
    /// The progress of an unfinished rebuild.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<Rebuild>,
}

/// The progress of a rebuild. Each step stores it in its transaction, so that an interrupted rebuild can resume without
/// counting a record twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rebuild {
    /// Rows are being deleted.
    Remove {
        /// The class to delete next.
        class: String,
    },
    /// Rows are being created.
    Make {
        /// The kind of records to process next.
        kind: String,
        /// The last record whose rows have been created.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
}

impl StoreLayout {
    fn key() -> Key {
        KeyBuf::new("sys").part("layout").key()
    }

    /// Reads the layout, or returns `None` if the store has none yet.
    ///
    /// # Errors
    /// Any error of the store; [`StoreError::Corrupt`] if the value is not a layout.
    pub async fn read(tx: &Tx) -> StoreResult<Option<Self>> {
        match tx.get_value(&Self::key()).await? {
            None => Ok(None),
            Some(Value::Json(json)) => serde_json::from_slice(&json)
                .map(Some)
                .map_err(|error| StoreError::Corrupt(format!("the layout is malformed: {error}"))),
            Some(_) => Err(StoreError::Corrupt("the layout is not JSON".to_owned())),
        }
    }

    fn put(&self, tx: &mut Tx) -> Result<()> {
        let json = serde_json::to_vec(self).map_err(Error::internal)?;
        tx.put_value(Self::key(), Value::Json(json.into()));
        Ok(())
    }
}

/// Returns the layout of a store. If the store has no records, the current layout is stored first.
#[derive(Debug)]
pub struct EnsureLayout {
    /// All record kinds.
    pub kinds: &'static [RecordKind],
    /// The layout version of this program.
    pub current: u32,
    /// The layout version of a store that has records but no stored layout.
    pub first: u32,
}

#[async_trait]
impl Operation for EnsureLayout {
    type Output = StoreLayout;
    const NAME: &'static str = "layout_ensure";

    async fn apply(&self, tx: &mut Tx) -> Result<StoreLayout> {
        if let Some(layout) = StoreLayout::read(tx).await? {
            return Ok(layout);
        }
        let scans: Vec<Scan> = self.kinds.iter().map(|kind| KeyBuf::new(kind.name).scan(1)).collect();
        let is_empty = tx.scan_many(&scans).await?.iter().all(Vec::is_empty);
        let version = if is_empty { self.current } else { self.first };
        let layout = StoreLayout { version, rebuild: None };
        layout.put(tx)?;
        Ok(layout)
    }
}

/// Runs one step of a rebuild. `Output` is `true` for the last step.
///
/// A rebuild first deletes all rows, class by class, and then derives the rows of each record. Each step is a bounded
/// transaction. The store must not be used for anything else during a rebuild, because rows are missing.
#[derive(Debug)]
pub struct RebuildStep {
    /// All record kinds.
    pub kinds: &'static [RecordKind],
    /// The layout version of this program.
    pub version: u32,
    /// Permission to start a new rebuild.
    pub start: StartPermission,
}

/// Controls if a step may start a new rebuild.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartPermission {
    /// Starts a rebuild, or resumes an interrupted one.
    Begin,
    /// Continues the current rebuild only.
    Continue,
}

#[async_trait]
impl Operation for RebuildStep {
    type Output = bool;
    const NAME: &'static str = "layout_rebuild";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let classes = classes(self.kinds);
        let stored = StoreLayout::read(tx).await?;
        if let Some(newer) = stored.as_ref().filter(|layout| layout.version > self.version) {
            return Err(Error::conflict(format!(
                "the store has layout {}, and this program supports up to {}",
                newer.version, self.version
            )));
        }
        let before = stored.as_ref().map_or(self.version, |layout| layout.version);
        let progress = match (stored.and_then(|layout| layout.rebuild), self.start) {
            (Some(progress), _) => progress,
            (None, StartPermission::Begin) => remove_or_make(classes.first().copied(), self.kinds),
            (None, StartPermission::Continue) => return Ok(true),
        };
        let next = match progress {
            Rebuild::Remove { class } => remove_some(tx, &class, &classes, self.kinds).await?,
            Rebuild::Make { kind, after } => make_some(tx, self.kinds, &kind, after).await?,
        };
        let is_done = next.is_none();
        let version = if is_done { self.version } else { before };
        StoreLayout { version, rebuild: next }.put(tx)?;
        Ok(is_done)
    }
}

/// Returns the classes of all derived rows, sorted.
fn classes(kinds: &[RecordKind]) -> Vec<&'static str> {
    let mut classes: Vec<&str> = kinds.iter().flat_map(|kind| kind.indexes).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Returns the position for deleting the rows of a class or, if `class` is `None`, for creating rows.
fn remove_or_make(class: Option<&str>, kinds: &[RecordKind]) -> Rebuild {
    match class {
        Some(class) => Rebuild::Remove { class: class.to_owned() },
        None => Rebuild::Make { kind: kinds.first().map_or("", |kind| kind.name).to_owned(), after: None },
    }
}

/// Deletes a batch of rows of a class and returns the next position.
async fn remove_some(
    tx: &mut Tx,
    class: &str,
    classes: &[&str],
    kinds: &[RecordKind],
) -> Result<Option<Rebuild>> {
    let rows = tx.scan_prefix(&KeyBuf::new(class), REBUILD_ROWS).await?;
    let is_full = rows.len() == REBUILD_ROWS as usize;
    for (row, _) in rows {
        tx.delete_value(row);
    }
    let next = if is_full { Some(class) } else { classes.iter().copied().find(|other| *other > class) };
    Ok(Some(remove_or_make(next, kinds)))
}

/// Creates the rows for a batch of records and returns the next position, or `None` at the end.
async fn make_some(
    tx: &mut Tx,
    kinds: &[RecordKind],
    name: &str,
    after: Option<String>,
) -> Result<Option<Rebuild>> {
    let Some(at) = kinds.iter().position(|kind| kind.name == name) else { return Ok(None) };
    let kind = &kinds[at];
    let (mut from, to) = KeyBuf::new(name).prefix_range();
    if let Some(after) = &after {
        from = key::successor(after);
    }
    let scan = Scan { from, to, rev: false, limit: REBUILD_RECORDS.min(MAX_SCAN) };
    let records = tx.scan(&scan).await?;
    let is_last = records.len() < scan.limit as usize;
    let count = records.len();
    for (done, (stored_at, value)) in records.into_iter().enumerate() {
        make_rows(tx, kind, value).await?;
        // A single record can have hundreds of rows.
        let is_full = tx.changes() >= REBUILD_ROWS as usize;
        if if done + 1 < count { is_full } else { !is_last } {
            return Ok(Some(Rebuild::Make { kind: name.to_owned(), after: Some(stored_at.to_string()) }));
        }
    }
    Ok(kinds.get(at + 1).map(|kind| Rebuild::Make { kind: kind.name.to_owned(), after: None }))
}

async fn make_rows(tx: &mut Tx, kind: &RecordKind, value: Value) -> StoreResult<()> {
    let (record, rows) = (kind.derive)(value)?;
    let unique: Vec<Key> =
        rows.iter().filter(|row| matches!(row, Row::Unique(..))).map(|row| Key::clone(row.key())).collect();
    if !unique.is_empty() {
        let taken = tx.get_values(&unique).await?;
        if let Some((taken, _)) = unique.iter().zip(taken).find(|(_, value)| value.is_some()) {
            return Err(StoreError::Corrupt(format!(
                "`{record}` and another record have the same unique \
                                                    value `{taken}`"
            )));
        }
    }
    for row in rows {
        debug_assert!(!matches!(&row, Row::Count(key) if !key.starts_with(COUNTERS)), "{record}");
        tx.write_row(row);
    }
    Ok(())
}
