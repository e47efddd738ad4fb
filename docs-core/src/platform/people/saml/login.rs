//! Sign-in through a SAML provider: the redirect of a browser to the provider, and the verification of its response.
//!
//! A pending login is not stored. Its state is sealed and kept by the browser. Abandoned logins therefore use no
//! storage, and every server on a store can accept the response.

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
/// Maximum number of pending logins that are examined per browser. Above that only the latest are, since browsers send
/// them oldest first.
const MAX_PENDING_LOGINS: usize = 16;
/// The longest remaining validity of an assertion: a day, plus clock skew. A consumed one is remembered until it
/// expires.
const MAX_ASSERTION_VALIDITY: TimeDelta = TimeDelta::hours(25);

/// A pending login.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq)]
pub struct SamlStart {
    /// The redirect target: the address of the provider with the request.
    pub location: String,
    /// The id of the request.
    pub request: String,
    /// The state to return in [`SamlAnswer::kept`], as visible ASCII characters.
    pub keep: String,
    /// The expiry of the pending login.
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

/// The response that a browser brings back.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamlAnswer<'a> {
    /// The form field `SAMLResponse`.
    pub response: &'a str,
    /// The states of the browser's pending logins oldest first. Of more than 16, only the last are examined.
    pub kept: &'a [String],
}

/// The sealed state of a pending login.
#[derive(Debug, Serialize, Deserialize)]
struct PendingLogin {
    request: String,
    until: Timestamp,
}

/// The purpose of the seal of a provider's pending logins.
fn purpose(provider: &SamlProviderId) -> String {
    format!("saml sign-in {provider}")
}

impl<'p> Caller<'p> {
    /// Begins a sign-in at a SAML provider. Only the platform itself may call this; it serves the sign-in endpoint.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Precondition` for a pending provider, and without an
    /// [adapter](crate::platform::Builder::saml).
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
    /// If no account has the address, a user is created, who becomes a member with the provider's role and team. A
    /// provider is authoritative for its own organization only: an existing user signs in with their account until they
    /// are a member and an administrator [links them](crate::platform::MemberHandle::set_sso). A response is accepted
    /// once. The audit log of the organization records sign-ins, and refusals with their reason.
    ///
    /// Only the platform itself may call this; it serves the assertion consumer endpoint.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Unauthenticated` for a response that is not from the
    /// provider, not for this service, not for this browser, not valid now, or already consumed; `Conflict` for the
    /// address of an account that is not linked; `Precondition` for a pending provider, and without an
    /// [adapter](crate::platform::Builder::saml).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no session, or a session without returning its token.
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
    /// `Forbidden` for users; `NotFound` for an unknown provider; `Precondition` without an
    /// [adapter](crate::platform::Builder::saml).
    #[boxed]
    pub async fn saml_metadata(self, id: &'p SamlProviderId) -> Result<String> {
        let (platform, saml) = (self.platform, saml_port(self)?);
        let tx = platform.read().await?;
        let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::key_for(id)).await?;
        provider.ok_or_else(|| Error::not_found("SAML provider"))?;
        Ok(saml.metadata(&platform.urls().saml_service(id)))
    }
}

/// Returns the adapter if the caller is the platform itself.
fn saml_port(caller: Caller<'_>) -> Result<&Arc<dyn Saml>> {
    caller.actor().require_platform()?;
    let missing = || Error::new(ErrorKind::Precondition, "SAML sign-in is not available on this server");
    caller.platform.ports().saml.as_ref().ok_or_else(missing)
}

/// Returns a provider that is active.
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
    /// Verifies a response and returns the identity it asserts.
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

    /// Checks that an identity is valid now and for this browser.
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
        // Lower-casing other characters can make distinct addresses equal: the Kelvin sign becomes a k.
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
