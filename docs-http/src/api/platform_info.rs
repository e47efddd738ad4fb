//! The service as a whole.

use docs_core::model::ApiInformation;
use poem_openapi::OpenApi;

use super::{Auth, Tag};
use crate::wire::{error::Answer, reply::Reply};

/// The day of the latest release, as CHANGELOG.md has it; a test compares.
const RELEASED: &str = "2026-11-23";

/// Operations of this noun.
#[derive(Debug)]
pub struct PlatformInfo;

#[OpenApi(tag = "Tag::Service")]
impl PlatformInfo {
    /// Get information on the API
    ///
    /// The version that is spoken, and the day of its release.
    #[oai(path = "/", method = "get", operation_id = "getApiInformation")]
    async fn get(&self, _auth: Auth) -> Answer<Reply<ApiInformation>> {
        let (version, build) = (env!("CARGO_PKG_VERSION").to_owned(), RELEASED.to_owned());
        Ok(Reply(ApiInformation { version, build }))
    }
}
