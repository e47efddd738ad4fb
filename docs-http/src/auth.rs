//! Who asks: bearer tokens, and the extractors that turn them into an actor.

use std::sync::Arc;

use async_trait::async_trait;
use poem::{Request, RequestBody, http::header};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaSecurityScheme, Registry},
};

use crate::{rate::Proof, wire::error::ApiError};

/// Knows whose token it is.
///
/// The HTTP layer asks once a request and keeps nothing, so that a token that is taken back stops working at once.
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// Whoever acts, as the operations of the platform want to know it.
    type Actor: Send + Sync + 'static;

    /// The actor that a token stands for.
    ///
    /// # Errors
    /// [`Unauthenticated`](docs_core::ErrorKind::Unauthenticated) when the token is unknown, expired or taken back,
    /// with a sentence that does not repeat it; [`Unavailable`](docs_core::ErrorKind::Unavailable) when that cannot be
    /// told now.
    async fn authenticate(&self, token: &str) -> docs_core::Result<Self::Actor>;

    /// Tells whether somebody was given the token by name. Tokens that anybody can get count for the address that they
    /// come from, or a limit of requests would be none.
    fn is_personal(&self, actor: &Self::Actor) -> bool {
        let _ = actor;
        true
    }
}

/// An authenticator as it is attached to requests.
pub type SharedAuthenticator<A> = Arc<dyn Authenticator<Actor = A>>;

/// The actor behind the request's bearer token.
///
/// Make it the first parameter of a handler, so that nothing of a request is looked at before it is known who sends
/// it. Fix the type of the actor once: `type Auth = Signed<Actor>;`.
///
/// # Errors
/// 401 with a sentence that tells apart no header, another scheme, and a token that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<A>(pub A);

/// The actor behind the request's bearer token, or nobody when the request has no token at all.
///
/// # Errors
/// 401 when there is a token and it is not valid: a client that meant to sign in should hear that it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaybeSigned<A>(pub Option<A>);

/// The name of the scheme in the OpenAPI document.
const SCHEME: &str = "bearer";

impl<'a, A: Send + Sync + 'static> ApiExtractor<'a> for Signed<A> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        describe(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let Some(token) = token(request)? else {
            return Err(ApiError::unauthenticated(
                "a token is needed; send it as `Authorization: Bearer <token>`",
            )
            .into());
        };
        Ok(Self(actor(request, token).await?))
    }
}

impl<'a, A: Send + Sync + 'static> ApiExtractor<'a> for MaybeSigned<A> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        describe(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec![SCHEME]
    }

    fn has_security_fallback() -> bool {
        true
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        match token(request)? {
            Some(token) => Ok(Self(Some(actor(request, token).await?))),
            None => Ok(Self(None)),
        }
    }
}

fn describe(registry: &mut Registry) {
    let scheme = MetaSecurityScheme {
        ty: "http",
        description: Some("An API token, sent with every request"),
        name: None,
        key_in: None,
        scheme: Some("bearer"),
        bearer_format: None,
        flows: None,
        openid_connect_url: None,
    };
    registry.create_security_scheme(SCHEME, scheme);
}

/// The request's bearer token.
pub(crate) fn token(request: &Request) -> Result<Option<&str>, ApiError> {
    let mut headers = request.headers().get_all(header::AUTHORIZATION).iter();
    let Some(value) = headers.next() else {
        return Ok(None);
    };
    if headers.next().is_some() {
        return Err(ApiError::unauthenticated("Authorization: must be given once"));
    }
    let parts = value.to_str().ok().and_then(|value| value.trim().split_once(' '));
    match parts.map(|(scheme, token)| (scheme, token.trim())) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && is_token(token) => Ok(Some(token)),
        _ => Err(ApiError::unauthenticated("Authorization: must be `Bearer <token>`")),
    }
}

fn is_token(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

async fn actor<A: Send + Sync + 'static>(request: &Request, token: &str) -> Result<A, ApiError> {
    match request.data::<SharedAuthenticator<A>>() {
        Some(authenticator) => {
            let actor = authenticator.authenticate(token).await?;
            if authenticator.is_personal(&actor) {
                request.data::<Proof>().into_iter().for_each(Proof::is_given);
            }
            Ok(actor)
        }
        None => Err(ApiError::internal("no authenticator for this type of actor is attached to the API")),
    }
}
