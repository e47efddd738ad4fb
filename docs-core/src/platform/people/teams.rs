//! Teams and their members.

mod change;

use std::{collections::BTreeMap, sync::Arc};

use docs_macros::boxed;

pub(in crate::platform) use self::change::PurgeTeam;
use self::change::{
    remove_team_member, set_team_member, team_creation, team_deletion, team_members_update, team_update,
};
use crate::{
    Error, Result,
    model::{
        CreateTeam, MemberTeam, OrgId, PutTeamMember, Role, Team, TeamId, TeamMember, TeamMemberPermissions,
        TeamMembership, TeamObject, UpdateTeam, UpdateTeamMembers, UserId,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{
            MemberHandle, TeamHandle, Teams,
            filters::TeamFilter,
            list_identities::{self, tag},
        },
    },
    policy::{OrgAccess, OrgAction, TeamAccess},
    store::{
        Batches, Key, ListSpec, Lister, MAX_SCAN, Page, PageRequest, Tx, ids_of,
        records::{GrantRecord, MemberRecord, TeamMemberRecord, TeamRecord},
    },
};

/// Maximum number of members added, changed or removed per request. All changes fit into one transaction.
pub(in crate::platform) const MAX_MEMBER_CHANGES: usize = 300;

impl<'p> Teams<'p> {
    /// Lists the teams of an organization, ordered by title.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member; `Forbidden` for guests.
    #[boxed]
    pub async fn list(self, filter: &'p TeamFilter, page: &'p PageRequest) -> Result<Page<Team>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        access.require(OrgAction::ListPeople)?;
        let spec = ListSpec {
            prefix: TeamRecord::by_org(org),
            rev: false,
            identity: list_identities::teams(filter),
        };
        let list = Lister::new(spec, page)?;
        let title = filter.title.as_deref();
        let page = match &filter.owner {
            Some(owner) if !is_administrator(&tx, org, owner).await? => {
                let owned = owned_teams(&tx, org, owner).await?;
                list.pick(owned.into_iter().filter(|(_, team)| has_title(team, title)))
            }
            _ => list_by_title(&tx, org, list, title).await?,
        };
        let items = platform.team_views(&tx, &access, actor, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Creates a team. Initially, it has no owner; administrators manage every team.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization; `Invalid` for users who are not members of
    /// the organization, or for too many users.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{CreateTeam, OrgId, UserId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, grace: &UserId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = CreateTeam { title: "Writers".parse()?, members: Some(vec![grace.to_string()]) };
    /// let team = me.org(org).teams().create(new).await?;
    /// assert_eq!(team.members, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateTeam) -> Result<Team> {
        let (platform, ref actor, org) = self.parts();
        let done = platform.idempotent(actor, Right::Org(org.clone(), OrgAction::Administrate), async move {
            let members = new.members.unwrap_or_default();
            check_change_count("members", members.len())?;
            let record = TeamRecord {
                id: platform.id(),
                organization: org.clone(),
                title: new.title,
                created_at: platform.now(),
            };
            let id = record.id.clone();
            let create = team_creation(actor, &record, &members);
            platform
                .write_and_show(actor, &create, |done| {
                    Box::pin(platform.read_team_view(done.tx, actor, org, &id))
                })
                .await
        });
        done.await
    }
}

impl<'p> TeamHandle<'p> {
    /// Reads a team.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for guests.
    #[boxed]
    pub async fn get(self) -> Result<Team> {
        let (platform, ref actor, org, id) = self.parts();
        let tx = platform.read().await?;
        platform.read_team_view(&tx, actor, org, id).await
    }

