//! Authentication: bearer tokens, and credentials of the embedding application.

use std::{
    fmt,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use poem::{
    Addr, Request,
    http::{HeaderMap, HeaderValue, Method, Uri, header},
};

use crate::wire::error::{ApiError, BEARER};

/// Authenticates bearer tokens.
///
/// The HTTP layer calls it for each request and does not cache the result, so a revoked token stops working at once. If
/// the body arrives slowly, authentication is repeated, at most once per second, before the next chunk is used.
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// The actor type of the platform's operations.
    type Actor: Send + Sync + 'static;

    /// Returns the actor of a token.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated`](docs_core::ErrorKind::Unauthenticated) for an unknown, expired or revoked token, with a
    /// message that does not repeat the token; [`Unavailable`](docs_core::ErrorKind::Unavailable) if the token cannot
    /// be checked at the moment.
    async fn authenticate(&self, token: &str) -> docs_core::Result<Self::Actor>;

    /// Returns the actor of a request, or `None` for a request without credentials. The default implementation
    /// authenticates the bearer token.
    ///
    /// # Errors
    ///
    /// The errors of [`authenticate`](Authenticator::authenticate), and 401 for an `Authorization` header without a
    /// bearer token.
    async fn identify(&self, request: RequestHead<'_>) -> Result<Option<Self::Actor>, ApiError> {
        authenticate_token(self, request).await
    }

    /// Returns the 401 error for a request that requires authentication but has no credentials.
    fn missing_credentials(&self) -> ApiError {
        ApiError::unauthenticated("a token is required; send `Authorization: Bearer <token>`")
    }

    /// The `WWW-Authenticate` value of 401 responses whose error does not specify one.
    fn challenge(&self) -> HeaderValue {
        BEARER
    }

    /// Returns `true` if the token was issued to a specific user. Requests with tokens that anyone can obtain are
    /// counted by network address; otherwise such tokens would bypass the rate limit.
    fn is_personal(&self, actor: &Self::Actor) -> bool {
        let _ = actor;
        true
    }

    /// Returns the user id of an actor. All request bodies of a user are charged to the same share of the
    /// [`BodyBudget`](crate::wire::budget::BodyBudget). Without an id, which is the default, they are charged to the
    /// network address.
    fn user_id<'a>(&self, actor: &'a Self::Actor) -> Option<&'a str> {
        let _ = actor;
        None
    }
}

/// The head of a request, which identifies its sender.
#[derive(Clone, Copy)]
pub struct RequestHead<'r>(&'r Request);

impl<'r> RequestHead<'r> {
    pub(crate) const fn new(request: &'r Request) -> Self {
        Self(request)
    }

    #[must_use]
    pub fn method(self) -> &'r Method {
        self.0.method()
    }

    /// The URI as requested, before routing stripped path prefixes.
    #[must_use]
    pub fn uri(self) -> &'r Uri {
        self.0.original_uri()
    }

    #[must_use]
    pub fn headers(self) -> &'r HeaderMap {
        self.0.headers()
    }

    /// The peer of the connection, which may be a proxy. `None` if the transport has no addresses or the embedding
    /// application does not forward them.
    #[must_use]
    pub fn peer(self) -> Option<SocketAddr> {
        match &self.0.remote_addr().0 {
            Addr::SocketAddr(peer) => Some(*peer),
            _ => None,
        }
    }

    /// Returns request data attached by an outer layer of the embedding application.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(self) -> Option<&'r T> {
        self.0.extensions().get()
    }
}

/// Omits the headers, which contain secrets.
impl fmt::Debug for RequestHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", self.method())
            .field("path", &self.uri().path())
            .finish()
    }
}

/// Returns the actor of the request's bearer token, or `None` without a token.
pub(crate) async fn authenticate_token<A: Authenticator + ?Sized>(
    authenticator: &A,
    RequestHead(request): RequestHead<'_>,
) -> Result<Option<A::Actor>, ApiError> {
    let Some(token) = token(request)? else { return Ok(None) };
    let actor = authenticator.authenticate(token).await?;
    if authenticator.is_personal(&actor) {
        request.data::<TokenProof>().into_iter().for_each(TokenProof::mark_valid);
    }
    Ok(Some(actor))
}

/// The type of the authenticator in the request data.
pub type SharedAuthenticator<A> = Arc<dyn Authenticator<Actor = A>>;

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

/// Records that the request's token is valid. It is set after authentication.
#[derive(Clone, Default)]
pub(crate) struct TokenProof(Arc<AtomicBool>);

impl TokenProof {
    pub(crate) fn mark_valid(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
