//! What becomes of somebody who signed in through a SAML provider: a user, a member, a session.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::active_provider;
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{InviteId, OrgId, SamlProviderId, TeamRole, Timestamp, User, UserId},
    platform::{
        Actor, Platform,
        members::{join, user_of},
        nouns::Caller,
    },
    ports::SamlIdentity,
    store::{
        Entity, Hash, Key, KeyBuf, Operation, Scan, Tx,
        records::{
            EmailInviteRecord, MemberRecord, SamlAssertionRecord, SamlProviderRecord, SsoSession,
            TeamMemberRecord, TeamRecord, TokenRecord, UserRecord, linked_id,
        },
    },
};

/// How long a session lasts, unless the provider says less.
pub(in crate::platform) const SESSION_WINDOW: TimeDelta = TimeDelta::hours(12);
/// How much longer an assertion that was taken is known than it would be taken again: clocks of servers differ.
const KNOWN_LONGER: TimeDelta = TimeDelta::minutes(5);
/// Most characters of a display name.
const MAX_NAME: usize = 128;
/// Records of each kind that one transaction of tidying removes.
const ENDED_AT_ONCE: u32 = 100;

/// Somebody who signed in. The token is shown here and nowhere else.
#[non_exhaustive]
#[derive(Clone)]
pub struct SamlSession {
    /// The organization, the only one in which the session is good.
    pub organization: OrgId,
    /// Who signed in.
    pub user: User,
    /// What to send as the bearer token.
    pub token: String,
    /// When the session ends.
    pub expires_at: Timestamp,
}

