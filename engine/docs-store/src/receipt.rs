//! The identity of one run of an operation, and its audit mode.

use std::time::Duration;

use chrono::{DateTime, Utc};
use docs_model::UserId;

use super::{Key, KeyBuf};

/// Class of the receipts of operations. The time of the operation follows.
pub const RECEIPTS: &str = "op";

/// The audit mode of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditMode {
    /// Maintenance that no user requested, such as claiming a job: no entry.
    Unaudited,
    /// An entry with this user as the actor; the platform itself if `None`.
    Actor(Option<UserId>),
}

/// The identity of one run of an operation. The receipt is stored with the effect of the run.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The time of the request.
    pub at: DateTime<Utc>,
    /// 128 random bits: the id of the run, and the seed of its back-off.
    pub id: uuid::Uuid,
    /// The audit mode of the run. The id of the audit entry is derived from the id of the run.
    pub logged: AuditMode,
}

impl Receipt {
    pub(super) fn key(&self) -> Key {
        KeyBuf::new(RECEIPTS).time(self.at).part(&self.id.simple().to_string()).key()
    }

    /// Full jitter: a delay up to `min(2^attempt ms, 100 ms)`.
    pub(super) fn pause(&self, attempt: u32) -> Duration {
        let bound = (1_u64 << attempt.min(7)).min(100) * 1_000;
        let (seed, _) = self.id.as_u64_pair();
        Duration::from_micros(seed.rotate_left(attempt * 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound)
    }
}
