//! Audit log entries of the API.

use std::sync::Arc;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuditId, OrgId, Timestamp, UserId, list::constants};

constants! {
    /// `audit-event`.
    AuditEventObject = "audit-event",
    /// `audit-event-action`.
    AuditEventActionObject = "audit-event-action",
}

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

/// An audit log entry in the form of an event: one actor, one action and one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// Always `audit-event`.
    pub object: AuditEventObject,
    /// The id of the entry as a UUID.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "uuid")))]
    pub id: String,
    pub occurred_at: Timestamp,
    /// The name of the operation, for example `space_create`.
    pub action: String,
    pub actor: AuditEventActor,
    pub source: AuditEventSource,
    pub target: AuditEventTarget,
    pub urls: AuditEventUrls,
}

/// The actor of an audit event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AuditEventActor {
    #[serde(rename = "type")]
    pub kind: AuditEventActorType,
    /// The id of the user, or `platform`.
    pub id: String,
}

/// The type of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AuditEventActorType {
    /// A user.
    User,
    /// The platform itself: its background jobs and its operator.
    System,
}

/// The origin of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AuditEventSource {
    /// A request of a user.
    Api,
    /// A background job, or a command of the operator.
    Workflow,
}

/// The main record that a change affected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AuditEventTarget {
    /// The kind of record, for example `space`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The id of the record.
    pub id: String,
}

/// URLs of an audit event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AuditEventUrls {
    /// The audit event in this API.
    pub location: String,
}

/// An audit event with all recorded details.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEventDetails {
    #[serde(flatten)]
    pub event: AuditEvent,
    /// The version of the schema of `payload`.
    pub schema_version: u32,
    pub payload: AuditEventPayload,
}

/// The recorded details of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AuditEventPayload {
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

/// The actions that audit events can have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AuditEventActions {
    pub items: Vec<AuditEventAction>,
}

/// An action of audit events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AuditEventAction {
    /// Always `audit-event-action`.
    pub object: AuditEventActionObject,
    /// The value of `action` in events.
    pub id: String,
    /// A description for people.
    pub label: String,
}
