//! Joining an organization through an invite.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    model::{
        ContentTarget, Grantee, InviteId, JobId, JoinedOrganization, OrgId, Role, Timestamp, User, UserId,
    },
    platform::{
        access,
        jobs::{Effect, Job, JobRun, Payload},
        kernel::{actor::Actor, platform::Platform},
        nouns::{InviteHandle, Users},
        people::{
            members::{JoinOutcome, join},
            users::{NewUser, check_email, find_user},
        },
    },
    policy::{CollectionAccess, CollectionAction, OrgAccess, OrgAction, SpaceAccess, SpaceAction},
    store::{
        Tx, decode, id_of, jobs,
        records::{
            EmailInviteRecord, GrantRecord, LinkInviteGrant, LinkInviteRecord, MemberRecord, OrgRecord,
            UserRecord,
        },
    },
};

/// Number of invitations processed per batch.
const INVITE_BATCH: u32 = 50;

/// Job that redeems the e-mail invitations of a new user.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct RedeemInvites {
    user: UserId,
}

impl RedeemInvites {
    /// Enqueues the redemption of e-mail invitations for a new user, in the transaction that creates the user.
    pub(in crate::platform) async fn enqueue(tx: &mut Tx, user: &UserRecord, job: &JobId) -> Result<()> {
        if tx.scan_prefix(&EmailInviteRecord::by_address(&user.email), 1).await?.is_empty() {
            return Ok(());
        }
        let job = Self { user: user.id.clone() }.to_new_job(job, &user.id, user.created_at)?;
        jobs::enqueue(tx, user.created_at, job).await
    }

    async fn redeem(&self, platform: &Platform) -> Result<()> {
        loop {
            let tx = platform.read().await?;
            let user = find_user(&tx, &self.user).await?;
            let rows = tx.scan_prefix(&EmailInviteRecord::by_address(&user.email), INVITE_BATCH).await?;
            drop(tx);
            for (row, _) in &rows {
                let invite: InviteId = id_of(row)?;
                platform.write(&Actor::Platform, &redeem_one(&invite, &self.user, platform.now())).await?;
            }
            if rows.len() < INVITE_BATCH as usize {
                return Ok(());
            }
        }
    }
}

impl Payload for RedeemInvites {
    const KIND: &'static str = "invites_redeem";
}

#[async_trait]
impl Job for RedeemInvites {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        self.redeem(platform).await?;
        Ok(Effect::Done)
    }
}

impl<'p> InviteHandle<'p> {
    /// Joins an organization through an invite link, or through an invitation of the user's e-mail address, which is
    /// consumed.
    ///
    /// Accepting an invite never lowers a role: an existing role in the organization or on the content is raised to
    /// that of the invite, or left unchanged.
    ///
    /// # Errors
    /// `NotFound` for an invite that does not belong to the organization, has expired, or whose content is deleted, and
    /// for a link whose creator may no longer grant its role; `Forbidden` for an invitation of another user's address,
    /// and for links if the organization has disabled them.
    #[boxed]
    pub async fn join(self) -> Result<JoinedOrganization> {
        let (platform, ref actor, org, invite) = self.parts();
        let user = actor.require_user()?.clone();
        if !actor.reaches(org) {
            return Err(Error::not_found("invite"));
        }
        platform.write(actor, &join_with(actor, org, invite, &user, platform.now())).await?;
        Ok(JoinedOrganization {})
    }
}

impl Platform {
    /// Redeems the e-mail invitations of a newly created user. The job retries failures later.
    pub(in crate::platform) async fn welcome(&self, user: &UserId) {
        if let Err(error) = (RedeemInvites { user: user.clone() }).redeem(self).await {
            tracing::warn!(error = ?error, user = %user, "leave invitations of new user to job");
        }
    }
}

