//! The purpose of a transaction.

/// Purpose of a transaction. Statements outside a transaction cannot write: see [`SETTINGS`](super::connect::SETTINGS).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxnPurpose {
    /// Reads one snapshot.
    Read,
    /// Reads and writes, serializable.
    Write,
    /// Changes data that no transaction of the store reads (feed, objects) or that reads the same afterwards (the rows
    /// of a counter).
    Maintenance,
}

impl TxnPurpose {
    pub(super) const fn begin_sql(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write => "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
            Self::Maintenance => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        }
    }
}