    /// Changes a team.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn update(self, change: UpdateTeam) -> Result<Team> {
        let (platform, ref actor, org, id) = self.parts();
        let update = team_update(actor, org, id, &change);
        platform
            .change_and_show(actor, &update, |done| {
                Box::pin(platform.read_team_view(done.tx, actor, org, id))
            })
            .await
    }

    /// Deletes a team, which immediately revokes access granted through it. A job removes the remaining rows of a large
    /// team. Returns `true` if the team existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, org, id) = self.parts();
        let job = platform.id();
        let operation = team_deletion(actor, org, id, &job, platform.now());
        let done = platform
            .change(actor, &operation, |seen| Box::pin(platform.read_team_view(seen.tx, actor, org, id)));
        Error::ignore_not_found(done.await)
    }

    /// Lists the members of a team in the order in which they were added.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for guests.
    #[boxed]
    pub async fn list_members(self, page: &'p PageRequest) -> Result<Page<TeamMember>> {
        let (platform, ref actor, org, id) = self.parts();
        let tx = platform.read().await?;
        team(&tx, actor, org, id).await?;
        let spec = ListSpec::new(tag::TEAM_MEMBERS, TeamMemberRecord::by_team(id));
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let users: Vec<UserId> = ids_of(&rows)?;
            let places: Vec<Key> = users.iter().map(|user| TeamMemberRecord::key_for(id, user)).collect();
            let members: Vec<Key> = users.iter().map(|user| MemberRecord::key_for(org, user)).collect();
            let places = tx.get_many::<TeamMemberRecord>(&places).await?;
            let members = tx.get_many::<MemberRecord>(&members).await?;
            list.offer_all(&rows, places.into_iter().zip(members).map(|(place, member)| place.zip(member)));
        }
        let count = u64::try_from(tx.number(&TeamMemberRecord::count_in(id)).await?).ok();
        let page = list.finish(&tx, count).await?;
        let (places, members): (Vec<_>, Vec<_>) = page.items.into_iter().unzip();
        let shown = platform.member_views(&tx, &members).await?;
        let items = places.iter().zip(shown).map(|(place, organization)| TeamMember {
            organization,
            team: TeamMembership { role: place.role },
            permissions: TeamMemberPermissions { view: true },
        });
        Ok(Page { items: items.collect(), next: page.next, count: page.count })
    }

    /// Adds, changes and removes members of a team in one transaction. A user who is both added and removed is removed.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor owns the team or is an administrator of the organization; `Invalid` for users who
    /// are not members of the organization, or for too many changes.
    #[boxed]
    pub async fn update_members(self, change: UpdateTeamMembers) -> Result<()> {
        let (platform, ref actor, org, id) = self.parts();
        let lengths = [
            ("add", change.add.as_ref().map_or(0, Vec::len)),
            ("memberships", change.memberships.as_ref().map_or(0, BTreeMap::len)),
            ("remove", change.remove.as_ref().map_or(0, Vec::len)),
        ];
        let mut sum = 0;
        for (field, length) in lengths {
            sum += length;
            check_change_count(field, sum)?;
        }
        let (org, id, now) = (org.clone(), id.clone(), platform.now());
        platform.write(actor, &team_members_update(actor, &org, &id, &change, now)).await
    }

    /// Adds a member to a team or changes their role.
    ///
    /// # Errors
    ///
    /// `NotFound` for an unknown team or member; `Forbidden` unless the actor owns the team or is an administrator of
    /// the organization.
    #[boxed]
    pub async fn put_member(self, user: &'p UserId, place: PutTeamMember) -> Result<()> {
        let (platform, ref actor, org, id) = self.parts();
        let (org, id, user, now) = (org.clone(), id.clone(), user.clone(), platform.now());
        platform.write(actor, &set_team_member(actor, &org, &id, &user, &place, now)).await
    }

    /// Removes a member from a team. Returns `true` if they belonged to it.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor owns the team or is an administrator of the organization.
    #[boxed]
    pub async fn remove_member(self, user: &'p UserId) -> Result<bool> {
        let (platform, ref actor, org, id) = self.parts();
        let (org, id, user) = (org.clone(), id.clone(), user.clone());
        Error::ignore_not_found(platform.write(actor, &remove_team_member(actor, &org, &id, &user)).await)
    }
}

impl<'p> MemberHandle<'p> {
    /// Lists the teams of a member. `title` selects teams whose title contains this text, ignoring case.
    ///
    /// # Errors
    ///
    /// `NotFound` for an unknown member; `Forbidden` for guests.
    #[boxed]
    pub async fn list_teams(self, title: Option<&'p str>, page: &'p PageRequest) -> Result<Page<MemberTeam>> {
        let (platform, ref actor, org, user) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        access.require(OrgAction::ListPeople)?;
        let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::key_for(org, user)).await?;
        member.ok_or_else(|| Error::not_found("member"))?;
        let prefix = TeamMemberRecord::by_member(org, user);
        let identity = list_identities::member_teams(title);
        let mut list = Lister::new(ListSpec { prefix, rev: false, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let ids: Vec<TeamId> = ids_of(&rows)?;
            let teams: Vec<Key> = ids.iter().map(TeamRecord::key_for).collect();
            let places: Vec<Key> = ids.iter().map(|id| TeamMemberRecord::key_for(id, user)).collect();
            let teams = tx.get_many::<TeamRecord>(&teams).await?;
            let places = tx.get_many::<TeamMemberRecord>(&places).await?;
            let titled = teams.into_iter().map(|team| team.filter(|team| has_title(team, title)));
            list.offer_all(&rows, titled.zip(places).map(|(team, place)| team.zip(place)));
        }
        let count = match title {
            None => u64::try_from(tx.number(&TeamMemberRecord::count_by_member(org, user)).await?).ok(),
            Some(_) => None,
        };
        let page = list.finish(&tx, count).await?;
        let (teams, places): (Vec<_>, Vec<_>) = page.items.into_iter().unzip();
        let shown = platform.team_views(&tx, &access, actor, &teams).await?;
        let items = shown
            .into_iter()
            .zip(&places)
            .map(|(team, place)| MemberTeam { team, member: TeamMembership { role: place.role } });
        Ok(Page { items: items.collect(), next: page.next, count: page.count })
    }
}

