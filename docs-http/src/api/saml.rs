//! Operations on SAML providers and sign-in options.

use docs_core::{
    Platform,
    model::{CreateSamlProvider, List, OrgId, SamlProvider, SamlProviderId, SsoLogins, UpdateSamlProvider},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Empty, Idempotency, NoContent,
    PageQuery, Path, Reply, Strict,
};

#[derive(Debug)]
pub struct Saml(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "ApiTag::SingleSignOn")]
impl Saml {
    /// List the SAML providers of an organization
    ///
    /// Oldest first, including pending providers. Requires the role `admin`.
    #[oai(path = "/saml", method = "get", operation_id = "listSAMLProvidersInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SamlProvider>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).saml_providers().list(&page.0).await?.into()))
    }

    /// Create a SAML provider
    ///
    /// The provider is pending until its URL, entity id and certificate are set.
    #[oai(path = "/saml", method = "post", operation_id = "createOrganizationSAMLProvider")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<CreateSamlProvider>,
    ) -> ApiResult<Created<SamlProvider>> {
        let provider =
            auth.caller(&idempotency.platform(&self.0)).org(&org).saml_providers().create(new.0).await?;
        let location = provider.urls.location.clone();
        Ok(Created::new(provider).with_location(location))
    }

    /// Get a SAML provider
    ///
    /// Returns the provider with the URLs to configure at the provider. Requires the role `admin`.
    #[oai(path = "/saml/:samlProviderId", method = "get", operation_id = "getOrganizationSAMLProviderById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "samlProviderId")] provider: Path<SamlProviderId>,
    ) -> ApiResult<Reply<SamlProvider>> {
        Ok(Reply(auth.caller(&self.0).org(&org).saml_provider(&provider).get().await?))
    }

    /// Change a SAML provider
    ///
    /// Omitted fields are unchanged; `null` removes the value of optional fields. A change of the URL, entity id or
    /// certificate ends the sessions that were started with the provider.
    #[oai(path = "/saml/:samlProviderId", method = "patch", operation_id = "updateOrganizationSAMLProvider")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "samlProviderId")] provider: Path<SamlProviderId>,
        change: Strict<UpdateSamlProvider>,
    ) -> ApiResult<Reply<SamlProvider>> {
        Ok(Reply(
            auth.caller(&condition.platform(&self.0))
                .org(&org)
                .saml_provider(&provider)
                .update(change.0)
                .await?,
        ))
    }

    /// Delete a SAML provider
    ///
    /// Succeeds if the provider does not exist.
    #[oai(path = "/saml/:samlProviderId", method = "delete", operation_id = "deleteOrganizationSAMLProvider")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "samlProviderId")] provider: Path<SamlProviderId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).org(&org).saml_provider(&provider).delete().await?;
        Ok(Empty)
    }

    /// List the sign-in options of an organization
    ///
    /// Returns the active SAML providers, oldest first.
    #[oai(path = "/sso", method = "get", operation_id = "listSSOProviderLoginsInOrganization")]
    async fn logins(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<SsoLogins>> {
        Ok(Reply(auth.caller(&self.0).org(&org).list_sso_logins().await?))
    }
}
