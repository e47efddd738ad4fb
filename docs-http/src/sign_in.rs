//! Authentication by the embedding application, instead of platform tokens or in addition to them.

use std::{borrow::Cow, error::Error as StdError, fmt, panic::AssertUnwindSafe, sync::Arc};

use async_trait::async_trait;
use docs_core::{Actor, ErrorKind, Platform, model::UserId, platform::Visitor};
use futures_util::FutureExt as _;
use poem::http::{HeaderValue, StatusCode};

use crate::{
    authenticator::{Authenticator, RequestHead, authenticate_token},
    wire::error::{ApiError, BEARER},
};

/// Authenticates requests on behalf of the embedding application: by a session, its own tokens, or a certificate.
///
/// Called once per request. The result is not cached, so an ended session stops working at once. The platform trusts
/// the returned user id, but checks that the user exists.
///
/// Browsers also send cookies with cross-site requests. An application that authenticates by cookie has to reject
/// cross-site writes, by setting `SameSite` on the cookie and by checking `Origin` or `Sec-Fetch-Site` here.
///
/// ```
/// use async_trait::async_trait;
/// use docs_core::model::UserId;
/// use docs_http::{
///     HostAuthenticator, HostSignIn, HttpConfig, Identity, SignInFailure,
///     auth::RequestHead,
/// };
///
/// /// Trusts a gateway in front of this service, which authenticates users and states their ids.
/// struct Gateway;
///
/// #[async_trait]
/// impl HostAuthenticator for Gateway {
///     async fn authenticate(&self, request: RequestHead<'_>) -> Result<Identity, SignInFailure> {
///         let Some(user) = request.headers().get("x-signed-in-user") else { return Ok(Identity::Nobody) };
///         let user = user.to_str().ok().and_then(|user| user.parse::<UserId>().ok());
///         user.map(Identity::User).ok_or_else(|| SignInFailure::refused("the gateway names no user"))
///     }
/// }
///
/// let config = HttpConfig { sign_in: Some(HostSignIn::with_tokens(Gateway)), ..HttpConfig::default() };
/// # let _ = config;
/// ```
#[async_trait]
pub trait HostAuthenticator: Send + Sync + 'static {
    /// Authenticates a request. A panic is handled as [`SignInFailure::failed`].
    ///
    /// # Errors
    ///
    /// [`SignInFailure::refused`] for invalid credentials, answered with 401; [`SignInFailure::failed`] if
    /// authentication is currently impossible, answered with 503. Neither grants access.
    async fn authenticate(&self, request: RequestHead<'_>) -> Result<Identity, SignInFailure>;

    /// The `WWW-Authenticate` value of 401 responses whose failure does not specify one.
    fn challenge(&self) -> HeaderValue {
        BEARER
    }
}

/// The authenticated caller.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// A platform user, with their permissions. The audit log records this user as the actor.
    User(UserId),
    /// A visitor of published sites, with read access only.
    Visitor(Visitor),
    /// An anonymous caller, who can read only public content. Other requests return 401, unless platform tokens are
    /// accepted and the request contains one.
    Nobody,
}

/// The reason that authentication failed.
#[derive(Debug)]
pub struct SignInFailure(SignInFailureKind);

#[derive(Debug)]
enum SignInFailureKind {
    Refused { message: Cow<'static, str>, challenge: Option<HeaderValue> },
    Failed(Box<dyn StdError + Send + Sync>),
}

impl SignInFailure {
    /// Rejects invalid credentials with 401. The message is one sentence for the caller and does not repeat the
    /// credentials.
    #[must_use]
    pub fn refused(message: impl Into<Cow<'static, str>>) -> Self {
        Self(SignInFailureKind::Refused { message: message.into(), challenge: None })
    }

    /// Rejects invalid credentials with a specific `WWW-Authenticate` value, such as `Bearer error="invalid_token"`.
    #[must_use]
    pub fn challenged(message: impl Into<Cow<'static, str>>, challenge: HeaderValue) -> Self {
        Self(SignInFailureKind::Refused { message: message.into(), challenge: Some(challenge) })
    }

