//! The audit log mode.

use chrono::TimeDelta;

/// Audit log mode and retention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditLog {
    /// Changes are not logged. Existing entries are retained.
    Off,
    /// Every change is logged in its own transaction. Entries older than this are removed.
    Retained(TimeDelta),
}

impl Default for AuditLog {
    fn default() -> Self {
        Self::Retained(AUDIT_RETENTION)
    }
}

/// Default retention of audit log entries.
pub(in crate::platform) const AUDIT_RETENTION: TimeDelta = TimeDelta::days(365);
