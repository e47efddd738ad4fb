//! Pages and documents that are computed from a source in a request.

use docs_core::{
    Platform,
    model::{ComputeDocument, ComputeRevision, ComputedRevision, Document, SpaceId},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, MaybeAuth, Path, Query, Reply, Strict, content::DocumentSchema,
};
use crate::response_memory::ResponseMemory;

#[derive(Debug)]
pub struct ComputedContent(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/content/computed", tag = "ApiTag::Content")]
impl ComputedContent {
    /// Compute pages from an OpenAPI specification
    ///
    /// Returns the pages that a computed page with the source generates at the top level of the space. Nothing is
    /// stored. There are no pages for a specification that does not exist, is not processed yet or is hidden from the
    /// caller.
    #[oai(path = "/revision", method = "post", operation_id = "getComputedRevision")]
    async fn revision(
        &self,
        auth: MaybeAuth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        request: Strict<ComputeRevision>,
        memory: ResponseMemory,
    ) -> ApiResult<Reply<ComputedRevision>> {
        let content = auth.caller(&self.0).space(&space).content();
        Ok(Reply(content.compute_revision_within(&request.0, memory.limit()).await?))
    }

    /// Compute a document from an OpenAPI specification
    ///
    /// Returns the document of a page that is computed from a specification, or of one operation. Nothing is stored.
    /// Of a long page, the document has the operations, webhooks and schemas that a site shows with their details.
    #[oai(path = "/document", method = "post", operation_id = "getComputedDocument")]
    async fn document(
        &self,
        auth: MaybeAuth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        /// Accepted for compatibility; both versions are identical.
        #[oai(name = "schema")]
        _schema: Query<DocumentSchema>,
        request: Strict<ComputeDocument>,
        memory: ResponseMemory,
    ) -> ApiResult<Reply<Document>> {
        let content = auth.caller(&self.0).space(&space).content();
        Ok(Reply(content.compute_document_within(&request.0, memory.limit()).await?))
    }
}
