//! Checks for the limits of the contract, shared by all stores.
//!
//! A store calls [`check_key`], [`check_scan`] and [`check_batch`] before any other work, so that all stores reject the
//! same input.

use std::io;

use super::{
    Batch, Key, MAX_BATCH_BYTES, MAX_BATCH_OPS, MAX_KEY, MAX_SCAN, MAX_VALUE, Mode, Op, Scan, StoreError,
    StoreResult, Value, key::COUNTERS,
};

/// Size of an integer value in a batch: that of the longest `i64` in decimal.
const INT_BYTES: usize = 20;

/// Checks a key to read or write.
///
/// # Errors
/// [`StoreError::Misuse`] if the key is empty or contains NUL, [`StoreError::TooLarge`] if it is longer than
/// [`MAX_KEY`].
pub fn check_key(key: &str) -> StoreResult<()> {
    if key.is_empty() {
        return Err(StoreError::Misuse("a key must not be empty"));
    }
    check_bound(key, MAX_KEY)
}

/// Checks a range to read.
///
/// The bounds need not be valid keys: they may be empty, or one byte longer than [`MAX_KEY`], so that a scan can start
/// after any key. A range with reversed bounds is valid and empty.
///
/// # Errors
/// [`StoreError::Misuse`] for a limit greater than [`MAX_SCAN`] or NUL in a bound, [`StoreError::TooLarge`] for a bound
/// that is too long.
pub fn check_scan(scan: &Scan) -> StoreResult<()> {
    if scan.limit > MAX_SCAN {
        return Err(StoreError::Misuse("the limit of a scan exceeds `MAX_SCAN`"));
    }
    check_bound(&scan.from, MAX_KEY + 1)?;
    check_bound(&scan.to, MAX_KEY + 1)
}

/// Checks a batch before it is committed.
///
/// The size of a batch is the size of its keys, including feed keys, and of its values as JSON. An integer counts as 20
/// bytes. The feed may have as many items as the batch may have operations.
///
/// # Errors
/// [`StoreError::Misuse`] for a change in [`Mode::Read`], a duplicate key, a record under a key of another kind,
/// setting a counter (a key of the class `ctr`), an `Add` to another key, a string with NUL, or a value that is not
/// JSON; [`StoreError::TooLarge`] for input that exceeds the limits.
pub fn check_batch(mode: Mode, batch: &Batch) -> StoreResult<()> {
    if mode == Mode::Read && !batch.is_empty() {
        return Err(StoreError::Misuse("a read transaction has changes"));
    }
    if batch.ops.len() > MAX_BATCH_OPS || batch.feed.len() > MAX_BATCH_OPS {
        return Err(StoreError::TooLarge("a batch exceeds `MAX_BATCH_OPS` operations"));
    }
    let mut bytes = 0;
    for op in &batch.ops {
        check_key(op.key())?;
        bytes += op.key().len() + op_size(op)?;
    }
    for item in &batch.feed {
        check_key(&item.key)?;
        bytes += item.key.len();
    }
    if bytes > MAX_BATCH_BYTES {
        return Err(StoreError::TooLarge("a batch exceeds `MAX_BATCH_BYTES` bytes"));
    }
    check_distinct(&batch.ops)
}

/// Returns the size of a value in bytes, as counted in a batch.
///
/// # Errors
/// [`StoreError::Misuse`] for a string with NUL or a value that is not JSON.
pub fn value_size(value: &Value) -> StoreResult<usize> {
    match value {
        Value::Live(record) => record.json_size(),
        Value::Json(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|_| StoreError::Misuse(NOT_JSON))?;
            serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|_| StoreError::Misuse(NOT_JSON))?;
            let mut gauge = Gauge::default();
            gauge.feed(bytes);
            gauge.size()
        }
        Value::Int(_) => Ok(INT_BYTES),
        Value::Unit => Ok(0),
    }
}

const NOT_JSON: &str = "a value is not valid JSON";

