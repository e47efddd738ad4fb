//! Who asks: bearer tokens, what a host knows of a request, and the extractors that turn them into an actor.

use std::{fmt, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use poem::{
    Addr, Request, RequestBody,
    http::{HeaderMap, HeaderValue, Method, Uri, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaSecurityScheme, Registry},
};

use crate::{
    rate::Proof,
    wire::{
        budget::BodyAccount,
        error::{ApiError, BEARER},
    },
};

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

    /// The actor that a request comes from; `None` where it carries nothing to sign in with. Unless it is said
    /// otherwise, that is whose bearer token it has.
    ///
    /// # Errors
    /// Those of [`authenticate`](Authenticator::authenticate), and 401 for an `Authorization` that is no bearer token.
    async fn identify(&self, request: RequestHead<'_>) -> Result<Option<Self::Actor>, ApiError> {
        by_token(self, request).await
    }

    /// What is answered where somebody has to be signed in, and nobody is: a 401.
    fn nobody(&self) -> ApiError {
        ApiError::unauthenticated("a token is needed; send it as `Authorization: Bearer <token>`")
    }

    /// How to sign in, as the header `WWW-Authenticate` of a 401 says it where the refusal itself says nothing.
    fn challenge(&self) -> HeaderValue {
        BEARER
    }

    /// Tells whether somebody was given the token by name. Tokens that anybody can get count for the address that they
    /// come from, or a limit of requests would be none.
    fn is_personal(&self, actor: &Self::Actor) -> bool {
        let _ = actor;
        true
    }
}

/// A request without its body: what tells who sends it.
#[derive(Clone, Copy)]
pub struct RequestHead<'r>(&'r Request);

impl<'r> RequestHead<'r> {
    /// The method.
    #[must_use]
    pub fn method(self) -> &'r Method {
        self.0.method()
    }

    /// The address as it was asked for, before anything was taken off its path.
    #[must_use]
    pub fn uri(self) -> &'r Uri {
        self.0.original_uri()
    }

    /// The headers.
    #[must_use]
    pub fn headers(self) -> &'r HeaderMap {
        self.0.headers()
    }

    /// The other end of the connection, which may be a proxy; `None` where the transport has no addresses, or the host
    /// does not say them.
    #[must_use]
    pub fn peer(self) -> Option<SocketAddr> {
        match &self.0.remote_addr().0 {
            Addr::SocketAddr(peer) => Some(*peer),
            _ => None,
        }
    }

    /// What a layer of the host in front of the API has put beside the request.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(self) -> Option<&'r T> {
        self.0.extensions().get()
    }
}

/// Without the headers: they hold secrets.
impl fmt::Debug for RequestHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", self.method())
            .field("path", &self.uri().path())
            .finish()
    }
}

/// The actor of a request's bearer token; `None` where it has none.
pub(crate) async fn by_token<A: Authenticator + ?Sized>(
    authenticator: &A,
    RequestHead(request): RequestHead<'_>,
) -> Result<Option<A::Actor>, ApiError> {
    let Some(token) = token(request)? else { return Ok(None) };
    let actor = authenticator.authenticate(token).await?;
    if authenticator.is_personal(&actor) {
        request.data::<Proof>().into_iter().for_each(Proof::is_given);
    }
    Ok(Some(actor))
}

/// An authenticator as it is attached to requests.
pub type SharedAuthenticator<A> = Arc<dyn Authenticator<Actor = A>>;

/// The actor that the request comes from: the one of its bearer token, unless the [`Authenticator`] says otherwise.
///
/// Make it the first parameter of a handler, so that nothing of a request is looked at before it is known who sends
/// it. Fix the type of the actor once: `type Auth = Signed<Actor>;`.
///
/// # Errors
/// 401 with a sentence that tells apart no header, another scheme, and a token that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<A>(pub A);

/// The actor that the request comes from, or nobody when it carries nothing to sign in with.
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
        let authenticator = attached::<A>(request)?;
        let actor = identified(&**authenticator, request).await?;
        actor.map(Self).ok_or_else(|| authenticator.nobody().into())
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
        Ok(Self(identified(&**attached::<A>(request)?, request).await?))
    }
}

/// The actor of a request. A token of a user allows bodies over the [limit](crate::wire::budget::AnonymousBodyLimit) of
/// anonymous requests.
async fn identified<A>(
    authenticator: &dyn Authenticator<Actor = A>,
    request: &Request,
) -> Result<Option<A>, ApiError>
where
    A: Send + Sync + 'static,
{
    let actor = authenticator.identify(RequestHead(request)).await?;
    if actor.as_ref().is_some_and(|actor| authenticator.is_personal(actor))
        && let Some(account) = request.data::<BodyAccount>()
    {
        account.grant();
    }
    Ok(actor)
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

fn attached<A: Send + Sync + 'static>(request: &Request) -> Result<&SharedAuthenticator<A>, ApiError> {
    let missing = || ApiError::internal("no authenticator for this type of actor is attached to the API");
    request.data::<SharedAuthenticator<A>>().ok_or_else(missing)
}
