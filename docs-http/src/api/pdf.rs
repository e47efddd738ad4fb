//! Operations that create PDF files, for spaces and change requests.

use docs_core::{
    Platform,
    model::{PdfLink, SpaceId},
    platform::{ContentVersion, PdfPart},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Path, Query, Reply};

#[derive(Debug)]
pub struct Pdf(pub(super) Platform);

fn part(page: Query<String>, only: Query<bool>) -> ApiResult<PdfPart> {
    let not_found = |_| docs_core::Error::not_found("page");
    let page = page.0.map(|page| page.parse().map_err(not_found)).transpose()?;
    Ok(PdfPart { page, only: only.0.unwrap_or(false) })
}

#[OpenApi]
impl Pdf {
    /// Get a space as a PDF file
    ///
    /// Returns the URL of a PDF file of the current content. The URL requires no token and is valid for a limited time,
    /// as long as the user may read the content.
    #[oai(
        path = "/spaces/:spaceId/pdf",
        method = "get",
        operation_id = "getSpacePDF",
        tag = "ApiTag::Content"
    )]
    async fn space(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        /// Id of a page. Restricts the file to this page and its subpages.
        page: Query<String>,
        /// `true` omits the subpages.
        only: Query<bool>,
    ) -> ApiResult<Reply<PdfLink>> {
        let of = ContentVersion::space(space.0);
        Ok(Reply(auth.caller(&self.0).content(&of).pdf_url(&part(page, only)?).await?))
    }

    /// Get the content of a change request as a PDF file
    ///
    /// Returns the URL of a PDF file of the current content. The URL requires no token and is valid for a limited time,
    /// as long as the user may read the content.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/pdf",
        method = "get",
        operation_id = "getChangeRequestPDF",
        tag = "ApiTag::ChangeRequests"
    )]
    async fn request(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// Id of a page. Restricts the file to this page and its subpages.
        page: Query<String>,
        /// `true` omits the subpages.
        only: Query<bool>,
    ) -> ApiResult<Reply<PdfLink>> {
        let of = ContentVersion::request(space.0, &request);
        Ok(Reply(auth.caller(&self.0).content(&of).pdf_url(&part(page, only)?).await?))
    }
}
