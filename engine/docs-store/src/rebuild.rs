//! The layout of a store: which rows follow from its records, as a version, and making all rows anew.
//!
//! Rows are a function of records ([`Indexed::rows`](super::Indexed::rows)). When that function changes, records that
//! exist have the rows of before. So the store knows which version of it made its rows, and a program of another
//! version does not touch them before they were made anew.

use async_trait::async_trait;
use docs_model::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{
    Key, KeyBuf, Kind, MAX_SCAN, Operation, Row, Scan, StoreError, StoreResult, Tx, Value, key, key::COUNTERS,
};

/// Rows that one transaction of a rebuild removes, and about how many it makes.
const REBUILD_ROWS: u32 = 500;
/// Records that one transaction of a rebuild reads.
const REBUILD_RECORDS: u32 = 100;

/// Which rows a store has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreLayout {
    /// The version of the rows.
    pub version: u32,
    /// How far making them anew has come, where it was begun and is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<Rebuild>,
}

/// How far a rebuild has come. It is stored with what each step did, so that one that was broken off goes on, and no
/// record is counted twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rebuild {
    /// Rows are removed: those of this class are next.
    Remove {
        /// The class.
        class: String,
    },
    /// Rows are made: those of records of a kind are next.
    Make {
        /// The kind.
        kind: String,
        /// The last record whose rows are made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
}

impl StoreLayout {
    fn key() -> Key {
        KeyBuf::new("sys").part("layout").key()
    }

    /// Reads the layout; `None` in a store that was never asked for it.
    ///
    /// # Errors
    /// The store's; [`StoreError::Corrupt`] when it is no layout.
    pub async fn read(tx: &Tx) -> StoreResult<Option<Self>> {
        match tx.get_value(&Self::key()).await? {
            None => Ok(None),
            Some(Value::Json(json)) => serde_json::from_slice(&json)
                .map(Some)
                .map_err(|error| StoreError::Corrupt(format!("the layout cannot be read: {error}"))),
            Some(_) => Err(StoreError::Corrupt("the layout is no JSON".to_owned())),
        }
    }

    fn put(&self, tx: &mut Tx) -> Result<()> {
        let json = serde_json::to_vec(self).map_err(Error::internal)?;
        tx.put_value(Self::key(), Value::Json(json.into()));
        Ok(())
    }
}

/// Answers the layout of a store; a store without records gets the current one.
#[derive(Debug)]
pub struct EnsureLayout {
    /// The kinds of all records.
    pub kinds: &'static [Kind],
    /// The version of the rows that they bring along.
    pub current: u32,
    /// The version of the rows of a store that has records and does not know.
    pub first: u32,
}

#[async_trait]
impl Operation for EnsureLayout {
    type Out = StoreLayout;
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

/// One step of making all rows anew; `Out` tells whether it was the last.
///
/// First all rows go, class by class, then those that follow from each record are made. Each step is one bounded
/// transaction. Between the first and the last nobody else may use the store: rows are missing.
#[derive(Debug)]
pub struct RebuildStep {
    /// The kinds of all records.
    pub kinds: &'static [Kind],
    /// The version of the rows that they bring along.
    pub version: u32,
    /// Whether to begin where no rebuild is under way.
    pub start: Start,
}

/// Whether a step may be the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// It begins a rebuild, or goes on with one that was broken off.
    Begin,
    /// It goes on with the rebuild that is under way.
    Continue,
}

#[async_trait]
impl Operation for RebuildStep {
    type Out = bool;
    const NAME: &'static str = "layout_rebuild";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let classes = classes(self.kinds);
        let stored = StoreLayout::read(tx).await?;
        if let Some(newer) = stored.as_ref().filter(|layout| layout.version > self.version) {
            return Err(Error::conflict(format!(
                "the store has layout {}, which is newer than {} of this program",
                newer.version, self.version
            )));
        }
        let before = stored.as_ref().map_or(self.version, |layout| layout.version);
        let progress = match (stored.and_then(|layout| layout.rebuild), self.start) {
            (Some(progress), _) => progress,
            (None, Start::Begin) => remove_or_make(classes.first().copied(), self.kinds),
            (None, Start::Continue) => return Ok(true),
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

/// The classes of all rows, in order.
fn classes(kinds: &[Kind]) -> Vec<&'static str> {
    let mut classes: Vec<&str> = kinds.iter().flat_map(|kind| kind.indexes).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Goes on with the rows of a class; after the last of them, with the first kind of records.
fn remove_or_make(class: Option<&str>, kinds: &[Kind]) -> Rebuild {
    match class {
        Some(class) => Rebuild::Remove { class: class.to_owned() },
        None => Rebuild::Make { kind: kinds.first().map_or("", |kind| kind.name).to_owned(), after: None },
    }
}

/// Removes rows of a class; answers what comes next.
async fn remove_some(tx: &mut Tx, class: &str, classes: &[&str], kinds: &[Kind]) -> Result<Option<Rebuild>> {
    let rows = tx.below(&KeyBuf::new(class), REBUILD_ROWS).await?;
    let is_full = rows.len() == REBUILD_ROWS as usize;
    for (row, _) in rows {
        tx.delete_value(row);
    }
    let next = if is_full { Some(class) } else { classes.iter().copied().find(|other| *other > class) };
    Ok(Some(remove_or_make(next, kinds)))
}

/// Makes the rows of some records of a kind; answers what comes next, `None` when that was all.
async fn make_some(
    tx: &mut Tx,
    kinds: &[Kind],
    name: &str,
    after: Option<String>,
) -> Result<Option<Rebuild>> {
    let Some(at) = kinds.iter().position(|kind| kind.name == name) else { return Ok(None) };
    let kind = &kinds[at];
    let (mut from, to) = KeyBuf::new(name).below();
    if let Some(after) = &after {
        from = key::after(after);
    }
    let scan = Scan { from, to, rev: false, limit: REBUILD_RECORDS.min(MAX_SCAN) };
    let records = tx.scan(&scan).await?;
    let is_last = records.len() < scan.limit as usize;
    let count = records.len();
    for (done, (stored_at, value)) in records.into_iter().enumerate() {
        make_rows(tx, kind, value).await?;
        // A record may bring along hundreds of rows.
        let is_full = tx.changes() >= REBUILD_ROWS as usize;
        if if done + 1 < count { is_full } else { !is_last } {
            return Ok(Some(Rebuild::Make { kind: name.to_owned(), after: Some(stored_at.to_string()) }));
        }
    }
    Ok(kinds.get(at + 1).map(|kind| Rebuild::Make { kind: kind.name.to_owned(), after: None }))
}

async fn make_rows(tx: &mut Tx, kind: &Kind, value: Value) -> StoreResult<()> {
    let (record, rows) = (kind.derive)(value)?;
    let unique: Vec<Key> =
        rows.iter().filter(|row| matches!(row, Row::Unique(..))).map(|row| Key::clone(row.key())).collect();
    if !unique.is_empty() {
        let taken = tx.get_values(&unique).await?;
        if let Some((taken, _)) = unique.iter().zip(taken).find(|(_, value)| value.is_some()) {
            return Err(StoreError::Corrupt(format!("`{record}` and another record both claim `{taken}`")));
        }
    }
    for row in rows {
        debug_assert!(!matches!(&row, Row::Count(key) if !key.starts_with(COUNTERS)), "{record}");
        tx.write_row(row);
    }
    Ok(())
}
