//! Teams and who is in them.

mod change;

use std::{collections::BTreeMap, sync::Arc};

use change::{Create, Delete, PutMember, RemoveMember, Update, UpdateMembers};
pub(super) use change::{PURGE, Purge};

use super::{Actor, Platform, access};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        CreateTeam, MemberTeam, OrgId, PutTeamMember, Team, TeamId, TeamMember, TeamMemberPermissions,
        TeamMembership, TeamObject, UpdateTeam, UpdateTeamMembers, UserId,
    },
    policy::{OrgAccess, OrgAction, TeamAccess},
    store::{
        Batches, Key, ListSpec, Lister, MAX_SCAN, Page, PageRequest, Tx, ids_of,
        records::{GrantRecord, MemberRecord, TeamMemberRecord, TeamRecord},
    },
};

/// Most members that one request adds to a team, changes or removes: what one transaction takes.
const MAX_MEMBER_CHANGES: usize = 300;

/// Which teams to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamFilter {
    /// Only teams that this member owns, by the id of the user.
    pub owner: Option<String>,
    /// Only teams whose title contains this, whatever the case.
    pub title: Option<String>,
}

impl Platform {
    /// Lists the teams of an organization by title (SPEC 4.9).
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member, `Forbidden` for a guest; `Invalid` for a wrong page or limit.
    pub fn list_teams<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        filter: &'a TeamFilter,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Team>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, org).await?;
            access.require(OrgAction::ListPeople)?;
            let spec =
                ListSpec { prefix: TeamRecord::of_org(org), rev: false, filters: format!("{filter:?}") };
            let list = Lister::new(spec, page)?;
            let title = filter.title.as_deref();
            let page = match &filter.owner {
                Some(owner) => {
                    let owned = owned_teams(&tx, org, owner).await?;
                    list.pick(owned.into_iter().filter(|(_, team)| has_title(team, title)))
                }
                None => titled_teams(&tx, org, list, title).await?,
            };
            let items = self.team_views(&tx, &access, actor, &page.items).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Creates a team (SPEC 4.9). Nobody owns it at first; administrators manage every team.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor administrates the organization; `Invalid` for members that it does not
    /// have, and for more than 300 of them.
    pub fn create_team<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        new: CreateTeam,
    ) -> BoxFuture<'a, Result<Team>> {
        Box::pin(self.once(actor, async move {
            let members = new.members.unwrap_or_default();
            refuse_many("members", members.len())?;
            let record = TeamRecord {
                id: self.id(),
                organization: org.clone(),
                title: new.title,
                created_at: self.now(),
            };
            let id = record.id.clone();
            let create = Create { actor: actor.clone(), record, members };
            self.write_and_show(actor, &create, |done| Box::pin(self.team_seen(done.tx, actor, org, &id)))
                .await
        }))
    }

    /// Reads a team (SPEC 4.9).
    ///
    /// # Errors
    /// `NotFound`, for guests too.
    pub fn get_team<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        id: &'a TeamId,
    ) -> BoxFuture<'a, Result<Team>> {
        Box::pin(async move {
            let tx = self.read().await?;
            self.team_seen(&tx, actor, org, id).await
        })
    }

    async fn team_seen(&self, tx: &Tx, actor: &Actor, org: &OrgId, id: &TeamId) -> Result<Team> {
        let (access, seen) = team(tx, actor, (org, id)).await?;
        let mut shown = self.team_views(tx, &access, actor, &[Arc::clone(seen.team())]).await?;
        shown.pop().ok_or_else(|| Error::not_found("team"))
    }

    /// Changes a team (SPEC 4.9).
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor administrates the organization.
    pub fn update_team<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        id: &'a TeamId,
        change: UpdateTeam,
    ) -> BoxFuture<'a, Result<Team>> {
        Box::pin(async move {
            let update = Update { actor: actor.clone(), org: org.clone(), id: id.clone(), change };
            self.write_and_show(actor, &update, |done| Box::pin(self.team_seen(done.tx, actor, org, id)))
                .await
        })
    }

    /// Deletes a team (SPEC 4.9): at once nobody has anything by it any more. What is left of a large one is removed by
    /// a job. Answers whether there was one.
    ///
    /// # Errors
    /// `Forbidden` unless the actor administrates the organization.
    pub fn delete_team<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        id: &'a TeamId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation = Delete {
                actor: actor.clone(),
                org: org.clone(),
                id: id.clone(),
                job: self.id(),
                now: self.now(),
            };
            there_was(self.write(actor, &operation).await)
        })
    }

    /// Lists the members of a team in the order in which they were added (SPEC 4.9).
    ///
    /// # Errors
    /// `NotFound`, for guests too; `Invalid` for a wrong page or limit.
    pub fn list_team_members<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        id: &'a TeamId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<TeamMember>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            team(&tx, actor, (org, id)).await?;
            let spec = ListSpec { prefix: TeamMemberRecord::of_team(id), rev: false, filters: String::new() };
            let mut list = Lister::new(spec, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let users: Vec<UserId> = ids_of(&rows)?;
                let places: Vec<Key> = users.iter().map(|user| TeamMemberRecord::at(id, user)).collect();
                let members: Vec<Key> = users.iter().map(|user| MemberRecord::at(org, user)).collect();
                let places = tx.get_many::<TeamMemberRecord>(&places).await?;
                let members = tx.get_many::<MemberRecord>(&members).await?;
                list.offer_all(
                    &rows,
                    places.into_iter().zip(members).map(|(place, member)| place.zip(member)),
                );
            }
            let count = u64::try_from(tx.number(&TeamMemberRecord::count_in(id)).await?).ok();
            let page = list.finish(&tx, count).await?;
            let (places, members): (Vec<_>, Vec<_>) = page.items.into_iter().unzip();
            let shown = self.member_views(&tx, &members).await?;
            let items = places.iter().zip(shown).map(|(place, organization)| TeamMember {
                organization,
                team: TeamMembership { role: place.role },
                permissions: TeamMemberPermissions { view: true },
            });
            Ok(Page { items: items.collect(), next: page.next, count: page.count })
        })
    }

    /// Adds members to a team, changes what they may do with it and removes them, all in one (SPEC 4.9). Whoever is
    /// both added and removed is removed.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor owns the team or administrates the organization; `Invalid` for people
    /// who are no members of the organization, and for more than 300 changes.
    pub fn update_team_members<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        id: &'a TeamId,
        change: UpdateTeamMembers,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let lengths = [
                ("add", change.add.as_ref().map_or(0, Vec::len)),
                ("memberships", change.memberships.as_ref().map_or(0, BTreeMap::len)),
                ("remove", change.remove.as_ref().map_or(0, Vec::len)),
            ];
            let mut sum = 0;
            for (field, length) in lengths {
                sum += length;
                refuse_many(field, sum)?;
            }
            let (org, id, now) = (org.clone(), id.clone(), self.now());
            self.write(actor, &UpdateMembers { actor: actor.clone(), org, id, change, now }).await
        })
    }

    /// Puts a member into a team, or changes what the member may do with it (SPEC 4.9).
    ///
    /// # Errors
    /// `NotFound` for an unknown team or member; `Forbidden` unless the actor owns the team or administrates the
    /// organization.
    pub fn put_team_member<'a>(
        &'a self,
        actor: &'a Actor,
        (org, id): (&'a OrgId, &'a TeamId),
        user: &'a UserId,
        place: PutTeamMember,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (org, id, user, now) = (org.clone(), id.clone(), user.clone(), self.now());
            self.write(actor, &PutMember { actor: actor.clone(), org, id, user, place, now }).await
        })
    }

    /// Takes a member out of a team (SPEC 4.9). Answers whether the member was in it.
    ///
    /// # Errors
    /// `Forbidden` unless the actor owns the team or administrates the organization.
    pub fn remove_team_member<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        id: &'a TeamId,
        user: &'a UserId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let (org, id, user) = (org.clone(), id.clone(), user.clone());
            there_was(self.write(actor, &RemoveMember { actor: actor.clone(), org, id, user }).await)
        })
    }

    /// Lists the teams that a member is in (SPEC 4.10); `title` picks those whose title contains it, whatever the case.
    ///
    /// # Errors
    /// `NotFound` for an unknown member; `Forbidden` for a guest; `Invalid` for a wrong page or limit.
    pub fn list_member_teams<'a>(
        &'a self,
        actor: &'a Actor,
        (org, user): (&'a OrgId, &'a UserId),
        title: Option<&'a str>,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<MemberTeam>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, org).await?;
            access.require(OrgAction::ListPeople)?;
            let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(org, user)).await?;
            member.ok_or_else(|| Error::not_found("member"))?;
            let prefix = TeamMemberRecord::of_member(org, user);
            let mut list = Lister::new(ListSpec { prefix, rev: false, filters: format!("{title:?}") }, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let ids: Vec<TeamId> = ids_of(&rows)?;
                let teams: Vec<Key> = ids.iter().map(TeamRecord::at).collect();
                let places: Vec<Key> = ids.iter().map(|id| TeamMemberRecord::at(id, user)).collect();
                let teams = tx.get_many::<TeamRecord>(&teams).await?;
                let places = tx.get_many::<TeamMemberRecord>(&places).await?;
                let titled = teams.into_iter().map(|team| team.filter(|team| has_title(team, title)));
                list.offer_all(&rows, titled.zip(places).map(|(team, place)| team.zip(place)));
            }
            let count = match title {
                None => u64::try_from(tx.number(&TeamMemberRecord::count_of(org, user)).await?).ok(),
                Some(_) => None,
            };
            let page = list.finish(&tx, count).await?;
            let (teams, places): (Vec<_>, Vec<_>) = page.items.into_iter().unzip();
            let shown = self.team_views(&tx, &access, actor, &teams).await?;
            let items = shown
                .into_iter()
                .zip(&places)
                .map(|(team, place)| MemberTeam { team, member: TeamMembership { role: place.role } });
            Ok(Page { items: items.collect(), next: page.next, count: page.count })
        })
    }

    /// Shows teams of an organization to somebody who may see them: what they have is counted in one read.
    pub(super) async fn team_views(
        &self,
        tx: &Tx,
        org: &OrgAccess,
        actor: &Actor,
        teams: &[Arc<TeamRecord>],
    ) -> Result<Vec<Team>> {
        let counters: Vec<Key> = teams
            .iter()
            .flat_map(|team| [TeamMemberRecord::count_in(&team.id), GrantRecord::spaces_of_team(&team.id)])
            .collect();
        let counts = tx.numbers(&counters).await?;
        let places = match actor.user() {
            Some(user) => {
                let keys: Vec<Key> = teams.iter().map(|team| TeamMemberRecord::at(&team.id, user)).collect();
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

    /// One run of the job that removes what is left of a deleted team.
    pub(super) async fn purge_team(&self, purge: &Purge) -> Result<()> {
        while self.write(&Actor::Platform, purge).await? {}
        Ok(())
    }
}

/// The access of an actor to an organization and to one of its teams.
async fn team(tx: &Tx, actor: &Actor, (org, id): (&OrgId, &TeamId)) -> Result<(OrgAccess, TeamAccess)> {
    let access = access::org(tx, actor, org).await?;
    let record: Option<Arc<TeamRecord>> = tx.get(&TeamRecord::at(id)).await?;
    let place: Option<Arc<TeamMemberRecord>> = match actor.user() {
        Some(user) => tx.get(&TeamMemberRecord::at(id, user)).await?,
        None => None,
    };
    let seen = access.team(record, place.as_deref())?;
    Ok((access, seen))
}

/// A page of the teams of an organization whose title contains something.
async fn titled_teams(
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

/// The teams that somebody owns, by the id that a request gives, in the order of the list of teams: few, whatever the
/// number of all.
async fn owned_teams(tx: &Tx, org: &OrgId, owner: &str) -> Result<BTreeMap<Key, Arc<TeamRecord>>> {
    let mut owned = BTreeMap::new();
    // Who cannot be anybody owns nothing.
    let Ok(owner) = owner.parse::<UserId>() else { return Ok(owned) };
    let mut batches = Batches::of(TeamMemberRecord::owned_by(org, &owner).scan(false, MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        let ids: Vec<TeamId> = ids_of(&rows)?;
        let keys: Vec<Key> = ids.iter().map(TeamRecord::at).collect();
        // A team that was deleted is nobody's, while a job still removes who was in it.
        let found = tx.get_many::<TeamRecord>(&keys).await?.into_iter().flatten();
        owned.extend(found.map(|team| (team.place(), team)));
    }
    Ok(owned)
}

fn has_title(team: &TeamRecord, part: Option<&str>) -> bool {
    part.is_none_or(|part| team.title.to_lowercase().contains(&part.to_lowercase()))
}

fn refuse_many(field: &str, changes: usize) -> Result<()> {
    if changes > MAX_MEMBER_CHANGES {
        let what =
            format_args!("a request changes at most {MAX_MEMBER_CHANGES} members; send the rest in another");
        return Err(Error::invalid(field, what));
    }
    Ok(())
}

/// What there is not, or what the actor may not see, was not there to delete.
pub(super) fn there_was(done: Result<()>) -> Result<bool> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        other => other.map(|()| true),
    }
}
