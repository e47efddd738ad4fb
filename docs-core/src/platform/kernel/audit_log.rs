//! The audit log setting.

use chrono::TimeDelta;

/// Audit log setting and retention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditLog {
    /// Changes are not logged. Existing entries are retained.
    Off,
    /// Every change is logged in its own transaction; an entry is removed at this age.
    Retained(TimeDelta),
}

impl Default for AuditLog {
    fn default() -> Self {
        Self::Retained(AUDIT_RETENTION)
    }
}

/// Default retention of entries.
pub(in crate::platform) const AUDIT_RETENTION: TimeDelta = TimeDelta::days(365);
