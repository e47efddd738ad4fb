//! Operations that import documents and apply templates.

use docs_core::{
    Platform,
    model::{ApplySpaceTemplate, ImportContent, ImportContentResult, SpaceId},
    platform::ContentVersion,
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Created, Empty, Idempotency, Path, Strict};
use crate::wire::reply::EmptyCreated;

#[derive(Debug)]
pub struct Imports(pub(super) Platform);

impl Imports {
    /// Imports into a space or a change request. The `Location` header refers to the content that received the new
    /// pages.
    async fn import(
        &self,
        auth: &Auth,
        idempotency: &Idempotency,
        of: ContentVersion,
        request: ImportContent,
    ) -> ApiResult<Created<ImportContentResult>> {
        let result = auth.caller(&idempotency.platform(&self.0)).content(&of).import(request).await?;
        Ok(Created::new(result).with_location(self.0.urls().content(&of)))
    }
}

#[OpenApi(tag = "ApiTag::Content")]
impl Imports {
    /// Import documents into a space
    ///
    /// The new pages are appended to the existing pages. Live content must be editable (`editMode` is `live`). The
    /// number of fetched pages and files is limited.
    #[oai(path = "/spaces/:spaceId/content/import", method = "post", operation_id = "importContent")]
    async fn import_live(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        request: Strict<ImportContent>,
    ) -> ApiResult<Created<ImportContentResult>> {
        self.import(&auth, &idempotency, ContentVersion::space(space.0), request.0).await
    }

    /// Import documents into a change request
    ///
    /// The new pages are appended to the existing pages. The number of fetched pages and files is limited.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/import",
        method = "post",
        operation_id = "importContentInChangeRequest"
    )]
    async fn import_request(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        import: Strict<ImportContent>,
    ) -> ApiResult<Created<ImportContentResult>> {
        self.import(&auth, &idempotency, ContentVersion::request(space.0, &request), import.0).await
    }

    /// Apply a template to a space
    ///
    /// The new pages are appended to the existing pages. Live content must be editable (`editMode` is `live`). The
    /// templates are `blank`, `product-docs`, `api-reference`, `changelog` and `handbook`.
    #[oai(path = "/spaces/:spaceId/content/template", method = "post", operation_id = "applyTemplateToSpace")]
    async fn template(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        request: Strict<ApplySpaceTemplate>,
    ) -> ApiResult<EmptyCreated> {
        auth.caller(&idempotency.platform(&self.0)).space(&space).apply_template(request.0).await?;
        Ok(Empty)
    }
}
