//! The `Idempotency-Key` header: a request with a key can be retried without being executed again.
//!
//! A handler that creates something takes an [`Idempotency`] after the actor, and calls the operation on the platform
//! returned by [`Idempotency::platform`]. The platform stores the response together with the result. The endpoint marks
//! replayed responses with [`REPLAYED_HEADER`].

use std::{
    marker::PhantomData,
    sync::{Arc, OnceLock},
};

use docs_core::{
    Platform,
    platform::{IDEMPOTENCY_WINDOW, IdempotencyKey, IdempotentRequest},
};
use poem::{
    Request, RequestBody,
    http::{HeaderName, HeaderValue},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef},
};

use crate::wire::{error::ApiError, payload, upload::is_form};

/// The request header with the key.
pub(crate) const KEY_HEADER: &str = "Idempotency-Key";

/// The response header that marks a replayed response.
pub(crate) const REPLAYED_HEADER: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The description of the header in the OpenAPI document.
pub(crate) fn description() -> String {
    format!(
        "A key for this request: 1 to {} visible ASCII characters, preferably a random UUID. For {} hours, \
         a repeated request of the same user with the same key is not executed again and returns the first \
         response with `Idempotency-Replayed: true`. A different request with the same key is rejected with \
         422. A request without a response, or with a 503, can therefore be repeated. Failures are not \
         stored. A caller who has lost the required permission is rejected.",
        IdempotencyKey::MAX,
        IDEMPOTENCY_WINDOW.num_hours(),
    )
}

/// The idempotency key of a request, if it has one.
///
/// Declare it as a parameter after the actor and before the body.
///
/// # Errors
///
/// 400 with the name of the header for a repeated or malformed key, and the errors of reading the body.
pub(crate) struct Idempotency<B = WholeBody>(Option<IdempotentRequest>, PhantomData<B>);

/// The part of the body that identifies a request.
pub(crate) trait BodyOfRequest: Send + Sync + 'static {
    /// Returns the bytes that distinguish the request from others with the same key.
    fn bytes(
        request: &Request,
        body: &mut RequestBody,
    ) -> impl Future<Output = Result<Vec<u8>, ApiError>> + Send;
}

/// The whole body, which remains available to the handler.
pub(crate) struct WholeBody;

/// No part of the body. The operation adds the bytes while it reads them.
pub(crate) struct StreamedBody;

impl BodyOfRequest for WholeBody {
    async fn bytes(request: &Request, body: &mut RequestBody) -> Result<Vec<u8>, ApiError> {
        let bytes = payload::bytes(request, body.take().map_err(ApiError::internal)?).await?;
        *body = RequestBody::new(bytes.clone().into());
        Ok(bytes)
    }
}

impl BodyOfRequest for StreamedBody {
    async fn bytes(_: &Request, _: &mut RequestBody) -> Result<Vec<u8>, ApiError> {
        Ok(Vec::new())
    }
}

/// The whole body if it is JSON, and no part of a form.
pub(crate) struct JsonOrForm;

impl BodyOfRequest for JsonOrForm {
    async fn bytes(request: &Request, body: &mut RequestBody) -> Result<Vec<u8>, ApiError> {
        match is_form(request) {
            true => StreamedBody::bytes(request, body).await,
            false => WholeBody::bytes(request, body).await,
        }
    }
}

impl<B> Idempotency<B> {
    /// Returns the platform with this key applied to its writes.
    pub(crate) fn platform(&self, platform: &Platform) -> Platform {
        match &self.0 {
            Some(request) => platform.with_idempotency(request.clone()),
            None => platform.clone(),
        }
    }
}

/// A slot through which the handler passes its idempotency key to the wrapping endpoint.
#[derive(Clone, Default)]
pub(crate) struct IdempotencySlot(Arc<OnceLock<IdempotentRequest>>);

impl IdempotencySlot {
    /// Returns the value of the replay header if the response was replayed.
    pub(crate) fn replay_header(&self) -> Option<HeaderValue> {
        let request = self.0.get()?;
        request.is_replayed().then_some(HeaderValue::from_static("true"))
    }
}

impl<'a, B: BodyOfRequest> ApiExtractor<'a> for Idempotency<B> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema {
            min_length: Some(1),
            max_length: Some(IdempotencyKey::MAX),
            pattern: Some("^[!-~]+$".to_owned()),
            ..MetaSchema::new("string")
        })))
    }

    fn param_raw_type(&self) -> Option<&String> {
        None
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let Some(key) = key(request)? else { return Ok(Self(None, PhantomData)) };
        let bytes = B::bytes(request, body).await?;
        let path = request.original_uri().path_and_query().map_or("", |path| path.as_str());
        let parts = [request.method().as_str().as_bytes(), path.as_bytes(), &bytes];
        let idempotent = IdempotentRequest::new(key, &parts);
        if let Some(served) = request.data::<IdempotencySlot>() {
            // Each request has one handler, which runs this extractor once.
            let _ = served.0.set(idempotent.clone());
        }
        Ok(Self(Some(idempotent), PhantomData))
    }
}

fn key(request: &Request) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = request.headers().get_all(KEY_HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(ApiError::invalid(format!("{KEY_HEADER}: must be given once")));
    }
    let text = value.to_str().unwrap_or_default();
    text.parse().map(Some).map_err(|why| ApiError::invalid(format!("{KEY_HEADER}: {why}")))
}
