//! Registry of open transactions, whose snapshots must not be collected.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use docs_store::MAX_TXN;

pub(crate) const MAX_TXN_DELTA: TimeDelta = TimeDelta::seconds(MAX_TXN.as_secs().cast_signed());

#[derive(Default, Debug)]
pub(crate) struct Registry {
    begun: u64,
    /// Expiry of each transaction, by ticket.
    open: BTreeMap<TxnTicket, DateTime<Utc>>,
}

/// Identifies an open transaction: its snapshot, and a number to distinguish transactions with the same snapshot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TxnTicket {
    pub(crate) snapshot: u64,
    number: u64,
}

impl Registry {
    /// Registers a transaction. Returns its ticket and expiry.
    pub(crate) fn enter(&mut self, snapshot: u64, now: DateTime<Utc>) -> (TxnTicket, DateTime<Utc>) {
        self.begun += 1;
        let ticket = TxnTicket { snapshot, number: self.begun };
        let end = now.checked_add_signed(MAX_TXN_DELTA).unwrap_or(DateTime::<Utc>::MAX_UTC);
        self.open.insert(ticket, end);
        (ticket, end)
    }

    pub(crate) fn leave(&mut self, ticket: TxnTicket) {
        self.open.remove(&ticket);
    }

    /// Returns the oldest snapshot that may still be read, or `newest` if no transaction is open.
    ///
    /// Expired transactions are removed, so that a leaked one does not retain old versions forever.
    pub(crate) fn floor(&mut self, newest: u64, now: DateTime<Utc>) -> u64 {
        while let Some(oldest) = self.open.first_entry() {
            if now <= *oldest.get() {
                return oldest.key().snapshot;
            }
            oldest.remove();
        }
        newest
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}