/// Without the token.
impl std::fmt::Debug for SamlSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SamlSession")
            .field("organization", &self.organization)
            .field("user", &self.user.id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// Who comes, as far as it is known before the transaction.
enum Comer {
    /// Somebody with an account.
    Known(UserId),
    /// Somebody whose address no account has.
    New(Box<UserRecord>),
}

impl Comer {
    const fn user(&self) -> &UserId {
        match self {
            Self::Known(user) => user,
            Self::New(user) => &user.id,
        }
    }
}

/// Lets somebody in: takes the assertion, once, and makes what is missing.
pub(super) struct Admission {
    provider: Arc<SamlProviderRecord>,
    assertion: SamlAssertionRecord,
    assertion_key: Key,
    comer: Comer,
    email: String,
    token: TokenRecord,
    secret: String,
    expires_at: Timestamp,
}

impl Admission {
    /// What is drawn and looked up before the transaction.
    pub(super) async fn prepare(
        platform: &Platform,
        provider: &Arc<SamlProviderRecord>,
        identity: SamlIdentity,
    ) -> Result<Self> {
        let now = platform.now();
        let tx = platform.read().await?;
        let comer = match tx.get_value(&UserRecord::by_email(&identity.email)).await? {
            Some(known) => Comer::Known(linked_id(&known)?),
            None => Comer::New(Box::new(UserRecord {
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
                hash: SamlAssertionRecord::hash_of(&provider.id, &identity.assertion),
                organization,
                until: Timestamp::new(identity.until.time() + KNOWN_LONGER),
            },
            assertion_key: SamlAssertionRecord::at(&provider.id, &identity.assertion),
            token: TokenRecord {
                hash: Hash::of(secret.as_bytes()),
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

    /// Lets them in. The audit log names who came.
    pub(super) async fn run(self, platform: &Platform) -> Result<SamlSession> {
        let actor = Actor::User(self.comer.user().clone());
        let show = platform.write_and_show(&actor, &self, |done| {
            Box::pin(async move { Ok(platform.user_view(&*user_of(done.tx, &done.out).await?)) })
        });
        let user = show.await?;
        let Self { assertion, secret, expires_at, .. } = self;
        Ok(SamlSession { organization: assertion.organization, user, token: secret, expires_at })
    }

    /// Makes somebody new a user and a member, as their invitation or the provider says; answers since when they are.
    async fn welcome(&self, tx: &mut Tx, user: &UserRecord) -> Result<Timestamp> {
        let (org, now) = (&self.provider.organization, user.created_at);
        tx.create(user.clone());
        let mut role = self.provider.default_role;
        // What other organizations invited the address to is not for this provider to give.
        if let Some(invite) = tx.get_value(&EmailInviteRecord::by_email(org, &self.email)).await? {
            let invite: InviteId = linked_id(&invite)?;
            let invite: Option<Arc<EmailInviteRecord>> = tx.get(&EmailInviteRecord::at(&invite)).await?;
            if let Some(invite) = invite {
                if invite.expires_at > now {
                    role = role.max(invite.role);
                }
                tx.delete(&*invite);
            }
        }
        join(tx, MemberRecord { sso: true, ..MemberRecord::joining(org, user, role, now) }).await?;
        let Some(team) = &self.provider.default_team else { return Ok(now) };
        let team: Option<Arc<TeamRecord>> = tx.get(&TeamRecord::at(team)).await?;
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

    /// Refuses an account that does not sign in to the organization through its providers: anybody can have an
    /// organization, and a provider that says what they like. Answers since when they are a member.
    async fn require_linked(&self, tx: &Tx, user: &UserId) -> Result<Timestamp> {
        let member = MemberRecord::at(&self.provider.organization, user);
        let member: Option<Arc<MemberRecord>> = tx.get(&member).await?;
        if let Some(member) = member.filter(|member| member.sso) {
            return Ok(member.joined_at);
        }
        Err(Error::conflict(
            "an account has this address: sign in with its own credentials. For it to sign in here, an administrator \
             of the organization invites it, unless it is a member, and then links it",
        ))
    }
}

fn used() -> Error {
    let message = "the SAML response: somebody signed in with it before, and it is good for once";
    Error::new(ErrorKind::Unauthenticated, message)
}

fn meanwhile() -> Error {
    Error::conflict("the provider, or the account, was changed meanwhile: sign in again")
}

#[async_trait]
impl Operation for Admission {
    type Out = UserId;
    const NAME: &'static str = "saml_login";

    fn taken(&self, key: &Key) -> Error {
        if *key == self.assertion_key { used() } else { meanwhile() }
    }

    async fn apply(&self, tx: &mut Tx) -> Result<UserId> {
        let provider = active_provider(tx, &self.provider.id).await?;
        if provider.is_none_or(|provider| provider != self.provider) {
            return Err(meanwhile());
        }
        let before: Option<Arc<SamlAssertionRecord>> = tx.get(&self.assertion_key).await?;
        if before.is_some() {
            return Err(used());
        }
        let known = tx.get_value(&UserRecord::by_email(&self.email)).await?;
        let known: Option<UserId> = known.map(|known| linked_id(&known)).transpose()?;
        let since = match (&self.comer, known) {
            (Comer::Known(user), Some(known)) if *user == known => self.require_linked(tx, user).await?,
            (Comer::New(user), None) => self.welcome(tx, user).await?,
            _ => return Err(meanwhile()),
        };
        tx.create(self.assertion.clone());
        let session = self.token.sso.clone();
        let session = session.map(|session| SsoSession { member_since: Some(since), ..session });
        tx.create(TokenRecord { sso: session, ..self.token.clone() });
        Ok(self.token.user.clone())
    }
}

/// Refuses a session that has ended before its time: its provider is gone, or trusted by something else, or its bearer
/// is not the member any more who signed in.
pub(in crate::platform) async fn require_current(tx: &Tx, user: &UserId, session: &SsoSession) -> Result<()> {
    let ended = |why: &str| {
        let message = format!("the session has ended: {why}");
        Err(Error::new(ErrorKind::Unauthenticated, message))
    };
    let provider = active_provider(tx, &session.provider).await?;
    let Some(provider) = provider else { return ended("its provider signs nobody in any more") };
    if provider.epoch != session.epoch {
        return ended("its provider was changed since, sign in again");
    }
    let Some(since) = session.member_since else { return Ok(()) };
    let member = MemberRecord::at(&session.organization, user);
    let member: Option<Arc<MemberRecord>> = tx.get(&member).await?;
    match member.is_some_and(|member| member.joined_at == since) {
        true => Ok(()),
        false => ended("you were removed from the organization since, sign in again"),
    }
}

/// The name that others see: what the provider says of it, or the address.
fn display_name(identity: &SamlIdentity) -> String {
    let names = [&identity.first_name, &identity.last_name].into_iter().flatten();
    let names: Vec<&str> = names.map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let name = if names.is_empty() { identity.email.clone() } else { names.join(" ") };
    name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect()
}

impl<'p> Caller<'p> {
    /// Ends a session of single sign-on that began at a provider: its token lets nobody in from now on. A token that is
    /// none, or has ended, is no error. Only the platform itself may: it is for the address that people sign out at.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for a session of another provider, and `Invalid` for a token that a user made:
    /// both stay.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the session ended or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SamlProviderId};
    /// # async fn example(platform: &Platform, provider: &SamlProviderId, token: &str) -> Result<()> {
    /// platform.as_platform().end_saml_session(provider, token).await?;
    /// assert!(platform.authenticate(token).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn end_saml_session(self, provider: &'p SamlProviderId, token: &'p str) -> BoxFuture<'p, Result<()>> {
        Box::pin(async move {
            self.actor().require_platform()?;
            let key = TokenRecord::at(&Hash::of(token.as_bytes()));
            let session: Option<Arc<TokenRecord>> = self.platform.read().await?.get(&key).await?;
            let Some(token) = session else { return Ok(()) };
            let Some(session) = &token.sso else {
                let why = "must be of a session that began here: this one stays, remove it where it was made";
                return Err(Error::invalid("token", why));
            };
            if session.provider != *provider {
                return Err(Error::not_found("session of this SAML provider"));
            }
            self.platform.write(&Actor::User(token.user.clone()), &SessionEnd { key }).await
        })
    }
}

impl Platform {
    /// Removes what is known of sessions that have ended, and of assertions that would be refused anyway.
    pub(in crate::platform) async fn tidy_saml(&self) -> Result<()> {
        while self.upkeep(&DropSaml { now: self.now() }).await? {}
        Ok(())
    }
}

struct SessionEnd {
    key: Key,
}

#[async_trait]
impl Operation for SessionEnd {
    type Out = ();
    const NAME: &'static str = "saml_logout";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        Ok(tx.delete_all::<TokenRecord>(std::slice::from_ref(&self.key)).await?)
    }
}

/// Removes some of what has ended; `Out` tells whether there may be more.
struct DropSaml {
    now: Timestamp,
}

impl DropSaml {
    fn ended(&self, by_end: KeyBuf) -> Scan {
        let to = by_end.clone().time(self.now.time()).key();
        let (from, _) = by_end.below();
        Scan { from, to, rev: false, limit: ENDED_AT_ONCE }
    }
}

#[async_trait]
impl Operation for DropSaml {
    type Out = bool;
    const NAME: &'static str = "saml_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let tokens = tx.scan(&self.ended(TokenRecord::sessions_by_end())).await?;
        tx.delete_all::<TokenRecord>(&TokenRecord::named_by_all(&tokens)).await?;
        let assertions = tx.scan(&self.ended(SamlAssertionRecord::by_end())).await?;
        tx.delete_all::<SamlAssertionRecord>(&SamlAssertionRecord::named_by_all(&assertions)).await?;
        Ok(tokens.len().max(assertions.len()) == ENDED_AT_ONCE as usize)
    }
}
