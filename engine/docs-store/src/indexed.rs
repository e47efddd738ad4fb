//! Which rows a record brings along: its indexes and unique values.

use std::sync::Arc;

use super::{Entity, Key, Owner, StoreError, StoreResult, Value, decode};

/// A row that follows from a record.
#[derive(Clone, Debug)]
pub enum Row {
    /// An index row: leads from a sort key to the record, perhaps with a small covering value.
    Index(Key, Value),
    /// A unique value: no other record may have it. Written by `Create`, so that the store refuses a twin.
    Unique(Key, Value),
    /// A counter to which the record adds one for as long as it is as it is.
    Count(Key),
}

impl Row {
    /// The key of the row.
    #[must_use]
    pub fn key(&self) -> &Key {
        match self {
            Self::Index(key, _) | Self::Unique(key, _) | Self::Count(key) => key,
        }
    }

    /// What the row holds; `None` for a counter, which many records share.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Index(_, value) | Self::Unique(_, value) => Some(value),
            Self::Count(_) => None,
        }
    }
}

/// A record that knows its key and the rows that follow from it.
///
/// [`Tx::put`](super::Tx::put) writes the difference between the rows of the old and the new record, so index rows
/// never drift from records; [`verify_kinds`](super::verify_kinds) recomputes them all.
pub trait Indexed: Entity {
    /// The classes (first segments) of the rows that [`rows`](Indexed::rows) gives.
    const INDEXES: &'static [&'static str];

    /// The record's key: `KIND`, then its id.
    fn key(&self) -> Key;

    /// The rows that follow from the record: a function of the record alone.
    fn rows(&self) -> Vec<Row>;

    /// To whom the record belongs: whose administrators see in the audit log that it was changed.
    fn owner(&self) -> Owner;
}

/// One kind of record, as the registry lists it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// First segment of the records' keys.
    pub name: &'static str,
    /// Classes of the rows that follow from records of the kind.
    pub indexes: &'static [&'static str],
    /// The key and the rows of a stored record.
    pub derive: fn(Value) -> StoreResult<(Key, Vec<Row>)>,
    /// To whom a stored record belongs.
    pub owner: fn(Value) -> StoreResult<Owner>,
}

impl Kind {
    /// The registry entry of a type of record.
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

/// Compares two values for the purpose of writing only what changed.
///
/// JSON is compared by value: a store may write the same JSON in another way, PostgreSQL sorts the names of an object.
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
