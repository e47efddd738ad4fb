//! Whom an actor knows of.

use std::sync::Arc;

use crate::{
    Result,
    model::{OrgId, UserId},
    platform::{Actor, access},
    store::{
        Batches, Tx, Value, decode, id_of,
        records::{MemberRecord, OrgRecord},
    },
};

/// Organizations of a user that are looked at together.
const ORGS_AT_ONCE: u32 = 200;

/// Tells whether an actor knows of a user: themselves, and whom they meet in an organization that lets them in.
pub(super) async fn knows(tx: &Tx, actor: &Actor, id: &UserId) -> Result<bool> {
    let (me, session_of) = match actor {
        Actor::User(me) => (me, None),
        Actor::Token(token) => (token.user(), token.session_of()),
        Actor::Platform => return Ok(true),
        Actor::Visitor(_) => return Ok(false),
    };
    if me == id {
        return Ok(true);
    }
    if let Some(org) = session_of {
        return meet(tx, actor, std::slice::from_ref(org), (me, id)).await;
    }
    let mut batches = Batches::of(MemberRecord::orgs_of(me).scan(ORGS_AT_ONCE));
    while let Some(rows) = batches.next(tx).await? {
        let orgs: Vec<OrgId> = rows.iter().map(|(row, _)| id_of(row)).collect::<Result<_>>()?;
        if meet(tx, actor, &orgs, (me, id)).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells whether one of some organizations lets an actor in as a member, and no guest, and has another user in it.
async fn meet(tx: &Tx, actor: &Actor, orgs: &[OrgId], (me, other): (&UserId, &UserId)) -> Result<bool> {
    let keys = |org| [OrgRecord::at(org), MemberRecord::at(org, me), MemberRecord::at(org, other)];
    let found = tx.get_values(&orgs.iter().flat_map(keys).collect::<Vec<_>>()).await?;
    for three in found.chunks(3) {
        let [Some(org), Some(mine), Some(_)] = three else { continue };
        let org: Arc<OrgRecord> = decode(Value::clone(org))?;
        let mine: Arc<MemberRecord> = decode(Value::clone(mine))?;
        if access::org_of(actor, Some(org), Some(&mine)).is_ok_and(|access| access.role().is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}
