//! Operations that create PDF files, for spaces and change requests.

use docs_core::{
    Platform,
    model::PdfLink,
    platform::{ContentOf, PdfPart},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::wire::{error::Answer, params::Query, reply::Reply};

#[derive(Debug)]
pub struct Pdf(pub(super) Platform);

fn part(page: Query<String>, only: Query<bool>) -> Answer<PdfPart> {
    let page = page.0.map(|page| id(&page, "page")).transpose()?;
    Ok(PdfPart { page, only: only.0.unwrap_or(false) })
}

#[OpenApi]
impl Pdf {
    /// Get a space as a PDF file
    ///
    /// Returns the address of a PDF file of the current content. The address needs no token and is valid for a limited
    /// time, while the user may read the content.
    #[oai(path = "/spaces/:spaceId/pdf", method = "get", operation_id = "getSpacePDF", tag = "Tag::Content")]
    async fn space(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// The id of a page. Restricts the file to the page and its subpages.
        page: Query<String>,
        /// `true` omits the subpages.
        only: Query<bool>,
    ) -> Answer<Reply<PdfLink>> {
        let of = ContentOf::space(id(&space, "space")?);
        Ok(Reply(auth.caller(&self.0).content(&of).pdf_url(&part(page, only)?).await?))
    }

    /// Get the content of a change request as a PDF file
    ///
    /// Returns the address of a PDF file of the current content. The address needs no token and is valid for a limited
    /// time, while the user may read the content.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/pdf",
        method = "get",
        operation_id = "getChangeRequestPDF",
        tag = "Tag::ChangeRequests"
    )]
    async fn request(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// The id of a page. Restricts the file to the page and its subpages.
        page: Query<String>,
        /// `true` omits the subpages.
        only: Query<bool>,
    ) -> Answer<Reply<PdfLink>> {
        let of = ContentOf::request(id(&space, "space")?, &request);
        Ok(Reply(auth.caller(&self.0).content(&of).pdf_url(&part(page, only)?).await?))
    }
}
