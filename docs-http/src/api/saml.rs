//! SAML providers and the ways to sign in.

use docs_core::{
    Platform,
    model::{CreateSamlProvider, List, SamlProvider, SsoLogins, UpdateSamlProvider},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    conditions::Condition,
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::PageQuery,
        payload::Strict,
        reply::{Created, Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Saml(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "Tag::SingleSignOn")]
impl Saml {
    /// List the SAML providers of an organization
    ///
    /// The oldest first, those that are pending as well. For administrators.
    #[oai(path = "/saml", method = "get", operation_id = "listSAMLProvidersInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<SamlProvider>>> {
        let org = id(&org, "organization")?;
        Ok(Reply(auth.caller(&self.0).org(&org).saml_providers().list(&page.0).await?.into()))
    }

    /// Create a SAML provider
    ///
    /// It is pending until its address, its entity id and its certificate are known.
    #[oai(path = "/saml", method = "post", operation_id = "createOrganizationSAMLProvider")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        new: Strict<CreateSamlProvider>,
    ) -> Answer<Created<SamlProvider>> {
        let provider = auth
            .caller(&idempotency.platform(&self.0))
            .org(&id(&org, "organization")?)
            .saml_providers()
            .create(new.0)
            .await?;
        let location = provider.urls.location.clone();
        Ok(Created::new(provider).at(location))
    }

    /// Get a SAML provider
    ///
    /// With the addresses that it has to know of the platform. For administrators.
    #[oai(path = "/saml/:samlProviderId", method = "get", operation_id = "getOrganizationSAMLProviderById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "samlProviderId")] provider: Path<String>,
    ) -> Answer<Reply<SamlProvider>> {
        let (org, provider) = (id(&org, "organization")?, id(&provider, "SAML provider")?);
        Ok(Reply(auth.caller(&self.0).org(&org).saml_provider(&provider).get().await?))
    }

    /// Change a SAML provider
    ///
    /// What the request leaves out stays; `null` removes what may be missing. Sessions that began through the provider
    /// end when its address, its entity id or its certificate changes.
    #[oai(path = "/saml/:samlProviderId", method = "patch", operation_id = "updateOrganizationSAMLProvider")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "samlProviderId")] provider: Path<String>,
        change: Strict<UpdateSamlProvider>,
    ) -> Answer<Reply<SamlProvider>> {
        let (org, provider) = (id(&org, "organization")?, id(&provider, "SAML provider")?);
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
    /// A provider that is missing is no error.
    #[oai(path = "/saml/:samlProviderId", method = "delete", operation_id = "deleteOrganizationSAMLProvider")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "samlProviderId")] provider: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(provider)) = (org.parse(), provider.parse()) {
            auth.caller(&condition.platform(&self.0)).org(&org).saml_provider(&provider).delete().await?;
        }
        Ok(Empty)
    }

    /// List the ways to sign in to an organization
    ///
    /// Its active providers, the oldest first.
    #[oai(path = "/sso", method = "get", operation_id = "listSSOProviderLoginsInOrganization")]
    async fn logins(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
    ) -> Answer<Reply<SsoLogins>> {
        Ok(Reply(auth.caller(&self.0).org(&id(&org, "organization")?).list_sso_logins().await?))
    }
}
