//! Joining organizations.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use super::leave::drop_rest;
use crate::{
    Error, Result,
    model::{OrgId, Role, Timestamp, UserId},
    platform::{
        nouns::{MemberHandle, UserHandle},
        people::users::user_of,
    },
    store::{
        Key, Tx,
        records::{MemberRecord, OrgRecord, linked_id},
    },
};

impl<'p> MemberHandle<'p> {
    /// Adds a user to an organization, or changes the role of a member; `None` is a guest. Reserved for the platform
    /// itself.
    ///
    /// Users join by invites.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for an unknown organization or user; `Conflict` for the last administrator.
    #[boxed]
    pub async fn put(self, role: Option<Role>) -> Result<()> {
        let (platform, ref actor, org, user) = self.parts();
        actor.require_platform()?;
        platform.write(actor, &put_member(org, user, role, platform.now())).await
    }
}

impl<'p> UserHandle<'p> {
    /// Adds a user as a guest to the organization that claims the domain of their e-mail address; returns its id.
    ///
    /// An existing member is left unchanged. Reserved for the platform itself: the embedding application has to verify
    /// that the address belongs to the user.
    ///
    /// # Errors
    /// `Forbidden` for users; `NotFound` for an unknown user, or if no organization claims the domain.
    #[boxed]
    pub async fn join_by_domain(self) -> Result<OrgId> {
        let (platform, ref actor, user) = self.parts();
        actor.require_platform()?;
        platform.write(actor, &join_by_domain(user, platform.now())).await
    }
}

/// Outcome of joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform) enum Joined {
    /// The user was not a member before.
    Now,
    /// The user was a member already.
    Before,
}

/// Adds a user as a member; an existing member is left unchanged.
pub(in crate::platform) async fn join(tx: &mut Tx, member: MemberRecord) -> Result<Joined> {
    let known: Option<Arc<MemberRecord>> =
        tx.get(&MemberRecord::at(&member.organization, &member.user)).await?;
    if known.is_some() {
        return Ok(Joined::Before);
    }
    // A returning member must not regain the grants from their previous membership.
    if drop_rest(tx, &member.organization, &member.user).await? {
        return Err(Error::conflict("the previous membership of the user is still being removed; try again"));
    }
    tx.create(member);
    Ok(Joined::Now)
}

#[operation("member_put")]
async fn put_member(
    tx: &mut Tx,
    org: &OrgId,
    user: &UserId,
    role: Option<Role>,
    now: Timestamp,
) -> Result<()> {
    let record = user_of(tx, user).await?;
    let known: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::at(org)).await?;
    if known.is_none() {
        return Err(Error::not_found("organization"));
    }
    let old: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(org, user)).await?;
    let Some(old) = old else {
        join(tx, MemberRecord::joining(org, &record, role, now)).await?;
        return Ok(());
    };
    if role != Some(Role::Admin) {
        super::spare_administrator(tx, &old).await?;
    }
    tx.put(&*old, MemberRecord { role, ..MemberRecord::clone(&old) })?;
    Ok(())
}

#[operation("member_join_by_domain")]
async fn join_by_domain(tx: &mut Tx, user: &UserId, now: Timestamp) -> Result<OrgId> {
    let user = user_of(tx, user).await?;
    let domain = user.email.rsplit('@').next().unwrap_or_default();
    let claim: Key = OrgRecord::by_domain(domain);
    let org: OrgId = match tx.get_value(&claim).await? {
        Some(value) => linked_id(&value)?,
        None => return Err(Error::not_found("organization for the domain of the user's address")),
    };
    join(tx, MemberRecord::joining(&org, &user, None, now)).await?;
    Ok(org)
}
