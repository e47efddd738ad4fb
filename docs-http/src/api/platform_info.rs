//! Operations on the service itself.

use docs_core::model::ApiInformation;
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, Auth, Reply};

/// Date of the latest release, compared with CHANGELOG.md by a test.
const RELEASED: &str = "2026-11-23";

#[derive(Debug)]
pub struct PlatformInfo;

#[OpenApi(tag = "ApiTag::Service")]
impl PlatformInfo {
    /// Get information about the API
    ///
    /// Returns the server version and its release date.
    #[oai(path = "/", method = "get", operation_id = "getApiInformation")]
    async fn get(&self, _auth: Auth) -> ApiResult<Reply<ApiInformation>> {
        let (version, build) = (env!("CARGO_PKG_VERSION").to_owned(), RELEASED.to_owned());
        Ok(Reply(ApiInformation { version, build }))
    }
}
