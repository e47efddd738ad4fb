//! Operations on the synchronization of a space with a Git repository.

use docs_core::{
    Platform,
    model::{GitInstallation, GitSyncSetting, List, OrgId, SetGitSync, SiteId, SpaceId},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Deleted, Empty, Idempotency, NoContent, Path, Reply,
    StartedJob, Strict,
};
use crate::wire::reply::Deletion;

#[derive(Debug)]
pub struct GitSync(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/git/sync", tag = "ApiTag::Git")]
impl GitSync {
    /// Get the Git synchronization of a space
    ///
    /// Returns the settings and the state of the synchronization. Credentials and the webhook secret are not included.
    #[oai(path = "/", method = "get", operation_id = "getSpaceGitSync")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<GitSyncSetting>> {
        Ok(Reply(auth.caller(&self.0).space(&space).git_sync().await?))
    }

    /// Set the Git synchronization of a space
    ///
    /// Replaces the settings and starts a synchronization in the background. The webhook secret is returned only by the
    /// request that creates the webhook.
    #[oai(path = "/", method = "put", operation_id = "setSpaceGitSync")]
    async fn set(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        setting: Strict<SetGitSync>,
    ) -> ApiResult<Reply<GitSyncSetting>> {
        let platform = condition.platform(&self.0);
        Ok(Reply(auth.caller(&platform).space(&space).set_git_sync(setting.0).await?))
    }

    /// Remove the Git synchronization of a space
    ///
    /// The space and the repository keep their content. Succeeds if the space is not synchronized.
    #[oai(path = "/", method = "delete", operation_id = "deleteSpaceGitSync")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<SpaceId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).space(&space).remove_git_sync().await?;
        Ok(Empty)
    }

    /// Rotate the webhook secret of a space
    ///
    /// The response contains the new secret, which is not returned again. The previous secret becomes invalid
    /// immediately.
    #[oai(path = "/secret", method = "post", operation_id = "rotateSpaceGitSyncSecret")]
    async fn rotate(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<GitSyncSetting>> {
        let platform = idempotency.platform(&self.0);
        Ok(Reply(auth.caller(&platform).space(&space).rotate_git_sync_secret().await?))
    }

    /// Run the Git synchronization of a space
    ///
    /// Returns immediately. The `Link` header refers to the job, which may already have been queued.
    #[oai(path = "/run", method = "post", operation_id = "runSpaceGitSync")]
    async fn run(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<StartedJob> {
        let platform = idempotency.platform(&self.0);
        let job = auth.caller(&platform).space(&space).run_git_sync().await?;
        Ok(StartedJob::new(self.0.urls().job(&space, &job)))
    }
}

#[derive(Debug)]
pub struct GitInstallations(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Git")]
impl GitInstallations {
    /// Get a Git installation
    ///
    /// Returns the Git Sync setting of a space as an installation. The id of the installation is that of the space.
    #[oai(
        path = "/git/installations/:installationId",
        method = "get",
        operation_id = "getGitSyncInstallationById"
    )]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "installationId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<GitInstallation>> {
        Ok(Reply(auth.caller(&self.0).space(&space).git_installation().await?))
    }

    /// Remove a Git installation
    ///
    /// Removes the Git synchronization of the space, like `deleteSpaceGitSync`. The space and the repository keep their
    /// content.
    #[oai(
        path = "/git/installations/:installationId",
        method = "delete",
        operation_id = "uninstallGitSyncInstallation"
    )]
    async fn uninstall(
        &self,
        auth: Auth,
        #[oai(name = "installationId")] space: Path<SpaceId, Deleted>,
    ) -> ApiResult<Deletion> {
        let existed = auth.caller(&self.0).space(&space).remove_git_sync().await?;
        Ok(if existed { Deletion::Deleted } else { Deletion::Absent })
    }

    /// List the Git installations of a site
    ///
    /// Returns the Git Sync settings of the spaces of the site that the caller may manage, in the order of the site.
    #[oai(
        path = "/orgs/:organizationId/sites/:siteId/spaces/git/installations",
        method = "get",
        operation_id = "listSiteGitSyncInstallations"
    )]
    async fn of_site(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<List<GitInstallation>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).git_installations().await?.into()))
    }
}
