//! Explicit roles of users and teams on spaces, collections and sites.

mod role_guard;
mod site;

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use self::role_guard::RoleChangeGuard;
use crate::{
    Error, Result,
    model::{
        ContentTarget, Grantee, Invite, OrgId, Patch, PermissionTarget, Role, TeamId, TeamPermission,
        Timestamp, UpdatePermission, UserId, UserPermission,
    },
    platform::{
        access::{self, Audience, MAX_TEAM_GRANTS},
        kernel::{actor::Actor, platform::Platform, request::Right, write::ready_answer},
        nouns::{
            GrantTarget, Permissions,
            list_identities::{self, tag},
        },
        people::names,
    },
    policy::{CollectionAction, OrgAccess, OrgAction, SiteAction, SpaceAction},
    store::{
        Entity, Key, KeyBuf, ListSpec, Lister, Operation, Page, PageRequest, Tx, decode,
        records::{GrantRecord, MemberRecord, TeamRecord},
    },
};

/// Maximum number of users and teams per request, bounded by the capacity of one transaction.
pub(in crate::platform) const MAX_INVITED: usize = 500;

impl<'p> Permissions<'p> {
    /// Sets or removes the role of users and teams on a space, a collection or a site.
    ///
    /// A member's own role takes precedence over those of their teams, which take precedence over the default level.
    /// An explicit role can therefore also lower a member's access. For this reason, an actor needs the right to manage
    /// the content or the site even to remove their own role. An actor cannot change the role of a user who outranks
    /// them, or raise a user above themselves.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role on the content or the right to manage the site, for a role above the
    /// actor's own, for users who outrank the actor, and for teams with such members if their role would change;
    /// `Invalid` for users who are not members of the organization, and for unknown teams; `Conflict` for too many
    /// teams.
    #[boxed]
    pub async fn invite(self, invite: Invite) -> Result<()> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let target = self.target;
        let done = platform.idempotent(actor, manager_right(target), async move {
            if invite.users.is_none() && invite.teams.is_none() {
                return Err(Error::invalid("users", "is required, unless `teams` is given"));
            }
            let (users, teams) = (invite.users, invite.teams);
            let mut sum = 0;
            for (field, names) in [("users", &users), ("teams", &teams)] {
                let Some(names) = names else { continue };
                sum += names.len();
                if names.is_empty() {
                    return Err(Error::invalid(field, "must have at least one entry"));
                }
                if sum > MAX_INVITED {
                    let what = format_args!(
                        "a request must have at most {MAX_INVITED} users and teams; send the rest in \
                             another request"
                    );
                    return Err(Error::invalid(field, what));
                }
            }
            let (users, teams) = (users.unwrap_or_default(), teams.unwrap_or_default());
            let now = platform.now();
            let give = GrantRoles { actor, target, users, teams, role: invite.role, now };
            platform.write_and_show(actor, &give, |_| ready_answer(Ok(()))).await
        });
        done.await
    }

    /// Changes or removes the explicit role of a user or team.
    ///
    /// # Errors
    /// `NotFound`, also if no role was set; `Forbidden` as for
    /// [`Permissions::invite`](crate::platform::Permissions::invite).
    #[boxed]
    pub async fn update(self, grantee: &'p Grantee, change: UpdatePermission) -> Result<()> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let change = permission_update(actor, self.target, grantee, &change.role, platform.now());
        platform.write(actor, &change).await
    }

    /// Removes the explicit role of a user or team. Returns `false` if there was no role.
    ///
    /// # Errors
    /// `Forbidden` as for [`Permissions::invite`](crate::platform::Permissions::invite).
    #[boxed]
    pub async fn remove(self, grantee: &'p Grantee) -> Result<bool> {
        let change = UpdatePermission { role: Patch::Clear };
        Error::ignore_not_found(self.update(grantee, change).await)
    }

    /// Lists the users with an explicit role.
    ///
    /// # Errors
    /// `Forbidden` for guests, who must not see each other.
    #[boxed]
    pub async fn list_users(self, page: &'p PageRequest) -> Result<Page<UserPermission>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let target = &self.target.to_target();
        let tx = platform.read().await?;
        let seen = authorize_view(&tx, actor, self.target).await?;
        let mut list =
            Lister::new(ListSpec::new(tag::USER_GRANTS, GrantRecord::user_grants(target.id())), page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let mut grants: Vec<(UserId, Role)> = Vec::with_capacity(rows.len());
            for (_, value) in &rows {
                let grant: Arc<GrantRecord> = decode(value.clone())?;
                let Grantee::User(user) = &grant.grantee else { return Err(wrong_kind_error()) };
                grants.push((user.clone(), grant.role));
            }
            let org = &seen.org.org().id;
            let keys: Vec<Key> = grants.iter().map(|(user, _)| MemberRecord::key_for(org, user)).collect();
            let members = tx.get_values(&keys).await?;
            // A former member has no role, even while a job still removes the grant.
            list.offer_all(
                &rows,
                grants.into_iter().zip(members).map(|(grant, member)| member.map(|_| grant)),
            );
        }
        let page = list.finish(&tx, None).await?;
        platform.user_permissions(&tx, page).await
    }

    /// Lists the teams with an explicit role.
    ///
    /// # Errors
    /// Same as [`Permissions::list_users`](crate::platform::Permissions::list_users).
    #[boxed]
    pub async fn list_teams(self, page: &'p PageRequest) -> Result<Page<TeamPermission>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let target = &self.target.to_target();
        let tx = platform.read().await?;
        let seen = authorize_view(&tx, actor, self.target).await?;
        let mut list =
            Lister::new(ListSpec::new(tag::TEAM_GRANTS, GrantRecord::team_grants(target.id())), page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let mut grants: Vec<(TeamId, Role)> = Vec::with_capacity(rows.len());
            for (_, value) in &rows {
                let grant: Arc<GrantRecord> = decode(value.clone())?;
                let Grantee::Team(team) = &grant.grantee else { return Err(wrong_kind_error()) };
                grants.push((team.clone(), grant.role));
            }
            let keys: Vec<Key> = grants.iter().map(|(team, _)| TeamRecord::key_for(team)).collect();
            let teams = tx.get_many::<TeamRecord>(&keys).await?;
            let given = grants.into_iter().zip(teams).map(|((_, role), team)| team.map(|team| (team, role)));
            list.offer_all(&rows, given);
        }
        let page = list.finish(&tx, None).await?;
        let (teams, roles): (Vec<_>, Vec<_>) = page.items.into_iter().unzip();
        let shown = platform.team_views(&tx, &seen.org, actor, &teams).await?;
        let items =
            shown.into_iter().zip(roles).map(|(team, permission)| TeamPermission { permission, team });
        Ok(Page { items: items.collect(), next: page.next, count: page.count })
    }

    /// Lists all members with access from any source, with their effective role, optionally filtered by
    /// `role`.
    ///
    /// A page examines a limited number of members and may be short.
    ///
    /// # Errors
    /// Same as [`Permissions::list_users`](crate::platform::Permissions::list_users).
    #[boxed]
    pub async fn list(self, role: Option<Role>, page: &'p PageRequest) -> Result<Page<UserPermission>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let target = &self.target.to_target();
        let tx = platform.read().await?;
        let seen = authorize_view(&tx, actor, self.target).await?;
        let audience = Audience::load(&tx, target).await?;
        let prefix = KeyBuf::new(MemberRecord::KIND).part(seen.org.org().id.as_str());
        let identity = list_identities::members_with_role(target, role);
        let mut list = Lister::new(ListSpec { prefix, rev: false, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let mut members: Vec<Arc<MemberRecord>> = Vec::with_capacity(rows.len());
            for (_, value) in &rows {
                members.push(decode(value.clone())?);
            }
            let roles = audience.roles(&tx, &members).await?;
            let having = members.iter().zip(roles).map(|(member, has)| {
                let has = has.filter(|has| role.is_none_or(|role| role == *has));
                has.map(|has| (member.user.clone(), has))
            });
            list.offer_all(&rows, having);
        }
        let page = list.finish(&tx, None).await?;
        platform.user_permissions(&tx, page).await
    }
}

