//! Entries of the audit log, as they are shown.

use std::sync::Arc;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuditId, OrgId, Timestamp, UserId};

/// One change: which operation, by whom, and which records it changed. What they hold is not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The id.
    pub id: AuditId,
    /// When the change was asked for.
    pub at: Timestamp,
    /// The user who asked for it; absent for the platform itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// The name of the operation, such as `space_create`.
    pub operation: String,
    /// What else is to be said of the change, as a sentence, such as why somebody was not let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The organizations of what was changed: usually one, two where something moved between them.
    pub organizations: Vec<OrgId>,
    /// The keys of the changed records. Of very many, the first ones of every kind.
    pub records: Vec<Arc<str>>,
    /// The number of records that were changed.
    pub changed: u32,
}
