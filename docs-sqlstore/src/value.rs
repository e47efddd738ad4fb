//! Conversion of values to columns.

use bytes::Bytes;
use docs_store::{StoreError, StoreResult, Value};

/// Columns of a value: JSON (`doc` of a record, `v` of a row), a number (`n`), or `NULL` in both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    Json(String),
    Int(i64),
    Unit,
}

impl Cell {
    /// Converts a value to columns.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] if the value cannot be represented as JSON.
    pub(crate) fn from_value(value: &Value) -> StoreResult<Self> {
        let json = match value {
            Value::Int(n) => return Ok(Self::Int(*n)),
            Value::Unit => return Ok(Self::Unit),
            Value::Live(record) => record.to_json()?,
            Value::Json(json) => json.clone(),
        };
        let text =
            String::from_utf8(json.into()).map_err(|_| StoreError::Misuse("a value is not valid JSON"))?;
        Ok(Self::Json(text))
    }

    /// Converts a record to its column.
    ///
    /// # Errors
    /// [`StoreError::Misuse`] if the value is not a record.
    pub(crate) fn record_json(value: &Value) -> StoreResult<String> {
        match Self::from_value(value)? {
            Self::Json(text) => Ok(text),
            Self::Int(_) | Self::Unit => Err(StoreError::Misuse("a record key has a value of another kind")),
        }
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Json(text) => Self::Json(Bytes::from(text)),
            Cell::Int(n) => Self::Int(n),
            Cell::Unit => Self::Unit,
        }
    }
}
