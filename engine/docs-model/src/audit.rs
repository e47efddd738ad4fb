//! Entries of the audit log as the API returns them.

use std::sync::Arc;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuditId, OrgId, Timestamp, UserId};

/// An entry of the audit log: the operation, its user and the keys of the changed records. The contents of the records
/// are not logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    pub id: AuditId,
    /// Time of the request that caused the change.
    pub at: Timestamp,
    /// The user who made the request; absent for changes by the platform itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// The name of the operation, for example `space_create`.
    pub operation: String,
    /// Further information as a sentence, for example the reason a sign-in was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The affected organizations: usually one, two for a move between organizations.
    pub organizations: Vec<OrgId>,
    /// The keys of the changed records. Truncated to the first keys of each record kind if there are many.
    pub records: Vec<Arc<str>>,
    /// The total number of changed records.
    pub changed: u32,
}
