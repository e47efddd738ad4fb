//! Operations on the synchronization of a space with a Git repository.

use docs_core::{
    Platform,
    model::{GitSyncSetting, SetGitSync, SpaceId},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Deleted, Empty, Idempotency, NoContent, Path, Reply,
    StartedJob, Strict,
};

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
