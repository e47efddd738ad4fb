//! A host's own way of signing in, instead of the platform's tokens or beside them.

use std::{borrow::Cow, error::Error as StdError, fmt, panic::AssertUnwindSafe, sync::Arc};

use async_trait::async_trait;
use docs_core::{Actor, ErrorKind, Platform, model::UserId, platform::Visitor};
use futures_util::FutureExt as _;
use poem::http::{HeaderValue, StatusCode};

use crate::{
    auth::{Authenticator, RequestHead, by_token},
    wire::error::{ApiError, BEARER},
};

/// Knows who sends a request to the host that the API is a part of: by a session, a token of its own, a certificate.
///
/// It is asked once a request and nothing of what it answers is kept, so that a session that ends stops working at
/// once. What it says of a user is believed; that the user exists is looked up.
///
/// A browser sends cookies with requests that another site made it send. A host that signs in by cookies refuses
/// requests that write and come from elsewhere: by `SameSite` on the cookie, and by `Origin` or `Sec-Fetch-Site` here.
///
/// ```
/// use async_trait::async_trait;
/// use docs_core::model::UserId;
/// use docs_http::{
///     HostAuthenticator, HostSignIn, HttpConfig, Identity, SignInFailure,
///     auth::RequestHead,
/// };
///
/// /// A gateway in front of this service signs people in, and says who they are.
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
/// let config = HttpConfig { sign_in: Some(HostSignIn::beside_tokens(Gateway)), ..HttpConfig::default() };
/// # let _ = config;
/// ```
#[async_trait]
pub trait HostAuthenticator: Send + Sync + 'static {
    /// Who sends a request. A panic is taken for a failure.
    ///
    /// # Errors
    /// [`SignInFailure::refused`] for what was meant to sign in and does not, answered with 401;
    /// [`SignInFailure::failed`] where that cannot be told now, answered with 503. Neither lets anybody in.
    async fn authenticate(&self, request: RequestHead<'_>) -> Result<Identity, SignInFailure>;

    /// How to sign in, as the header `WWW-Authenticate` of a 401 says it where nothing else does.
    fn challenge(&self) -> HeaderValue {
        BEARER
    }
}

/// Who sends a request.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// A user of the platform, with the rights that they have there. The audit log names them.
    User(UserId),
    /// A visitor of published sites, who only reads.
    Visitor(Visitor),
    /// Nobody that the host knows: what is open to anybody is read, everything else is 401, unless the request has a
    /// token of the platform and these are taken too.
    Nobody,
}

/// Why nobody is signed in.
#[derive(Debug)]
pub struct SignInFailure(Why);

#[derive(Debug)]
enum Why {
    Refused { message: Cow<'static, str>, challenge: Option<HeaderValue> },
    Failed(Box<dyn StdError + Send + Sync>),
}

impl SignInFailure {
    /// The request was meant to sign in, and does not: 401, with one sentence for the caller that does not repeat what
    /// was sent.
    #[must_use]
    pub fn refused(message: impl Into<Cow<'static, str>>) -> Self {
        Self(Why::Refused { message: message.into(), challenge: None })
    }

    /// The same with a `WWW-Authenticate` of its own, such as `Bearer error="invalid_token"`.
    #[must_use]
    pub fn challenged(message: impl Into<Cow<'static, str>>, challenge: HeaderValue) -> Self {
        Self(Why::Refused { message: message.into(), challenge: Some(challenge) })
    }

    /// Who it is cannot be told now: 503. The cause goes to the log only.
    #[must_use]
    pub fn failed(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Why::Failed(cause.into()))
    }
}

impl fmt::Display for SignInFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Refused { message, .. } => f.write_str(message),
            Why::Failed(cause) => write!(f, "signing in failed: {cause}"),
        }
    }
}

impl StdError for SignInFailure {}

/// A host's own sign-in as [`routes`](crate::routes) takes it, in [`HttpConfig::sign_in`](crate::HttpConfig::sign_in).
///
/// The rate limit counts whom the host signs in by the address that they come from.
#[derive(Clone)]
pub struct HostSignIn {
    host: Arc<dyn HostAuthenticator>,
    tokens: Tokens,
}

/// Whether tokens of the platform are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tokens {
    Taken,
    Ignored,
}

impl HostSignIn {
    /// The host alone says who somebody is: tokens of the platform let nobody in.
    #[must_use]
    pub fn alone(host: impl HostAuthenticator) -> Self {
        Self { host: Arc::new(host), tokens: Tokens::Ignored }
    }

    /// Whom the host does not know may send a token of the platform. Where the host knows somebody, a token is not
    /// looked at.
    #[must_use]
    pub fn beside_tokens(host: impl HostAuthenticator) -> Self {
        Self { host: Arc::new(host), tokens: Tokens::Taken }
    }

    /// Who the host says that it is.
    async fn ask(&self, request: RequestHead<'_>) -> Result<Identity, ApiError> {
        let asked = AssertUnwindSafe(self.host.authenticate(request)).catch_unwind().await;
        let asked = asked.unwrap_or_else(|_| Err(SignInFailure::failed("the host's authenticator panicked")));
        asked.map_err(|failure| match failure.0 {
            Why::Refused { message, challenge } => self.refused(message, challenge),
            Why::Failed(cause) => ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "who you are cannot be told now; try again later",
            )
            .caused_by(cause),
        })
    }

    fn refused(&self, message: impl Into<Cow<'static, str>>, challenge: Option<HeaderValue>) -> ApiError {
        ApiError::unauthenticated(message).challenged(challenge.unwrap_or_else(|| self.host.challenge()))
    }
}

impl fmt::Debug for HostSignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSignIn").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// Knows who asks a platform: by its tokens, and as the host says.
pub(crate) struct Doors {
    pub(crate) platform: Platform,
    pub(crate) host: Option<HostSignIn>,
}

#[async_trait]
impl Authenticator for Doors {
    type Actor = Actor;

    async fn authenticate(&self, token: &str) -> docs_core::Result<Actor> {
        self.platform.authenticate(token).await
    }

    async fn identify(&self, request: RequestHead<'_>) -> Result<Option<Actor>, ApiError> {
        let Some(host) = &self.host else { return by_token(self, request).await };
        match (host.ask(request).await?, host.tokens) {
            (Identity::User(user), _) => match self.platform.as_user(&user).current_user().await {
                Ok(_) => Ok(Some(Actor::User(user))),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Err(host.refused("the user who is signed in does not exist here", None))
                }
                Err(error) => Err(error.into()),
            },
            (Identity::Visitor(visitor), _) => Ok(Some(Actor::Visitor(visitor))),
            // A token that is not valid is mended by another one, and not by what the host wants.
            (Identity::Nobody, Tokens::Taken) => {
                by_token(self, request).await.map_err(|refused| refused.challenged(BEARER))
            }
            (Identity::Nobody, Tokens::Ignored) => Ok(None),
        }
    }

    fn nobody(&self) -> ApiError {
        match &self.host {
            Some(host) => host.refused("nobody is signed in; sign in first", None),
            None => self.platform.nobody(),
        }
    }

    fn challenge(&self) -> HeaderValue {
        self.host.as_ref().map_or(BEARER, |host| host.host.challenge())
    }

    fn is_personal(&self, actor: &Actor) -> bool {
        self.platform.is_personal(actor)
    }
}
