//! Members as visitors: tokens by which the sites of an organization know its members.

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Signer, jwt};
use crate::{
    Error, Result,
    model::{OrgId, Role, UserId},
    platform::{Actor, Platform, access, members::user_of},
    policy::SignIn,
    store::Tx,
};

/// For how long the token of a member is good.
pub(in crate::platform) const MEMBER_TOKEN_WINDOW: TimeDelta = TimeDelta::hours(1);

/// The claim of a member's token that states how the member signed in, and its values.
const SIGN_IN: &str = "signIn";
const TOKEN: &str = "token";
const SSO: &str = "sso";
const HOST: &str = "host";

/// What the token of a member says, in the names of OpenID Connect Core 5.1 where it has one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Claims {
    /// The user.
    sub: UserId,
    organization: OrgId,
    email: String,
    name: String,
    role: Role,
    /// How the member signed in: an organization may stop accepting it before the token ends.
    sign_in: &'static str,
    iat: i64,
    exp: i64,
}

impl Platform {
    /// A token that tells the sites of an organization which member acts; guests have none.
    pub(in crate::platform) async fn member_token(
        &self,
        tx: &Tx,
        (org, actor): (&OrgId, &Actor),
    ) -> Result<Option<String>> {
        let Some(signer) = Signer::of_member(actor) else { return Ok(None) };
        let Some(role) = signer.role(tx, org).await? else { return Ok(None) };
        let user = user_of(tx, actor.require_user()?).await?;
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
            _ => Err(Error::internal("claims are an object")),
        }
    }

    /// The key that an organization's members are vouched for with: another for each, the same on all servers of a
    /// store.
    pub(super) fn member_key(&self, org: &OrgId) -> Result<[u8; 32]> {
        let all = self.content_key()?;
        let mut hasher = blake3::Hasher::new_derive_key("docs-platform claims of an organization's members");
        Ok(*hasher.update(&all).update(org.as_str().as_bytes()).finalize().as_bytes())
    }
}

impl Signer {
    /// The signer that vouches for the member who acts; `None` for actors without a user.
    fn of_member(actor: &Actor) -> Option<Self> {
        let user = actor.user()?.clone();
        Some(match actor {
            Actor::Token(token) => match token.sign_in() {
                SignIn::Token => Self::Member(user),
                SignIn::Sso => Self::Session(user),
            },
            _ => Self::Host(user),
        })
    }

    /// The signer of a member's token, by its claims. A token that does not state how its user signed in counts as
    /// requested with an API token, which the fewest organizations accept.
    pub(super) fn of_claims(claims: &Map<String, Value>) -> Option<Self> {
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

    /// The role of the member whom a signer vouches for; `None` for a guest, for a former member, where the
    /// organization does not accept how they signed in, and for the key of a site.
    pub(super) async fn role(&self, tx: &Tx, org: &OrgId) -> Result<Option<Role>> {
        let (user, sign_in) = match self {
            Self::Key(_) => return Ok(None),
            Self::Member(user) => (user, Some(SignIn::Token)),
            Self::Session(user) => (user, Some(SignIn::Sso)),
            Self::Host(user) => (user, None),
        };
        access::vouched_role(tx, (org, user), sign_in).await
    }
}
