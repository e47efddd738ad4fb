//! Write operations on teams.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use docs_macros::operation;
use serde::{Deserialize, Serialize};

use super::team;
use crate::{
    Error, Result,
    model::{
        JobId, OrgId, PutTeamMember, TeamId, TeamRole, Timestamp, UpdateTeam, UpdateTeamMembers, UserId,
    },
    platform::{
        access,
        jobs::{Payload, Purge},
        kernel::actor::Actor,
        people::names::{self, RequestedName},
    },
    policy::{OrgAction, TeamAction},
    store::{
        Key, StoreError, Tx, id_of, ids_of, jobs, key,
        records::{GrantRecord, MemberRecord, SamlProviderRecord, TeamMemberRecord, TeamRecord},
    },
};

/// Number of memberships, and separately of grants, removed per transaction.
const TEAM_PURGE_BATCH: u32 = 200;

#[operation("team_create")]
pub(super) async fn team_creation(
    tx: &mut Tx,
    actor: &Actor,
    team: &TeamRecord,
    members: &[String],
) -> Result<()> {
    let access = access::org(tx, actor, &team.organization).await?;
    access.require(OrgAction::Administrate)?;
    let named = names::names_in_list("members", Some(members));
    let members = names::members(tx, &team.organization, &named).await?;
    let members: BTreeSet<UserId> = members.into_iter().collect();
    for user in members {
        tx.create(new_member(team, user, TeamRole::Member, team.created_at));
    }
    tx.create(team.clone());
    Ok(())
}

#[operation("team_update")]
pub(super) async fn team_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TeamId,
    change: &UpdateTeam,
) -> Result<()> {
    let (_, seen) = team(tx, actor, org, id).await?;
    let old = seen.require(TeamAction::Administrate)?;
    if old.title != change.title {
        tx.put(&**old, TeamRecord { title: change.title.clone(), ..TeamRecord::clone(old) })?;
    }
    Ok(())
}

/// Deletes a team. Its record is removed at once, which revokes all access granted through the team.
#[operation("team_delete")]
pub(super) async fn team_deletion(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TeamId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let (_, seen) = team(tx, actor, org, id).await?;
    let old = seen.require(TeamAction::Administrate)?;
    tx.delete(&**old);
    // An organization has fewer providers than this limit.
    for (row, _) in tx.scan_prefix(&SamlProviderRecord::by_team(id), TEAM_PURGE_BATCH).await? {
        let id = id_of(&row)?;
        let provider: Option<Arc<SamlProviderRecord>> = tx.get(&SamlProviderRecord::key_for(&id)).await?;
        if let Some(provider) = provider {
            let new = SamlProviderRecord { default_team: None, ..SamlProviderRecord::clone(&provider) };
            tx.put(&*provider, new)?;
        }
    }
    if delete_batch(tx, id).await? {
        let job = PurgeTeam { team: id.clone() }.to_new_job(job, id, now)?;
        jobs::enqueue(tx, now, job).await?;
    }
    Ok(())
}

/// Removes a batch of rows of a deleted team. `Output` is `true` if more may remain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeTeam {
    team: TeamId,
}

impl Payload for PurgeTeam {
    const KIND: &'static str = "team_purge";
}

#[async_trait]
impl Purge for PurgeTeam {
    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        delete_batch(tx, &self.team).await
    }
}

/// Removes a batch of memberships and grants of a deleted team. Returns `true` if more may remain.
///
/// No new rows can appear, since every operation that adds one reads the team record first.
async fn delete_batch(tx: &mut Tx, id: &TeamId) -> Result<bool> {
    let rows = tx.scan_prefix(&TeamMemberRecord::by_team(id), TEAM_PURGE_BATCH).await?;
    let users: Vec<UserId> = ids_of(&rows)?;
    let keys: Vec<Key> = users.iter().map(|user| TeamMemberRecord::key_for(id, user)).collect();
    let places = tx.get_many::<TeamMemberRecord>(&keys).await?;
    let held = tx.scan_prefix(&GrantRecord::by_team(id), TEAM_PURGE_BATCH).await?;
    let keys: Vec<Key> =
        held.iter().map(|(row, _)| GrantRecord::team_key(&key::last_segment(row), id)).collect();
    let grants = tx.get_many::<GrantRecord>(&keys).await?;
    let lost = || StoreError::Corrupt(format!("a row of the team {id} refers to no record"));
    let full = places.len() == TEAM_PURGE_BATCH as usize || grants.len() == TEAM_PURGE_BATCH as usize;
    for place in places {
        tx.delete(&*place.ok_or_else(lost)?);
    }
    for grant in grants {
        tx.delete(&*grant.ok_or_else(lost)?);
    }
    Ok(full)
}