impl Platform {
    async fn user_permissions(&self, tx: &Tx, page: Page<(UserId, Role)>) -> Result<Page<UserPermission>> {
        let (users, roles): (Vec<UserId>, Vec<Role>) = page.items.into_iter().unzip();
        let shown = self.user_views(tx, &users).await?;
        let items =
            shown.into_iter().zip(roles).map(|(user, permission)| UserPermission { permission, user });
        Ok(Page { items: items.collect(), next: page.next, count: page.count })
    }
}

/// The organization that owns a resource, and the actor's role on the resource.
pub(in crate::platform) struct TargetAccess {
    pub(in crate::platform) org: OrgAccess,
    role: Role,
}

impl TargetAccess {
    /// Rejects a change that involves a role above the actor's own.
    fn reject_above(&self, role: Option<Role>) -> Result<()> {
        match role {
            Some(role) if role > self.role => Err(Error::forbidden(
                "a role above your own can only be changed by users with that role and by administrators",
            )),
            _ => Ok(()),
        }
    }

    /// Sets or removes the role of these grantees.
    async fn set(
        &self,
        tx: &mut Tx,
        mut held: Vec<(Grantee, Option<Arc<GrantRecord>>)>,
        given: RoleChange<'_>,
    ) -> Result<()> {
        held.retain(|(_, old)| old.as_ref().map(|old| old.role) != given.role);
        let org = &self.org.org().id;
        let mut touched = None;
        // An administrator has the highest role.
        if self.role < Role::Admin && !held.is_empty() {
            self.reject_above(
                held.iter().map(|(_, old)| Some(old.as_ref()?.role)).max().flatten().max(given.role),
            )?;
            let grantees: Vec<&Grantee> = held.iter().map(|(grantee, _)| grantee).collect();
            touched = Some(RoleChangeGuard::load(tx, org, given.target, &grantees).await?);
        }
        for (grantee, old) in held {
            match (old, given.role) {
                (Some(old), Some(role)) => {
                    drop(tx.put(&*old, GrantRecord { role, ..GrantRecord::clone(&old) })?);
                }
                (Some(old), None) => tx.delete(&*old),
                (None, Some(role)) => drop(tx.create(GrantRecord {
                    organization: org.clone(),
                    content: given.target.clone(),
                    grantee,
                    role,
                    granted_at: given.at,
                    // Roles are granted only on existing resources.
                    space_deleted: false,
                })),
                (None, None) => {}
            }
        }
        match touched {
            Some(touched) => self.reject_above(touched.highest(tx, given.target).await?),
            None => Ok(()),
        }
    }
}