#[operation("invite_join")]
async fn join_with(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    invite: &InviteId,
    user: &UserId,
    now: Timestamp,
) -> Result<()> {
    let unknown = || Error::not_found("invite");
    let user = find_user(tx, user).await?;
    let record: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::key_for(org)).await?;
    let record = record.ok_or_else(unknown)?;
    // A member with a token that the organization does not accept cannot raise their role.
    match access::org(tx, actor, org).await {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        access => drop(access?),
    }
    let keys = [LinkInviteRecord::key_for(invite), EmailInviteRecord::key_for(invite)];
    let mut found = tx.get_values(&keys).await?.into_iter();
    let link = found.next().flatten().map(decode::<LinkInviteRecord>).transpose()?;
    if let Some(link) = link.filter(|link| link.organization == *org) {
        return join_by_link(tx, &record, &link, &user, now).await;
    }
    let email = found.next().flatten().map(decode::<EmailInviteRecord>).transpose()?;
    let email = email.filter(|invite| invite.organization == *org && invite.expires_at > now);
    let email = email.ok_or_else(unknown)?;
    if email.email != user.email.to_lowercase() {
        return Err(Error::forbidden("this invitation is for another email address"));
    }
    redeem(tx, &email, &user, now).await
}

async fn join_by_link(
    tx: &mut Tx,
    org: &Arc<OrgRecord>,
    link: &LinkInviteRecord,
    user: &UserRecord,
    now: Timestamp,
) -> Result<()> {
    if !org.invite_links {
        return Err(Error::forbidden("invite links are turned off for this organization"));
    }
    check_voucher(tx, link).await?;
    match &link.gives {
        LinkInviteGrant::Member(role) => {
            add_or_promote(tx, MemberRecord::new(&org.id, user, *role, now)).await
        }
        LinkInviteGrant::Content(content, level) => {
            add_or_promote(tx, MemberRecord::new(&org.id, user, None, now)).await?;
            grant_role(tx, &org.id, content, *level, &user.id, now).await
        }
    }
}

/// Adds a member, or raises the role of an existing one to this role.
async fn add_or_promote(tx: &mut Tx, member: MemberRecord) -> Result<()> {
    if join(tx, member.clone()).await? == JoinOutcome::New {
        return Ok(());
    }
    let old = crate::platform::people::members::find(tx, &member.organization, &member.user).await?;
    let new = MemberRecord {
        role: old.role.max(member.role),
        sso: old.sso || member.sso,
        ..MemberRecord::clone(&old)
    };
    if new != *old {
        tx.put(&*old, new)?;
    }
    Ok(())
}

/// Grants a member an explicit role on content, unless they already have it.
async fn grant_role(
    tx: &mut Tx,
    org: &OrgId,
    content: &ContentTarget,
    level: Role,
    user: &UserId,
    now: Timestamp,
) -> Result<()> {
    if access::role_on(tx, &Actor::User(user.clone()), content).await? >= Some(level) {
        return Ok(());
    }
    let new = GrantRecord {
        organization: org.clone(),
        content: content.clone().into(),
        grantee: Grantee::User(user.clone()),
        role: level,
        granted_at: now,
        space_deleted: access::is_deleted(tx, content).await?,
    };
    match tx.get::<GrantRecord>(&GrantRecord::user_key(content.id(), user)).await? {
        Some(old) => drop(tx.put(&*old, GrantRecord { granted_at: old.granted_at, ..new })?),
        None => drop(tx.create(new)),
    }
    Ok(())
}

/// Consumes an e-mail invitation for the user with that address.
async fn redeem(tx: &mut Tx, invite: &EmailInviteRecord, user: &UserRecord, now: Timestamp) -> Result<()> {
    let member = MemberRecord::new(&invite.organization, user, invite.role, now);
    add_or_promote(tx, MemberRecord { sso: invite.sso, ..member }).await?;
    tx.delete(invite);
    Ok(())
}

/// Consumes one invitation of the user's address. An expired one is only removed.
#[operation("invite_redeem")]
async fn redeem_one(tx: &mut Tx, invite: &InviteId, user: &UserId, now: Timestamp) -> Result<()> {
    let invite: Option<Arc<EmailInviteRecord>> = tx.get(&EmailInviteRecord::key_for(invite)).await?;
    // Already consumed by a concurrent run.
    let Some(invite) = invite else { return Ok(()) };
    if invite.expires_at <= now {
        tx.delete(&*invite);
        return Ok(());
    }
    access::org(tx, &Actor::Platform, &invite.organization).await?;
    let user = find_user(tx, user).await?;
    redeem(tx, &invite, &user, now).await
}

