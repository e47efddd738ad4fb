//! Members of organizations.

mod join;
mod leave;
mod list;

use std::sync::Arc;

use async_trait::async_trait;

pub(super) use join::{Joined, join, user_of};
pub(super) use leave::ClearMember;
pub use list::MemberFilter;

use super::{
    Actor, Platform,
    access::{self, AccessResolver},
    nouns::{MemberHandle, OrgHandle},
};
use crate::{
    BoxFuture, Error, Result,
    model::{
        ListOrder, Member, MemberObject, MemberSpace, OrgId, Patch, Role, Timestamp, UpdateMember, UserId,
        Visit,
    },
    platform::list_identities,
    policy::{OrgAccess, OrgAction},
    store::{
        Entity, Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, key,
        records::{GrantRecord, MemberRecord, SpaceRecord, TeamMemberRecord},
    },
};

impl<'p> MemberHandle<'p> {
    /// Reads a member of an organization. Everybody may read themselves, guests nobody else.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, UserId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, grace: &UserId) -> Result<()> {
    /// let member = me.org(org).member(grace).get().await?;
    /// println!("{}, {:?}", member.user.display_name, member.role);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(self) -> BoxFuture<'p, Result<Member>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            platform.member_seen(&tx, actor, org, user).await
        })
    }

    /// Changes the role of a member. What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor administrates the organization; `Conflict` for the last administrator.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the role as it was, or changed.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, Patch, Role, UpdateMember, UserId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, grace: &UserId) -> Result<()> {
    /// let change = UpdateMember { role: Patch::Set(Role::Review) };
    /// let member = me.org(org).member(grace).update(change).await?;
    /// assert_eq!(member.role, Some(Role::Review));
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(self, change: UpdateMember) -> BoxFuture<'p, Result<Member>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            platform.set_member(actor, org, user, Set::Role(change.role)).await
        })
    }

    /// Makes a member sign in through the organization's single sign-on.
    ///
    /// # Errors
    /// `NotFound`, also for a user who is no member; `Forbidden` unless the actor administrates the organization.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the member as it was, or changed.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, UserId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, grace: &UserId) -> Result<()> {
    /// let member = me.org(org).member(grace).set_sso().await?;
    /// assert!(member.sso);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_sso(self) -> BoxFuture<'p, Result<Member>> {
        Box::pin(async move {
            let Self { caller, org, user } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            platform.set_member(actor, org, user, Set::Sso).await
        })
    }

    /// Lists the spaces that a member may see, with the member's role on each, by the time of their creation. Members
    /// may ask for their own, administrators for anybody's.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for others; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{ListOrder, OrgId, UserId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, grace: &UserId) -> Result<()> {
    /// let grace = me.org(org).member(grace);
    /// for space in grace.list_spaces(ListOrder::Desc, &PageRequest::default()).await?.items {
    ///     println!("{:?} on {}", space.permission, space.space.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
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
            // What the reader may do with them is another question, which differs where the reader is an administrator.
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
    /// Records a visit of the member who acts, and answers a token that vouches for them on the sites of the
    /// organization; guests get none. The token ends with its `exp`, and earlier when the member leaves or the
    /// organization stops accepting how the member signed in: one that was requested with an API token opens no site
    /// once the organization requires single sign-on, except for administrators. It is used as the token of a visitor,
    /// [`ResolveVisitor::jwt_token`](crate::model::ResolveVisitor::jwt_token).
    ///
    /// # Errors
    /// `Forbidden` for the platform itself; `NotFound` unless the actor is a member.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the visit noted or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let visit = me.org(org).ping().await?;
    /// println!("{:?} stands for the member on sites", visit.platform_visitor_claims);
    /// # Ok(())
    /// # }
    /// ```
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

    /// Shows members, in two reads.
    pub(super) async fn member_views(&self, tx: &Tx, members: &[Arc<MemberRecord>]) -> Result<Vec<Member>> {
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

/// The membership of a user.
pub(super) async fn find(tx: &Tx, org: &OrgId, user: &UserId) -> Result<Arc<MemberRecord>> {
    let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(org, user)).await?;
    member.ok_or_else(|| Error::not_found("member"))
}

/// Refuses to take an organization its last administrator: `member` is about to be one no more.
///
/// It reads the rows of the first two administrators, so of two who go at the same time the second is told to look
/// again.
pub(super) async fn spare_administrator(tx: &Tx, member: &MemberRecord) -> Result<()> {
    if member.role != Some(Role::Admin) {
        return Ok(());
    }
    let others = tx.below(&MemberRecord::in_role(&member.organization, Role::Admin.into()), 2).await?;
    if others.iter().any(|(row, _)| key::last_segment(row) != member.user.as_str()) {
        return Ok(());
    }
    Err(Error::conflict("an organization keeps at least one administrator: make somebody else one first"))
}

/// What is set of a member.
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
        // Of two pings the later one counts, in whatever order they come.
        if old.last_seen_at < Some(self.now) {
            let new = MemberRecord { last_seen_at: Some(self.now), ..MemberRecord::clone(&old) };
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}
