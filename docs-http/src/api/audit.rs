//! Operations on the audit log.

use docs_core::{
    Platform,
    model::{
        AuditEntry, AuditEvent, AuditEventActions, AuditEventDetails, BoundedText, List, OrgId, Timestamp,
        UserId,
    },
    platform::{AuditEventFilter, AuditFilter},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, AuditEventText, Auth, PageQuery, Path, Query, Reply};

#[derive(Debug)]
pub struct AuditLog(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "ApiTag::Organizations")]
impl AuditLog {
    /// List the audit log of an organization
    ///
    /// Returns all changes in the organization, newest first: operation, user, time and changed records. For a refused
    /// sign-in, `detail` contains the reason. Requires the role `admin`. Entries match all given filters. With several
    /// filters, a page can contain fewer entries than requested and still have a `next` page.
    #[oai(path = "/audit-log", method = "get", operation_id = "listAuditLogInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Restricts the list to changes made by this user.
        user: Query<UserId>,
        /// Restricts the list to changes made by this operation, for example `space_create`.
        operation: Query<BoundedText<1, 100>>,
        /// Restricts the list to changes of the record with this key, as listed in `records`.
        record: Query<BoundedText<1, 1000>>,
        /// Restricts the list to changes at or after this time, for example `2030-12-31T00:00:00Z`.
        since: Query<Timestamp>,
        /// Restricts the list to changes before this time.
        until: Query<Timestamp>,
    ) -> ApiResult<Reply<List<AuditEntry>>> {
        let filter = AuditFilter {
            organization: Some(org.0),
            user: user.0,
            subject: record.0.map(|key| key.as_str().into()),
            operation: operation.0.map(|name| name.to_string()),
            since: since.0,
            until: until.0,
        };
        Ok(Reply(auth.caller(&self.0).audit_log(&filter, &page.0).await?.into()))
    }

    /// List the audit events of an organization
    ///
    /// Returns the audit log as events, newest first. Requires the role `admin`. The target is the changed record that
    /// the action is about. With several filters, a page can contain fewer events than requested and still have a
    /// `next` page.
    #[oai(path = "/audit-events", method = "get", operation_id = "listOrganizationAuditEvents")]
    async fn list_events(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Restricts the list to events at or after this time, for example `2030-12-31T00:00:00Z`.
        from: Query<Timestamp>,
        /// Restricts the list to events at or before this time.
        to: Query<Timestamp>,
        /// Restricts the list to events with this action, for example `space_create`.
        action: Query<BoundedText<1, 100>>,
        /// Restricts the list to events of this actor: the id of a user, or `platform`.
        actor: Query<BoundedText<1, 100>>,
        /// Restricts the list to events whose target has this id.
        target: Query<BoundedText<1, 1000>>,
    ) -> ApiResult<Reply<List<AuditEvent>>> {
        let filter = AuditEventFilter {
            action: action.0.map(|name| name.to_string()),
            actor: actor.0.map(|id| id.to_string()),
            target: target.0.map(|id| id.to_string()),
            since: from.0,
            until: to.0.map(|to| to.later_than(to)),
        };
        Ok(Reply(auth.caller(&self.0).org(&org).audit_events(&filter, &page.0).await?.into()))
    }

    /// Get an audit event
    ///
    /// Returns the event with all recorded details: the keys of the changed records, but not their content. Requires
    /// the role `admin`.
    #[oai(path = "/audit-events/:auditEventId", method = "get", operation_id = "getOrganizationAuditEvent")]
    async fn event(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "auditEventId")] event: Path<AuditEventText>,
    ) -> ApiResult<Reply<AuditEventDetails>> {
        Ok(Reply(auth.caller(&self.0).org(&org).audit_event(&event).await?))
    }

    /// List the actions of audit events
    ///
    /// Requires the role `admin`.
    #[oai(path = "/audit-event-actions", method = "get", operation_id = "listOrganizationAuditEventActions")]
    async fn event_actions(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<AuditEventActions>> {
        Ok(Reply(auth.caller(&self.0).org(&org).audit_event_actions().await?))
    }
}
