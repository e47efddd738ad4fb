//! Members of organizations.

pub(in crate::platform) mod join;
mod leave;
mod list;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::list::MemberFilter;
pub(in crate::platform) use self::{
    join::{Joined, join, user_of},
    leave::ClearMember,
};
use crate::{
    BoxFuture, Error, Result,
    model::{
        ListOrder, Member, MemberObject, MemberSpace, OrgId, Patch, Role, Timestamp, UpdateMember, UserId,
        Visit,
    },
    platform::{
        Actor, Platform,
        access::{self, AccessResolver},
        nouns::{MemberHandle, OrgHandle, list_identities},
    },
    policy::{OrgAccess, OrgAction},
    store::{
        Entity, Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, key,
        records::{GrantRecord, MemberRecord, SpaceRecord, TeamMemberRecord},
    },
};

impl<'p> MemberHandle<'p> {
    /// Reads a member of an organization. Guests may read only themselves.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests.
    pub fn get(self) -> BoxFuture<'p, Result<Member>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            platform.member_seen(&tx, actor, org, user).await
        })
    }

    /// Changes the role of a member. Omitted fields are left unchanged.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization; `Conflict` for the last administrator.
    pub fn update(self, change: UpdateMember) -> BoxFuture<'p, Result<Member>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            platform.set_member(actor, org, user, Set::Role(change.role)).await
        })
    }

    /// Requires a member to sign in through the organization's single sign-on.
    ///
    /// # Errors
    /// `NotFound`, also for a user who is not a member; `Forbidden` unless the actor is an administrator of the
    /// organization.
    pub fn set_sso(self) -> BoxFuture<'p, Result<Member>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            platform.set_member(actor, org, user, Set::Sso).await
        })
    }

    /// Lists the spaces that a member may see, with the member's role on each, in creation order.
    ///
    /// Members may list their own, administrators those of any member.
    ///
    /// # Errors
    /// `Forbidden` for other actors.
    pub fn list_spaces(
        self,
        order: ListOrder,
        page: &'p PageRequest,
    ) -> BoxFuture<'p, Result<Page<MemberSpace>>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let access = access::org(&tx, actor, org).await?;
            if actor.user() != Some(user) {
                access.require(OrgAction::Administrate)?;
            }
            let member = find(&tx, org, user).await?;
            let own = OrgAccess::of_member(Some(Arc::clone(access.org())), Some(&*member))?;
            let (mut theirs, mut mine) =
                (AccessResolver::of(own, Some(user.clone())), AccessResolver::new(access, actor));
            let rev = order == ListOrder::Desc;
            let spec = ListSpec {
                prefix: SpaceRecord::of_org(org),
                rev,
                identity: list_identities::spaces_of_member(user),
            };
            let mut list = Lister::new(spec, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let keys: Vec<Key> = SpaceRecord::named_by_all(&rows);
                let seen = theirs.spaces(&tx, tx.get_many::<SpaceRecord>(&keys).await?).await?;
                list.offer_all(&rows, seen);
            }
            let page = list.finish(&tx, None).await?;
            // Permissions in the views are those of the reader, which differ from the member's for an administrator.
            let records = page.items.iter().map(|space| Some(Arc::clone(space.space()))).collect();
            let seen: Vec<_> = mine.spaces(&tx, records).await?.into_iter().flatten().collect();
            let shown = platform.space_views(&tx, &seen).await?;
            let items = page.items.iter().zip(shown);
            let items =
                items.map(|(theirs, space)| MemberSpace { permission: theirs.role(), space }).collect();
            Ok(Page { items, next: page.next, count: page.count })
        })
    }
}

impl<'p> OrgHandle<'p> {
    /// Records a visit of the actor and returns a visitor token for the sites of the organization; guests get no token.
    ///
    /// The token is passed as [`ResolveVisitor::jwt_token`](crate::model::ResolveVisitor::jwt_token). It expires at its
    /// `exp`, and earlier if the member leaves or the organization stops accepting their sign-in: a token that was
    /// requested with an API token opens no site once the organization requires single sign-on, except for
    /// administrators.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` unless the actor is a member.
    pub fn ping(self) -> BoxFuture<'p, Result<Visit>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let user = actor.require_user()?.clone();
            let ping = PingMember { actor: actor.clone(), org: org.clone(), user, now: platform.now() };
            let token = platform
                .upkeep_and_show(&ping, |done| Box::pin(platform.member_token(done.tx, (org, actor))));
            Ok(Visit { platform_visitor_claims: token.await? })
        })
    }
}

