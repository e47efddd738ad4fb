//! Joining organizations.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use super::leave::delete_grants;
use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, Role, Timestamp, UserId},
    platform::{
        access,
        kernel::actor::Actor,
        nouns::{MemberHandle, OrgHandle, UserHandle},
        people::users::find_user,
    },
    store::{
        Key, Tx,
        records::{MemberRecord, OrgRecord, linked_id},
    },
};

impl<'p> MemberHandle<'p> {
    /// Adds a user to an organization, or changes the role of a member. `None` makes the user a guest. Reserved for the
    /// platform itself; users join through invites.
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
    /// Adds a user as a guest to the organization that claims the domain of their e-mail address. Returns its id.
    ///
    /// An existing member is left unchanged. Reserved for the platform itself: the embedding application must verify
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

impl<'p> OrgHandle<'p> {
    /// Joins the organization as a guest if it claims the domain of the actor's e-mail address. An existing member is
    /// left unchanged.
    ///
    /// The embedding application must have verified that the address belongs to the user.
    ///
    /// # Errors
    /// `NotFound` if the organization does not claim the domain; `Forbidden` for a token if the organization requires
    /// single sign-on.
    #[boxed]
    pub async fn join(self) -> Result<()> {
        let (platform, ref actor, org) = self.parts();
        let user = actor.require_user()?;
        platform.write(actor, &join_claimed(actor, org, user, platform.now())).await
    }
}

/// Outcome of joining an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform) enum JoinOutcome {
    /// The user was not a member before.
    New,
    /// The user was already a member.
    Existing,
}

/// Adds a user as a member. An existing member is left unchanged.
pub(in crate::platform) async fn join(tx: &mut Tx, member: MemberRecord) -> Result<JoinOutcome> {
    let known: Option<Arc<MemberRecord>> =
        tx.get(&MemberRecord::key_for(&member.organization, &member.user)).await?;
    if known.is_some() {
        return Ok(JoinOutcome::Existing);
    }
    // A returning member must not regain the grants of their previous membership.
    if delete_grants(tx, &member.organization, &member.user).await? {
        return Err(Error::conflict("the previous membership of the user is still being removed; try again"));
    }
    tx.create(member);
    Ok(JoinOutcome::New)
}

#[operation("member_put")]
async fn put_member(
    tx: &mut Tx,
    org: &OrgId,
    user: &UserId,
    role: Option<Role>,
    now: Timestamp,
) -> Result<()> {
    let record = find_user(tx, user).await?;
    let known: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::key_for(org)).await?;
    if known.is_none() {
        return Err(Error::not_found("organization"));
    }
    let old: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::key_for(org, user)).await?;
    let Some(old) = old else {
        join(tx, MemberRecord::new(org, &record, role, now)).await?;
        return Ok(());
    };
    if role != Some(Role::Admin) {
        super::require_other_administrator(tx, &old).await?;
    }
    tx.put(&*old, MemberRecord { role, ..MemberRecord::clone(&old) })?;
    Ok(())
}

#[operation("member_join_by_domain")]
async fn join_by_domain(tx: &mut Tx, user: &UserId, now: Timestamp) -> Result<OrgId> {
    let user = find_user(tx, user).await?;
    let domain = user.email.rsplit('@').next().unwrap_or_default();
    let claim: Key = OrgRecord::by_domain(domain);
    let org: OrgId = match tx.get_value(&claim).await? {
        Some(value) => linked_id(&value)?,
        None => return Err(Error::not_found("organization for the domain of the user's address")),
    };
    join(tx, MemberRecord::new(&org, &user, None, now)).await?;
    Ok(org)
}

#[operation("member_join")]
async fn join_claimed(tx: &mut Tx, actor: &Actor, org: &OrgId, user: &UserId, now: Timestamp) -> Result<()> {
    match access::org(tx, actor, org).await {
        Err(error) if error.kind() == ErrorKind::NotFound && actor.reaches(org) => {}
        access => return access.map(drop),
    }
    let user = find_user(tx, user).await?;
    let domain = user.email.rsplit('@').next().unwrap_or_default();
    let record: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::key_for(org)).await?;
    let claims =
        |org: &OrgRecord| org.email_domains.iter().any(|own| own.as_str().eq_ignore_ascii_case(domain));
    let record = record.filter(|org| claims(org)).ok_or_else(|| Error::not_found("organization"))?;
    if record.sso && matches!(actor, Actor::Token(_)) {
        return Err(Error::forbidden("the organization requires single sign-on; sign in there to join it"));
    }
    join(tx, MemberRecord::new(org, &user, None, now)).await.map(drop)
}
