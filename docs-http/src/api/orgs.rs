//! Organizations.

use docs_core::{
    Platform,
    model::{DomainOrganizations, List, Organization, UpdateOrganization, Visit},
};
use poem_openapi::{OpenApi, param::Path};

use super::{Auth, Limit, Tag, id, page};
use crate::wire::{error::Answer, params::Query, payload::Strict, reply::Reply};

/// Operations of this noun.
#[derive(Debug)]
pub struct Orgs(pub(super) Platform);

#[OpenApi(tag = "Tag::Organizations")]
impl Orgs {
    /// List the organizations of the user
    #[oai(path = "/orgs", method = "get", operation_id = "listOrganizationsForAuthenticatedUser")]
    async fn list(
        &self,
        auth: Auth,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<Organization>>> {
        Ok(Reply(self.0.list_orgs(&auth.0, &page(cursor.0, limit.0)).await?.into()))
    }

    /// Get an organization
    #[oai(path = "/orgs/:organizationId", method = "get", operation_id = "getOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
    ) -> Answer<Reply<Organization>> {
        Ok(Reply(self.0.get_org(&auth.0, &id(&org, "organization")?).await?))
    }

    /// Change an organization
    ///
    /// What the request leaves out stays; `null` clears where it is allowed.
    #[oai(path = "/orgs/:organizationId", method = "patch", operation_id = "updateOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        change: Strict<UpdateOrganization>,
    ) -> Answer<Reply<Organization>> {
        Ok(Reply(self.0.update_org(&auth.0, &id(&org, "organization")?, change.0).await?))
    }

    /// Tell that the member who asks is there
    #[oai(
        path = "/orgs/:organizationId/ping",
        method = "post",
        operation_id = "updateOrganizationMemberLastSeenAt"
    )]
    async fn ping(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
    ) -> Answer<Reply<Visit>> {
        Ok(Reply(self.0.ping_org(&auth.0, &id(&org, "organization")?).await?))
    }

    /// Find the organization that claims an e-mail domain
    ///
    /// For its members, and for users whose own address is in the domain: these are shown as much as it takes to join.
    #[oai(
        path = "/email-domains/:emailDomain/orgs",
        method = "get",
        operation_id = "getOrganizationsForEmailDomain"
    )]
    async fn of_email_domain(
        &self,
        auth: Auth,
        #[oai(name = "emailDomain")] domain: Path<String>,
    ) -> Answer<Reply<DomainOrganizations>> {
        Ok(Reply(self.0.orgs_of_email_domain(&auth.0, &domain).await?))
    }
}
