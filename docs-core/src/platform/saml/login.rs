//! Signing in through a SAML provider: a browser is sent there, and comes back with an answer.
//!
//! Nothing is stored of a browser that is on its way: what it has to prove when it comes back is sealed, and the
//! browser keeps it. So who only knocks fills no store, and every server on it can take the answer.

use std::sync::Arc;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::session::{Admission, SamlSession};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{SamlProviderId, Timestamp},
    platform::{Platform, nouns::Caller, people::check_email, secret::Secret},
    ports::{Saml, SamlIdentity, SamlRequest, SamlTrust},
    store::records::SamlProviderRecord,
};

/// How long somebody may take to sign in at a provider.
pub(in crate::platform) const SAML_LOGIN_WINDOW: TimeDelta = TimeDelta::minutes(15);
/// Most ways that one browser may be on at a time; of more, the last ones are looked at: browsers send them in the
/// order in which they were begun.
const MAX_ON_THE_WAY: usize = 16;
/// How far ahead the end of an assertion may be: until then it is known as one that was taken. A day, and what clocks
/// differ.
const LONGEST_VALIDITY: TimeDelta = TimeDelta::hours(25);

/// A browser that is about to sign in.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq)]
pub struct SamlStart {
    /// Where the browser is sent: the provider, with a request.
    pub location: String,
    /// The id of the request.
    pub request: String,
    /// What the browser has to bring along when it comes back, as [`SamlAnswer::kept`]: visible ASCII characters.
    pub keep: String,
    /// Until when.
    pub expires_at: Timestamp,
}

/// Without what the browser keeps.
impl std::fmt::Debug for SamlStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SamlStart")
            .field("request", &self.request)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// What a browser comes back with.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamlAnswer<'a> {
    /// The field `SAMLResponse` of the form.
    pub response: &'a str,
    /// What the browser kept of each of the ways it is on, in the order in which they were begun; of more than 16, the
    /// last ones are looked at.
    pub kept: &'a [String],
}

/// A way that a browser is on, as it is sealed.
#[derive(Debug, Serialize, Deserialize)]
struct OnTheWay {
    request: String,
    until: Timestamp,
}

/// What the ways of a provider are sealed for.
fn purpose(provider: &SamlProviderId) -> String {
    format!("saml sign-in {provider}")
}

impl<'p> Caller<'p> {
    /// Sends a browser to a SAML provider. Only the platform itself may: it is for the addresses that people sign in
    /// at.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for a provider that is not there; `Precondition` for one that is pending, and
    /// without an [adapter](crate::platform::Builder::saml).
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SamlProviderId};
    /// # async fn example(platform: &Platform, provider: &SamlProviderId) -> Result<()> {
    /// let start = platform.as_platform().begin_saml_login(provider).await?;
    /// println!("Location: {}", start.location);
    /// # Ok(())
    /// # }
    /// ```
    pub fn begin_saml_login(self, id: &'p SamlProviderId) -> BoxFuture<'p, Result<SamlStart>> {
        Box::pin(async move {
            let (platform, saml) = (self.platform, port(self)?);
            let provider = opened(platform, id).await?;
            let service = platform.urls().saml_service(id);
            let secret = Secret::draw(platform.ids(), "docs-platform request to a SAML provider");
            // An XML name begins with no digit.
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
            let way = OnTheWay { request: request.clone(), until: expires_at };
            let way = serde_json::to_string(&way).map_err(Error::internal)?;
            let keep = platform.secrets().seal(&purpose(id), &way, platform.ids().next());
            Ok(SamlStart { location, request, keep: keep.map_err(Error::internal)?, expires_at })
        })
    }

    /// Lets somebody in who comes back from a SAML provider: who it is is verified with the certificate that the
    /// organization trusts, and answered with a session, the token of which is a bearer token.
    ///
    /// Somebody whose address no account has becomes a user and a member, with the provider's role and team. A provider
    /// speaks for its organization only: who has an account already signs in with it, until they are a member and an
    /// administrator [makes the member one who signs in so](crate::platform::MemberHandle::set_sso). An answer is taken
    /// once. The audit log of the organization tells of who was let in, and that somebody was not, and why.
    ///
    /// Only the platform itself may: it is for the address that browsers come back to.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for a provider that is not there; `Unauthenticated` for a response that is not
    /// the provider's, not for this service, not for this browser, not valid now, or was taken before; `Conflict` for
    /// the address of an account that is not linked; `Precondition` for a provider that is pending, and without an
    /// [adapter](crate::platform::Builder::saml).
    ///
    /// # Cancel safety
    /// Dropping the future leaves nobody let in, or a session whose token nobody knows.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SamlProviderId, platform::SamlAnswer};
    /// # async fn example(platform: &Platform, provider: &SamlProviderId, answer: SamlAnswer<'_>) -> Result<()> {
    /// let session = platform.as_platform().finish_saml_login(provider, answer).await?;
    /// println!("{} until {}", session.user.display_name, session.expires_at);
    /// # Ok(())
    /// # }
    /// ```
    pub fn finish_saml_login(
        self,
        id: &'p SamlProviderId,
        answer: SamlAnswer<'p>,
    ) -> BoxFuture<'p, Result<SamlSession>> {
        Box::pin(async move {
            let (platform, saml) = (self.platform, port(self)?);
            let provider = opened(platform, id).await?;
            let signed = platform.signed(saml.as_ref(), &provider, answer.response);
            let email = signed.as_ref().ok().map(|found| found.email.clone());
            let done = match signed {
                Ok(found) => platform.admitted(&provider, found, answer.kept).await,
                Err(refused) => Err(refused),
            };
            if let Err(error) = &done
                && matches!(error.kind(), ErrorKind::Unauthenticated | ErrorKind::Conflict)
            {
                platform.note_refusal(&provider, error.message(), email.as_deref()).await;
            }
            done
        })
    }

    /// The metadata of this service for a SAML provider, as XML. It tells nothing that is secret.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for a provider that is not there; `Precondition` without an
    /// [adapter](crate::platform::Builder::saml).
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SamlProviderId};
    /// # async fn example(platform: &Platform, provider: &SamlProviderId) -> Result<()> {
    /// println!("{}", platform.as_platform().saml_metadata(provider).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn saml_metadata(self, id: &'p SamlProviderId) -> BoxFuture<'p, Result<String>> {
        Box::pin(async move {
            let (platform, saml) = (self.platform, port(self)?);
            let tx = platform.read().await?;
            let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::at(id)).await?;
            provider.ok_or_else(|| Error::not_found("SAML provider"))?;
            Ok(saml.metadata(&platform.urls().saml_service(id)))
        })
    }
}

