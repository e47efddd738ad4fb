//! Operations on the members of organizations.

pub(in crate::platform) mod join;
mod leave;
mod list;

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::{boxed, operation};

pub use self::list::MemberFilter;
pub(in crate::platform) use self::{
    join::{JoinOutcome, join},
    leave::ClearMember,
};
use crate::{
    Error, Result,
    model::{Member, MemberObject, MergeRule, OrgId, Patch, Role, UpdateMember, UserId},
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform},
        nouns::MemberHandle,
    },
    policy::OrgAction,
    store::{
        Key, Tx, key,
        records::{GrantRecord, MemberRecord, TeamMemberRecord},
    },
};

impl<'p> MemberHandle<'p> {
    /// Reads a member of an organization. Guests may read only themselves.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests.
    #[boxed]
    pub async fn get(self) -> Result<Member> {
        let (platform, ref actor, org, user) = self.parts();
        let tx = platform.read().await?;
        platform.read_member_view(&tx, actor, org, user).await
    }

    /// Changes the role of a member. Omitted fields are left unchanged.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization; `Conflict` for the last administrator.
    #[boxed]
    pub async fn update(self, change: UpdateMember) -> Result<Member> {
        let (platform, ref actor, org, user) = self.parts();
        platform.set_member(actor, org, user, MemberChange::Role(change.role)).await
    }

    /// Requires a member to sign in through the organization's single sign-on.
    ///
    /// # Errors
    /// `NotFound`, also for a user who is not a member; `Forbidden` unless the actor is an administrator of the
    /// organization.
    #[boxed]
    pub async fn set_sso(self) -> Result<Member> {
        let (platform, ref actor, org, user) = self.parts();
        platform.set_member(actor, org, user, MemberChange::Sso).await
    }
}

impl Platform {
    async fn read_member_view(&self, tx: &Tx, actor: &Actor, org: &OrgId, user: &UserId) -> Result<Member> {
        let access = access::org(tx, actor, org).await?;
        if actor.user() != Some(user) {
            access.require(OrgAction::ListPeople)?;
        }
        let member = find(tx, org, user).await?;
        self.member_view(tx, member).await
    }

    async fn set_member(
        &self,
        actor: &Actor,
        org: &OrgId,
        user: &UserId,
        set: MemberChange,
    ) -> Result<Member> {
        let set = set_member(actor, org, user, &set);
        self.change_and_show(actor, &set, |done| Box::pin(self.read_member_view(done.tx, actor, org, user)))
            .await
    }

    async fn member_view(&self, tx: &Tx, member: Arc<MemberRecord>) -> Result<Member> {
        let mut shown = self.member_views(tx, &[member]).await?;
        shown.pop().ok_or_else(|| Error::not_found("member"))
    }

    /// Builds the views of members with two reads.
    pub(in crate::platform) async fn member_views(
        &self,
        tx: &Tx,
        members: &[Arc<MemberRecord>],
    ) -> Result<Vec<Member>> {
        let users: Vec<UserId> = members.iter().map(|member| member.user.clone()).collect();
        let users = self.user_views(tx, &users).await?;
        let of = |member: &MemberRecord| -> [Key; 3] {
            let (org, user) = (&member.organization, &member.user);
            [
                GrantRecord::user_space_count(org, user),
                TeamMemberRecord::count_by_member(org, user),
                GrantRecord::user_site_count(org, user),
            ]
        };
        let counters: Vec<Key> = members.iter().flat_map(|member| of(member)).collect();
        let counts = tx.numbers(&counters).await?;
        let shown = members.iter().zip(users).zip(counts.chunks(3)).map(|((member, user), counts)| Member {
            object: MemberObject::Is,
            id: member.user.clone(),
            role: member.role,
            user,
            disabled: false,
            joined_at: member.joined_at,
            last_seen_at: member.last_seen_at,
            sso: member.sso,
            spaces: u64::try_from(counts[0]).unwrap_or(0),
            teams: u64::try_from(counts[1]).unwrap_or(0),
            sites: u64::try_from(counts[2]).unwrap_or(0),
        });
        Ok(shown.collect())
    }
}

/// Reads the membership of a user.
pub(in crate::platform) async fn find(tx: &Tx, org: &OrgId, user: &UserId) -> Result<Arc<MemberRecord>> {
    let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::key_for(org, user)).await?;
    member.ok_or_else(|| Error::not_found("member"))
}

/// Rejects merge rules that name users who are not members of the organization. Users that the previous rules name are
/// not checked again, so that rules can be changed after a member has left.
pub(in crate::platform) async fn require_rule_members(
    tx: &Tx,
    org: &OrgId,
    old: &[MergeRule],
    new: &[MergeRule],
) -> Result<()> {
    let known: BTreeSet<&UserId> = old.iter().flat_map(MergeRule::users).collect();
    let named = |(at, rule): (usize, &'_ MergeRule)| {
        let users = rule.users().to_vec().into_iter().enumerate();
        users.map(move |(of, user)| (format!("mergeRules.rules[{at}].users[{of}]"), user))
    };
    let added = new.iter().enumerate().flat_map(named);
    let added: Vec<(String, UserId)> = added.filter(|(_, user)| !known.contains(user)).collect();
    let keys: Vec<Key> = added.iter().map(|(_, user)| MemberRecord::key_for(org, user)).collect();
    let members = tx.get_many::<MemberRecord>(&keys).await?;
    match added.iter().zip(members).find(|(_, member)| member.is_none()) {
        Some(((field, _), _)) => Err(Error::invalid(field, "must be a member of the organization")),
        None => Ok(()),
    }
}

/// Returns an error if `member` is the last administrator of the organization. Call it before the role is removed.
///
/// It reads the index rows of the first two administrators, so the second of two concurrent removals conflicts and is
/// checked again.
pub(in crate::platform) async fn require_other_administrator(tx: &Tx, member: &MemberRecord) -> Result<()> {
    if member.role != Some(Role::Admin) {
        return Ok(());
    }
    let others = tx.scan_prefix(&MemberRecord::by_role(&member.organization, Role::Admin.into()), 2).await?;
    if others.iter().any(|(row, _)| key::last_segment(row) != member.user.as_str()) {
        return Ok(());
    }
    Err(Error::conflict("an organization needs at least one administrator; appoint another one first"))
}

/// The member field to set.
enum MemberChange {
    Role(Patch<Role>),
    Sso,
}

#[operation("member_set")]
async fn set_member(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    user: &UserId,
    set: &MemberChange,
) -> Result<()> {
    access::org(tx, actor, org).await?.require(OrgAction::Administrate)?;
    let old = find(tx, org, user).await?;
    let mut new = MemberRecord::clone(&old);
    match set {
        MemberChange::Role(role) => new.role = (*role).apply(new.role),
        MemberChange::Sso => new.sso = true,
    }
    if new.role != Some(Role::Admin) {
        require_other_administrator(tx, &old).await?;
    }
    if new != *old {
        tx.put(&*old, new)?;
    }
    Ok(())
}
