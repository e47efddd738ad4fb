//! `/files/…/pdf/…`: PDF files that the platform makes.

use docs_core::{Error, Platform, model::SpaceId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use poem::{
    Endpoint, Request, Response,
    http::{StatusCode, header},
};

use crate::wire::error::ApiError;

/// What stands in the name of a file in a header as it is: letters, digits, and these.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');

/// PDF files. Their address is sealed as that of files is, and good for an hour while whom it was made for may read
/// them.
pub(crate) struct PdfFiles(pub(crate) Platform);

impl Endpoint for PdfFiles {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let missing = || ApiError::from(Error::not_found("PDF"));
        let space: SpaceId =
            request.raw_path_param("space").and_then(|id| id.parse().ok()).ok_or_else(missing)?;
        let sealed = request.raw_path_param("sealed").ok_or_else(missing)?;
        let file = self.0.pdf_file(&space, sealed).await.map_err(ApiError::from)?;
        let name = utf8_percent_encode(&file.name, NAME);
        Ok(Response::builder()
            .status(StatusCode::OK)
            .content_type("application/pdf")
            .header(header::CONTENT_DISPOSITION, format!("inline; filename*=UTF-8''{name}"))
            // Who may read changes, and the address ends.
            .header(header::CACHE_CONTROL, "private, no-cache")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(file.bytes))
    }
}
