//! Audit log entries of the API.

use std::sync::Arc;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuditId, OrgId, Timestamp, UserId};

/// An audit log entry: the operation, the user and the keys of the changed records, but not their contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    pub id: AuditId,
    /// Time of the request that caused the change.
    pub at: Timestamp,
    /// The user who made the request; absent for changes made by the platform itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// The name of the operation, for example `space_create`.
    pub operation: String,
    /// Further information as a sentence, for example why a sign-in was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The affected organizations: usually one; two for a move between organizations.
    pub organizations: Vec<OrgId>,
    /// The keys of the changed records. A long list contains only the first keys of each record kind.
    pub records: Vec<Arc<str>>,
    /// The total number of changed records.
    pub changed: u32,
}
