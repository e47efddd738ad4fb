//! Organizations.

use docs_core::{
    Platform,
    model::{DomainOrganizations, List, Organization, Subdomain, UpdateOrganization, Visit},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    conditions::Condition,
    wire::{error::Answer, params::PageQuery, payload::Strict, reply::Reply},
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Orgs(pub(super) Platform);

#[OpenApi(tag = "Tag::Organizations")]
impl Orgs {
    /// List the organizations of the user
    ///
    /// In the order of joining; those where the user is a guest as well.
    #[oai(path = "/orgs", method = "get", operation_id = "listOrganizationsForAuthenticatedUser")]
    async fn list(&self, auth: Auth, page: PageQuery) -> Answer<Reply<List<Organization>>> {
        Ok(Reply(auth.caller(&self.0).orgs().list(&page.0).await?.into()))
    }

    /// Get an organization
    ///
    /// For its members and guests. What it pays is for those who may view the billing.
    #[oai(path = "/orgs/:organizationId", method = "get", operation_id = "getOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
    ) -> Answer<Reply<Organization>> {
        Ok(Reply(auth.caller(&self.0).org(&id(&org, "organization")?).get().await?))
    }

    /// Change an organization
    ///
    /// What the request leaves out stays; `null` clears where it is allowed.
    #[oai(path = "/orgs/:organizationId", method = "patch", operation_id = "updateOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        change: Strict<UpdateOrganization>,
    ) -> Answer<Reply<Organization>> {
        Ok(Reply(
            auth.caller(&condition.platform(&self.0))
                .org(&id(&org, "organization")?)
                .update(change.0)
                .await?,
        ))
    }

    /// Tell that the member who asks is there
    ///
    /// The answer vouches for the member on the sites of the organization; guests get no such token.
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
        Ok(Reply(auth.caller(&self.0).org(&id(&org, "organization")?).ping().await?))
    }

    /// Find the organization that has a host name
    ///
    /// For everybody who is signed in: it tells no more than the id.
    #[oai(path = "/subdomains/:subdomain", method = "get", operation_id = "getSubdomain")]
    async fn subdomain(&self, auth: Auth, subdomain: Path<String>) -> Answer<Reply<Subdomain>> {
        Ok(Reply(auth.caller(&self.0).subdomain(&subdomain).await?))
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
        Ok(Reply(auth.caller(&self.0).orgs().of_email_domain(&domain).await?))
    }
}
