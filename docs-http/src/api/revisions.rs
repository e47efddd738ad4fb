//! The history of spaces.

use docs_core::{
    Platform,
    model::{List, RevisionSummary},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::PageQuery,
        reply::{Created, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Revisions(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/revisions", tag = "Tag::Content")]
impl Revisions {
    /// List the revisions of a space
    ///
    /// Those that were its live content, newest first, without their content: who made each, when and how. Those of
    /// change requests are not among them.
    #[oai(path = "/", method = "get", operation_id = "listRevisionsInSpace")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<RevisionSummary>>> {
        let space = id(&space, "space")?;
        Ok(Reply(auth.caller(&self.0).space(&space).revisions().list(&page.0).await?.into()))
    }

    /// Go back to a revision
    ///
    /// Makes a new revision of the type `rollback` with the content of an earlier one. Nothing of the history is lost.
    /// Only where live content may be edited.
    #[oai(path = "/:revisionId/rollback", method = "post", operation_id = "rollbackSpaceToRevision")]
    async fn rollback(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "revisionId")] revision: Path<String>,
    ) -> Answer<Created<RevisionSummary>> {
        let (space, revision) = (id(&space, "space")?, id(&revision, "revision")?);
        let platform = idempotency.platform(&self.0);
        let made = auth.caller(&platform).space(&space).revisions().rollback(&revision).await?;
        let location = made.urls.location.clone();
        Ok(Created::new(made).at(location))
    }
}
