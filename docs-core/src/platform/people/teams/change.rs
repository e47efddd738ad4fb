//! The write operations of teams.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::team;
use crate::{
    Error, Result,
    model::{
        JobId, OrgId, PutTeamMember, TeamId, TeamRole, Timestamp, UpdateTeam, UpdateTeamMembers, UserId,
    },
    platform::{
        access,
        jobs::{Effect, Job, Payload, Run},
        kernel::{actor::Actor, platform::Platform},
        people::named::{self, Named},
    },
    policy::{OrgAction, TeamAction},
    store::{
        Key, Operation, StoreError, Tx, id_of, ids_of, jobs, key,
        records::{GrantRecord, MemberRecord, SamlProviderRecord, TeamMemberRecord, TeamRecord},
    },
};

/// Memberships, and separately grants, that one transaction removes.
const AT_ONCE: u32 = 200;

pub(super) struct TeamCreation {
    pub(super) actor: Actor,
    pub(super) record: TeamRecord,
    pub(super) members: Vec<String>,
}

#[async_trait]
impl Operation for TeamCreation {
    type Out = ();
    const NAME: &'static str = "team_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let team = &self.record;
        let access = access::org(tx, &self.actor, &team.organization).await?;
        access.require(OrgAction::Administrate)?;
        let named = named::listed("members", Some(&self.members));
        let members = named::members(tx, &team.organization, &named).await?;
        let members: BTreeSet<UserId> = members.into_iter().collect();
        for user in members {
            tx.create(place(team, user, TeamRole::Member, team.created_at));
        }
        tx.create(team.clone());
        Ok(())
    }
}

pub(super) struct TeamUpdate {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TeamId,
    pub(super) change: UpdateTeam,
}

#[async_trait]
impl Operation for TeamUpdate {
    type Out = ();
    const NAME: &'static str = "team_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, seen) = team(tx, &self.actor, &self.org, &self.id).await?;
        let old = seen.require(TeamAction::Administrate)?;
        if old.title != self.change.title {
            tx.put(&**old, TeamRecord { title: self.change.title.clone(), ..TeamRecord::clone(old) })?;
        }
        Ok(())
    }
}

/// Deletes a team. Its record is removed at once, which ends all access through the team.
pub(super) struct TeamDeletion {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TeamId,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for TeamDeletion {
    type Out = ();
    const NAME: &'static str = "team_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, seen) = team(tx, &self.actor, &self.org, &self.id).await?;
        let old = seen.require(TeamAction::Administrate)?;
        tx.delete(&**old);
        // The number of providers of an organization is below this limit.
        for (row, _) in tx.below(&SamlProviderRecord::into_team(&self.id), AT_ONCE).await? {
            let id = id_of(&row)?;
            let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::at(&id)).await?;
            if let Some(provider) = provider {
                let new = SamlProviderRecord { default_team: None, ..SamlProviderRecord::clone(&provider) };
                tx.put(&*provider, new)?;
            }
        }
        if drop_some(tx, &self.id).await? {
            let job = PurgeTeam { team: self.id.clone() }.about(&self.job, &self.id, self.now)?;
            jobs::enqueue(tx, self.now, job).await?;
        }
        Ok(())
    }
}

/// Removes a batch of rows of a deleted team. `Out` is `true` if there may be more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeTeam {
    team: TeamId,
}

impl Payload for PurgeTeam {
    const KIND: &'static str = "team_purge";
}

#[async_trait]
impl Job for PurgeTeam {
    async fn run(self, platform: &Platform, _: &mut Run) -> Result<Effect> {
        while platform.write(&Actor::Platform, &self).await? {}
        Ok(Effect::Done)
    }
}

#[async_trait]
impl Operation for PurgeTeam {
    type Out = bool;
    const NAME: &'static str = "team_purge";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        drop_some(tx, &self.team).await
    }
}

/// Removes a batch of memberships and grants of a deleted team. Returns `true` if there may be more.
///
/// No new rows can appear, since every operation that adds one reads the record of the team first.
async fn drop_some(tx: &mut Tx, id: &TeamId) -> Result<bool> {
    let rows = tx.below(&TeamMemberRecord::of_team(id), AT_ONCE).await?;
    let users: Vec<UserId> = ids_of(&rows)?;
    let keys: Vec<Key> = users.iter().map(|user| TeamMemberRecord::at(id, user)).collect();
    let places = tx.get_many::<TeamMemberRecord>(&keys).await?;
    let held = tx.below(&GrantRecord::held_by_team(id), AT_ONCE).await?;
    let keys: Vec<Key> =
        held.iter().map(|(row, _)| GrantRecord::of_team(&key::last_segment(row), id)).collect();
    let grants = tx.get_many::<GrantRecord>(&keys).await?;
    let lost = || StoreError::Corrupt(format!("a row of the team {id} refers to no record"));
    let full = places.len() == AT_ONCE as usize || grants.len() == AT_ONCE as usize;
    for place in places {
        tx.delete(&*place.ok_or_else(lost)?);
    }
    for grant in grants {
        tx.delete(&*grant.ok_or_else(lost)?);
    }
    Ok(full)
}