impl<'p> Users<'p> {
    /// Creates a user, who joins every organization that invited their e-mail address. Reserved for the platform
    /// itself.
    ///
    /// # Errors
    /// `Conflict` if the e-mail address is in use; `Invalid` if it is malformed.
    #[boxed]
    pub async fn create(self, user: NewUser) -> Result<User> {
        let (platform, ref actor) = self.parts();
        actor.require_platform()?;
        let record = platform.new_user(&user)?;
        platform.write(actor, &user_creation(&record, &platform.id())).await?;
        platform.welcome(&record.id).await;
        Ok(platform.user_view(&record))
    }
}

impl Platform {
    pub(in crate::platform) fn new_user(&self, user: &NewUser) -> Result<UserRecord> {
        check_email("email", &user.email)?;
        Ok(UserRecord {
            id: self.id(),
            display_name: user.display_name.to_string(),
            email: user.email.to_string(),
            photo: None,
            created_at: self.now(),
        })
    }
}

#[operation("user_create", taken_error = |_| Error::conflict("email: is in use by another user"))]
pub(in crate::platform) async fn user_creation(tx: &mut Tx, user: &UserRecord, job: &JobId) -> Result<()> {
    tx.create(user.clone());
    RedeemInvites::enqueue(tx, user, job).await
}

/// Checks that the user who vouches for an invite link may still grant its role. Otherwise, the link is invalid.
///
/// # Errors
/// `NotFound` if the user may not, or if the target is deleted.
pub(in crate::platform) async fn check_voucher(tx: &Tx, link: &LinkInviteRecord) -> Result<()> {
    let by = Actor::User(link.vouched_by.clone());
    match authorize_link(tx, &by, link).await {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => {
            Err(Error::not_found("invite"))
        }
        other => other.map(drop),
    }
}

/// An actor's access to the target of a link they may manage.
pub(in crate::platform) enum LinkInviteAccess {
    Org(OrgAccess),
    Space(SpaceAccess),
    Collection(CollectionAccess),
}

/// Checks the right to manage an invite link.
pub(in crate::platform) async fn authorize_link(
    tx: &Tx,
    actor: &Actor,
    link: &LinkInviteRecord,
) -> Result<LinkInviteAccess> {
    authorize_grant(tx, actor, &link.organization, &link.gives).await
}

/// Checks the right to manage invite links with this grant in an organization, and returns the access.
async fn authorize_grant(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    gives: &LinkInviteGrant,
) -> Result<LinkInviteAccess> {
    let (target, has, gives) = match gives {
        LinkInviteGrant::Member(_) => {
            let access = access::org(tx, actor, org).await?;
            access.require(OrgAction::Administrate)?;
            return Ok(LinkInviteAccess::Org(access));
        }
        LinkInviteGrant::Content(ContentTarget::Space(id), level) => {
            let access = access::space(tx, actor, id).await?;
            access.require(SpaceAction::Manage)?;
            if access.space().organization != *org {
                return Err(Error::not_found("space"));
            }
            let has = access.role();
            (LinkInviteAccess::Space(access), has, *level)
        }
        LinkInviteGrant::Content(ContentTarget::Collection(id), level) => {
            let access = access::collection(tx, actor, id).await?;
            access.require(CollectionAction::Manage)?;
            if access.collection().organization != *org {
                return Err(Error::not_found("collection"));
            }
            let has = access.role();
            (LinkInviteAccess::Collection(access), has, *level)
        }
    };
    if has < gives {
        return Err(Error::forbidden("level: must not be above your own role"));
    }
    Ok(target)
}

/// Checks the right to manage invite links with this grant in an organization.
pub(in crate::platform) async fn require_link_manager(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    gives: &LinkInviteGrant,
) -> Result<()> {
    authorize_grant(tx, actor, org, gives).await.map(drop)
}