impl Platform {
    async fn read_team_view(&self, tx: &Tx, actor: &Actor, org: &OrgId, id: &TeamId) -> Result<Team> {
        let (access, seen) = team(tx, actor, org, id).await?;
        let mut shown = self.team_views(tx, &access, actor, &[Arc::clone(seen.team())]).await?;
        shown.pop().ok_or_else(|| Error::not_found("team"))
    }

    /// Builds the views of an organization's teams. All counters are read at once.
    pub(in crate::platform) async fn team_views(
        &self,
        tx: &Tx,
        org: &OrgAccess,
        actor: &Actor,
        teams: &[Arc<TeamRecord>],
    ) -> Result<Vec<Team>> {
        let counters: Vec<Key> = teams
            .iter()
            .flat_map(|team| [TeamMemberRecord::count_in(&team.id), GrantRecord::team_space_count(&team.id)])
            .collect();
        let counts = tx.numbers(&counters).await?;
        let places = match actor.user() {
            Some(user) => {
                let keys: Vec<Key> =
                    teams.iter().map(|team| TeamMemberRecord::key_for(&team.id, user)).collect();
                tx.get_many::<TeamMemberRecord>(&keys).await?
            }
            None => vec![None; teams.len()],
        };
        let shown = teams.iter().zip(counts.chunks(2)).zip(places).map(|((team, counts), place)| {
            let access = org.team(Some(Arc::clone(team)), place.as_deref())?;
            Ok(Team {
                object: TeamObject::Is,
                id: team.id.clone(),
                title: team.title.clone(),
                members: u64::try_from(counts[0]).unwrap_or(0),
                spaces: u64::try_from(counts[1]).unwrap_or(0),
                created_at: team.created_at,
                permissions: access.permissions(),
            })
        });
        shown.collect()
    }
}

/// Resolves an actor's access to an organization and to one of its teams.
async fn team(tx: &Tx, actor: &Actor, org: &OrgId, id: &TeamId) -> Result<(OrgAccess, TeamAccess)> {
    let access = access::org(tx, actor, org).await?;
    let record: Option<Arc<TeamRecord>> = tx.get(&TeamRecord::key_for(id)).await?;
    let place: Option<Arc<TeamMemberRecord>> = match actor.user() {
        Some(user) => tx.get(&TeamMemberRecord::key_for(id, user)).await?,
        None => None,
    };
    let seen = access.team(record, place.as_deref())?;
    Ok((access, seen))
}

/// Returns a page of the teams whose title contains a text.
async fn list_by_title(
    tx: &Tx,
    org: &OrgId,
    mut list: Lister<Arc<TeamRecord>>,
    title: Option<&str>,
) -> Result<Page<Arc<TeamRecord>>> {
    list.fill(tx, |team| has_title(team, title)).await?;
    let count = match title {
        None => u64::try_from(tx.number(&TeamRecord::count_in(org)).await?).ok(),
        Some(_) => None,
    };
    list.finish(tx, count).await
}

/// Returns `true` if the user is an administrator of the organization, and therefore manages every team.
async fn is_administrator(tx: &Tx, org: &OrgId, user: &str) -> Result<bool> {
    let Ok(user) = user.parse::<UserId>() else { return Ok(false) };
    let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::key_for(org, &user)).await?;
    Ok(member.is_some_and(|member| member.role == Some(Role::Admin)))
}

/// Returns the teams that a user owns, in list order. The number of owned teams is small.
async fn owned_teams(tx: &Tx, org: &OrgId, owner: &str) -> Result<BTreeMap<Key, Arc<TeamRecord>>> {
    let mut owned = BTreeMap::new();
    // A malformed user id owns no team.
    let Ok(owner) = owner.parse::<UserId>() else { return Ok(owned) };
    let mut batches = Batches::of(TeamMemberRecord::by_owner(org, &owner).scan(MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        let ids: Vec<TeamId> = ids_of(&rows)?;
        let keys: Vec<Key> = ids.iter().map(TeamRecord::key_for).collect();
        // A job may still be removing the memberships of a deleted team.
        let found = tx.get_many::<TeamRecord>(&keys).await?.into_iter().flatten();
        owned.extend(found.map(|team| (team.index_key(), team)));
    }
    Ok(owned)
}

fn has_title(team: &TeamRecord, part: Option<&str>) -> bool {
    part.is_none_or(|part| team.title.to_lowercase().contains(&part.to_lowercase()))
}

fn check_change_count(field: &str, changes: usize) -> Result<()> {
    if changes > MAX_MEMBER_CHANGES {
        let what = format_args!(
            "a request must have at most {MAX_MEMBER_CHANGES} member changes; send the rest in \
                          another request"
        );
        return Err(Error::invalid(field, what));
    }
    Ok(())
}
