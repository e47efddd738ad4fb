//! Operations that import documents and apply templates.

use docs_core::{
    Platform,
    model::{ApplySpaceTemplate, BoundedText, ImportContentResult, PageId, SpaceId},
    platform::ContentVersion,
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Created, Empty, Idempotency, Path, Strict};
use crate::{
    idempotency::JsonOrForm,
    wire::{budget::stalled, error::ApiError, reply::EmptyCreated, upload::ImportBody},
};

#[derive(Debug)]
pub struct Imports(pub(super) Platform);

impl Imports {
    /// Imports into a space or a change request, or below a page of it. The `Location` header refers to the content
    /// that received the new pages.
    async fn import(
        &self,
        auth: &Auth,
        idempotency: &Idempotency<JsonOrForm>,
        of: ContentVersion,
        page: Option<PageId>,
        body: ImportBody,
    ) -> ApiResult<Created<ImportContentResult>> {
        let platform = idempotency.platform(&self.0);
        let content = auth.caller(&platform).content(&of);
        let result = match body {
            ImportBody::Request(request) => match &page {
                Some(page) => content.import_in_page(page, request).await?,
                None => content.import(request).await?,
            },
            ImportBody::File(body) => {
                let mut sent = body.open().await?;
                let name = sent.name.take().unwrap_or_default();
                let name = BoundedText::new(name)
                    .map_err(|why| ApiError::invalid(format!("file: the file name {why}")))?;
                let mut upload = match &page {
                    Some(page) => content.import_file_in_page(page, name).await?,
                    None => content.import_file(name).await?,
                };
                loop {
                    let part = tokio::select! {
                        biased;
                        () = upload.stalled() => return Err(stalled()),
                        part = sent.next() => part?,
                    };
                    let Some(bytes) = part else { break };
                    upload.write(bytes).await?;
                }
                upload.finish().await?
            }
        };
        Ok(Created::new(result).with_location(self.0.urls().content(&of)))
    }
}

#[OpenApi(tag = "ApiTag::Content")]
impl Imports {
    /// Import documents into a space
    ///
    /// Accepts the address of a document as JSON, or a document or archive in the `file` field of a form. The extension
    /// of the file name determines the format: `zip`, `docx`, `md`, `markdown`, `html`, `htm` or `xhtml`. The new pages
    /// are appended to the existing pages. Live content must be editable (`editMode` is `live`). The number of fetched
    /// pages and files is limited.
    #[oai(path = "/spaces/:spaceId/content/import", method = "post", operation_id = "importContent")]
    async fn import_live(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency<JsonOrForm>,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        body: ImportBody,
    ) -> ApiResult<Created<ImportContentResult>> {
        self.import(&auth, &idempotency, ContentVersion::space(space.0), None, body).await
    }

    /// Import documents into a change request
    ///
    /// Accepts the address of a document as JSON, or a document or archive in the `file` field of a form, as an import
    /// into a space does. The new pages are appended to the existing pages. The number of fetched pages and files is
    /// limited.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/import",
        method = "post",
        operation_id = "importContentInChangeRequest"
    )]
    async fn import_request(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency<JsonOrForm>,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        body: ImportBody,
    ) -> ApiResult<Created<ImportContentResult>> {
        let of = ContentVersion::request(space.0, &request);
        self.import(&auth, &idempotency, of, None, body).await
    }

    /// Import documents below a page of a space
    ///
    /// Accepts the same bodies as an import into a space. The new pages become the last child pages of the page. A
    /// group at the top level of an archive becomes a page without text.
    #[oai(
        path = "/spaces/:spaceId/content/page/:pageId/import",
        method = "post",
        operation_id = "importContentInPageById"
    )]
    async fn import_below(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency<JsonOrForm>,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "pageId")] page: Path<PageId>,
        body: ImportBody,
    ) -> ApiResult<Created<ImportContentResult>> {
        self.import(&auth, &idempotency, ContentVersion::space(space.0), Some(page.0), body).await
    }

    /// Import documents below a page of a change request
    ///
    /// Accepts the same bodies as an import into a space. The new pages become the last child pages of the page. A
    /// group at the top level of an archive becomes a page without text.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/page/:pageId/import",
        method = "post",
        operation_id = "importContentInChangeRequestPageById"
    )]
    async fn import_request_below(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency<JsonOrForm>,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] page: Path<PageId>,
        body: ImportBody,
    ) -> ApiResult<Created<ImportContentResult>> {
        let of = ContentVersion::request(space.0, &request);
        self.import(&auth, &idempotency, of, Some(page.0), body).await
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