/// The adapter, for the platform itself.
fn port(caller: Caller<'_>) -> Result<&Arc<dyn Saml>> {
    caller.actor().require_platform()?;
    let missing = || Error::new(ErrorKind::Precondition, "nobody signs in through SAML on this server");
    caller.platform.ports().saml.as_ref().ok_or_else(missing)
}

/// A provider through which people sign in.
pub(super) async fn opened(platform: &Platform, id: &SamlProviderId) -> Result<Arc<SamlProviderRecord>> {
    let tx = platform.read().await?;
    let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::at(id)).await?;
    let provider = provider.ok_or_else(|| Error::not_found("SAML provider"))?;
    let missing = provider.missing();
    if missing.is_empty() {
        return Ok(provider);
    }
    let missing = missing.join(", ");
    let message = format!("nobody signs in through this SAML provider yet: it has no {missing}");
    Err(Error::new(ErrorKind::Precondition, message))
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Unauthenticated, format!("the SAML response: {why}"))
}

impl Platform {
    /// Who a provider says that signed in.
    fn signed(&self, saml: &dyn Saml, provider: &SamlProviderRecord, response: &str) -> Result<SamlIdentity> {
        let missing = || Error::not_found("SAML provider");
        let service = self.urls().saml_service(&provider.id);
        let trust = SamlTrust {
            issuer: provider.entity_id.as_ref().ok_or_else(missing)?.to_string(),
            certificate: provider.certificate.as_ref().ok_or_else(missing)?.to_string(),
            audience: service.entity_id,
            recipient: service.acs_url,
        };
        saml.verify(&trust, response, self.now()).map_err(refused)
    }

    /// Lets somebody in whom a provider vouches for.
    async fn admitted(
        &self,
        provider: &Arc<SamlProviderRecord>,
        found: SamlIdentity,
        kept: &[String],
    ) -> Result<SamlSession> {
        let identity = self.checked(provider, found, kept)?;
        Admission::prepare(self, provider, identity).await?.run(self).await
    }

    /// Sees to it that what a provider says is for this browser now.
    fn checked(
        &self,
        provider: &SamlProviderRecord,
        found: SamlIdentity,
        kept: &[String],
    ) -> Result<SamlIdentity> {
        let now = self.now();
        if found.until <= now {
            return Err(refused("its assertion has expired"));
        }
        if found.until.time() > now.time() + LONGEST_VALIDITY {
            return Err(refused("its assertion is valid for more than a day"));
        }
        if found.session_until.is_some_and(|until| until <= now) {
            return Err(refused("the session at the provider has ended"));
        }
        let service = self.urls().saml_service(&provider.id);
        self.check_way(provider, (&found, kept), &service.start_url)?;
        // Lower case of other characters makes one of different addresses: the Kelvin sign becomes a k.
        if !found.email.is_ascii() {
            return Err(refused(
                "the name id: must be an address of ASCII characters, like name@example.com",
            ));
        }
        let identity = SamlIdentity { email: found.email.trim().to_ascii_lowercase(), ..found };
        check_email("the name id", &identity.email).map_err(refused)?;
        Ok(identity)
    }

    /// Sees to it that the browser is on the way that the response answers.
    fn check_way(
        &self,
        provider: &SamlProviderRecord,
        (found, kept): (&SamlIdentity, &[String]),
        start: &str,
    ) -> Result<()> {
        let Some(request) = &found.in_response_to else {
            return match provider.idp_initiated {
                true => Ok(()),
                false => Err(refused(format_args!(
                    "it answers no request, and this provider does not let people begin there: begin at {start}"
                ))),
            };
        };
        let (purpose, now) = (purpose(&provider.id), self.now());
        let on_it = kept.iter().rev().take(MAX_ON_THE_WAY).any(|kept| {
            let way = self.secrets().open(&purpose, kept).ok();
            let way = way.and_then(|way| serde_json::from_str::<OnTheWay>(&way).ok());
            way.is_some_and(|way| way.request == *request && way.until > now)
        });
        match on_it {
            true => Ok(()),
            false => Err(refused(format_args!(
                "it answers no request of this browser (InResponseTo): see that cookies are on, and begin at {start}"
            ))),
        }
    }
}
