//! `/files/…/upload/…`: uploads to the storage of an organization.

use docs_core::{Error, Platform, model::OrgId};
use poem::{
    Body, Endpoint, Request, Response,
    http::{HeaderValue, Method, StatusCode},
};

use crate::{
    endpoints::method_response,
    wire::{
        chunks::{Chunks, announced_length},
        error::ApiError,
    },
};

/// Receives the bytes of a file at the URL that the platform issued for it. The URL is sealed, so no token is required.
pub(crate) struct StorageUploads(pub(crate) Platform);

impl Endpoint for StorageUploads {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if request.method() != Method::PUT {
            return Ok(method_response(request.method(), HeaderValue::from_static("PUT, OPTIONS")));
        }
        let body = request.take_body();
        self.receive(&request, body).await?;
        Ok(Response::builder().status(StatusCode::NO_CONTENT).finish())
    }
}

impl StorageUploads {
    async fn receive(&self, request: &Request, body: Body) -> Result<(), ApiError> {
        let missing = || Error::not_found("upload");
        let named = |name: &str| request.raw_path_param(name).ok_or_else(missing);
        let org: OrgId = named("owner")?.parse().map_err(|_| missing())?;
        let mut upload = self.0.open_upload(&org, named("sealed")?).await?;
        // Rejected before the body is read.
        upload.check_length(announced_length(request).unwrap_or_default())?;
        let mut chunks = Chunks::new(body);
        while let Some(bytes) = chunks.next().await? {
            upload.write(bytes).await?;
        }
        Ok(upload.finish().await?)
    }
}
