//! The identity of one run of an operation, and its audit mode.

use std::time::Duration;

use chrono::{DateTime, Utc};
use docs_model::UserId;

use super::{Key, KeyBuf};

/// Class of the receipts of operations. The next key segment is the time of the operation.
pub const RECEIPTS: &str = "op";

/// The audit mode of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditMode {
    /// No entry: maintenance that no user requested, for example claiming a job.
    Unaudited,
    /// An entry with this user as the actor, or the platform itself if `None`.
    Actor(Option<UserId>),
}

/// The identity of one run of an operation. The receipt is stored together with the effect of the run.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The time of the request.
    pub at: DateTime<Utc>,
    /// 128 random bits: the id of the run and the seed for its backoff.
    pub id: uuid::Uuid,
    /// The audit mode of the run. The id of the audit entry is derived from `id`.
    pub logged: AuditMode,
}

impl Receipt {
    pub(super) fn key(&self) -> Key {
        KeyBuf::new(RECEIPTS).time(self.at).part(&self.id.simple().to_string()).key()
    }

    /// Returns a backoff delay with full jitter: up to `min(2^attempt ms, 100 ms)`.
    pub(super) fn pause(&self, attempt: u32) -> Duration {
        let bound = (1_u64 << attempt.min(7)).min(100) * 1_000;
        let (seed, _) = self.id.as_u64_pair();
        Duration::from_micros(seed.rotate_left(attempt * 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) % bound)
    }
}