/// The role to set, or `None` to remove it, and the time of the change.
struct RoleChange<'a> {
    target: &'a PermissionTarget,
    role: Option<Role>,
    at: Timestamp,
}

fn wrong_kind_error() -> Error {
    Error::internal("a grant is stored under the wrong kind")
}

/// Returns the right to grant roles on a resource.
fn manager_right(target: GrantTarget<'_>) -> Right {
    match target {
        GrantTarget::Collection(id) => Right::Permissions(ContentTarget::Collection(id.clone())),
        GrantTarget::Space(id) => Right::Permissions(ContentTarget::Space(id.clone())),
        GrantTarget::Site(at) => Right::Site(at.org.clone(), at.site.clone()),
    }
}

/// Checks that the actor may see the roles on a resource.
pub(in crate::platform) async fn authorize_view(
    tx: &Tx,
    actor: &Actor,
    target: GrantTarget<'_>,
) -> Result<TargetAccess> {
    let (org, role) = match target {
        GrantTarget::Space(id) => {
            let access = access::space(tx, actor, id).await?;
            (access::org(tx, actor, &access.space().organization).await?, access.role())
        }
        GrantTarget::Collection(id) => {
            let access = access::collection(tx, actor, id).await?;
            (access::org(tx, actor, &access.collection().organization).await?, access.role())
        }
        GrantTarget::Site(at) => {
            let (org, access) = access::site(tx, actor, at).await?;
            (org, access.role())
        }
    };
    org.require(OrgAction::ListPeople)?;
    Ok(TargetAccess { org, role })
}

/// Checks the right to grant roles on content.
pub(in crate::platform) async fn require_manager(
    tx: &Tx,
    actor: &Actor,
    content: &ContentTarget,
) -> Result<()> {
    let target = match content {
        ContentTarget::Collection(id) => GrantTarget::Collection(id),
        ContentTarget::Space(id) => GrantTarget::Space(id),
    };
    authorize_manage(tx, actor, target).await.map(drop)
}

