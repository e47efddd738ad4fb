//! Sign-in through a SAML provider: redirecting the browser to the provider, and verifying the response.
//!
//! The state of a pending login is sealed and kept by the browser instead of being stored. Abandoned logins therefore
//! use no storage, and every server on the store can accept the response.

use std::sync::Arc;

use chrono::TimeDelta;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};

use super::session::{Admission, SamlSession};
use crate::{
    Error, ErrorKind, Result,
    model::{SamlProviderId, Timestamp},
    platform::{
        kernel::{platform::Platform, secret::Secret},
        nouns::Caller,
        people::users::check_email,
    },
    ports::{Saml, SamlIdentity, SamlRequest, SamlTrust},
    store::records::SamlProviderRecord,
};

/// The time limit for a sign-in at a provider.
pub(in crate::platform) const SAML_LOGIN_WINDOW: TimeDelta = TimeDelta::minutes(15);
/// Maximum number of pending logins examined per browser. If there are more, only the latest are examined, since
/// browsers send them oldest first.
const MAX_PENDING_LOGINS: usize = 16;
/// Maximum remaining validity of an assertion: one day, plus clock skew. A consumed assertion is remembered until it
/// expires.
const MAX_ASSERTION_VALIDITY: TimeDelta = TimeDelta::hours(25);

/// A pending login.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq)]
pub struct SamlStart {
    /// The redirect target: the URL of the provider, including the request.
    pub location: String,
    /// The id of the request.
    pub request: String,
    /// The state to return in [`SamlAnswer::kept`], in visible ASCII characters.
    pub keep: String,
    /// The expiry time of the pending login.
    pub expires_at: Timestamp,
}

/// Omits the state that the browser keeps.
impl std::fmt::Debug for SamlStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SamlStart")
            .field("request", &self.request)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// The response delivered by a browser.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamlAnswer<'a> {
    /// The value of the form field `SAMLResponse`.
    pub response: &'a str,
    /// The states of the browser's pending logins, oldest first. Only the last 16 are examined.
    pub kept: &'a [String],
}

/// The state of a pending login, sealed for the browser.
#[derive(Debug, Serialize, Deserialize)]
struct PendingLogin {
    request: String,
    until: Timestamp,
}

/// Returns the sealing purpose of a provider's pending logins.
fn purpose(provider: &SamlProviderId) -> String {
    format!("saml sign-in {provider}")
}

impl<'p> Caller<'p> {
    /// Begins a sign-in at a SAML provider. Reserved for the platform itself; the sign-in endpoint calls it.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Precondition` for a pending provider, or without a
    /// [SAML implementation](crate::platform::Builder::saml).
    #[boxed]
    pub async fn begin_saml_login(self, id: &'p SamlProviderId) -> Result<SamlStart> {
        let (platform, saml) = (self.platform, saml_port(self)?);
        let provider = require_active_provider(platform, id).await?;
        let service = platform.urls().saml_service(id);
        let secret = Secret::draw(platform.ids(), "docs-platform request to a SAML provider");
        // An XML name cannot start with a digit.
        let request = format!("_{}", secret.as_hex());
        let now = platform.now();
        let asked = SamlRequest {
            id: request.clone(),
            at: now,
            destination: provider.sso_url.as_ref().map(ToString::to_string).unwrap_or_default(),
            issuer: service.entity_id,
            recipient: service.acs_url,
        };
        let location = saml.request(&asked);
        let location = location.map_err(|why| Error::new(ErrorKind::Precondition, why.to_string()))?;
        let expires_at = Timestamp::new(now.time() + SAML_LOGIN_WINDOW);
        let way = PendingLogin { request: request.clone(), until: expires_at };
        let way = serde_json::to_string(&way).map_err(Error::internal)?;
        let keep = platform.secrets().seal(&purpose(id), &way, platform.ids().next());
        Ok(SamlStart { location, request, keep: keep.map_err(Error::internal)?, expires_at })
    }

    /// Completes a sign-in at a SAML provider. The response is verified with the certificate that the organization
    /// trusts. Returns a session with a bearer token.
    ///
    /// If no account has the asserted e-mail address, a user is created and becomes a member with the provider's role
    /// and team. A provider is authoritative only for its own organization: an existing user can sign in through it
    /// only after they have become a member and an administrator has [linked
    /// them](crate::platform::MemberHandle::set_sso). A response is accepted only once. The audit log of the
    /// organization records sign-ins, and rejections with their reason.
    ///
    /// Reserved for the platform itself; the assertion consumer endpoint calls it.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Unauthenticated` for a response that is not from the
    /// provider, not for this service, not for this browser, not valid now, or already consumed; `Conflict` if the
    /// address belongs to an account that is not linked; `Precondition` for a pending provider, or without a [SAML
    /// implementation](crate::platform::Builder::saml).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, there may be a session whose token was not returned.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Platform, Result, model::SamlProviderId, platform::SamlAnswer};
    /// # async fn example(platform: &Platform, provider: &SamlProviderId, answer: SamlAnswer<'_>) -> Result<()> {
    /// let session = platform.as_platform().finish_saml_login(provider, answer).await?;
    /// println!("{} until {}", session.user.display_name, session.expires_at);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn finish_saml_login(
        self,
        id: &'p SamlProviderId,
        answer: SamlAnswer<'p>,
    ) -> Result<SamlSession> {
        let (platform, saml) = (self.platform, saml_port(self)?);
        let provider = require_active_provider(platform, id).await?;
        let signed = platform.verify_response(saml.as_ref(), &provider, answer.response);
        let email = signed.as_ref().ok().map(|found| found.email.clone());
        let done = match signed {
            Ok(found) => platform.complete_login(&provider, found, answer.kept).await,
            Err(refused) => Err(refused),
        };
        if let Err(error) = &done
            && matches!(error.kind(), ErrorKind::Unauthenticated | ErrorKind::Conflict)
        {
            platform.record_refusal(&provider, error.message(), email.as_deref()).await;
        }
        done
    }

    /// Returns the SAML metadata of this service for a provider, as XML. It contains no secrets.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Precondition` without a [SAML
    /// implementation](crate::platform::Builder::saml).
    #[boxed]
    pub async fn saml_metadata(self, id: &'p SamlProviderId) -> Result<String> {
        let (platform, saml) = (self.platform, saml_port(self)?);
        let tx = platform.read().await?;
        let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::key_for(id)).await?;
        provider.ok_or_else(|| Error::not_found("SAML provider"))?;
        Ok(saml.metadata(&platform.urls().saml_service(id)))
    }
}

