//! Git.

use docs_core::{
    Platform,
    model::{GitSync, ImportGitRepository},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        payload::Strict,
        reply::{Reply, Started},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Git(pub(super) Platform);

#[OpenApi(tag = "Tag::Git")]
impl Git {
    /// Import a Git repository
    ///
    /// Answers at once; the import runs in the background and makes the content equal to the repository's. The `Link`
    /// header names the job that does it: what came of it, or why it failed.
    #[oai(path = "/spaces/:spaceId/git/import", method = "post", operation_id = "importGitRepository")]
    async fn import(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        request: Strict<ImportGitRepository>,
    ) -> Answer<Started> {
        let space = id(&space, "space")?;
        let platform = idempotency.platform(&self.0);
        let job = auth.caller(&platform).space(&space).import_git(request.0).await?;
        Ok(Started::at(self.0.urls().job(&space, &job)))
    }

    /// Get what is known of the repository of a space
    ///
    /// What the last import told. A space that nothing was imported into has none.
    #[oai(path = "/spaces/:spaceId/git/info", method = "get", operation_id = "getSpaceGitInfo")]
    async fn info(&self, auth: Auth, #[oai(name = "spaceId")] space: Path<String>) -> Answer<Reply<GitSync>> {
        Ok(Reply(auth.caller(&self.0).space(&id(&space, "space")?).git_info().await?))
    }
}
