//! The schedule: checks a repository for new commits at a fixed interval, for hosts without a webhook.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use serde::{Deserialize, Serialize};

use super::job::import_payload;
use crate::{
    Error, Result,
    model::{BASE32, GitSyncInterval, JobId, SpaceId, Timestamp},
    platform::{
        Platform,
        exchange::git::{no_git, sync::git_error},
        jobs::{Effect, Job, Run, Urgency},
        library::follow::git::{SAME, Wake, enqueue},
    },
    store::{
        Hash, Operation, Tx,
        jobs::{self, FinishJob, JobOutcome},
        records::{JobRecord, SpaceRecord},
    },
};

/// The job that checks the repository of a space for a new commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct RepositoryLook {
    space: SpaceId,
    /// The setting of the job. Another setting has another job.
    generation: String,
}

#[async_trait]
impl Job for RepositoryLook {
    const KIND: &'static str = "git_look";
    const WAITS_FOR_HOSTS: bool = true;

    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect> {
        let space: Option<Arc<SpaceRecord>> =
            platform.read().await?.get(&SpaceRecord::at(&self.space)).await?;
        // Restoring a deleted space schedules a check.
        let space = space.filter(|space| self.is_of(space) && space.deleted_at.is_none());
        let Some(space) = space else { return Ok(Effect::Done) };
        // The next check is scheduled first, so that the failure of this one does not end the schedule.
        platform.upkeep(&NextLook { look: self.clone(), now: platform.now() }).await?;
        let wants = platform.wants_sync(&space, run).await?;
        let finished = run.finish(platform, JobOutcome::default());
        let job = wants.then(|| platform.id());
        platform.upkeep(&StoreLook { look: self, job, finished }).await?;
        Ok(Effect::Finished)
    }
}

impl RepositoryLook {
    fn is_of(&self, space: &SpaceRecord) -> bool {
        space.git_sync.as_ref().is_some_and(|sync| sync.generation == self.generation)
    }
}

impl Platform {
    /// Returns `true` if a synchronization is needed: one of the sides has changed, or the last job has failed.
    async fn wants_sync(&self, space: &SpaceRecord, run: &Run) -> Result<bool> {
        let Some(sync) = &space.git_sync else { return Ok(false) };
        let tx = self.read().await?;
        let failed = jobs::failed_in_a_row(&tx, space.id.as_str(), SAME).await?;
        drop(tx);
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let payload = import_payload(space, sync);
        let found = match payload.url(self, run) {
            Ok(url) => git.resolve(&payload.fetch_of(&url, &sync.setting.reference)).await.map_err(git_error),
            Err(error) => Err(error),
        };
        let oid = match found {
            Ok(oid) => oid,
            Err(error) => {
                tracing::warn!(space = %space.id, error = ?error, "failed to poll repository");
                // A failed job reports the error to users, once.
                return Ok(failed.is_empty());
            }
        };
        let conflict = sync.conflict.as_ref().and_then(|conflict| conflict.then.oid.as_ref());
        let known = conflict.or_else(|| space.git_of(&payload.source()).and_then(|git| git.oid.as_ref()));
        let has_moved = sync.setting.direction.imports() && oid.as_ref() != known;
        let is_behind = sync.setting.direction.exports() && !space.is_in_step() && conflict.is_none();
        let rests = sync.setting.schedule.is_some_and(|interval| rests(&failed, interval, self.now()));
        Ok(!rests && (!failed.is_empty() || has_moved || is_behind))
    }
}

/// Returns `true` if it is too early to retry failed jobs. The first retry is at the next check, the following ones
/// after one more interval, then three, seven and so on, but at least once a day.
fn rests(failed: &[Arc<JobRecord>], interval: GitSyncInterval, now: Timestamp) -> bool {
    let Some(ended) = failed.first().and_then(|job| job.ended_at) else { return false };
    let intervals = (1 << failed.len().saturating_sub(1).min(16)) - 1;
    let rest = TimeDelta::minutes(i64::from(interval.minutes()) * intervals).min(TimeDelta::days(1));
    now.time() - ended.time() < rest
}

/// Schedules the next check.
struct NextLook {
    look: RepositoryLook,
    now: Timestamp,
}

#[async_trait]
impl Operation for NextLook {
    type Out = ();
    const NAME: &'static str = "git_look_next";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(&self.look.space)).await?;
        match space.filter(|space| self.look.is_of(space)) {
            Some(space) => schedule(tx, &space, self.now).await,
            None => Ok(()),
        }
    }
}

/// Records the result of a check.
struct StoreLook {
    look: RepositoryLook,
    /// The id of the synchronization job to enqueue.
    job: Option<JobId>,
    finished: FinishJob,
}

#[async_trait]
impl Operation for StoreLook {
    type Out = ();
    const NAME: &'static str = "git_look";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if !jobs::finish(tx, &self.finished).await? {
            return Ok(());
        }
        // Finished checks are numerous and never listed, so they are deleted.
        tx.delete_all::<JobRecord>(&[JobRecord::at(&self.finished.job.id)]).await?;
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(&self.look.space)).await?;
        let Some(space) = space.filter(|space| self.look.is_of(space)) else { return Ok(()) };
        let now = self.finished.now;
        if let Some(job) = self.job.as_ref().filter(|_| space.deleted_at.is_none()) {
            enqueue(tx, &space, Wake { job: job.clone(), by: None, now, urgency: Urgency::Follows }).await?;
        }
        Ok(())
    }
}

/// Enqueues the next check of a repository, if it is not enqueued yet. Its time and id are derived from the space and
/// the setting, so the operation is idempotent, and the checks of different spaces are spread over time.
pub(in crate::platform) async fn schedule(tx: &mut Tx, space: &SpaceRecord, now: Timestamp) -> Result<()> {
    let Some(sync) = &space.git_sync else { return Ok(()) };
    let Some(interval) = sync.setting.schedule else { return Ok(()) };
    let period = TimeDelta::minutes(interval.minutes().into()).num_milliseconds();
    let name = Hash::of(format!("{} {}", space.id, sync.generation).as_bytes());
    let spread =
        i64::from(u32::from_be_bytes([0, name.as_bytes()[0], name.as_bytes()[1], name.as_bytes()[2]]));
    let offset = spread * 1_000 % period;
    let number = (now.time().timestamp_millis() - offset).div_euclid(period) + 1;
    let due = DateTime::from_timestamp_millis(number * period + offset)
        .ok_or_else(|| Error::internal("the due time is out of range"))?;
    let id = Hash::of(format!("{name} {number}").as_bytes());
    let id: JobId = BASE32.encode(&id.as_bytes()[..16]).parse().map_err(Error::internal)?;
    if tx.get::<JobRecord>(&JobRecord::at(&id)).await?.is_some() {
        return Ok(());
    }
    let look = RepositoryLook { space: space.id.clone(), generation: sync.generation.clone() };
    let job = look.about(&id, &space.id, now)?;
    jobs::enqueue(tx, now, jobs::NewJob { due: Timestamp::new(due), ..job }).await
}
