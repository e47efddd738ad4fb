//! Operations that import from and export to Git repositories.

use docs_core::{
    Platform,
    model::{ExportGitRepository, GitSync, ImportGitRepository, SpaceId},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Deleted, Empty, Idempotency, NoContent, Path, Reply, StartedJob,
    Strict,
};

#[derive(Debug)]
pub struct Git(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Git")]
impl Git {
    /// Import a Git repository
    ///
    /// Returns immediately. A background job replaces the content with that of the repository. The `Link` header refers
    /// to the job, which contains the result or the reason for a failure.
    #[oai(path = "/spaces/:spaceId/git/import", method = "post", operation_id = "importGitRepository")]
    async fn import(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        request: Strict<ImportGitRepository>,
    ) -> ApiResult<StartedJob> {
        let platform = idempotency.platform(&self.0);
        let job = auth.caller(&platform).space(&space).import_git(request.0).await?;
        Ok(StartedJob::new(self.0.urls().job(&space, &job)))
    }

    /// Export to a Git repository
    ///
    /// Returns immediately. A background job commits the differences and pushes them to the branch, which is created if
    /// it does not exist. If the repository is up to date, no commit is created. The `Link` header refers to the job,
    /// which contains the result or the reason for a failure.
    #[oai(path = "/spaces/:spaceId/git/export", method = "post", operation_id = "exportToGitRepository")]
    async fn export(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        request: Strict<ExportGitRepository>,
    ) -> ApiResult<StartedJob> {
        let platform = idempotency.platform(&self.0);
        let job = auth.caller(&platform).space(&space).export_git(request.0).await?;
        Ok(StartedJob::new(self.0.urls().job(&space, &job)))
    }

    /// Remove the legacy installation of a space
    ///
    /// The Git host of the repository is no longer shown; nothing else changes. Succeeds if there is no legacy
    /// installation.
    #[oai(
        path = "/spaces/:spaceId/git/legacy-installation",
        method = "delete",
        operation_id = "removeLegacyGitInstallation"
    )]
    async fn remove_legacy_installation(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).space(&space).remove_legacy_git_installation().await?;
        Ok(Empty)
    }

    /// Get the Git repository of a space
    ///
    /// Returns the repository of the last import or export, or 404 if the space was never synchronized.
    #[oai(path = "/spaces/:spaceId/git/info", method = "get", operation_id = "getSpaceGitInfo")]
    async fn info(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<GitSync>> {
        Ok(Reply(auth.caller(&self.0).space(&space).git_info().await?))
    }
}
