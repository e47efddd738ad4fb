//! The `Idempotency-Key` of a request: it may be sent again without being done again.
//!
//! A handler that makes something takes an [`Idempotency`] behind who asks, and calls the operation on the platform
//! that [`Idempotency::platform`] gives. Everything else is the platform's: it keeps the answer with what was made.
//! That a request was answered with what an earlier one had been answered, the operation's endpoint tells in
//! [`REPLAYED`].

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

use crate::wire::{error::ApiError, payload};

/// The header that names a request.
pub(crate) const KEY: &str = "Idempotency-Key";

/// The header of an answer that an earlier request was given already.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What the document says of the header.
pub(crate) fn description() -> String {
    format!(
        "A name for this request, 1 to {} visible ASCII characters, best a random UUID. For {} hours the same request \
         of the same user with the same key is not done again: it gets the first answer, with `Idempotency-Replayed: \
         true`. Another request with the same key is refused with 422. So a request whose answer was lost, or that was \
         answered with 503, can be sent again. Refusals are not kept. A caller who has lost the right that the request \
         needs is refused.",
        IdempotencyKey::MAX,
        IDEMPOTENCY_WINDOW.num_hours(),
    )
}

/// The request as one that may be sent again, if it has a key.
///
/// Make it the parameter behind the actor, before the body.
///
/// # Errors
/// 400 that names the header, when it is given twice or is no key; those of reading the body.
pub(crate) struct Idempotency<B = WholeBody>(Option<IdempotentRequest>, PhantomData<B>);

/// What the body of a request tells of it.
pub(crate) trait BodyOfRequest: Send + Sync + 'static {
    /// The bytes by which the request is told from others.
    fn bytes(
        request: &Request,
        body: &mut RequestBody,
    ) -> impl Future<Output = Result<Vec<u8>, ApiError>> + Send;
}

/// All of the body, which the handler gets as well.
pub(crate) struct WholeBody;

/// Nothing of the body yet: the operation adds what it has read.
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

impl<B> Idempotency<B> {
    /// The platform for this request.
    pub(crate) fn platform(&self, platform: &Platform) -> Platform {
        match &self.0 {
            Some(request) => platform.with_idempotency(request.clone()),
            None => platform.clone(),
        }
    }
}

/// Where the endpoint of an operation learns which request the handler served.
#[derive(Clone, Default)]
pub(crate) struct Served(Arc<OnceLock<IdempotentRequest>>);

impl Served {
    /// The header for an answer that an earlier request was given.
    pub(crate) fn replayed(&self) -> Option<HeaderValue> {
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
        if let Some(served) = request.data::<Served>() {
            // Each request has one handler, which asks once.
            let _ = served.0.set(idempotent.clone());
        }
        Ok(Self(Some(idempotent), PhantomData))
    }
}

fn key(request: &Request) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = request.headers().get_all(KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(ApiError::invalid(format!("{KEY}: must be given once")));
    }
    let text = value.to_str().unwrap_or_default();
    text.parse().map(Some).map_err(|why| ApiError::invalid(format!("{KEY}: {why}")))
}
