//! Synchronization with Git.

use docs_core::{
    Platform,
    model::{GitSyncSetting, SetGitSync},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    conditions::Condition,
    idempotency::Idempotency,
    wire::{
        error::Answer,
        payload::Strict,
        reply::{Empty, NoContent, Reply, Started},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct GitSync(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/git/sync", tag = "Tag::Git")]
impl GitSync {
    /// Get how a space and a repository are kept in step
    ///
    /// What was set, how far both are, and what they wait for. Credentials and the secret of the webhook are no part of
    /// it.
    #[oai(path = "/", method = "get", operation_id = "getSpaceGitSync")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<Reply<GitSyncSetting>> {
        Ok(Reply(auth.caller(&self.0).space(&id(&space, "space")?).git_sync().await?))
    }

    /// Keep a space and a repository in step
    ///
    /// What was set before is replaced, and both are brought in step at once, in the background. The answer that makes
    /// the webhook shows its secret, and no later one does.
    #[oai(path = "/", method = "put", operation_id = "setSpaceGitSync")]
    async fn set(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<String>,
        setting: Strict<SetGitSync>,
    ) -> Answer<Reply<GitSyncSetting>> {
        let (space, platform) = (id(&space, "space")?, condition.platform(&self.0));
        Ok(Reply(auth.caller(&platform).space(&space).set_git_sync(setting.0).await?))
    }

    /// Stop keeping a space and a repository in step
    ///
    /// Both keep what they have. A space that is not kept in step is no error.
    #[oai(path = "/", method = "delete", operation_id = "deleteSpaceGitSync")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<NoContent> {
        if let Ok(space) = space.parse() {
            auth.caller(&condition.platform(&self.0)).space(&space).remove_git_sync().await?;
        }
        Ok(Empty)
    }

    /// Give the webhook of a space another secret
    ///
    /// The answer shows it, and no later one does. The secret before is void at once.
    #[oai(path = "/secret", method = "post", operation_id = "rotateSpaceGitSyncSecret")]
    async fn rotate(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<Reply<GitSyncSetting>> {
        let space = id(&space, "space")?;
        let platform = idempotency.platform(&self.0);
        Ok(Reply(auth.caller(&platform).space(&space).rotate_git_sync_secret().await?))
    }

    /// Bring a space and its repository in step now
    ///
    /// Answers at once. The `Link` header names the job that does it, which may have been waiting already.
    #[oai(path = "/run", method = "post", operation_id = "runSpaceGitSync")]
    async fn run(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<Started> {
        let space = id(&space, "space")?;
        let platform = idempotency.platform(&self.0);
        let job = auth.caller(&platform).space(&space).run_git_sync().await?;
        Ok(Started::at(self.0.urls().job(&space, &job)))
    }
}
