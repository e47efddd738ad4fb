//! Guards role changes: a caller cannot change the role of a member who outranks them.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Result,
    model::{Grantee, OrgId, PermissionTarget, Role, TeamId, UserId},
    platform::access::Audience,
    store::{
        Batches, Key, MAX_SCAN, Tx, ids_of,
        records::{MemberRecord, TeamMemberRecord},
    },
};

/// Members affected by a role change, with their roles before the change.
pub(super) struct RoleChangeGuard {
    /// In key order.
    members: Vec<Arc<MemberRecord>>,
    before: Vec<Option<Role>>,
    /// Members named directly, not through a team.
    named: BTreeSet<UserId>,
}

impl RoleChangeGuard {
    /// Reads the roles of the grantees, including the members of granted teams.
    pub(super) async fn load(
        tx: &Tx,
        org: &OrgId,
        target: &PermissionTarget,
        grantees: &[&Grantee],
    ) -> Result<Self> {
        let (mut named, mut users) = (BTreeSet::new(), BTreeSet::new());
        for grantee in grantees {
            match grantee {
                Grantee::User(user) => drop(named.insert(user.clone())),
                Grantee::Team(team) => users.extend(team_members(tx, team).await?),
            }
        }
        users.extend(named.iter().cloned());
        let keys: Vec<Key> = users.iter().map(|user| MemberRecord::key_for(org, user)).collect();
        let members: Vec<Arc<MemberRecord>> = tx.get_many(&keys).await?.into_iter().flatten().collect();
        let before = Audience::load(tx, target).await?.roles(tx, &members).await?;
        Ok(Self { members, before, named })
    }

    /// Returns the highest role, before or after the change, among members named directly and members whose role
    /// changed through a team.
    pub(super) async fn highest(&self, tx: &Tx, target: &PermissionTarget) -> Result<Option<Role>> {
        let now = Audience::load(tx, target).await?.roles(tx, &self.members).await?;
        let roles = self.members.iter().zip(self.before.iter().zip(&now));
        let touched =
            roles.filter(|(member, (before, now))| before != now || self.named.contains(&member.user));
        Ok(touched.map(|(_, (before, now))| *before.max(now)).max().flatten())
    }
}

async fn team_members(tx: &Tx, team: &TeamId) -> Result<Vec<UserId>> {
    let mut members = Vec::new();
    let mut batches = Batches::of(TeamMemberRecord::by_team(team).scan(MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        members.extend(ids_of::<UserId>(&rows)?);
    }
    Ok(members)
}
