//! Answers that clients keep.

use docs_core::platform::EntityTag;
use poem::{
    IntoResponse, Response,
    http::{HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    registry::{MetaResponses, Registry},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::reply::Reply;

/// How long a client may use an answer that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// After asking whether it is still the answer.
    Asking,
    /// For ever: it never changes.
    Lasting,
}

/// 200 with a JSON body that its client may keep for itself, or 304 to a client that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept<T> {
    /// What is answered; nothing to a client that has it.
    body: Option<T>,
    /// Made of the answer where there is none.
    tag: Option<EntityTag>,
    keep: Use,
}

impl<T> Kept<T> {
    /// An answer; its tag is made of it where none is given.
    pub(crate) fn new(body: T, tag: Option<EntityTag>, keep: Use) -> Self {
        Self { body: Some(body), tag, keep }
    }

    /// That the client has it already.
    pub(crate) fn known(tag: EntityTag, keep: Use) -> Self {
        Self { body: None, tag: Some(tag), keep }
    }
}

impl<T: Serialize + Send> IntoResponse for Kept<T> {
    fn into_response(self) -> Response {
        let mut response = match self.body {
            Some(body) => Reply(body).into_response(),
            None => Response::builder().status(StatusCode::NOT_MODIFIED).finish(),
        };
        if !response.status().is_server_error() {
            let headers = response.headers_mut();
            let tag = self.tag.and_then(|tag| HeaderValue::from_str(&format!("\"{tag}\"")).ok());
            headers.extend(tag.map(|tag| (header::ETAG, tag)));
            let keep = match self.keep {
                Use::Asking => "private, no-cache",
                Use::Lasting => "private, max-age=31536000, immutable",
            };
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
            // What one user was answered is not for another of the same browser.
            headers.append(header::VARY, HeaderValue::from_static("Authorization"));
        }
        response
    }
}

impl<T: JsonSchema + Serialize + Send + 'static> ApiResponse for Kept<T> {
    fn meta() -> MetaResponses {
        Reply::<T>::meta()
    }

    fn register(registry: &mut Registry) {
        Reply::<T>::register(registry);
    }
}