/// Adds, changes and removes members of a team.
#[operation("team_members_update")]
pub(super) async fn team_members_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TeamId,
    change: &UpdateTeamMembers,
    now: Timestamp,
) -> Result<()> {
    let (_, seen) = team(tx, actor, org, id).await?;
    let team = seen.require(TeamAction::ManageMembers)?;
    let add = names::names_in_list("add", change.add.as_deref());
    let add = names::members(tx, org, &add).await?;
    let mut wanted: BTreeMap<UserId, Option<TeamRole>> = add.into_iter().map(|user| (user, None)).collect();
    let memberships = change.memberships.iter().flatten();
    let (names, roles): (Vec<RequestedName<'_>>, Vec<TeamRole>) = memberships
        .map(|(name, place)| (RequestedName { field: format!("memberships.{name:.64}"), name }, place.role))
        .unzip();
    let members = names::members(tx, org, &names).await?;
    wanted.extend(members.into_iter().zip(roles.into_iter().map(Some)));
    let removed = names::users(tx, &names::names_in_list("remove", change.remove.as_deref())).await?;
    let removed: BTreeSet<UserId> = removed.into_iter().flatten().collect();
    // A user who is both added and removed is removed.
    wanted.retain(|user, _| !removed.contains(user));
    let users: Vec<&UserId> = wanted.keys().chain(&removed).collect();
    let keys: Vec<Key> = users.iter().map(|user| TeamMemberRecord::key_for(id, user)).collect();
    let places = tx.get_many::<TeamMemberRecord>(&keys).await?;
    for (user, old) in users.into_iter().zip(places) {
        match (wanted.get(user), old) {
            (Some(role), old) => put(tx, team, user, *role, now, old.as_deref())?,
            (None, Some(old)) => tx.delete(&*old),
            (None, None) => {}
        }
    }
    Ok(())
}

/// Adds a member to a team or changes their role.
#[operation("team_member_put")]
pub(super) async fn set_team_member(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TeamId,
    user: &UserId,
    place: &PutTeamMember,
    now: Timestamp,
) -> Result<()> {
    let (_, seen) = team(tx, actor, org, id).await?;
    let team = seen.require(TeamAction::ManageMembers)?;
    let member: Option<Arc<MemberRecord>> = tx.get(&MemberRecord::key_for(org, user)).await?;
    member.ok_or_else(|| Error::not_found("member"))?;
    let old: Option<Arc<TeamMemberRecord>> = tx.get(&TeamMemberRecord::key_for(id, user)).await?;
    put(tx, team, user, place.role, now, old.as_deref())
}

#[operation("team_member_remove")]
pub(super) async fn remove_team_member(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &TeamId,
    user: &UserId,
) -> Result<()> {
    let (_, seen) = team(tx, actor, org, id).await?;
    seen.require(TeamAction::ManageMembers)?;
    let old: Option<Arc<TeamMemberRecord>> = tx.get(&TeamMemberRecord::key_for(id, user)).await?;
    tx.delete(&*old.ok_or_else(|| Error::not_found("member of the team"))?);
    Ok(())
}

/// Adds a member to a team or changes their role.
fn put(
    tx: &mut Tx,
    team: &TeamRecord,
    user: &UserId,
    role: Option<TeamRole>,
    now: Timestamp,
    old: Option<&TeamMemberRecord>,
) -> Result<()> {
    match (old, role) {
        (None, role) => drop(tx.create(new_member(team, user.clone(), role.unwrap_or_default(), now))),
        (Some(old), Some(role)) if role != old.role => {
            tx.put(old, TeamMemberRecord { role, ..TeamMemberRecord::clone(old) })?;
        }
        (Some(_), _) => {}
    }
    Ok(())
}

fn new_member(team: &TeamRecord, user: UserId, role: TeamRole, added_at: Timestamp) -> TeamMemberRecord {
    TeamMemberRecord { team: team.id.clone(), organization: team.organization.clone(), user, role, added_at }
}
