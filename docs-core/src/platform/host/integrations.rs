//! Integrations. The platform has none, so every list is empty for those who may see it.

use docs_macros::boxed;

use crate::{
    Result,
    model::{InstalledIntegration, Integration, IntegrationBlocks, SiteScript},
    platform::{
        access,
        nouns::{OrgHandle, SiteHandle, SpaceHandle},
    },
    policy::SiteAction,
    store::Page,
};

impl<'p> SpaceHandle<'p> {
    /// Lists the integrations of a space.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn integrations(self) -> Result<Page<Integration>> {
        let (platform, ref actor, space) = self.parts();
        access::space(&platform.read().await?, actor, space).await?;
        Ok(none())
    }

    /// Lists the kinds of blocks that integrations add to the content of a space.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn integration_blocks(self) -> Result<Vec<IntegrationBlocks>> {
        let (platform, ref actor, space) = self.parts();
        access::space(&platform.read().await?, actor, space).await?;
        Ok(Vec::new())
    }
}

impl<'p> OrgHandle<'p> {
    /// Lists the integrations that an organization can install.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn integrations(self) -> Result<Page<Integration>> {
        let (platform, ref actor, org) = self.parts();
        access::org(&platform.read().await?, actor, org).await?;
        Ok(none())
    }

    /// Lists the integrations that are installed in an organization.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn installed_integrations(self) -> Result<Page<InstalledIntegration>> {
        let (platform, ref actor, org) = self.parts();
        access::org(&platform.read().await?, actor, org).await?;
        Ok(none())
    }
}

impl<'p> SiteHandle<'p> {
    /// Lists the integrations of a site.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests.
    #[boxed]
    pub async fn integrations(self) -> Result<Page<Integration>> {
        let (platform, ref actor, at, _) = self.parts();
        access::require_site(&platform.read().await?, actor, at, SiteAction::View).await?;
        Ok(none())
    }

    /// Lists the scripts that integrations add to a site.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests.
    #[boxed]
    pub async fn integration_scripts(self) -> Result<Vec<SiteScript>> {
        let (platform, ref actor, at, _) = self.parts();
        access::require_site(&platform.read().await?, actor, at, SiteAction::View).await?;
        Ok(Vec::new())
    }
}

/// Returns a list without items.
const fn none<T>() -> Page<T> {
    Page { items: Vec::new(), next: None, count: Some(0) }
}
