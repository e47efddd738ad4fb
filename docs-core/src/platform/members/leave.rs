//! How members leave, and what goes with them.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    super::{Actor, Platform, access},
    spare_administrator,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{ChangeRequestId, JobId, OrgId, TeamId, Timestamp, UserId},
    policy::OrgAction,
    store::{
        Key, Operation, Scan, Tx, id_of, jobs, key,
        records::{
            ChangeRequestRecord, GrantRecord, MemberRecord, RequestedReviewerRecord, SpaceRecord,
            TeamMemberRecord,
        },
    },
};

/// The kind of the job that removes what a former member leaves.
pub(in crate::platform) const CLEAR: &str = "member_clear";
/// Records of a kind that one transaction removes.
const CHUNK: u32 = 80;

/// Whose traces are removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct Clear {
    org: OrgId,
    user: UserId,
}

impl Platform {
    /// Removes a member from an organization, with the roles on content they were given by name, their places in teams
    /// and the reviews they were asked for (SPEC 4.10). A member may leave. Answers whether there was one: where the
    /// actor may not know, there is none.
    ///
    /// # Errors
    /// `Forbidden` unless the actor administrates the organization, or leaves it; `Conflict` for the last administrator.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the member a member or not. What a former member leaves in large numbers is removed
    /// by a job; it gives no rights any more.
    pub fn remove_member<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        user: &'a UserId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation = Remove {
                actor: actor.clone(),
                of: Clear { org: org.clone(), user: user.clone() },
                job: self.id(),
                now: self.now(),
            };
            match self.write(actor, &operation).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                other => other.map(|()| true),
            }
        })
    }

    /// One run of the job that removes what a former member leaves.
    pub(in crate::platform) async fn clear_member(&self, of: &Clear) -> Result<()> {
        while self.write(&Actor::Platform, &ClearStep(of.clone())).await? {}
        let mut after = None;
        loop {
            let page = asked_of(&self.read().await?, of, after.take()).await?;
            self.write(&Actor::Platform, &ClearAsked { of: of.clone(), requests: page.here }).await?;
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Removes some of what a user was given in an organization; tells whether there may be more.
pub(super) async fn drop_rest(tx: &mut Tx, org: &OrgId, user: &UserId) -> Result<bool> {
    let granted = tx.below(&GrantRecord::held_by(org, user), CHUNK).await?;
    let keys: Vec<Key> =
        granted.iter().map(|(row, _)| GrantRecord::of_user(&key::last_segment(row), user)).collect();
    tx.delete_all::<GrantRecord>(&keys).await?;
    let places = tx.below(&TeamMemberRecord::of_member(org, user), CHUNK).await?;
    let mut keys: Vec<Key> = Vec::with_capacity(places.len());
    for (row, _) in &places {
        let team: TeamId = id_of(row)?;
        keys.push(TeamMemberRecord::at(&team, user));
    }
    tx.delete_all::<TeamMemberRecord>(&keys).await?;
    Ok(granted.len() == CHUNK as usize || places.len() == CHUNK as usize)
}

/// Reviews that a user was asked for.
struct Asked {
    /// The requests of the organization among those that were looked at.
    here: Vec<ChangeRequestId>,
    /// Where to go on.
    next: Option<Key>,
}

/// Looks at some of the reviews that a user was asked for in any organization.
async fn asked_of(tx: &Tx, of: &Clear, after: Option<Key>) -> Result<Asked> {
    let (from, to) = RequestedReviewerRecord::of_user(&of.user).below();
    let from = after.map_or(from, |after| key::after(&after));
    let rows = tx.scan(&Scan { from, to, rev: false, limit: CHUNK }).await?;
    let mut requests = Vec::with_capacity(rows.len());
    for (row, _) in &rows {
        let id: ChangeRequestId = id_of(row)?;
        requests.push(ChangeRequestRecord::at(&id));
    }
    let requests: Vec<Arc<ChangeRequestRecord>> =
        tx.get_many(&requests).await?.into_iter().flatten().collect();
    let spaces: Vec<Key> = requests.iter().map(|request| SpaceRecord::at(&request.space)).collect();
    let spaces = tx.get_many::<SpaceRecord>(&spaces).await?;
    let here = requests
        .iter()
        .zip(spaces)
        .filter(|(_, space)| space.as_ref().is_some_and(|space| space.organization == of.org));
    let here = here.map(|(request, _)| request.id.clone()).collect();
    let next = rows.last().filter(|_| rows.len() == CHUNK as usize).map(|(row, _)| Key::clone(row));
    Ok(Asked { here, next })
}

async fn unask(tx: &mut Tx, user: &UserId, requests: &[ChangeRequestId]) -> Result<()> {
    let keys: Vec<Key> = requests.iter().map(|request| RequestedReviewerRecord::at(request, user)).collect();
    tx.delete_all::<RequestedReviewerRecord>(&keys).await?;
    Ok(())
}

async fn is_member(tx: &Tx, of: &Clear) -> Result<bool> {
    Ok(tx.get_value(&MemberRecord::at(&of.org, &of.user)).await?.is_some())
}

struct Remove {
    actor: Actor,
    of: Clear,
    job: JobId,
    now: Timestamp,
}

#[async_trait]
impl Operation for Remove {
    type Out = ();
    const NAME: &'static str = "member_remove";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let Clear { org, user } = &self.of;
        let access = access::org(tx, &self.actor, org).await?;
        if self.actor.user() != Some(user) {
            access.require(OrgAction::Administrate)?;
        }
        let member = super::find(tx, org, user).await?;
        spare_administrator(tx, &member).await?;
        tx.delete(&*member);
        let more = drop_rest(tx, org, user).await?;
        let asked = asked_of(tx, &self.of, None).await?;
        unask(tx, user, &asked.here).await?;
        if !more && asked.next.is_none() {
            return Ok(());
        }
        let job = jobs::NewJob {
            id: self.job.clone(),
            kind: CLEAR,
            payload: serde_json::to_value(&self.of).map_err(Error::internal)?,
            subject: user.to_string(),
            lane: None,
            due: self.now,
        };
        Ok(jobs::enqueue(tx, self.now, job).await?)
    }
}

/// Removes some of what a former member was given; `Out` tells whether there may be more.
struct ClearStep(Clear);

#[async_trait]
impl Operation for ClearStep {
    type Out = bool;
    const NAME: &'static str = "member_clear";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        // Whoever came back did so without anything of before: what there is now is new.
        if is_member(tx, &self.0).await? {
            return Ok(false);
        }
        drop_rest(tx, &self.0.org, &self.0.user).await
    }
}

/// Asks a former member for these reviews no longer.
struct ClearAsked {
    of: Clear,
    requests: Vec<ChangeRequestId>,
}

#[async_trait]
impl Operation for ClearAsked {
    type Out = ();
    const NAME: &'static str = "member_unask";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if is_member(tx, &self.of).await? {
            return Ok(());
        }
        unask(tx, &self.of.user, &self.requests).await
    }
}
