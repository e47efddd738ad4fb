//! Operations on the service as a whole.

use docs_core::model::ApiInformation;
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, Auth, Reply};

/// The date of the latest release in CHANGELOG.md; a test compares the two.
const RELEASED: &str = "2026-11-23";

#[derive(Debug)]
pub struct PlatformInfo;

#[OpenApi(tag = "ApiTag::Service")]
impl PlatformInfo {
    /// Get information about the API
    ///
    /// Returns the version of the server and the date of its release.
    #[oai(path = "/", method = "get", operation_id = "getApiInformation")]
    async fn get(&self, _auth: Auth) -> ApiResult<Reply<ApiInformation>> {
        let (version, build) = (env!("CARGO_PKG_VERSION").to_owned(), RELEASED.to_owned());
        Ok(Reply(ApiInformation { version, build }))
    }
}
