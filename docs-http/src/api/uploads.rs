//! Operations that upload files.

use docs_core::{
    Platform,
    model::{BoundedText, RevisionFile, SpaceId},
    platform::{ContentVersion, NewUpload},
};
use poem_openapi::OpenApi;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Created, Idempotency, Path, Query};
use crate::{
    idempotency::StreamedBody,
    wire::{error::ApiError, upload::FileBody},
};

#[derive(Debug)]
pub struct Uploads(pub(super) Platform);

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct FileName(#[schemars(regex(pattern = docs_core::model::schema::FILE_NAME))] BoundedText<1, 256>);

#[OpenApi(prefix_path = "/spaces/:spaceId", tag = "ApiTag::Content")]
impl Uploads {
    /// Upload a file into a space
    ///
    /// Accepts the file as the body with its media type, or in the `file` field of a form. Adds the file to the live
    /// content as a new revision. If the name is in use, a number is appended. Returns an error if live content is
    /// locked.
    #[oai(path = "/content/files", method = "post", operation_id = "uploadFile")]
    async fn upload_live(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency<StreamedBody>,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        /// File name without a folder. Defaults to the file name in the form.
        name: Query<FileName>,
        body: FileBody,
    ) -> ApiResult<Created<RevisionFile>> {
        upload(&idempotency.platform(&self.0), &auth, ContentVersion::space(space.0), name.0, body).await
    }

    /// Upload a file into a change request
    ///
    /// Accepts the file as the body with its media type, or in the `file` field of a form. Adds the file to the content
    /// of the change request as a new revision. If the name is in use, a number is appended.
    #[oai(
        path = "/change-requests/:changeRequestId/content/files",
        method = "post",
        operation_id = "uploadFileInChangeRequestById"
    )]
    async fn upload_in_request(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency<StreamedBody>,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// File name without a folder. Defaults to the file name in the form.
        name: Query<FileName>,
        body: FileBody,
    ) -> ApiResult<Created<RevisionFile>> {
        upload(
            &idempotency.platform(&self.0),
            &auth,
            ContentVersion::request(space.0, &request),
            name.0,
            body,
        )
        .await
    }
}

/// Streams the file to the platform.
async fn upload(
    platform: &Platform,
    auth: &Auth,
    of: ContentVersion,
    name: Option<FileName>,
    body: FileBody,
) -> ApiResult<Created<RevisionFile>> {
    let mut sent = body.open().await?;
    let name = match (name, sent.name.take()) {
        (Some(FileName(name)), _) => name,
        (None, Some(name)) => {
            BoundedText::new(name).map_err(|why| ApiError::invalid(format!("name: {why}")))?
        }
        (None, None) => {
            return Err(ApiError::invalid("name: is required in the query, like ?name=logo.png"));
        }
    };
    let new = NewUpload { name, content_type: sent.content_type.take() };
    let mut upload = auth.caller(platform).content(&of).upload_file(new).await?;
    while let Some(bytes) = sent.next().await? {
        upload.write(bytes).await?;
    }
    let file = upload.finish().await?;
    let location = format!("{}/files/{}", platform.urls().content(&of), file.id);
    Ok(Created::new(file).with_location(location))
}
