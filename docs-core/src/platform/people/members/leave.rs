//! Removal of members and of their grants.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use super::require_other_administrator;
use crate::{
    Error, Result,
    model::{ChangeRequestId, JobId, OrgId, TeamId, Timestamp, UserId},
    platform::{
        access,
        jobs::{Effect, Job, JobRun, Payload},
        kernel::{actor::Actor, platform::Platform},
        nouns::MemberHandle,
    },
    policy::OrgAction,
    store::{
        Key, Scan, Tx, id_of, jobs, key,
        records::{
            ChangeRequestRecord, GrantRecord, MemberRecord, RequestedReviewerRecord, SpaceRecord,
            TeamMemberRecord,
        },
    },
};

/// Number of records of one kind removed per transaction.
const REMOVAL_BATCH: u32 = 80;

/// Job that removes the grants of a former member.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct ClearMember {
    org: OrgId,
    user: UserId,
}

impl Payload for ClearMember {
    const KIND: &'static str = "member_clear";
}

#[async_trait]
impl Job for ClearMember {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        while platform.write(&Actor::Platform, &clear_step(&self)).await? {}
        let mut after = None;
        loop {
            let page = read_review_requests(&platform.read().await?, &self, after.take()).await?;
            platform.write(&Actor::Platform, &clear_asked(&self, &page.here)).await?;
            after = page.next;
            if after.is_none() {
                return Ok(Effect::Done);
            }
        }
    }
}

impl<'p> MemberHandle<'p> {
    /// Removes a member from an organization, with their explicit roles on content, team memberships and review
    /// requests.
    ///
    /// Members may remove themselves. Returns `false` if there was no such member visible to the actor.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization or removes themselves; `Conflict` for the
    /// last administrator.
    ///
    /// # Cancel safety
    /// If the future is dropped, the membership is either removed or unchanged. If there are many grants, a job removes
    /// the remaining ones, which no longer give access.
    #[boxed]
    pub async fn remove(self) -> Result<bool> {
        let (platform, ref actor, org, user) = self.parts();
        let (of, job) = (ClearMember { org: org.clone(), user: user.clone() }, platform.id());
        let operation = remove_member(actor, &of, &job, platform.now());
        Error::ignore_not_found(platform.write(actor, &operation).await)
    }
}

/// Removes a batch of a user's grants in an organization. Returns `true` if more may remain.
pub(super) async fn delete_grants(tx: &mut Tx, org: &OrgId, user: &UserId) -> Result<bool> {
    let granted = tx.scan_prefix(&GrantRecord::by_user(org, user), REMOVAL_BATCH).await?;
    let keys: Vec<Key> =
        granted.iter().map(|(row, _)| GrantRecord::user_key(&key::last_segment(row), user)).collect();
    tx.delete_all::<GrantRecord>(&keys).await?;
    let places = tx.scan_prefix(&TeamMemberRecord::by_member(org, user), REMOVAL_BATCH).await?;
    let mut keys: Vec<Key> = Vec::with_capacity(places.len());
    for (row, _) in &places {
        let team: TeamId = id_of(row)?;
        keys.push(TeamMemberRecord::key_for(&team, user));
    }
    tx.delete_all::<TeamMemberRecord>(&keys).await?;
    Ok(granted.len() == REMOVAL_BATCH as usize || places.len() == REMOVAL_BATCH as usize)
}

/// A batch of the reviews requested from a user.
struct ReviewRequestBatch {
    /// Change requests in this batch that belong to the organization.
    here: Vec<ChangeRequestId>,
    /// The start key of the next batch.
    next: Option<Key>,
}

/// Reads a batch of the reviews requested from a user in any organization.
async fn read_review_requests(tx: &Tx, of: &ClearMember, after: Option<Key>) -> Result<ReviewRequestBatch> {
    let (from, to) = RequestedReviewerRecord::by_user(&of.user).prefix_range();
    let from = after.map_or(from, |after| key::successor(&after));
    let rows = tx.scan(&Scan { from, to, rev: false, limit: REMOVAL_BATCH }).await?;
    let mut requests = Vec::with_capacity(rows.len());
    for (row, _) in &rows {
        let id: ChangeRequestId = id_of(row)?;
        requests.push(ChangeRequestRecord::key_for(&id));
    }
    let requests: Vec<Arc<ChangeRequestRecord>> =
        tx.get_many(&requests).await?.into_iter().flatten().collect();
    let spaces: Vec<Key> = requests.iter().map(|request| SpaceRecord::key_for(&request.space)).collect();
    let spaces = tx.get_many::<SpaceRecord>(&spaces).await?;
    let here = requests
        .iter()
        .zip(spaces)
        .filter(|(_, space)| space.as_ref().is_some_and(|space| space.organization == of.org));
    let here = here.map(|(request, _)| request.id.clone()).collect();
    let next = rows.last().filter(|_| rows.len() == REMOVAL_BATCH as usize).map(|(row, _)| Key::clone(row));
    Ok(ReviewRequestBatch { here, next })
}

async fn withdraw_requests(tx: &mut Tx, user: &UserId, requests: &[ChangeRequestId]) -> Result<()> {
    let keys: Vec<Key> =
        requests.iter().map(|request| RequestedReviewerRecord::key_for(request, user)).collect();
    tx.delete_all::<RequestedReviewerRecord>(&keys).await?;
    Ok(())
}

async fn is_member(tx: &Tx, of: &ClearMember) -> Result<bool> {
    Ok(tx.get_value(&MemberRecord::key_for(&of.org, &of.user)).await?.is_some())
}

#[operation("member_remove")]
async fn remove_member(
    tx: &mut Tx,
    actor: &Actor,
    of: &ClearMember,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let ClearMember { org, user } = of;
    let access = access::org(tx, actor, org).await?;
    if actor.user() != Some(user) {
        access.require(OrgAction::Administrate)?;
    }
    let member = super::find(tx, org, user).await?;
    require_other_administrator(tx, &member).await?;
    tx.delete(&*member);
    let more = delete_grants(tx, org, user).await?;
    let asked = read_review_requests(tx, of, None).await?;
    withdraw_requests(tx, user, &asked.here).await?;
    if !more && asked.next.is_none() {
        return Ok(());
    }
    let job = of.to_new_job(job, user, now)?;
    jobs::enqueue(tx, now, job).await
}

/// Removes a batch of a former member's grants. `Output` is `true` if more may remain.
#[operation("member_clear")]
async fn clear_step(tx: &mut Tx, of: &ClearMember) -> Result<bool> {
    // Rejoining first removes all earlier grants, so the grants of a current member are new.
    if is_member(tx, of).await? {
        return Ok(false);
    }
    delete_grants(tx, &of.org, &of.user).await
}

/// Withdraws these review requests from a former member.
#[operation("member_unask")]
async fn clear_asked(tx: &mut Tx, of: &ClearMember, requests: &[ChangeRequestId]) -> Result<()> {
    if is_member(tx, of).await? {
        return Ok(());
    }
    withdraw_requests(tx, &of.user, requests).await
}
