//! The resources granted to a user of an organization.

use std::collections::BTreeSet;

use crate::{
    Result,
    model::{OrgId, PermissionTarget, TeamId, UserId},
    store::{
        Batches, MAX_SCAN, Tx, ids_of,
        records::{GrantRecord, TeamMemberRecord, parse_granted},
    },
};

/// Returns the resources granted to a user directly or through a team. The cost is proportional to the grants.
pub(in crate::platform) async fn granted(
    tx: &Tx,
    org: &OrgId,
    user: &UserId,
) -> Result<BTreeSet<PermissionTarget>> {
    let mut held = vec![GrantRecord::by_user(org, user)];
    let mut teams = Batches::of(TeamMemberRecord::by_member(org, user).scan(MAX_SCAN));
    while let Some(rows) = teams.next(tx).await? {
        held.extend(ids_of::<TeamId>(&rows)?.iter().map(GrantRecord::by_team));
    }
    let mut granted = BTreeSet::new();
    for held in held {
        let mut batches = Batches::of(held.scan(MAX_SCAN));
        while let Some(rows) = batches.next(tx).await? {
            for row in &rows {
                granted.insert(parse_granted(row)?);
            }
        }
    }
    Ok(granted)
}