/// Returns the SAML implementation if the caller is the platform itself.
fn saml_port(caller: Caller<'_>) -> Result<&Arc<dyn Saml>> {
    caller.actor().require_platform()?;
    let missing = || Error::new(ErrorKind::Precondition, "SAML sign-in is not available on this server");
    caller.platform.ports().saml.as_ref().ok_or_else(missing)
}

/// Returns a provider, which must be active.
pub(super) async fn require_active_provider(
    platform: &Platform,
    id: &SamlProviderId,
) -> Result<Arc<SamlProviderRecord>> {
    let tx = platform.read().await?;
    let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::key_for(id)).await?;
    let provider = provider.ok_or_else(|| Error::not_found("SAML provider"))?;
    let missing = provider.missing_fields();
    if missing.is_empty() {
        return Ok(provider);
    }
    let missing = missing.join(", ");
    let message = format!("this SAML provider is not active; it lacks {missing}");
    Err(Error::new(ErrorKind::Precondition, message))
}

fn rejection(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unauthenticated, format!("the SAML response: {why}"))
}

impl Platform {
    /// Verifies a response and returns the asserted identity.
    fn verify_response(
        &self,
        saml: &dyn Saml,
        provider: &SamlProviderRecord,
        response: &str,
    ) -> Result<SamlIdentity> {
        let missing = || Error::not_found("SAML provider");
        let service = self.urls().saml_service(&provider.id);
        let trust = SamlTrust {
            issuer: provider.entity_id.as_ref().ok_or_else(missing)?.to_string(),
            certificate: provider.certificate.as_ref().ok_or_else(missing)?.to_string(),
            audience: service.entity_id,
            recipient: service.acs_url,
        };
        saml.verify(&trust, response, self.now()).map_err(rejection)
    }

    /// Completes the sign-in of a verified identity.
    async fn complete_login(
        &self,
        provider: &Arc<SamlProviderRecord>,
        found: SamlIdentity,
        kept: &[String],
    ) -> Result<SamlSession> {
        let identity = self.check_identity(provider, found, kept)?;
        Admission::prepare(self, provider, identity).await?.run(self).await
    }

    /// Checks that an identity is currently valid, and issued for this browser.
    fn check_identity(
        &self,
        provider: &SamlProviderRecord,
        found: SamlIdentity,
        kept: &[String],
    ) -> Result<SamlIdentity> {
        let now = self.now();
        if found.until <= now {
            return Err(rejection("its assertion has expired"));
        }
        if found.until.time() > now.time() + MAX_ASSERTION_VALIDITY {
            let hours = MAX_ASSERTION_VALIDITY.num_hours();
            return Err(rejection(format_args!("its assertion must be valid for at most {hours} hours")));
        }
        if found.session_until.is_some_and(|until| until <= now) {
            return Err(rejection("the session at the provider has ended"));
        }
        let service = self.urls().saml_service(&provider.id);
        self.check_pending_login(provider, &found, kept, &service.start_url)?;
        // Lower-casing non-ASCII characters can make distinct addresses equal: the Kelvin sign becomes a k.
        if !found.email.is_ascii() {
            return Err(rejection(
                "the name id: must be an address of ASCII characters, like name@example.com",
            ));
        }
        let identity = SamlIdentity { email: found.email.trim().to_ascii_lowercase(), ..found };
        check_email("the name id", &identity.email).map_err(rejection)?;
        Ok(identity)
    }

    /// Checks that the response belongs to a pending login of this browser.
    fn check_pending_login(
        &self,
        provider: &SamlProviderRecord,
        found: &SamlIdentity,
        kept: &[String],
        start: &str,
    ) -> Result<()> {
        let Some(request) = &found.in_response_to else {
            return match provider.idp_initiated {
                true => Ok(()),
                false => Err(rejection(format_args!(
                    "it has no InResponseTo, and this provider must not start a sign-in; sign in at {start}"
                ))),
            };
        };
        let (purpose, now) = (purpose(&provider.id), self.now());
        let on_it = kept.iter().rev().take(MAX_PENDING_LOGINS).any(|kept| {
            let way = self.secrets().open(&purpose, kept).ok();
            let way = way.and_then(|way| serde_json::from_str::<PendingLogin>(&way).ok());
            way.is_some_and(|way| way.request == *request && way.until > now)
        });
        match on_it {
            true => Ok(()),
            false => Err(rejection(format_args!(
                "it answers no request of this browser (InResponseTo); enable cookies, and sign in at {start}"
            ))),
        }
    }
}
