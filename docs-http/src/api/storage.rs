//! Operations on the storage of an organization.

use docs_core::{
    Platform,
    model::{NewStorageUpload, OrgId, StorageUploadUrl},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Created, Idempotency, Path, Strict};

#[derive(Debug)]
pub struct Storage(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/storage", tag = "ApiTag::Content")]
impl Storage {
    /// Create a URL to upload a file
    ///
    /// Send the bytes of the file to `url` with `PUT`, without a token, within an hour. Then start an import run with
    /// `key`. Only the caller can use the file, until it expires. The purpose must be `import_file`.
    #[oai(path = "/upload", method = "post", operation_id = "generateStorageUploadURL")]
    async fn upload(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        request: Strict<NewStorageUpload>,
    ) -> ApiResult<Created<StorageUploadUrl>> {
        let platform = idempotency.platform(&self.0);
        Ok(Created::new(auth.caller(&platform).org(&org).upload_url(request.0).await?))
    }
}
