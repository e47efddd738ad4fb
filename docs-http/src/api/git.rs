//! Git.

use docs_core::{
    Platform,
    model::{ExportGitRepository, GitSync, ImportGitRepository},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        payload::Strict,
        reply::{Empty, NoContent, Reply, Started},
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

    /// Export to a Git repository
    ///
    /// Answers at once; the export runs in the background. It makes one commit of what the repository does not have yet
    /// and pushes it to the branch, which is made where there is none; where the repository has everything it makes
    /// none. The `Link` header names the job that does it: what came of it, or why it failed.
    #[oai(path = "/spaces/:spaceId/git/export", method = "post", operation_id = "exportToGitRepository")]
    async fn export(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        request: Strict<ExportGitRepository>,
    ) -> Answer<Started> {
        let space = id(&space, "space")?;
        let platform = idempotency.platform(&self.0);
        let job = auth.caller(&platform).space(&space).export_git(request.0).await?;
        Ok(Started::at(self.0.urls().job(&space, &job)))
    }

    /// Remove the legacy installation of a space
    ///
    /// Who hosts the repository is not shown any more; nothing else changes. An installation that is missing is no
    /// error.
    #[oai(
        path = "/spaces/:spaceId/git/legacy-installation",
        method = "delete",
        operation_id = "removeLegacyGitInstallation"
    )]
    async fn remove_legacy_installation(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<NoContent> {
        if let Ok(space) = space.parse() {
            auth.caller(&self.0).space(&space).remove_legacy_git_installation().await?;
        }
        Ok(Empty)
    }

    /// Get what is known of the repository of a space
    ///
    /// What the last import or export told. A space that was never in sync with one has none.
    #[oai(path = "/spaces/:spaceId/git/info", method = "get", operation_id = "getSpaceGitInfo")]
    async fn info(&self, auth: Auth, #[oai(name = "spaceId")] space: Path<String>) -> Answer<Reply<GitSync>> {
        Ok(Reply(auth.caller(&self.0).space(&id(&space, "space")?).git_info().await?))
    }
}