    /// Reports with 503 that authentication is temporarily impossible. The cause is only logged.
    #[must_use]
    pub fn failed(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(SignInFailureKind::Failed(cause.into()))
    }
}

impl fmt::Display for SignInFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SignInFailureKind::Refused { message, .. } => f.write_str(message),
            SignInFailureKind::Failed(cause) => write!(f, "sign-in failed: {cause}"),
        }
    }
}

impl StdError for SignInFailure {}

/// Authentication by the embedding application, for [`HttpConfig::sign_in`](crate::HttpConfig::sign_in) and
/// [`routes`](crate::routes).
///
/// The rate limit counts requests of these users by network address.
#[derive(Clone)]
pub struct HostSignIn {
    host: Arc<dyn HostAuthenticator>,
    tokens: Tokens,
}

/// Handling of platform tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tokens {
    Taken,
    Ignored,
}

impl HostSignIn {
    /// Authenticates only through the embedding application. Platform tokens are not accepted.
    #[must_use]
    pub fn without_tokens(host: impl HostAuthenticator) -> Self {
        Self { host: Arc::new(host), tokens: Tokens::Ignored }
    }

    /// Also accepts platform tokens. They are used only for callers that the embedding application reports as
    /// [`Identity::Nobody`].
    #[must_use]
    pub fn with_tokens(host: impl HostAuthenticator) -> Self {
        Self { host: Arc::new(host), tokens: Tokens::Taken }
    }

    /// Authenticates a request through the embedding application.
    async fn identify_caller(&self, request: RequestHead<'_>) -> Result<Identity, ApiError> {
        let asked = AssertUnwindSafe(self.host.authenticate(request)).catch_unwind().await;
        let asked = asked.unwrap_or_else(|_| {
            Err(SignInFailure::failed(
                "the authenticator of the embedding \
                                                                        application panicked",
            ))
        });
        asked.map_err(|failure| match failure.0 {
            SignInFailureKind::Refused { message, challenge } => self.refusal_error(message, challenge),
            SignInFailureKind::Failed(cause) => ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "authentication is temporarily unavailable; try again later",
            )
            .with_cause(cause),
        })
    }

    fn refusal_error(
        &self,
        message: impl Into<Cow<'static, str>>,
        challenge: Option<HeaderValue>,
    ) -> ApiError {
        ApiError::unauthenticated(message).with_challenge(challenge.unwrap_or_else(|| self.host.challenge()))
    }
}

impl fmt::Debug for HostSignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSignIn").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// Authenticates by platform token and through the embedding application.
pub(crate) struct CombinedAuthenticator {
    pub(crate) platform: Platform,
    pub(crate) host: Option<HostSignIn>,
}

#[async_trait]
impl Authenticator for CombinedAuthenticator {
    type Actor = Actor;

    async fn authenticate(&self, token: &str) -> docs_core::Result<Actor> {
        self.platform.authenticate(token).await
    }

    async fn identify(&self, request: RequestHead<'_>) -> Result<Option<Actor>, ApiError> {
        let Some(host) = &self.host else { return authenticate_token(self, request).await };
        match (host.identify_caller(request).await?, host.tokens) {
            (Identity::User(user), _) => match self.platform.as_user(&user).current_user().await {
                Ok(_) => Ok(Some(Actor::User(user))),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Err(host.refusal_error("the signed-in user does not exist on this platform", None))
                }
                Err(error) => Err(error.into()),
            },
            (Identity::Visitor(visitor), _) => Ok(Some(Actor::Visitor(visitor))),
            // An invalid platform token calls for another token, so the challenge of the embedding application does not
            // apply.
            (Identity::Nobody, Tokens::Taken) => {
                authenticate_token(self, request).await.map_err(|refused| refused.with_challenge(BEARER))
            }
            (Identity::Nobody, Tokens::Ignored) => Ok(None),
        }
    }

    fn missing_credentials(&self) -> ApiError {
        match &self.host {
            Some(host) => host.refusal_error("a sign-in is required", None),
            None => self.platform.missing_credentials(),
        }
    }

    fn challenge(&self) -> HeaderValue {
        self.host.as_ref().map_or(BEARER, |host| host.host.challenge())
    }

    fn is_personal(&self, actor: &Actor) -> bool {
        self.platform.is_personal(actor)
    }

    fn user_id<'a>(&self, actor: &'a Actor) -> Option<&'a str> {
        self.platform.user_id(actor)
    }
}
