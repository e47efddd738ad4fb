//! Scheduling of the synchronization job. Every change on either side enqueues it, and at most one is waiting per
//! space.

use chrono::{DateTime, TimeDelta};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{BASE32, ChangeRequestId, JobId, SpaceId, Timestamp, UserId},
    platform::jobs::{Payload, Urgency},
    store::{
        Hash, Tx,
        jobs::{self, Audience, JobClass, NewJob},
        records::{JobRecord, RevisionRecord, SpaceRecord},
    },
};

/// The group that identifies these jobs among those of a space.
pub(in crate::platform) const SYNC_JOB_GROUP: &str = "git sync";

/// The job that synchronizes a space with its repository, using the settings in effect when it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct SyncRun {
    pub(in crate::platform) space: SpaceId,
}

/// The parameters of a new job.
pub(in crate::platform) struct NewSyncJob {
    /// The id of the job if one is enqueued.
    pub(in crate::platform) job: JobId,
    pub(in crate::platform) by: Option<UserId>,
    pub(in crate::platform) now: Timestamp,
    pub(in crate::platform) urgency: Urgency,
}

/// Enqueues the job of a space with Git synchronization, unless one is already waiting, which will then process this
/// change as well.
pub(in crate::platform) async fn enqueue(
    tx: &mut Tx,
    space: &SpaceRecord,
    wake: NewSyncJob,
) -> Result<JobId> {
    schedule(tx, space, wake.now).await?;
    if let Some(waiting) = jobs::waiting_for_the_same(tx, space.id.as_str(), SYNC_JOB_GROUP).await? {
        if wake.urgency == Urgency::Requested {
            jobs::hasten_lane(tx, &lane(&space.id), wake.now).await?;
        }
        return Ok(waiting.id.clone());
    }
    // The clock of this server may lag, but the event must sort after those already applied.
    let applied = space.git.as_ref().and_then(|git| git.event_at);
    let event_at = wake.now.max(applied.unwrap_or(wake.now));
    let job = SyncRun { space: space.id.clone() }.to_new_job(&wake.job, &space.id, wake.now)?;
    let audience = Audience::Subject { by: wake.by, same: Some(SYNC_JOB_GROUP.to_owned()) };
    let owner = Some(space.organization.to_string());
    let lane = Some((lane(&space.id), event_at));
    jobs::enqueue(tx, wake.now, NewJob { owner, audience, lane, ..job }).await?;
    Ok(wake.job)
}

/// Enqueues an export of a revision that has become the live content of a space.
pub(in crate::platform) async fn follow(
    tx: &mut Tx,
    space: &SpaceRecord,
    revision: &RevisionRecord,
) -> Result<()> {
    let exports = space.git_sync.as_ref().is_some_and(|sync| sync.setting.direction.exports());
    if !exports || space.is_in_sync() {
        return Ok(());
    }
    // The revision id is unique, so it can also serve as the job id.
    let job = revision.id.as_str().parse().map_err(Error::internal)?;
    let by = Some(revision.by.clone());
    let wake = NewSyncJob { job, by, now: revision.created_at, urgency: Urgency::FollowUp };
    enqueue(tx, space, wake).await.map(drop)
}

/// Resumes synchronization when the change request with its conflict is merged or archived.
pub(in crate::platform) async fn resume_after_conflict(
    tx: &mut Tx,
    space: &SpaceRecord,
    request: &ChangeRequestId,
    job: JobId,
    now: Timestamp,
) -> Result<()> {
    let conflict = space.git_sync.as_ref().and_then(|sync| sync.conflict.as_ref());
    if conflict.is_some_and(|conflict| conflict.request == *request) {
        enqueue(tx, space, NewSyncJob { job, by: None, now, urgency: Urgency::FollowUp }).await?;
    }
    Ok(())
}

/// Synchronizes a restored space. Pushes and scheduled checks were ignored while it was deleted.
pub(in crate::platform) async fn resume_restored(
    tx: &mut Tx,
    space: &SpaceRecord,
    job: JobId,
    now: Timestamp,
) -> Result<()> {
    if space.git_sync.is_some() {
        enqueue(tx, space, NewSyncJob { job, by: None, now, urgency: Urgency::FollowUp }).await?;
    }
    Ok(())
}

/// Returns the job lane of a space's Git imports and exports.
pub(in crate::platform) fn lane(space: &SpaceId) -> String {
    format!("git:{space}")
}

/// The job that polls the repository of a space for a new commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct RepositoryPoll {
    pub(in crate::platform) space: SpaceId,
    /// The version of the setting that the job belongs to. A changed setting has a new job.
    pub(in crate::platform) generation: String,
}

impl Payload for RepositoryPoll {
    const KIND: &'static str = "git_look";
    const CLASS: JobClass = JobClass::Remote;
}

/// Enqueues the next poll of a repository unless it is already enqueued. Its time and id are derived from the space and
/// the setting, so the operation is idempotent, and polls of different spaces are spread over time.
pub(in crate::platform) async fn schedule(tx: &mut Tx, space: &SpaceRecord, now: Timestamp) -> Result<()> {
    let Some(sync) = &space.git_sync else { return Ok(()) };
    let Some(interval) = sync.setting.schedule else { return Ok(()) };
    let period = TimeDelta::minutes(interval.minutes().into()).num_milliseconds();
    let name = Hash::compute(format!("{} {}", space.id, sync.generation).as_bytes());
    let spread =
        i64::from(u32::from_be_bytes([0, name.as_bytes()[0], name.as_bytes()[1], name.as_bytes()[2]]));
    let offset = spread * 1_000 % period;
    let number = (now.time().timestamp_millis() - offset).div_euclid(period) + 1;
    let due = DateTime::from_timestamp_millis(number * period + offset)
        .ok_or_else(|| Error::internal("the due time is out of range"))?;
    let id = Hash::compute(format!("{name} {number}").as_bytes());
    let id: JobId = BASE32.encode(&id.as_bytes()[..16]).parse().map_err(Error::internal)?;
    if tx.get::<JobRecord>(&JobRecord::key_for(&id)).await?.is_some() {
        return Ok(());
    }
    let look = RepositoryPoll { space: space.id.clone(), generation: sync.generation.clone() };
    let job = look.to_new_job(&id, &space.id, now)?;
    jobs::enqueue(tx, now, jobs::NewJob { due: Timestamp::new(due), ..job }).await
}

impl Payload for SyncRun {
    const KIND: &'static str = "git_sync";
    const CLASS: JobClass = JobClass::Remote;
}
