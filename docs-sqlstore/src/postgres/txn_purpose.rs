//! The purposes of transactions.

/// The purpose of a transaction. Statements outside a transaction cannot write: see
/// [`SETTINGS`](super::connect::SETTINGS).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TxnPurpose {
    /// Reads from one snapshot.
    Read,
    /// Reads and writes with serializable isolation.
    Write,
    /// Changes data that no store transaction reads (feed, objects), or whose value does not change (the rows of a
    /// counter).
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
