//! Representation of responses: ETags, conditions of reads, and content encoding.
//!
//! All responses, of operations and of the other endpoints, are processed here.

use bytes::Bytes;
use docs_core::platform::{EntityTag, Precondition};
use poem::{
    IntoResponse as _, Request, Response,
    http::{HeaderValue, Method, StatusCode, header},
};

use crate::{
    conditions::TagList,
    encoding::{self, AcceptedEncoding, GZIP, MIN_COMPRESSED_BYTES},
    wire::error::ApiError,
};

/// The responses that get an ETag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagPolicy {
    /// Only responses that already have one.
    Existing,
    /// All responses. A missing ETag is computed from the bytes.
    All,
}

/// The parts of a request that affect the representation of its response.
pub(crate) struct RequestConditions {
    reads: bool,
    if_match: Result<Option<TagList>, ApiError>,
    if_none_match: Option<TagList>,
    encoded: AcceptedEncoding,
    /// The owner of the response in the queue of compressions.
    owner: String,
}

impl RequestConditions {
    pub(crate) fn from_request(request: &Request) -> Self {
        let headers = request.headers();
        Self {
            reads: matches!(*request.method(), Method::GET | Method::HEAD),
            if_match: TagList::read(headers, &header::IF_MATCH),
            // A malformed header matches nothing.
            if_none_match: TagList::read(headers, &header::IF_NONE_MATCH).ok().flatten(),
            encoded: AcceptedEncoding::from_headers(headers),
            owner: encoding::response_owner(request.uri().path()).to_owned(),
        }
    }

    /// Applies conditions, ETags and content encoding to a response.
    pub(crate) async fn represent(self, response: Response, tagging: TagPolicy) -> Response {
        let outcome = match self.reads {
            true => self.represent_read(response, tagging).await,
            false => self.represent_write(response, tagging).await,
        };
        outcome.unwrap_or_else(|error| error.into_response())
    }

    /// Processes the response to a read.
    async fn represent_read(self, mut response: Response, tagging: TagPolicy) -> Result<Response, ApiError> {
        let status = response.status();
        if status != StatusCode::OK && status != StatusCode::NOT_MODIFIED {
            return self.encode(response, None).await;
        }
        let tag = match existing_tag(&response) {
            None if tagging == TagPolicy::All => Some(EntityTag::from_json(&body(&mut response).await?)),
            given => given,
        };
        let if_match =
            self.if_match.as_ref().map_err(|error| ApiError::invalid(error.message().to_owned()))?;
        let condition =
            Precondition { if_match: if_match.as_ref().map(TagList::strong), if_none_match: None };
        condition.check(tag.as_ref())?;
        let known = tag.as_ref().and_then(|tag| self.if_none_match.as_ref()?.find(tag, self.encoded));
        match known {
            Some(known) => Ok(not_modified(response, &known)),
            None => self.encode(response, tag).await,
        }
    }

    /// Processes the response to a write. If the body is the new state, the response gets its ETag.
    async fn represent_write(self, mut response: Response, tagging: TagPolicy) -> Result<Response, ApiError> {
        if tagging == TagPolicy::All && response.status() == StatusCode::OK {
            let tag = EntityTag::from_json(&body(&mut response).await?);
            set_tag(&mut response, &tag);
        }
        self.encode(response, None).await
    }

    /// Compresses a response if that is worthwhile and the client accepts it, and sets the ETag of the resulting form.
    async fn encode(self, mut response: Response, tag: Option<EntityTag>) -> Result<Response, ApiError> {
        let mut tag = tag;
        if is_encodable(&response) {
            let plain = body(&mut response).await?;
            if plain.len() >= MIN_COMPRESSED_BYTES {
                response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
                if self.encoded.is_gzip()
                    && let Some(encoded) = encoding::compress(plain, &self.owner).await
                {
                    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(GZIP));
                    response.headers_mut().remove(header::CONTENT_LENGTH);
                    response.set_body(encoded);
                    tag = tag.map(|tag| encoding::encoded_tag(&tag));
                }
            }
        }
        if let Some(tag) = tag {
            set_tag(&mut response, &tag);
        }
        Ok(response)
    }
}

/// Returns the bytes of a response without consuming its body.
async fn body(response: &mut Response) -> Result<Bytes, ApiError> {
    let bytes = response.take_body().into_bytes().await.map_err(ApiError::internal)?;
    response.set_body(bytes.clone());
    Ok(bytes)
}

/// Returns `true` if a response may be compressed: a complete text body in memory. Files are sent in ranges and are not
/// compressed.
fn is_encodable(response: &Response) -> bool {
    let headers = response.headers();
    let bare = [header::CONTENT_ENCODING, header::CONTENT_RANGE, header::ACCEPT_RANGES];
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(encoding::is_compressible) && !bare.iter().any(|name| headers.contains_key(name))
}

fn existing_tag(response: &Response) -> Option<EntityTag> {
    let quoted = response.headers().get(header::ETAG)?.to_str().ok()?;
    Some(EntityTag::new(quoted.strip_prefix('"')?.strip_suffix('"')?))
}

fn set_tag(response: &mut Response, tag: &EntityTag) {
    if let Ok(value) = HeaderValue::from_str(&format!("\"{tag}\"")) {
        response.headers_mut().insert(header::ETAG, value);
    }
}

/// Returns the 304 response for a client that has cached the form with this tag.
fn not_modified(mut response: Response, known: &EntityTag) -> Response {
    let _ = response.take_body();
    response.set_status(StatusCode::NOT_MODIFIED);
    for of_body in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_DISPOSITION] {
        response.headers_mut().remove(of_body);
    }
    set_tag(&mut response, known);
    response
}
