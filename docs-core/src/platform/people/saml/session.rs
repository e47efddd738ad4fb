//! Completes a SAML sign-in: the user, the membership and the session.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use docs_macros::{boxed, operation};

use super::active_provider;
use crate::{
    Error, ErrorKind, Result,
    model::{InviteId, OrgId, SamlProviderId, TeamRole, Timestamp, User, UserId},
    platform::{
        kernel::{actor::Actor, platform::Platform},
        nouns::Caller,
        people::{members::join, users::find_user},
    },
    ports::SamlIdentity,
    store::{
        Hash, Key, Operation, Tx,
        records::{
            EmailInviteRecord, MemberRecord, SamlAssertionRecord, SamlProviderRecord, SsoSession,
            TeamMemberRecord, TeamRecord, TokenRecord, UserRecord, linked_id,
        },
    },
};

/// The lifetime of a session, unless the provider sets a shorter one.
pub(in crate::platform) const SESSION_WINDOW: TimeDelta = TimeDelta::hours(12);
/// Retention period of a consumed assertion after its expiry, to allow for clock skew between servers.
const ASSERTION_RETENTION: TimeDelta = TimeDelta::minutes(5);
/// Maximum length of a display name, in characters.
const MAX_NAME: usize = 128;

/// A completed sign-in. The token is returned only here.
#[non_exhaustive]
#[derive(Clone)]
pub struct SamlSession {
    /// The organization where the session is valid.
    pub organization: OrgId,
    /// The user who signed in.
    pub user: User,
    /// The bearer token.
    pub token: String,
    /// The expiry time of the session.
    pub expires_at: Timestamp,
}