/// A writer that counts the bytes of JSON and detects escaped NULs.
#[derive(Default, Debug)]
pub(super) struct Gauge {
    bytes: usize,
    /// Length of the prefix of `\u0000` that the input so far ends with.
    matched: u8,
    nul: bool,
}

impl Gauge {
    #[inline]
    pub(super) fn feed(&mut self, json: &[u8]) {
        self.bytes += json.len();
        if self.matched != 0 || json.contains(&b'\\') {
            self.search(json);
        }
    }

    fn search(&mut self, json: &[u8]) {
        for byte in json {
            self.matched = match (self.matched, byte) {
                (0, b'\\') => 1,
                (1, b'u') => 2,
                (2..=4, b'0') => self.matched + 1,
                (5, b'0') => {
                    self.nul = true;
                    0
                }
                _ => 0,
            };
        }
    }

    pub(super) fn size(&self) -> StoreResult<usize> {
        if self.nul { Err(StoreError::Misuse("a string must not contain NUL")) } else { Ok(self.bytes) }
    }
}

impl io::Write for Gauge {
    #[inline]
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.feed(json);
        Ok(json.len())
    }

    #[inline]
    fn write_all(&mut self, json: &[u8]) -> io::Result<()> {
        self.feed(json);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn check_bound(text: &str, max: usize) -> StoreResult<()> {
    if text.len() > max {
        return Err(StoreError::TooLarge("a key exceeds `MAX_KEY` bytes"));
    }
    if text.as_bytes().contains(&0) {
        return Err(StoreError::Misuse("a key must not contain NUL"));
    }
    Ok(())
}

fn op_size(op: &Op) -> StoreResult<usize> {
    let counter = op.key().split('!').next() == Some(COUNTERS);
    let (key, value) = match op {
        Op::Put(..) | Op::Create(..) if counter => {
            return Err(StoreError::Misuse("a counter can only be added to or deleted"));
        }
        Op::Put(key, value) | Op::Create(key, value) => (key, value),
        Op::Delete(_) => return Ok(0),
        Op::Add(..) if !counter => {
            return Err(StoreError::Misuse("an addition to a key that is not a counter"));
        }
        Op::Add(..) => return Ok(INT_BYTES),
    };
    if let Value::Live(record) = value
        && key.split('!').next() != Some(record.kind())
    {
        return Err(StoreError::Misuse("a record has a key of another kind"));
    }
    let size = value_size(value)?;
    if size > MAX_VALUE { Err(StoreError::TooLarge("a value exceeds `MAX_VALUE` bytes")) } else { Ok(size) }
}

fn check_distinct(ops: &[Op]) -> StoreResult<()> {
    let mut keys: Vec<&Key> = ops.iter().map(Op::key).collect();
    keys.sort_unstable();
    if keys.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(StoreError::Misuse("a batch has a duplicate key"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(json: &str) -> StoreResult<usize> {
        value_size(&Value::Json(json.to_owned().into()))
    }

    #[test]
    fn only_an_escaped_nul_is_refused() {
        assert_eq!(size(r#""\\u0000""#), Ok(9));
        assert_eq!(size(r#"{"a":"\u0001\u0010 u0000"}"#), Ok(26));
        for nul in [r#""\u0000""#, r#""\\\u0000""#, r#"{"\u0000":1}"#, r#"["\u000a\u0000"]"#] {
            assert!(matches!(size(nul), Err(StoreError::Misuse(_))), "{nul}");
        }
    }

    #[test]
    fn escaped_nul_is_detected_across_chunk_boundaries() {
        let json = br#"{"a":"x\u0000y"}"#;
        for cut in 0..json.len() {
            let mut gauge = Gauge::default();
            gauge.feed(&json[..cut]);
            gauge.feed(&json[cut..]);
            assert!(gauge.size().is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn invalid_json_is_rejected() {
        for wrong in ["", "{", "{}{}", "nul", "\u{0}"] {
            assert!(matches!(size(wrong), Err(StoreError::Misuse(_))), "{wrong}");
        }
        assert!(value_size(&Value::Json(vec![b'"', 0xff, b'"'].into())).is_err());
    }
}