/// Checks that the actor may grant roles on a resource.
async fn authorize_manage(tx: &Tx, actor: &Actor, target: GrantTarget<'_>) -> Result<TargetAccess> {
    let (org, role): (OrgId, Role) = match target {
        GrantTarget::Space(id) => {
            let access = access::space(tx, actor, id).await?;
            let proof = access.require(SpaceAction::Manage)?;
            (proof.space().organization.clone(), access.role())
        }
        GrantTarget::Collection(id) => {
            let access = access::collection(tx, actor, id).await?;
            (access.require(CollectionAction::Manage)?.organization.clone(), access.role())
        }
        GrantTarget::Site(at) => {
            let (org, access) = access::site(tx, actor, at).await?;
            access.require(SiteAction::Manage)?;
            return Ok(TargetAccess { org, role: access.role() });
        }
    };
    Ok(TargetAccess { org: access::org(tx, actor, &org).await?, role })
}

/// Returns the key of a grantee's explicit role on a resource.
fn grant_key(target: &PermissionTarget, grantee: &Grantee) -> Key {
    match grantee {
        Grantee::User(user) => GrantRecord::user_key(target.id(), user),
        Grantee::Team(team) => GrantRecord::team_key(target.id(), team),
    }
}

/// Sets or removes the role of users and teams.
struct GrantRoles<'a> {
    actor: &'a Actor,
    target: GrantTarget<'a>,
    users: Vec<String>,
    teams: Vec<String>,
    role: Option<Role>,
    now: Timestamp,
}

impl GrantRoles<'_> {
    /// Resolves the teams named in the request.
    async fn resolve_teams(&self, tx: &Tx, org: &OrgId) -> Result<Vec<TeamId>> {
        let unknown =
            |at: usize| Error::invalid(&format!("teams[{at}]"), "the organization has no such team");
        let ids = self.teams.iter().enumerate().map(|(at, id)| id.parse().map_err(|_| unknown(at)));
        let ids: Vec<TeamId> = ids.collect::<Result<_>>()?;
        let keys: Vec<Key> = ids.iter().map(TeamRecord::key_for).collect();
        let found = tx.get_many::<TeamRecord>(&keys).await?;
        let of_org = |team: &TeamRecord| team.organization == *org;
        match found.iter().position(|team| !team.as_deref().is_some_and(of_org)) {
            Some(at) => Err(unknown(at)),
            None => Ok(ids),
        }
    }
}

#[async_trait]
impl Operation for GrantRoles<'_> {
    type Output = ();
    const NAME: &'static str = "permissions_give";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let seen = authorize_manage(tx, self.actor, self.target).await?;
        let target = &self.target.to_target();
        seen.reject_above(self.role)?;
        let org = &seen.org.org().id;
        let users = names::members(tx, org, &names::names_in_list("users", Some(&self.users))).await?;
        let teams = self.resolve_teams(tx, org).await?;
        let mut grantees: Vec<Grantee> =
            users.into_iter().map(Grantee::User).chain(teams.into_iter().map(Grantee::Team)).collect();
        grantees.sort_unstable();
        grantees.dedup();
        let keys: Vec<Key> = grantees.iter().map(|grantee| grant_key(target, grantee)).collect();
        let held = tx.get_many::<GrantRecord>(&keys).await?;
        let held = grantees.into_iter().zip(held).collect();
        seen.set(tx, held, RoleChange { target, role: self.role, at: self.now }).await?;
        let teams = tx.scan_prefix(&GrantRecord::team_grants(target.id()), MAX_TEAM_GRANTS + 1).await?;
        if teams.len() > MAX_TEAM_GRANTS as usize {
            return Err(Error::conflict(format!(
                "teams: at most {MAX_TEAM_GRANTS} can have a role on the same content; remove one first"
            )));
        }
        Ok(())
    }
}

/// Changes or removes one explicit role.
#[operation("permission_change")]
async fn permission_update(
    tx: &mut Tx,
    actor: &Actor,
    target: GrantTarget<'_>,
    grantee: &Grantee,
    role: &Patch<Role>,
    now: Timestamp,
) -> Result<()> {
    let seen = authorize_manage(tx, actor, target).await?;
    let target = &target.to_target();
    let old: Option<Arc<GrantRecord>> = tx.get(&grant_key(target, grantee)).await?;
    let old = old.ok_or_else(|| Error::not_found("permission"))?;
    let given = RoleChange { target, role: role.apply(Some(old.role)), at: now };
    seen.set(tx, vec![(grantee.clone(), Some(old))], given).await
}
