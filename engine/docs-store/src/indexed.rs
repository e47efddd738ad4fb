//! Rows derived from records: indexes, unique values and counters.

use std::sync::Arc;

use docs_model::OrgId;

use super::{Entity, Key, StoreError, StoreResult, Value, decode};

/// A row derived from a record.
#[derive(Clone, Debug)]
pub enum Row {
    /// An index row: maps a sort key to the record, optionally with a small covering value.
    Index(Key, Value),
    /// A unique value: no two records may share it. Written with `Create`, so that the store rejects duplicates.
    Unique(Key, Value),
    /// A counter that counts the records that have this row.
    Count(Key),
}

impl Row {
    /// Returns the key of the row.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Index(key, _) | Self::Unique(key, _) | Self::Count(key) => key,
        }
    }

    /// Returns the value of the row, or `None` for a counter, which is shared by records.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Index(_, value) | Self::Unique(_, value) => Some(value),
            Self::Count(_) => None,
        }
    }
}

/// A record that defines its key and its derived rows.
///
/// [`Tx::put`](super::Tx::put) writes only the difference between the rows of the old and the new record. Rows
/// therefore always match their records; [`verify_kinds`](super::verify_kinds) recomputes and compares all of them.
pub trait Indexed: Entity {
    /// The classes (first key segments) of the rows returned by [`rows`](Indexed::rows).
    const INDEXES: &'static [&'static str] = &[];

    /// Returns the key of the record: `KIND`, followed by the id.
    fn key(&self) -> Key;

    /// Derives the rows. The result must depend only on the record. By default, a record has none.
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }

    /// Returns the owner of the record. Administrators of the owner see changes to the record in the audit log.
    fn owner(&self) -> Owner;
}

/// The registry entry of a record kind.
#[derive(Clone, Copy, Debug)]
pub struct RecordKind {
    /// First segment of the keys of the records.
    pub name: &'static str,
    /// Classes of the rows derived from records of this kind.
    pub indexes: &'static [&'static str],
    /// Computes the key and the rows of a stored record.
    pub derive: fn(Value) -> StoreResult<(Key, Vec<Row>)>,
    /// Returns the owner of a stored record.
    pub owner: fn(Value) -> StoreResult<Owner>,
}

impl RecordKind {
    /// Creates the registry entry of a record type.
    #[must_use]
    pub const fn of<T: Indexed>() -> Self {
        Self { name: T::KIND, indexes: T::INDEXES, derive: derive::<T>, owner: owner::<T> }
    }
}

fn derive<T: Indexed>(value: Value) -> StoreResult<(Key, Vec<Row>)> {
    let record: Arc<T> = decode(value)?;
    Ok((record.key(), record.rows()))
}

fn owner<T: Indexed>(value: Value) -> StoreResult<Owner> {
    Ok(decode::<T>(value)?.owner())
}

/// Compares two values to determine which rows have changed.
///
/// JSON is compared by value, because a store may serialize the same JSON differently: PostgreSQL reorders object keys.
pub(super) fn same_value(a: &Value, b: &Value) -> StoreResult<bool> {
    Ok(match (a, b) {
        (Value::Unit, Value::Unit) => true,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Live(a), Value::Live(b)) => Arc::ptr_eq(a, b) || a.to_json()? == b.to_json()?,
        (Value::Json(a), Value::Json(b)) => a == b || json(a)? == json(b)?,
        (Value::Live(a), Value::Json(b)) | (Value::Json(b), Value::Live(a)) => {
            json(&a.to_json()?)? == json(b)?
        }
        _ => false,
    })
}

fn json(bytes: &[u8]) -> StoreResult<serde_json::Value> {
    serde_json::from_slice(bytes).map_err(|e| StoreError::Corrupt(format!("a row does not parse: {e}")))
}

/// The owner of a record as stated by the record itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    NoOrganization,
    Organization(OrgId),
    /// The owner of the record that has this key.
    As(Key),
}
