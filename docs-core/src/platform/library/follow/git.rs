//! Scheduling of the synchronization job: every change of a side enqueues it, and at most one is waiting per space.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{ChangeRequestId, JobId, SpaceId, Timestamp, UserId},
    platform::{
        exchange::git::{setting::look, sync::lane},
        jobs::{Job as _, Urgency},
    },
    store::{
        Tx,
        jobs::{self, Audience, NewJob},
        records::{RevisionRecord, SpaceRecord},
    },
};

/// The kind that identifies these jobs among those of a space.
pub(in crate::platform) const SAME: &str = "git sync";

/// The job that synchronizes a space with its repository, by the setting in force when it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct SyncRun {
    pub(in crate::platform) space: SpaceId,
}

/// The parameters of a new job.
pub(in crate::platform) struct Wake {
    /// The id of the job, if a new one is enqueued.
    pub(in crate::platform) job: JobId,
    pub(in crate::platform) by: Option<UserId>,
    pub(in crate::platform) now: Timestamp,
    pub(in crate::platform) urgency: Urgency,
}

/// Enqueues the job of a space with a setting, unless one is waiting, which then processes this change as well.
pub(in crate::platform) async fn enqueue(tx: &mut Tx, space: &SpaceRecord, wake: Wake) -> Result<JobId> {
    look::schedule(tx, space, wake.now).await?;
    if let Some(waiting) = jobs::waiting_for_the_same(tx, space.id.as_str(), SAME).await? {
        if wake.urgency == Urgency::Asked {
            jobs::hasten_lane(tx, &lane(&space.id), wake.now).await?;
        }
        return Ok(waiting.id.clone());
    }
    // The clock of this server may lag, but the event must sort after those already applied.
    let applied = space.git.as_ref().and_then(|git| git.event_at);
    let event_at = wake.now.max(applied.unwrap_or(wake.now));
    let job = SyncRun { space: space.id.clone() }.about(&wake.job, &space.id, wake.now)?;
    let audience = Audience::Subject { by: wake.by, same: Some(SAME.to_owned()) };
    jobs::enqueue(tx, wake.now, NewJob { audience, lane: Some((lane(&space.id), event_at)), ..job }).await?;
    Ok(wake.job)
}

/// Enqueues an export of a revision that has become the live content of a space.
pub(in crate::platform) async fn follow(
    tx: &mut Tx,
    space: &SpaceRecord,
    revision: &RevisionRecord,
) -> Result<()> {
    let exports = space.git_sync.as_ref().is_some_and(|sync| sync.setting.direction.exports());
    if !exports || space.is_in_step() {
        return Ok(());
    }
    // The revision id is unique, so it is also a unique job id.
    let job = revision.id.as_str().parse().map_err(Error::internal)?;
    let by = Some(revision.by.clone());
    let wake = Wake { job, by, now: revision.created_at, urgency: Urgency::Follows };
    enqueue(tx, space, wake).await.map(drop)
}

/// Resumes a synchronization when the change request with its conflict is merged or archived.
pub(in crate::platform) async fn settled(
    tx: &mut Tx,
    space: &SpaceRecord,
    request: &ChangeRequestId,
    (job, now): (JobId, Timestamp),
) -> Result<()> {
    let conflict = space.git_sync.as_ref().and_then(|sync| sync.conflict.as_ref());
    if conflict.is_some_and(|conflict| conflict.request == *request) {
        enqueue(tx, space, Wake { job, by: None, now, urgency: Urgency::Follows }).await?;
    }
    Ok(())
}

/// Synchronizes a restored space: pushes and scheduled checks were ignored while it was deleted.
pub(in crate::platform) async fn restored(
    tx: &mut Tx,
    space: &SpaceRecord,
    (job, now): (JobId, Timestamp),
) -> Result<()> {
    if space.git_sync.is_some() {
        enqueue(tx, space, Wake { job, by: None, now, urgency: Urgency::Follows }).await?;
    }
    Ok(())
}
