//! Lists of integrations, which are empty.

use docs_core::{
    Platform,
    model::{InstalledIntegration, Integration, IntegrationBlocks, List, OrgId, SiteId, SiteScript, SpaceId},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Path, Reply};

#[derive(Debug)]
pub struct Integrations(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Integrations")]
impl Integrations {
    /// List the integrations of the platform
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(path = "/integrations", method = "get", operation_id = "listIntegrations")]
    async fn list(&self, _auth: Auth) -> ApiResult<Reply<List<Integration>>> {
        Ok(Reply(List { next: None, count: Some(0), items: Vec::new() }))
    }

    /// List the integrations of a space
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(path = "/spaces/:spaceId/integrations", method = "get", operation_id = "listSpaceIntegrations")]
    async fn of_space(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<List<Integration>>> {
        Ok(Reply(auth.caller(&self.0).space(&space).integrations().await?.into()))
    }

    /// List the kinds of blocks that integrations add to a space
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(
        path = "/spaces/:spaceId/integration-blocks",
        method = "get",
        operation_id = "listSpaceIntegrationsBlocks"
    )]
    async fn blocks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<Vec<IntegrationBlocks>>> {
        Ok(Reply(auth.caller(&self.0).space(&space).integration_blocks().await?))
    }

    /// List the integrations that an organization can install
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(
        path = "/orgs/:organizationId/integrations",
        method = "get",
        operation_id = "listOrganizationIntegrations"
    )]
    async fn of_org(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<List<Integration>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).integrations().await?.into()))
    }

    /// List the installed integrations of an organization
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(
        path = "/orgs/:organizationId/installations",
        method = "get",
        operation_id = "listOrganizationInstallations"
    )]
    async fn installations(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<List<InstalledIntegration>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).installed_integrations().await?.into()))
    }

    /// List the status of the installed integrations of an organization
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(
        path = "/orgs/:organizationId/integrations/installations-status",
        method = "get",
        operation_id = "listOrganizationIntegrationsStatus"
    )]
    async fn status(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
    ) -> ApiResult<Reply<List<InstalledIntegration>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).installed_integrations().await?.into()))
    }

    /// List the integrations of a site
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(
        path = "/orgs/:organizationId/sites/:siteId/integrations",
        method = "get",
        operation_id = "listSiteIntegrations"
    )]
    async fn of_site(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<List<Integration>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).integrations().await?.into()))
    }

    /// List the scripts that integrations add to a site
    ///
    /// The list is empty, because the platform has no integrations.
    #[oai(
        path = "/orgs/:organizationId/sites/:siteId/integration-scripts",
        method = "get",
        operation_id = "listSiteIntegrationScripts"
    )]
    async fn scripts(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<Vec<SiteScript>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).integration_scripts().await?))
    }
}
