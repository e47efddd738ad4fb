//! Imports of documents and templates.

use docs_core::{
    Platform,
    model::{ApplySpaceTemplate, ImportContent, ImportContentResult},
    platform::ContentOf,
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        payload::Strict,
        reply::{Created, CreatedEmpty, Empty},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Imports(pub(super) Platform);

impl Imports {
    /// One implementation for both places; the new pages are found in the content they were added to.
    async fn import(
        &self,
        auth: &Auth,
        idempotency: &Idempotency,
        of: ContentOf,
        request: ImportContent,
    ) -> Answer<Created<ImportContentResult>> {
        let result = auth.caller(&idempotency.platform(&self.0)).content(&of).import(request).await?;
        Ok(Created::new(result).at(self.0.urls().content(&of)))
    }
}

#[OpenApi(tag = "Tag::Content")]
impl Imports {
    /// Import documents into a space
    ///
    /// Their pages are added behind those that are there. Live content has to be open for edits. How many pages and
    /// files are fetched is limited.
    #[oai(path = "/spaces/:spaceId/content/import", method = "post", operation_id = "importContent")]
    async fn import_live(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        request: Strict<ImportContent>,
    ) -> Answer<Created<ImportContentResult>> {
        self.import(&auth, &idempotency, ContentOf::space(id(&space, "space")?), request.0).await
    }

    /// Import documents into a change request
    ///
    /// Their pages are added behind those that are there. How many pages and files are fetched is limited.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/import",
        method = "post",
        operation_id = "importContentInChangeRequest"
    )]
    async fn import_request(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        import: Strict<ImportContent>,
    ) -> Answer<Created<ImportContentResult>> {
        self.import(&auth, &idempotency, ContentOf::request(id(&space, "space")?, &request), import.0).await
    }

    /// Apply a template to a space
    ///
    /// Its pages are added behind those that are there. Live content has to be open for edits. The templates are
    /// `blank`, `product-docs`, `api-reference`, `changelog` and `handbook`.
    #[oai(path = "/spaces/:spaceId/content/template", method = "post", operation_id = "applyTemplateToSpace")]
    async fn template(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        request: Strict<ApplySpaceTemplate>,
    ) -> Answer<CreatedEmpty> {
        auth.caller(&idempotency.platform(&self.0))
            .space(&id(&space, "space")?)
            .apply_template(request.0)
            .await?;
        Ok(Empty)
    }
}