/// Omits the token.
impl std::fmt::Debug for SamlSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SamlSession")
            .field("organization", &self.organization)
            .field("user", &self.user.id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// The user who signs in, as determined before the transaction.
enum SignInUser {
    /// An existing user.
    Known(UserId),
    /// A new user, because no account has the address.
    New(Box<UserRecord>),
}

impl SignInUser {
    const fn user(&self) -> &UserId {
        match self {
            Self::Known(user) => user,
            Self::New(user) => &user.id,
        }
    }
}

/// Completes a sign-in. Consumes the assertion, and creates the user, the membership and the session as needed.
pub(super) struct Admission {
    provider: Arc<SamlProviderRecord>,
    assertion: SamlAssertionRecord,
    assertion_key: Key,
    comer: SignInUser,
    email: String,
    token: TokenRecord,
    secret: String,
    expires_at: Timestamp,
}

impl Admission {
    /// Generates the secrets and loads the user, before the transaction.
    pub(super) async fn prepare(
        platform: &Platform,
        provider: &Arc<SamlProviderRecord>,
        identity: SamlIdentity,
    ) -> Result<Self> {
        let now = platform.now();
        let tx = platform.read().await?;
        let comer = match tx.get_value(&UserRecord::by_email(&identity.email)).await? {
            Some(known) => SignInUser::Known(linked_id(&known)?),
            None => SignInUser::New(Box::new(UserRecord {
                id: platform.id(),
                display_name: display_name(&identity),
                email: identity.email.clone(),
                photo: None,
                created_at: now,
            })),
        };
        let organization = provider.organization.clone();
        let secret = platform.token_secret();
        let longest = Timestamp::new(now.time() + SESSION_WINDOW);
        let expires_at = identity.session_until.map_or(longest, |until| until.min(longest));
        let session = SsoSession {
            organization: organization.clone(),
            provider: provider.id.clone(),
            epoch: provider.epoch,
            member_since: None,
        };
        Ok(Self {
            assertion: SamlAssertionRecord {
                hash: SamlAssertionRecord::assertion_hash(&provider.id, &identity.assertion),
                organization,
                until: Timestamp::new(identity.until.time() + ASSERTION_RETENTION),
            },
            assertion_key: SamlAssertionRecord::key_for(&provider.id, &identity.assertion),
            token: TokenRecord {
                hash: Hash::compute(secret.as_bytes()),
                id: platform.id(),
                user: comer.user().clone(),
                label: provider.label.to_string(),
                created_at: now,
                expires_at: Some(expires_at),
                sso: Some(session),
            },
            provider: Arc::clone(provider),
            email: identity.email,
            comer,
            secret,
            expires_at,
        })
    }

    /// Runs the operation on behalf of the user who signs in, so that the audit log names them.
    pub(super) async fn run(self, platform: &Platform) -> Result<SamlSession> {
        let actor = Actor::User(self.comer.user().clone());
        let show = platform.write_and_show(&actor, &self, |done| {
            Box::pin(async move { Ok(platform.user_view(&*find_user(done.tx, &done.out).await?)) })
        });
        let user = show.await?;
        let Self { assertion, secret, expires_at, .. } = self;
        Ok(SamlSession { organization: assertion.organization, user, token: secret, expires_at })
    }

    /// Creates a user and a membership from the invite or the provider's defaults. Returns the join time.
    async fn welcome(&self, tx: &mut Tx, user: &UserRecord) -> Result<Timestamp> {
        let (org, now) = (&self.provider.organization, user.created_at);
        tx.create(user.clone());
        let mut role = self.provider.default_role;
        // A provider cannot accept invites to other organizations.
        if let Some(invite) = tx.get_value(&EmailInviteRecord::by_email(org, &self.email)).await? {
            let invite: InviteId = linked_id(&invite)?;
            let invite: Option<Arc<EmailInviteRecord>> = tx.get(&EmailInviteRecord::key_for(&invite)).await?;
            if let Some(invite) = invite {
                if invite.expires_at > now {
                    role = role.max(invite.role);
                }
                tx.delete(&*invite);
            }
        }
        join(tx, MemberRecord { sso: true, ..MemberRecord::new(org, user, role, now) }).await?;
        let Some(team) = &self.provider.default_team else { return Ok(now) };
        let team: Option<Arc<TeamRecord>> = tx.get(&TeamRecord::key_for(team)).await?;
        if let Some(team) = team.filter(|team| team.organization == *org) {
            tx.create(TeamMemberRecord {
                team: team.id.clone(),
                organization: org.clone(),
                user: user.id.clone(),
                role: TeamRole::Member,
                added_at: now,
            });
        }
        Ok(now)
    }

    /// Rejects an account that is not linked to the organization's providers, because anyone can create an organization
    /// with a provider that asserts arbitrary addresses. Returns the join time.
    async fn require_linked(&self, tx: &Tx, user: &UserId) -> Result<Timestamp> {
        let member = MemberRecord::key_for(&self.provider.organization, user);
        let member: Option<Arc<MemberRecord>> = tx.get(&member).await?;
        if let Some(member) = member.filter(|member| member.sso) {
            return Ok(member.joined_at);
        }
        Err(Error::conflict(
            "an account with this address exists; sign in with its own credentials, and ask an \
             administrator to link it to the provider",
        ))
    }
}

fn used_assertion() -> Error {
    let message = "the SAML response: was used before; sign in again";
    Error::new(ErrorKind::Unauthenticated, message)
}

fn concurrent_change() -> Error {
    Error::conflict("the provider or the account changed during the sign-in; sign in again")
}

#[async_trait]
impl Operation for Admission {
    type Output = UserId;
    const NAME: &'static str = "saml_login";

    fn taken_error(&self, key: &Key) -> Error {
        if *key == self.assertion_key { used_assertion() } else { concurrent_change() }
    }

    async fn apply(&self, tx: &mut Tx) -> Result<UserId> {
        let provider = active_provider(tx, &self.provider.id).await?;
        if provider.is_none_or(|provider| provider != self.provider) {
            return Err(concurrent_change());
        }
        let before: Option<Arc<SamlAssertionRecord>> = tx.get(&self.assertion_key).await?;
        if before.is_some() {
            return Err(used_assertion());
        }
        let known = tx.get_value(&UserRecord::by_email(&self.email)).await?;
        let known: Option<UserId> = known.map(|known| linked_id(&known)).transpose()?;
        let since = match (&self.comer, known) {
            (SignInUser::Known(user), Some(known)) if *user == known => self.require_linked(tx, user).await?,
            (SignInUser::New(user), None) => self.welcome(tx, user).await?,
            _ => return Err(concurrent_change()),
        };
        tx.create(self.assertion.clone());
        let session = self.token.sso.clone();
        let session = session.map(|session| SsoSession { member_since: Some(since), ..session });
        tx.create(TokenRecord { sso: session, ..self.token.clone() });
        Ok(self.token.user.clone())
    }
}

/// Rejects a session that has become invalid: its provider was deleted, deactivated or changed its trust settings, or
/// the bearer is no longer the same member.
pub(in crate::platform) async fn require_current(tx: &Tx, user: &UserId, session: &SsoSession) -> Result<()> {
    let ended = |why: &str| {
        let message = format!("the session has ended: {why}");
        Err(Error::new(ErrorKind::Unauthenticated, message))
    };
    let provider = active_provider(tx, &session.provider).await?;
    let Some(provider) = provider else { return ended("its provider is no longer active") };
    if provider.epoch != session.epoch {
        return ended("its provider has changed; sign in again");
    }
    let Some(since) = session.member_since else { return Ok(()) };
    let member = MemberRecord::key_for(&session.organization, user);
    let member: Option<Arc<MemberRecord>> = tx.get(&member).await?;
    match member.is_some_and(|member| member.joined_at == since) {
        true => Ok(()),
        false => ended("the user was removed from the organization since; sign in again"),
    }
}

/// Returns the display name: the name asserted by the provider, or the e-mail address.
fn display_name(identity: &SamlIdentity) -> String {
    let names = [&identity.first_name, &identity.last_name].into_iter().flatten();
    let names: Vec<&str> = names.map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let name = if names.is_empty() { identity.email.clone() } else { names.join(" ") };
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect()
}

impl<'p> Caller<'p> {
    /// Ends an SSO session of a provider and revokes its token. An unknown or expired token succeeds. Reserved for the
    /// platform itself; the sign-out endpoint calls it.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` for a session of another provider; `Invalid` for an API token created by a
    /// user. Both tokens stay valid.
    #[boxed]
    pub async fn end_saml_session(self, provider: &'p SamlProviderId, token: &'p str) -> Result<()> {
        self.actor().require_platform()?;
        let key = TokenRecord::key_for(&Hash::compute(token.as_bytes()));
        let session: Option<Arc<TokenRecord>> = self.platform.read().await?.get(&key).await?;
        let Some(token) = session else { return Ok(()) };
        let Some(session) = &token.sso else {
            let why = "must belong to a SAML session; revoke other tokens at the API";
            return Err(Error::invalid("token", why));
        };
        if session.provider != *provider {
            return Err(Error::not_found("session of this SAML provider"));
        }
        self.platform.write(&Actor::User(token.user.clone()), &session_end(&key)).await
    }
}

#[operation("saml_logout")]
async fn session_end(tx: &mut Tx, key: &Key) -> Result<()> {
    Ok(tx.delete_all::<TokenRecord>(std::slice::from_ref(key)).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_longer_than_the_bound_are_cut() {
        let shown = |characters: usize| {
            let identity = SamlIdentity {
                assertion: String::new(),
                until: Timestamp::new(chrono::DateTime::UNIX_EPOCH),
                session_until: None,
                in_response_to: None,
                email: String::new(),
                first_name: Some("ä".repeat(characters)),
                last_name: None,
            };
            display_name(&identity).chars().count()
        };
        assert_eq!([MAX_NAME - 1, MAX_NAME, MAX_NAME + 1].map(shown), [MAX_NAME - 1, MAX_NAME, MAX_NAME]);
    }
}
