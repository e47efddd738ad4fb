//! When space and repository are brought in step: whoever changes one of them enqueues the job, of which at most one
//! waits.

use serde::{Deserialize, Serialize};

use super::{super::sync::lane, look};
use crate::{
    Error, Result,
    model::{ChangeRequestId, JobId, SpaceId, Timestamp, UserId},
    platform::jobs::{Job as _, Urgency},
    store::{
        Tx,
        jobs::{self, Audience, NewJob},
        records::{RevisionRecord, SpaceRecord},
    },
};

/// What tells these jobs from others of their space.
pub(super) const SAME: &str = "git sync";

/// The job that brings a space and its repository in step, as the setting of the space says when it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct SyncRun {
    pub(super) space: SpaceId,
}

/// What enqueues the job.
pub(super) struct Wake {
    /// The id that the job gets, if there is to be another one.
    pub(super) job: JobId,
    pub(super) by: Option<UserId>,
    pub(super) now: Timestamp,
    pub(super) urgency: Urgency,
}

/// Enqueues the job of a space that has a setting, unless one waits already, which will see what this one would.
pub(super) async fn enqueue(tx: &mut Tx, space: &SpaceRecord, wake: Wake) -> Result<JobId> {
    look::schedule(tx, space, wake.now).await?;
    if let Some(waiting) = jobs::waiting_for_the_same(tx, space.id.as_str(), SAME).await? {
        if wake.urgency == Urgency::Asked {
            jobs::hasten_lane(tx, &lane(&space.id), wake.now).await?;
        }
        return Ok(waiting.id.clone());
    }
    // Whatever the clock of this server says, it is later than what was applied.
    let applied = space.git.as_ref().and_then(|git| git.event_at);
    let event_at = wake.now.max(applied.unwrap_or(wake.now));
    let job = SyncRun { space: space.id.clone() }.about(&wake.job, &space.id, wake.now)?;
    let audience = Audience::Subject { by: wake.by, same: Some(SAME.to_owned()) };
    jobs::enqueue(tx, wake.now, NewJob { audience, lane: Some((lane(&space.id), event_at)), ..job }).await?;
    Ok(wake.job)
}

/// Brings the repository that follows a space in step with a revision that has become its live content.
pub(in crate::platform) async fn follow(
    tx: &mut Tx,
    space: &SpaceRecord,
    revision: &RevisionRecord,
) -> Result<()> {
    let exports = space.git_sync.as_ref().is_some_and(|sync| sync.setting.direction.exports());
    if !exports || space.is_in_step() {
        return Ok(());
    }
    // The revision is nobody else's, so its id is none of another job.
    let job = revision.id.as_str().parse().map_err(Error::internal)?;
    let by = Some(revision.by.clone());
    let wake = Wake { job, by, now: revision.created_at, urgency: Urgency::Follows };
    enqueue(tx, space, wake).await.map(drop)
}

/// Goes on with a synchronization that waited for a change request which is merged or archived now.
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

/// Brings a space in step that was deleted and is there again: pushes and looks have passed it over.
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
