//! Operations on the audit log.

use docs_core::{
    Platform,
    model::{AuditEntry, BoundedText, List, OrgId, Timestamp, UserId},
    platform::AuditFilter,
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, PageQuery, Path, Query, Reply};

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
}
