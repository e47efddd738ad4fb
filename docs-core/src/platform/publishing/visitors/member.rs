//! Members as visitors: tokens that identify members of an organization to its sites.

use chrono::TimeDelta;
use docs_macros::{boxed, operation};
use serde::Serialize;
use serde_json::{Map, Value};

use super::jwt;
use crate::{
    Error, Result,
    model::{OrgId, Role, Timestamp, UserId, Visit},
    platform::{
        access,
        kernel::{
            actor::{Actor, Signer},
            platform::Platform,
        },
        nouns::OrgHandle,
        people::{members::find, users::find_user},
    },
    policy::SignIn,
    store::{Tx, records::MemberRecord},
};

/// The lifetime of a member's token.
pub(in crate::platform) const MEMBER_TOKEN_WINDOW: TimeDelta = TimeDelta::hours(1);

/// The claim of a member token that states how the member signed in, and its values.
const SIGN_IN: &str = "signIn";
const TOKEN: &str = "token";
const SSO: &str = "sso";
const HOST: &str = "host";

/// The claims of a member token, with the names of OpenID Connect Core, section 5.1, where they exist.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Claims {
    sub: UserId,
    organization: OrgId,
    email: String,
    name: String,
    role: Role,
    /// The sign-in method of the member. An organization may stop accepting it before the token expires.
    sign_in: &'static str,
    iat: i64,
    exp: i64,
}

impl Platform {
    /// Returns a token that identifies the member to the sites of an organization, or `None` for guests.
    pub(in crate::platform) async fn member_token(
        &self,
        tx: &Tx,
        org: &OrgId,
        actor: &Actor,
    ) -> Result<Option<String>> {
        let Some(signer) = Signer::from_actor(actor) else { return Ok(None) };
        let Some(role) = signer.role(tx, org).await? else { return Ok(None) };
        let user = find_user(tx, actor.require_user()?).await?;
        let now = self.now().time();
        let claims = Claims {
            sub: user.id.clone(),
            organization: org.clone(),
            email: user.email.clone(),
            name: user.display_name.clone(),
            role,
            sign_in: signer.sign_in(),
            iat: now.timestamp(),
            exp: (now + MEMBER_TOKEN_WINDOW).timestamp(),
        };
        match serde_json::to_value(claims).map_err(Error::internal)? {
            Value::Object(claims) => Ok(Some(jwt::sign(&self.member_key(org)?, &claims))),
            _ => Err(Error::internal("claims serialize to an object")),
        }
    }

    /// Returns the key of an organization's member tokens, which is the same on all servers of a store.
    pub(in crate::platform) fn member_key(&self, org: &OrgId) -> Result<[u8; 32]> {
        let all = self.content_key()?;
        let mut hasher = blake3::Hasher::new_derive_key("docs-platform claims of an organization's members");
        Ok(*hasher.update(&all).update(org.as_str().as_bytes()).finalize().as_bytes())
    }
}

impl Signer {
    /// Returns the signer of the acting member's token, or `None` for actors without a user.
    pub(super) fn from_actor(actor: &Actor) -> Option<Self> {
        let user = actor.user()?.clone();
        Some(match actor {
            Actor::Token(token) => match token.sign_in() {
                SignIn::Token => Self::Member(user),
                SignIn::Sso => Self::Session(user),
            },
            _ => Self::Host(user),
        })
    }

    /// Returns the signer of a member token, derived from its claims. A token that does not state how its user signed
    /// in is treated as if it was requested with an API token, the sign-in method that the fewest organizations accept.
    pub(in crate::platform) fn from_claims(claims: &Map<String, Value>) -> Option<Self> {
        let user = claims.get("sub").and_then(Value::as_str)?.parse().ok()?;
        Some(match claims.get(SIGN_IN).and_then(Value::as_str) {
            Some(SSO) => Self::Session(user),
            Some(HOST) => Self::Host(user),
            _ => Self::Member(user),
        })
    }

    const fn sign_in(&self) -> &'static str {
        match self {
            Self::Session(_) => SSO,
            Self::Host(_) => HOST,
            Self::Member(_) | Self::Key(_) => TOKEN,
        }
    }

    /// Returns the role of the signer's member. Returns `None` for a guest, for a former member, if the organization
    /// does not accept the sign-in method, and for the key of a site.
    pub(in crate::platform) async fn role(&self, tx: &Tx, org: &OrgId) -> Result<Option<Role>> {
        let (user, sign_in) = match self {
            Self::Key(_) => return Ok(None),
            Self::Member(user) => (user, Some(SignIn::Token)),
            Self::Session(user) => (user, Some(SignIn::Sso)),
            Self::Host(user) => (user, None),
        };
        access::asserted_role(tx, org, user, sign_in).await
    }
}

impl<'p> OrgHandle<'p> {
    /// Records a visit of the actor and returns a visitor token for the sites of the organization. Guests get no token.
    ///
    /// The token is passed as [`ResolveVisitor::jwt_token`](crate::model::ResolveVisitor::jwt_token). It expires at its
    /// `exp`, or earlier if the member leaves or the organization stops accepting their sign-in method: once the
    /// organization requires single sign-on, a token requested with an API token gives no access to its sites, except
    /// for administrators.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn ping(self) -> Result<Visit> {
        let (platform, ref actor, org) = self.parts();
        let user = actor.require_user()?.clone();
        let ping = ping_member(actor, org, &user, platform.now());
        let token =
            platform.upkeep_and_show(&ping, |done| Box::pin(platform.member_token(done.tx, org, actor)));
        Ok(Visit { platform_visitor_claims: token.await? })
    }
}

#[operation("member_ping")]
async fn ping_member(tx: &mut Tx, actor: &Actor, org: &OrgId, user: &UserId, now: Timestamp) -> Result<()> {
    access::org(tx, actor, org).await?;
    let old = find(tx, org, user).await?;
    // The latest visit wins, regardless of the order of the pings.
    if old.last_seen_at < Some(now) {
        let new = MemberRecord { last_seen_at: Some(now), ..MemberRecord::clone(&old) };
        tx.put(&*old, new)?;
    }
    Ok(())
}
