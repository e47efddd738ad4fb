//! Members as visitors: tokens by which the sites of an organization know its members.

use std::sync::Arc;

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::{Map, Value};

use super::jwt;
use crate::{
    Error, Result,
    model::{OrgId, Role, UserId},
    platform::{Platform, members::user_of},
    store::{Tx, records::MemberRecord},
};

/// For how long the token of a member is good.
pub(in crate::platform) const MEMBER_TOKEN_WINDOW: TimeDelta = TimeDelta::hours(1);

/// What the token of a member says, in the names of OpenID Connect Core 5.1 where it has one.
#[derive(Debug, Serialize)]
struct Claims {
    /// The user.
    sub: UserId,
    organization: OrgId,
    email: String,
    name: String,
    role: Role,
    iat: i64,
    exp: i64,
}

impl Platform {
    /// A token that tells the sites of an organization who a member is; guests have none.
    pub(in crate::platform) async fn member_token(
        &self,
        tx: &Tx,
        (org, user): (&OrgId, &UserId),
    ) -> Result<Option<String>> {
        let Some(role) = role_of(tx, (org, user)).await? else { return Ok(None) };
        let user = user_of(tx, user).await?;
        let now = self.now().time();
        let claims = Claims {
            sub: user.id.clone(),
            organization: org.clone(),
            email: user.email.clone(),
            name: user.display_name.clone(),
            role,
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

/// The user that claims are of.
pub(super) fn subject(claims: &Map<String, Value>) -> Option<UserId> {
    claims.get("sub").and_then(Value::as_str).and_then(|id| id.parse().ok())
}

/// The role of a member; nothing for guests and others.
pub(super) async fn role_of(tx: &Tx, (org, user): (&OrgId, &UserId)) -> Result<Option<Role>> {
    let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(org, user)).await?;
    Ok(member.and_then(|member| member.role))
}
