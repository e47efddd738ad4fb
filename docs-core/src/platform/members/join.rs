//! How users become members.

use std::sync::Arc;

use super::leave::drop_rest;
use crate::{
    BoxFuture, Error, Result,
    model::{OrgId, Role, Timestamp, UserId},
    platform::nouns::{MemberHandle, UserHandle},
    store::{
        Key, Operation, Tx,
        records::{MemberRecord, OrgRecord, UserRecord, linked_id},
    },
};
use async_trait::async_trait;

impl<'p> MemberHandle<'p> {
    /// Makes a user a member of an organization, or changes the role of one who is (`None` for a guest). Only the
    /// platform itself may: people join by invites.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when there is no such organization or user; `Conflict` for the last
    /// administrator.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the user a member or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::{OrgId, Role, UserId}};
    /// # async fn example(platform: &Platform, org: &OrgId, grace: &UserId) -> Result<()> {
    /// platform.as_platform().org(org).member(grace).put(Some(Role::Edit)).await?;
    /// let member = platform.as_user(grace).org(org).member(grace).get().await?;
    /// assert_eq!(member.role, Some(Role::Edit));
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(self, role: Option<Role>) -> BoxFuture<'p, Result<()>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            actor.require_platform()?;
            platform
                .write(actor, &PutMember { org: org.clone(), user: user.clone(), role, now: platform.now() })
                .await
        })
    }
}

impl<'p> UserHandle<'p> {
    /// Makes a user a guest of the organization that claims the domain of the user's e-mail address; answers which. One
    /// who is a member of it stays what they are.
    ///
    /// Only the platform itself may: it is for the program that embeds it to verify that the address is the user's.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` when there is no such user, or no organization that claims the domain.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the user a member or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::UserId};
    /// # async fn example(platform: &Platform, grace: &UserId) -> Result<()> {
    /// let org = platform.as_platform().user(grace).join_by_domain().await?;
    /// println!("a guest of {org}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn join_by_domain(self) -> BoxFuture<'p, Result<OrgId>> {
        Box::pin(async move {
            let Self { caller, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            actor.require_platform()?;
            platform.write(actor, &JoinByDomain { user: user.clone(), now: platform.now() }).await
        })
    }
}

/// What became of somebody who joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform) enum Joined {
    /// They were no member before.
    Now,
    /// They were one already.
    Before,
}

/// Makes a user a member, unless the user is one: then nothing changes.
pub(in crate::platform) async fn join(tx: &mut Tx, member: MemberRecord) -> Result<Joined> {
    let known: Option<Arc<MemberRecord>> =
        tx.get(&MemberRecord::at(&member.organization, &member.user)).await?;
    if known.is_some() {
        return Ok(Joined::Before);
    }
    // Nobody comes back to what they were given before they left.
    if drop_rest(tx, &member.organization, &member.user).await? {
        return Err(Error::conflict("the user's last membership is still being removed: try again"));
    }
    tx.create(member);
    Ok(Joined::Now)
}

pub(in crate::platform) async fn user_of(tx: &Tx, user: &UserId) -> Result<Arc<UserRecord>> {
    let found: Option<Arc<UserRecord>> = tx.get(&UserRecord::at(user)).await?;
    found.ok_or_else(|| Error::not_found("user"))
}

struct PutMember {
    org: OrgId,
    user: UserId,
    role: Option<Role>,
    now: Timestamp,
}

#[async_trait]
impl Operation for PutMember {
    type Out = ();
    const NAME: &'static str = "member_put";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let user = user_of(tx, &self.user).await?;
        let org: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::at(&self.org)).await?;
        if org.is_none() {
            return Err(Error::not_found("organization"));
        }
        let old: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(&self.org, &self.user)).await?;
        let Some(old) = old else {
            join(tx, MemberRecord::joining(&self.org, &user, self.role, self.now)).await?;
            return Ok(());
        };
        if self.role != Some(Role::Admin) {
            super::spare_administrator(tx, &old).await?;
        }
        tx.put(&*old, MemberRecord { role: self.role, ..MemberRecord::clone(&old) })?;
        Ok(())
    }
}

struct JoinByDomain {
    user: UserId,
    now: Timestamp,
}

#[async_trait]
impl Operation for JoinByDomain {
    type Out = OrgId;
    const NAME: &'static str = "member_join_by_domain";

    async fn apply(&self, tx: &mut Tx) -> Result<OrgId> {
        let user = user_of(tx, &self.user).await?;
        let domain = user.email.rsplit('@').next().unwrap_or_default();
        let claim: Key = OrgRecord::by_domain(domain);
        let org: OrgId = match tx.get_value(&claim).await? {
            Some(value) => linked_id(&value)?,
            None => return Err(Error::not_found("organization for the domain of the user's address")),
        };
        join(tx, MemberRecord::joining(&org, &user, None, self.now)).await?;
        Ok(org)
    }
}
