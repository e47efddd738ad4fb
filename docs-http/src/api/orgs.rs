//! Organizations.

use docs_core::{
    Platform,
    model::{List, Organization, UpdateOrganization},
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
}
