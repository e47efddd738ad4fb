//! Operations on the history of spaces.

use docs_core::{
    Platform,
    model::{List, RevisionId, RevisionSummary, SpaceId},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Created, Idempotency, PageQuery, Path, Reply};

#[derive(Debug)]
pub struct Revisions(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/revisions", tag = "ApiTag::Content")]
impl Revisions {
    /// List the revisions of a space
    ///
    /// Returns the revisions that were live content, newest first, with author, time and origin but without content.
    /// Revisions of change requests are not included.
    #[oai(path = "/", method = "get", operation_id = "listRevisionsInSpace")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<RevisionSummary>>> {
        Ok(Reply(auth.caller(&self.0).space(&space).revisions().list(&page.0).await?.into()))
    }

    /// Roll back to a revision
    ///
    /// Creates a revision of type `rollback` with the content of an earlier revision. The history is preserved. Live
    /// content must be editable (`editMode` is `live`).
    #[oai(path = "/:revisionId/rollback", method = "post", operation_id = "rollbackSpaceToRevision")]
    async fn rollback(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "revisionId")] revision: Path<RevisionId>,
    ) -> ApiResult<Created<RevisionSummary>> {
        let platform = idempotency.platform(&self.0);
        let made = auth.caller(&platform).space(&space).revisions().rollback(&revision).await?;
        let location = made.urls.location.clone();
        Ok(Created::new(made).with_location(location))
    }
}
