//! The schedule: checks a repository for new commits at a fixed interval, for hosts without a webhook.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use docs_macros::operation;

use super::job::import_payload;
use crate::{
    Result,
    model::{GitSyncInterval, JobId, Timestamp},
    platform::{
        exchange::git::{no_git, sync::git_error},
        jobs::{Effect, Job, JobRun, Urgency},
        kernel::platform::Platform,
        library::follow::git::{NewSyncJob, RepositoryPoll, SYNC_JOB_GROUP, enqueue, schedule},
    },
    store::{
        Tx,
        jobs::{self, FinishJob, JobOutcome},
        records::{JobRecord, SpaceRecord},
    },
};

#[async_trait]
impl Job for RepositoryPoll {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let space: Option<Arc<SpaceRecord>> =
            platform.read().await?.get(&SpaceRecord::key_for(&self.space)).await?;
        // Restoring a deleted space schedules a check.
        let space = space.filter(|space| self.matches(space) && space.deleted_at.is_none());
        let Some(space) = space else { return Ok(Effect::Done) };
        // The next check is scheduled first, so that a failure of this one does not end the schedule.
        platform.upkeep(&next_look(&self, platform.now())).await?;
        let wants = platform.needs_sync(&space, run).await?;
        let finished = run.finish(platform, JobOutcome::default());
        let job = wants.then(|| platform.id());
        platform.upkeep(&store_look(&self, job.as_ref(), &finished)).await?;
        Ok(Effect::Finished)
    }
}

impl RepositoryPoll {
    fn matches(&self, space: &SpaceRecord) -> bool {
        space.git_sync.as_ref().is_some_and(|sync| sync.generation == self.generation)
    }
}

impl Platform {
    /// Returns `true` if a synchronization is needed: one of the sides has changed, or the last job has failed.
    async fn needs_sync(&self, space: &SpaceRecord, run: &JobRun) -> Result<bool> {
        let Some(sync) = &space.git_sync else { return Ok(false) };
        let tx = self.read().await?;
        let failed = jobs::failed_in_a_row(&tx, space.id.as_str(), SYNC_JOB_GROUP).await?;
        drop(tx);
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let payload = import_payload(space, sync);
        let found = match payload.url(self, run) {
            Ok(url) => {
                git.resolve(&payload.fetch_request(&url, &sync.setting.reference)).await.map_err(git_error)
            }
            Err(error) => Err(error),
        };
        let oid = match found {
            Ok(oid) => oid,
            Err(error) => {
                tracing::warn!(space = %space.id, error = ?error, "failed to poll repository");
                // A failed job reports the error to users once.
                return Ok(failed.is_empty());
            }
        };
        let conflict = sync.conflict.as_ref().and_then(|conflict| conflict.then.oid.as_ref());
        let known =
            conflict.or_else(|| space.git_state_for(&payload.source()).and_then(|git| git.oid.as_ref()));
        let has_moved = sync.setting.direction.imports() && oid.as_ref() != known;
        let is_behind = sync.setting.direction.exports() && !space.is_in_sync() && conflict.is_none();
        let rests =
            sync.setting.schedule.is_some_and(|interval| is_backing_off(&failed, interval, self.now()));
        Ok(!rests && (!failed.is_empty() || has_moved || is_behind))
    }
}

/// Returns `true` if it is too early to retry failed jobs. The first retry runs at the next check. Later retries wait
/// for one more interval, then three, seven and so on, but at most one day.
fn is_backing_off(failed: &[Arc<JobRecord>], interval: GitSyncInterval, now: Timestamp) -> bool {
    let Some(ended) = failed.first().and_then(|job| job.ended_at) else { return false };
    let intervals = (1 << failed.len().saturating_sub(1).min(16)) - 1;
    let rest = TimeDelta::minutes(i64::from(interval.minutes()) * intervals).min(TimeDelta::days(1));
    now.time() - ended.time() < rest
}

/// Schedules the next check.
#[operation("git_look_next")]
async fn next_look(tx: &mut Tx, look: &RepositoryPoll, now: Timestamp) -> Result<()> {
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&look.space)).await?;
    match space.filter(|space| look.matches(space)) {
        Some(space) => schedule(tx, &space, now).await,
        None => Ok(()),
    }
}

/// Records the result of a check, and enqueues the synchronization `job`.
#[operation("git_look")]
async fn store_look(
    tx: &mut Tx,
    look: &RepositoryPoll,
    job: Option<&JobId>,
    finished: &FinishJob,
) -> Result<()> {
    if !jobs::finish(tx, finished).await? {
        return Ok(());
    }
    // Finished checks are numerous and never listed, so their records are deleted.
    tx.delete_all::<JobRecord>(&[JobRecord::key_for(&finished.job.id)]).await?;
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&look.space)).await?;
    let Some(space) = space.filter(|space| look.matches(space)) else { return Ok(()) };
    let now = finished.now;
    if let Some(job) = job.filter(|_| space.deleted_at.is_none()) {
        enqueue(tx, &space, NewSyncJob { job: job.clone(), by: None, now, urgency: Urgency::FollowUp })
            .await?;
    }
    Ok(())
}
