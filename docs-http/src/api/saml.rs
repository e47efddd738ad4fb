//! SAML providers and the ways to sign in.

use docs_core::{
    Platform,
    model::{CreateSamlProvider, List, SamlProvider, SsoLogins, UpdateSamlProvider},
};
use poem_openapi::{OpenApi, param::Path};

use super::{Auth, Limit, Tag, id, page};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::Query,
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
    #[oai(path = "/saml", method = "get", operation_id = "listSAMLProvidersInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<SamlProvider>>> {
        let org = id(&org, "organization")?;
        Ok(Reply(self.0.list_saml_providers(&auth.0, &org, &page(cursor.0, limit.0)).await?.into()))
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
        let provider =
            idempotency.on(&self.0).create_saml_provider(&auth.0, &id(&org, "organization")?, new.0).await?;
        let location = provider.urls.location.clone();
        Ok(Created::new(provider).at(location))
    }

    /// Get a SAML provider
    #[oai(path = "/saml/:samlProviderId", method = "get", operation_id = "getOrganizationSAMLProviderById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "samlProviderId")] provider: Path<String>,
    ) -> Answer<Reply<SamlProvider>> {
        let (org, provider) = (id(&org, "organization")?, id(&provider, "SAML provider")?);
        Ok(Reply(self.0.get_saml_provider(&auth.0, &org, &provider).await?))
    }

    /// Change a SAML provider
    ///
    /// What the request leaves out stays; `null` removes what may be missing.
    #[oai(path = "/saml/:samlProviderId", method = "patch", operation_id = "updateOrganizationSAMLProvider")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "samlProviderId")] provider: Path<String>,
        change: Strict<UpdateSamlProvider>,
    ) -> Answer<Reply<SamlProvider>> {
        let (org, provider) = (id(&org, "organization")?, id(&provider, "SAML provider")?);
        Ok(Reply(self.0.update_saml_provider(&auth.0, &org, &provider, change.0).await?))
    }

    /// Delete a SAML provider
    ///
    /// A provider that is missing is no error.
    #[oai(path = "/saml/:samlProviderId", method = "delete", operation_id = "deleteOrganizationSAMLProvider")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "samlProviderId")] provider: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(provider)) = (org.parse(), provider.parse()) {
            self.0.delete_saml_provider(&auth.0, &org, &provider).await?;
        }
        Ok(Empty)
    }

    /// List the ways to sign in to an organization
    #[oai(path = "/sso", method = "get", operation_id = "listSSOProviderLoginsInOrganization")]
    async fn logins(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
    ) -> Answer<Reply<SsoLogins>> {
        Ok(Reply(self.0.list_sso_logins(&auth.0, &id(&org, "organization")?).await?))
    }
}
