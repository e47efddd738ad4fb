//! Whom an actor knows of.

use std::sync::Arc;

use crate::{
    Result,
    model::{OrgId, UserId},
    platform::Actor,
    store::{Batches, Tx, id_of, records::MemberRecord},
};

/// Organizations of a user that are looked at together.
const ORGS_AT_ONCE: u32 = 200;

/// Tells whether an actor knows of a user: themselves, and whom they meet in an organization.
pub(super) async fn knows(tx: &Tx, actor: &Actor, id: &UserId) -> Result<bool> {
    let (me, session_of) = match actor {
        Actor::User(me) => (me, None),
        Actor::Token(token) => (token.user(), token.session_of()),
        Actor::Platform => return Ok(true),
        Actor::Visitor(_) => return Ok(false),
    };
    Ok(me == id
        || match session_of {
            Some(org) => is_known_in(tx, org, (me, id)).await?,
            None => share_org(tx, me, id).await?,
        })
}

/// Tells whether somebody is a member, and no guest, of an organization that another is in.
async fn share_org(tx: &Tx, me: &UserId, other: &UserId) -> Result<bool> {
    let mut batches = Batches::of(MemberRecord::orgs_of(me).scan(ORGS_AT_ONCE));
    while let Some(rows) = batches.next(tx).await? {
        let mut keys = Vec::with_capacity(2 * rows.len());
        for (row, _) in &rows {
            let org: OrgId = id_of(row)?;
            keys.extend([MemberRecord::at(&org, me), MemberRecord::at(&org, other)]);
        }
        let found = tx.get_many::<MemberRecord>(&keys).await?;
        let sees = |pair: &[Option<Arc<MemberRecord>>]| match pair {
            [Some(me), Some(_)] => me.role.is_some(),
            _ => false,
        };
        if found.chunks(2).any(sees) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells whether a member of an organization who is no guest knows another user as a member of it.
async fn is_known_in(tx: &Tx, org: &OrgId, (me, other): (&UserId, &UserId)) -> Result<bool> {
    let found =
        tx.get_many::<MemberRecord>(&[MemberRecord::at(org, me), MemberRecord::at(org, other)]).await?;
    Ok(matches!(&found[..], [Some(me), Some(_)] if me.role.is_some()))
}
