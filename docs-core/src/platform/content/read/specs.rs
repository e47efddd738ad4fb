//! The parts of OpenAPI specifications that pages embed, for the readers of the pages.

use docs_macros::boxed;

use super::snapshot::ContentSnapshot;
use crate::{
    Result,
    content::Evaluated,
    model::{Document, PageId},
    platform::{content::openapi_specs::ShownSpec, kernel::request::EntityTag, nouns::ContentHandle},
};

impl<'p> ContentHandle<'p> {
    /// Reads the parts of OpenAPI specifications embedded in a page. For each operation, webhook and schema in its
    /// document, this is the definition in the latest version, up to the limit per page. Members who read the page also
    /// get these parts of a private specification, and so do visitors of a site that requires a share link or a
    /// sign-in. References that the specification does not contain are omitted.
    ///
    /// # Errors
    /// `NotFound`, also if the page has no content.
    #[boxed]
    pub async fn get_page_specs(self, page: &'p PageId) -> Result<Vec<ShownSpec>> {
        let document = self.get_page_document(page, Evaluated::Yes.into()).await?;
        let at =
            self.caller.platform.locate_content(&self.caller.actor(), &self.of.to_content_version()).await?;
        self.caller.platform.shown_specs(&at.space().organization, &document, at.spec_audience()).await
    }

    /// Computes an ETag of the specifications with these slugs. It changes whenever
    /// [`get_page_specs`](Self::get_page_specs) may return different parts of them, including when a specification is
    /// created or deleted.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn specs_tag(self, slugs: &'p [String]) -> Result<EntityTag> {
        let at =
            self.caller.platform.locate_content(&self.caller.actor(), &self.of.to_content_version()).await?;
        self.caller.platform.specs_tag(&at.space().organization, slugs, at.spec_audience()).await
    }
}

impl ContentSnapshot {
    /// Reads the parts of OpenAPI specifications embedded in a document of the space, for example of a reusable content
    /// block, like [`get_page_specs`](ContentHandle::get_page_specs).
    ///
    /// # Errors
    /// Errors of the store.
    #[boxed('s)]
    pub async fn specs_of<'s>(&'s self, document: &'s Document) -> Result<Vec<ShownSpec>> {
        self.platform.shown_specs(&self.at.space().organization, document, self.at.spec_audience()).await
    }
}