/// Adds, changes and removes members of a team.
pub(super) struct TeamMembersUpdate {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TeamId,
    pub(super) change: UpdateTeamMembers,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for TeamMembersUpdate {
    type Out = ();
    const NAME: &'static str = "team_members_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, seen) = team(tx, &self.actor, &self.org, &self.id).await?;
        let team = seen.require(TeamAction::ManageMembers)?;
        let change = &self.change;
        let add = named::listed("add", change.add.as_deref());
        let add = named::members(tx, &self.org, &add).await?;
        let mut wanted: BTreeMap<UserId, Option<TeamRole>> =
            add.into_iter().map(|user| (user, None)).collect();
        let memberships = change.memberships.iter().flatten();
        let (names, roles): (Vec<Named<'_>>, Vec<TeamRole>) = memberships
            .map(|(name, place)| (Named { field: format!("memberships.{name:.64}"), name }, place.role))
            .unzip();
        let members = named::members(tx, &self.org, &names).await?;
        wanted.extend(members.into_iter().zip(roles.into_iter().map(Some)));
        let removed = named::users(tx, &named::listed("remove", change.remove.as_deref())).await?;
        let removed: BTreeSet<UserId> = removed.into_iter().flatten().collect();
        // Removal takes precedence.
        wanted.retain(|user, _| !removed.contains(user));
        let users: Vec<&UserId> = wanted.keys().chain(&removed).collect();
        let keys: Vec<Key> = users.iter().map(|user| TeamMemberRecord::at(&self.id, user)).collect();
        let places = tx.get_many::<TeamMemberRecord>(&keys).await?;
        for (user, old) in users.into_iter().zip(places) {
            match (wanted.get(user), old) {
                (Some(role), old) => put(tx, team, (user, *role, self.now), old.as_deref())?,
                (None, Some(old)) => tx.delete(&*old),
                (None, None) => {}
            }
        }
        Ok(())
    }
}

/// Adds a member to a team or changes their role.
pub(super) struct SetTeamMember {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TeamId,
    pub(super) user: UserId,
    pub(super) place: PutTeamMember,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for SetTeamMember {
    type Out = ();
    const NAME: &'static str = "team_member_put";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, seen) = team(tx, &self.actor, &self.org, &self.id).await?;
        let team = seen.require(TeamAction::ManageMembers)?;
        let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::at(&self.org, &self.user)).await?;
        member.ok_or_else(|| Error::not_found("member"))?;
        let old: Option<Arc<TeamMemberRecord>> = tx.get(&TeamMemberRecord::at(&self.id, &self.user)).await?;
        put(tx, team, (&self.user, self.place.role, self.now), old.as_deref())
    }
}

pub(super) struct RemoveTeamMember {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TeamId,
    pub(super) user: UserId,
}

#[async_trait]
impl Operation for RemoveTeamMember {
    type Out = ();
    const NAME: &'static str = "team_member_remove";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, seen) = team(tx, &self.actor, &self.org, &self.id).await?;
        seen.require(TeamAction::ManageMembers)?;
        let old: Option<Arc<TeamMemberRecord>> = tx.get(&TeamMemberRecord::at(&self.id, &self.user)).await?;
        tx.delete(&*old.ok_or_else(|| Error::not_found("member of the team"))?);
        Ok(())
    }
}

/// Adds a member to a team or changes their role.
fn put(
    tx: &mut Tx,
    team: &TeamRecord,
    (user, role, now): (&UserId, Option<TeamRole>, Timestamp),
    old: Option<&TeamMemberRecord>,
) -> Result<()> {
    match (old, role) {
        (None, role) => drop(tx.create(place(team, user.clone(), role.unwrap_or_default(), now))),
        (Some(old), Some(role)) if role != old.role => {
            tx.put(old, TeamMemberRecord { role, ..TeamMemberRecord::clone(old) })?;
        }
        (Some(_), _) => {}
    }
    Ok(())
}

fn place(team: &TeamRecord, user: UserId, role: TeamRole, added_at: Timestamp) -> TeamMemberRecord {
    TeamMemberRecord { team: team.id.clone(), organization: team.organization.clone(), user, role, added_at }
}
