//! Determines which users are visible to an actor.

use std::sync::Arc;

use crate::{
    Result,
    model::{OrgId, UserId},
    platform::{access, kernel::actor::Actor},
    store::{
        Batches, Tx, Value, decode, id_of,
        records::{MemberRecord, OrgRecord},
    },
};

/// Number of a user's organizations examined per batch.
const ORG_BATCH: u32 = 200;

/// Returns `true` if a user is visible to an actor: users see themselves, and members of organizations that accept
/// their sign-in.
pub(in crate::platform) async fn can_see_user(tx: &Tx, actor: &Actor, id: &UserId) -> Result<bool> {
    let (me, session_of) = match actor {
        Actor::User(me) => (me, None),
        Actor::Token(token) => (token.user(), token.session_org()),
        Actor::Platform => return Ok(true),
        Actor::Visitor(_) => return Ok(false),
    };
    if me == id {
        return Ok(true);
    }
    if let Some(org) = session_of {
        return share_organization(tx, actor, std::slice::from_ref(org), me, id).await;
    }
    let mut batches = Batches::of(MemberRecord::by_user(me).scan(ORG_BATCH));
    while let Some(rows) = batches.next(tx).await? {
        let orgs: Vec<OrgId> = rows.iter().map(|(row, _)| id_of(row)).collect::<Result<_>>()?;
        if share_organization(tx, actor, &orgs, me, id).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if one of the organizations accepts the actor as a member who is not a guest, and the other user is
/// also its member.
async fn share_organization(
    tx: &Tx,
    actor: &Actor,
    orgs: &[OrgId],
    me: &UserId,
    other: &UserId,
) -> Result<bool> {
    let keys =
        |org| [OrgRecord::key_for(org), MemberRecord::key_for(org, me), MemberRecord::key_for(org, other)];
    let found = tx.get_values(&orgs.iter().flat_map(keys).collect::<Vec<_>>()).await?;
    for three in found.chunks(3) {
        let [Some(org), Some(mine), Some(_)] = three else { continue };
        let org: Arc<OrgRecord> = decode(Value::clone(org))?;
        let mine: Arc<MemberRecord> = decode(Value::clone(mine))?;
        if access::org_from_records(actor, Some(org), Some(&mine)).is_ok_and(|access| access.role().is_some())
        {
            return Ok(true);
        }
    }
    Ok(false)
}
