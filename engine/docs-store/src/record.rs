//! Typed records, the contents of a [`Value`].

use std::{any::Any, sync::Arc};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use super::{Key, KeyBuf, Record, StoreError, StoreResult, Value, key::last_segment, limits::Gauge};

const NO_JSON_FORM: &str = "a record cannot be represented as JSON, because a map has keys other than \
                            strings";

/// A stored resource. Serde defines its JSON form, and `KIND` is the first segment of its key.
///
/// Fields must not be renamed or change their type; new fields need `#[serde(default)]`.
pub trait Entity: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The first segment of the record's key, and the name of its table.
    const KIND: &'static str;

    /// Returns the key of the record that an index row references by its last segment.
    #[must_use]
    fn named_by(row: &str) -> Key {
        KeyBuf::new(Self::KIND).part(&last_segment(row)).key()
    }

    /// Returns the keys of the records that index rows reference, in order.
    #[must_use]
    fn named_by_all(rows: &[(Key, Value)]) -> Vec<Key> {
        rows.iter().map(|(row, _)| Self::named_by(row)).collect()
    }
}

impl<T: Entity> Record for T {
    fn kind(&self) -> &'static str {
        T::KIND
    }

    fn to_json(&self) -> StoreResult<Bytes> {
        serde_json::to_vec(self).map(Bytes::from).map_err(|_| StoreError::Misuse(NO_JSON_FORM))
    }

    fn json_size(&self) -> StoreResult<usize> {
        let mut gauge = Gauge::default();
        serde_json::to_writer(&mut gauge, self).map_err(|_| StoreError::Misuse(NO_JSON_FORM))?;
        gauge.size()
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Decodes a typed record from a value.
///
/// # Errors
/// [`StoreError::Corrupt`] if the value is not a record of this type.
pub fn decode<T: Entity>(value: Value) -> StoreResult<Arc<T>> {
    match value {
        Value::Live(record) => {
            let kind = record.kind();
            record.into_any().downcast::<T>().map_err(|_| {
                StoreError::Corrupt(format!("expected a record of kind `{}`, found `{kind}`", T::KIND))
            })
        }
        Value::Json(bytes) => serde_json::from_slice(&bytes)
            .map(Arc::new)
            .map_err(|e| StoreError::Corrupt(format!("a `{}` record does not parse: {e}", T::KIND))),
        Value::Int(_) | Value::Unit => {
            Err(StoreError::Corrupt(format!("expected a record of kind `{}`, found another value", T::KIND)))
        }
    }
}
