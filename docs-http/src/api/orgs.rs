//! Operations on organizations.

use docs_core::{
    Platform,
    model::{
        CreateOrganization, DomainOrganizations, List, OrgId, Organization, Subdomain, UpdateOrganization,
        Visit,
    },
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Empty, Idempotency, NoContent, PageQuery,
    Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct Orgs(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Organizations")]
impl Orgs {
    /// List the organizations of the user
    ///
    /// Ordered by the time of joining. Includes organizations of which the user is a guest.
    #[oai(path = "/orgs", method = "get", operation_id = "listOrganizationsForAuthenticatedUser")]
    async fn list(&self, auth: Auth, page: PageQuery) -> ApiResult<Reply<List<Organization>>> {
        Ok(Reply(auth.caller(&self.0).orgs().list(&page.0).await?.into()))
    }

    /// Create an organization
    ///
    /// The user becomes its first administrator. The server limits the number of organizations per user, and can
    /// reserve their creation for its operator.
    #[oai(path = "/orgs", method = "post", operation_id = "createOrganization")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        /// Must be absent or `false`: create the site with `createSite`.
        #[oai(name = "withDefaultSite")]
        with_default_site: Query<bool>,
        new: Strict<CreateOrganization>,
    ) -> ApiResult<Created<Organization>> {
        if with_default_site.0 == Some(true) {
            let remedy = "must be false; create the site with `POST /orgs/{organizationId}/sites`";
            return Err(docs_core::Error::invalid("withDefaultSite", remedy).into());
        }
        let org = auth.caller(&idempotency.platform(&self.0)).orgs().found(new.0).await?;
        let location = org.urls.location.clone();
        Ok(Created::new(org).with_location(location))
    }

    /// Join an organization
    ///
    /// Available to users whose e-mail address is in a domain that the organization claims. They become guests.
    /// Succeeds without a change for members.
    #[oai(path = "/orgs/:organizationId/join", method = "post", operation_id = "joinOrganization")]
    async fn join(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).join().await?;
        Ok(Empty)
    }

    /// Get an organization
    ///
    /// Available to members and guests. `billing` is returned only to callers with the `viewBilling` permission.
    #[oai(path = "/orgs/:organizationId", method = "get", operation_id = "getOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<Organization>> {
        Ok(Reply(auth.caller(&self.0).org(&org).get().await?))
    }

    /// Change an organization
    ///
    /// Omitted fields are unchanged; `null` removes the value of optional fields.
    #[oai(path = "/orgs/:organizationId", method = "patch", operation_id = "updateOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        change: Strict<UpdateOrganization>,
    ) -> ApiResult<Reply<Organization>> {
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).update(change.0).await?))
    }

    /// Report a visit of the calling member
    ///
    /// The response contains a token that authenticates the member on the sites of the organization. Guests receive no
    /// token.
    #[oai(
        path = "/orgs/:organizationId/ping",
        method = "post",
        operation_id = "updateOrganizationMemberLastSeenAt"
    )]
    async fn ping(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<Visit>> {
        Ok(Reply(auth.caller(&self.0).org(&org).ping().await?))
    }

    /// Find the organization that has a host name
    ///
    /// Available to all signed-in users. The response contains only the id of the organization.
    #[oai(path = "/subdomains/:subdomain", method = "get", operation_id = "getSubdomain")]
    async fn subdomain(&self, auth: Auth, subdomain: Path<String>) -> ApiResult<Reply<Subdomain>> {
        Ok(Reply(auth.caller(&self.0).subdomain(&subdomain).await?))
    }

    /// Find the organization that claims an e-mail domain
    ///
    /// Available to its members, and to users whose own e-mail address is in the domain. The latter see only the fields
    /// needed to join.
    #[oai(
        path = "/email-domains/:emailDomain/orgs",
        method = "get",
        operation_id = "getOrganizationsForEmailDomain"
    )]
    async fn list_by_email_domain(
        &self,
        auth: Auth,
        #[oai(name = "emailDomain")] domain: Path<String>,
    ) -> ApiResult<Reply<DomainOrganizations>> {
        Ok(Reply(auth.caller(&self.0).orgs().by_email_domain(&domain).await?))
    }
}
