//! Extractors of the actor of a request, and the types of its authentication.

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaSecurityScheme, Registry},
};

pub use crate::authenticator::{Authenticator, RequestHead, SharedAuthenticator};
use crate::{
    reauthentication::guard_body,
    wire::{budget::BodyAccount, error::ApiError},
};

/// The actor of the request, as returned by the [`Authenticator`]; by default, the actor of the bearer token.
///
/// Use it as the first parameter of a handler, so that the caller is authenticated before anything else is parsed.
/// Declare a type alias for the actor type once: `type Auth = RequestActor<Actor>;`.
///
/// # Errors
///
/// 401 with a message that distinguishes a missing header, another scheme, and an invalid token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestActor<A>(pub A);

/// The actor of the request, or `None` for a request without credentials.
///
/// # Errors
///
/// 401 for an invalid token. A client that attempts to authenticate is not treated as anonymous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaybeRequestActor<A>(pub Option<A>);

/// Name of the security scheme in the OpenAPI document.
const SCHEME: &str = "bearer";

impl<'a, A: Send + Sync + 'static> ApiExtractor<'a> for RequestActor<A> {
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
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let authenticator = request_authenticator::<A>(request)?;
        let actor = authenticate_request(authenticator, request, body).await?;
        actor.map(Self).ok_or_else(|| authenticator.missing_credentials().into())
    }
}

impl<'a, A: Send + Sync + 'static> ApiExtractor<'a> for MaybeRequestActor<A> {
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
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self(authenticate_request(request_authenticator::<A>(request)?, request, body).await?))
    }
}

/// Authenticates a request, and again while its body arrives. A user token raises the body limit above that of
/// [anonymous requests](crate::wire::budget::AnonymousBodyLimit).
async fn authenticate_request<A>(
    authenticator: &SharedAuthenticator<A>,
    request: &Request,
    body: &mut RequestBody,
) -> Result<Option<A>, ApiError>
where
    A: Send + Sync + 'static,
{
    let actor = authenticator.identify(RequestHead::new(request)).await?;
    let Some(actor) = actor else { return Ok(None) };
    if authenticator.is_personal(&actor)
        && let Some(account) = request.data::<BodyAccount>()
    {
        account.grant(authenticator.user_id(&actor));
    }
    guard_body(authenticator, request, body);
    Ok(Some(actor))
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

fn request_authenticator<A: Send + Sync + 'static>(
    request: &Request,
) -> Result<&SharedAuthenticator<A>, ApiError> {
    let missing = || ApiError::internal("the API has no authenticator for this type of actor");
    request.data::<SharedAuthenticator<A>>().ok_or_else(missing)
}
