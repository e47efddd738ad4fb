//! The audit log.

use docs_core::{
    Platform,
    model::{AuditEntry, BoundedText, List, Timestamp, UserId},
    platform::AuditFilter,
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::wire::{
    error::Answer,
    params::{PageQuery, Query},
    reply::Reply,
};

/// Operations of this noun.
#[derive(Debug)]
pub struct AuditLog(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "Tag::Organizations")]
impl AuditLog {
    /// List the audit log of an organization
    ///
    /// Every change in it, newest first: which operation, who asked for it, when, and which records it changed; of a
    /// refused sign-in, `detail` says why. For administrators. An entry meets all filters that are given; under
    /// several of them a page may have fewer entries than were asked for, and a next one.
    #[oai(path = "/audit-log", method = "get", operation_id = "listAuditLogInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        page: PageQuery,
        /// Only changes by this user.
        user: Query<UserId>,
        /// Only changes by this operation, as entries name it, such as `space_create`.
        operation: Query<BoundedText<1, 100>>,
        /// Only changes of the record with this key, as entries name it.
        record: Query<BoundedText<1, 1000>>,
        /// Only changes at this time or later, such as `2030-12-31T00:00:00Z`.
        since: Query<Timestamp>,
        /// Only changes before this time.
        until: Query<Timestamp>,
    ) -> Answer<Reply<List<AuditEntry>>> {
        let filter = AuditFilter {
            organization: Some(id(&org, "organization")?),
            user: user.0,
            subject: record.0.map(|key| key.as_str().into()),
            operation: operation.0.map(|name| name.to_string()),
            since: since.0,
            until: until.0,
        };
        Ok(Reply(auth.caller(&self.0).audit_log(&filter, &page.0).await?.into()))
    }
}