impl Platform {
    async fn member_seen(&self, tx: &Tx, actor: &Actor, org: &OrgId, user: &UserId) -> Result<Member> {
        let access = access::org(tx, actor, org).await?;
        if actor.user() != Some(user) {
            access.require(OrgAction::ListPeople)?;
        }
        let member = find(tx, org, user).await?;
        self.member_view(tx, member).await
    }

    async fn set_member(&self, actor: &Actor, org: &OrgId, user: &UserId, set: Set) -> Result<Member> {
        let set = SetMember { actor: actor.clone(), org: org.clone(), user: user.clone(), set };
        self.change_and_show(actor, &set, |done| Box::pin(self.member_seen(done.tx, actor, org, user))).await
    }

    async fn member_view(&self, tx: &Tx, member: Arc<MemberRecord>) -> Result<Member> {
        let mut shown = self.member_views(tx, &[member]).await?;
        shown.pop().ok_or_else(|| Error::not_found("member"))
    }

    /// Builds the views of members in two reads.
    pub(in crate::platform) async fn member_views(
        &self,
        tx: &Tx,
        members: &[Arc<MemberRecord>],
    ) -> Result<Vec<Member>> {
        let users: Vec<UserId> = members.iter().map(|member| member.user.clone()).collect();
        let users = self.user_views(tx, &users).await?;
        let of = |member: &MemberRecord| -> [Key; 2] {
            let (org, user) = (&member.organization, &member.user);
            [GrantRecord::spaces_of(org, user), TeamMemberRecord::count_of(org, user)]
        };
        let counters: Vec<Key> = members.iter().flat_map(|member| of(member)).collect();
        let counts = tx.numbers(&counters).await?;
        let shown = members.iter().zip(users).zip(counts.chunks(2)).map(|((member, user), counts)| Member {
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
        });
        Ok(shown.collect())
    }
}

/// Reads the membership of a user.
pub(in crate::platform) async fn find(tx: &Tx, org: &OrgId, user: &UserId) -> Result<Arc<MemberRecord>> {
    let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(org, user)).await?;
    member.ok_or_else(|| Error::not_found("member"))
}

/// Returns an error if `member` is the last administrator of the organization. Call it before the role is removed.
///
/// It reads the index rows of the first two administrators. Of two concurrent removals, the second therefore conflicts
/// and is checked again.
pub(in crate::platform) async fn spare_administrator(tx: &Tx, member: &MemberRecord) -> Result<()> {
    if member.role != Some(Role::Admin) {
        return Ok(());
    }
    let others = tx.below(&MemberRecord::in_role(&member.organization, Role::Admin.into()), 2).await?;
    if others.iter().any(|(row, _)| key::last_segment(row) != member.user.as_str()) {
        return Ok(());
    }
    Err(Error::conflict("an organization needs at least one administrator; appoint another one first"))
}

/// The field of a member to set.
enum Set {
    Role(Patch<Role>),
    Sso,
}

struct SetMember {
    actor: Actor,
    org: OrgId,
    user: UserId,
    set: Set,
}

#[async_trait]
impl Operation for SetMember {
    type Out = ();
    const NAME: &'static str = "member_set";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        access::org(tx, &self.actor, &self.org).await?.require(OrgAction::Administrate)?;
        let old = find(tx, &self.org, &self.user).await?;
        let mut new = MemberRecord::clone(&old);
        match &self.set {
            Set::Role(role) => new.role = (*role).apply(new.role),
            Set::Sso => new.sso = true,
        }
        if new.role != Some(Role::Admin) {
            spare_administrator(tx, &old).await?;
        }
        if new != *old {
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

struct PingMember {
    actor: Actor,
    org: OrgId,
    user: UserId,
    now: Timestamp,
}

#[async_trait]
impl Operation for PingMember {
    type Out = ();
    const NAME: &'static str = "member_ping";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        access::org(tx, &self.actor, &self.org).await?;
        let old = find(tx, &self.org, &self.user).await?;
        // The latest visit wins, regardless of the order of the pings.
        if old.last_seen_at < Some(self.now) {
            let new = MemberRecord { last_seen_at: Some(self.now), ..MemberRecord::clone(&old) };
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}
