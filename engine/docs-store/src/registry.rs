//! Verification of index rows, unique values and counters against their records.

use std::collections::BTreeMap;

use super::{Batches, Key, KeyBuf, MAX_SCAN, Mode, RecordKind, Row, Store, StoreResult, Tx, Value};

/// The result of [`verify_kinds`].
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexDrift {
    /// Rows that a record requires but that are missing or have a different value.
    pub missing: Vec<Key>,
    /// Rows that no record requires.
    pub stray: Vec<Key>,
    /// Counters that differ from a recount: key, stored value, recounted value.
    pub counters: Vec<(Key, i64, i64)>,
}

impl IndexDrift {
    /// Returns `true` if all rows and counters match the records.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Recomputes every index row, unique value and counter from the records of the given kinds and compares them with the
/// store. This reads the whole store in one snapshot; it is intended for administrators and tests.
///
/// # Errors
/// Any error of the store; [`StoreError::Corrupt`](super::StoreError::Corrupt) if a record cannot be parsed.
pub async fn verify_kinds(store: &dyn Store, kinds: &[RecordKind]) -> StoreResult<IndexDrift> {
    let tx = Tx::new(store.begin(Mode::Read, &[]).await?);
    let mut rows: BTreeMap<Key, Value> = BTreeMap::new();
    let mut counts: BTreeMap<Key, i64> = BTreeMap::new();
    for kind in kinds {
        for (_, value) in read_class(&tx, kind.name).await? {
            for row in (kind.derive)(value)?.1 {
                match row {
                    Row::Index(key, value) | Row::Unique(key, value) => drop(rows.insert(key, value)),
                    Row::Count(key) => *counts.entry(key).or_default() += 1,
                }
            }
        }
    }
    let mut drift = IndexDrift::default();
    let mut classes: Vec<&str> = kinds.iter().flat_map(|kind| kind.indexes).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    for class in classes {
        for (key, stored) in read_class(&tx, class).await? {
            if let Value::Int(stored) = stored {
                let counted = counts.remove(&key).unwrap_or_default();
                if counted != stored {
                    drift.counters.push((key, stored, counted));
                }
                continue;
            }
            match rows.remove(&key) {
                Some(wanted) if super::indexed::same_value(&wanted, &stored)? => {}
                Some(_) => drift.missing.push(key),
                None => drift.stray.push(key),
            }
        }
    }
    drift.missing.extend(rows.into_keys());
    drift.counters.extend(counts.into_iter().map(|(key, counted)| (key, 0, counted)));
    Ok(drift)
}

/// Reads all entries of a class.
async fn read_class(tx: &Tx, class: &str) -> StoreResult<Vec<(Key, Value)>> {
    let mut found = Vec::new();
    let mut batches = Batches::of(KeyBuf::new(class).scan(MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        found.extend(rows);
    }
    Ok(found)
}
