//! Responses that clients may cache.

use bytes::Bytes;
use docs_core::platform::{EntityTag, JsonAnswer};
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

use super::reply::{JSON, Reply};

/// The condition for using a cached response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheMode {
    /// Only after revalidation.
    Revalidate,
    /// Without revalidation, because the response is immutable.
    Immutable,
}

/// 200 with a JSON body that the client may cache privately, or 304 if the client has cached it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheableReply<T> {
    /// The body, or `None` if the client has cached it.
    body: Option<CacheableBody<T>>,
    /// The ETag. If absent, it is computed from the body.
    tag: Option<EntityTag>,
    keep: CacheMode,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum CacheableBody<T> {
    Value(T),
    Json(Bytes),
}

impl CacheableReply<JsonAnswer> {
    /// Returns the response with the JSON of a `T`, which is already serialized.
    pub(crate) fn into_json_of<T>(self) -> CacheableReply<T> {
        let Self { body, mut tag, keep } = self;
        let body = body.map(|body| match body {
            CacheableBody::Value(answer) => {
                tag.get_or_insert_with(|| answer.tag().clone());
                CacheableBody::Json(answer.json().clone())
            }
            CacheableBody::Json(json) => CacheableBody::Json(json),
        });
        CacheableReply { body, tag, keep }
    }
}

impl<T> CacheableReply<T> {
    /// Creates a response with a body.
    pub(crate) fn new(body: T, tag: Option<EntityTag>, keep: CacheMode) -> Self {
        Self { body: Some(CacheableBody::Value(body)), tag, keep }
    }

    /// Creates the response for a client that has cached the body.
    pub(crate) fn not_modified(tag: EntityTag, keep: CacheMode) -> Self {
        Self { body: None, tag: Some(tag), keep }
    }
}

impl<T: Serialize + Send> IntoResponse for CacheableReply<T> {
    fn into_response(self) -> Response {
        let mut response = match self.body {
            Some(CacheableBody::Value(body)) => Reply(body).into_response(),
            Some(CacheableBody::Json(json)) => Response::builder().content_type(JSON).body(json),
            None => Response::builder().status(StatusCode::NOT_MODIFIED).finish(),
        };
        if !response.status().is_server_error() {
            let headers = response.headers_mut();
            let tag = self.tag.and_then(|tag| HeaderValue::from_str(&format!("\"{tag}\"")).ok());
            headers.extend(tag.map(|tag| (header::ETAG, tag)));
            let keep = match self.keep {
                CacheMode::Revalidate => "private, no-cache",
                CacheMode::Immutable => "private, max-age=31536000, immutable",
            };
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
            // A cached response must not be used for another user of the same browser.
            headers.append(header::VARY, HeaderValue::from_static("Authorization"));
        }
        response
    }
}

impl<T: JsonSchema + Serialize + Send + 'static> ApiResponse for CacheableReply<T> {
    fn meta() -> MetaResponses {
        Reply::<T>::meta()
    }

    fn register(registry: &mut Registry) {
        Reply::<T>::register(registry);
    }
}
