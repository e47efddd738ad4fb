//! Job runs: log, progress, and jobs whose caller runs them and waits for the result.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use super::Payload;
use crate::{
    Error, ErrorKind, Result,
    model::{JobId, JobProgress, JobStage, UserId},
    platform::kernel::platform::Platform,
    ports::Clock,
    store::{
        Tx,
        jobs::{self, Audience, BeginJob, FinishJob, JobEnd, JobOutcome, NewJob, TellProgress},
        records::{JobLine, JobRecord, SpaceRecord},
    },
};

/// Time for which a resumable job may continue after its worker is stopped.
const STOP_GRACE_PERIOD: TimeDelta = TimeDelta::seconds(5);
/// Time after which a stopped worker interrupts its job. Longer than [`STOP_GRACE_PERIOD`], so that a resumable job can
/// end itself. Shorter than the 30 seconds after which service managers kill a process that was asked to stop.
pub(in crate::platform) const JOB_STOP_WINDOW: TimeDelta = TimeDelta::seconds(10);
/// Maximum number of progress updates stored per stage.
const MAX_UPDATES_PER_STAGE: u64 = 20;

/// Signals that a worker was stopped.
pub(in crate::platform) struct StopSignal {
    clock: Arc<dyn Clock>,
    stopped_at: watch::Sender<Option<DateTime<Utc>>>,
}

impl StopSignal {
    pub(in crate::platform) fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, stopped_at: watch::Sender::default() })
    }

    /// Records the time of the stop.
    pub(in crate::platform) fn stop(&self) {
        self.stopped_at.send_replace(Some(self.clock.now()));
    }

    pub(in crate::platform) fn is_stopped(&self) -> bool {
        self.stopped_at.borrow().is_some()
    }

    /// Waits until `time` has passed since the worker was stopped. Never returns while the worker is not stopped.
    pub(in crate::platform) async fn wait_for(&self, time: TimeDelta) {
        let mut stops = self.stopped_at.subscribe();
        // The sender lives as long as `self`, so only a stop ends the wait.
        let stopped_at = stops.wait_for(Option::is_some).await.ok().and_then(|at| *at);
        if let Some(at) = stopped_at {
            self.clock.wait_until(at + time).await;
        }
    }
}

pub(in crate::platform) struct JobRun {
    /// The job as claimed.
    pub(in crate::platform) job: JobRecord,
    /// Log for the user.
    pub(in crate::platform) log: Vec<JobLine>,
    /// Outcome of a run that ends as [`Effect::Done`](super::Effect::Done).
    pub(in crate::platform) outcome: JobOutcome,
    stopping: Arc<StopSignal>,
}

impl JobRun {
    pub(in crate::platform) const fn new(job: JobRecord, stopping: Arc<StopSignal>) -> Self {
        Self { job, log: Vec::new(), outcome: JobOutcome { result: None, object: None }, stopping }
    }

    /// Returns `true` if the worker was stopped at least [`STOP_GRACE_PERIOD`] ago. A long resumable job should then
    /// end with `Unavailable`.
    pub(in crate::platform) fn is_stopping(&self) -> bool {
        let stopped_at = *self.stopping.stopped_at.borrow();
        stopped_at.is_some_and(|at| self.stopping.clock.now() >= at + STOP_GRACE_PERIOD)
    }

    /// Appends a line to the job log.
    pub(in crate::platform) fn append_log(&mut self, platform: &Platform, text: String) {
        tracing::info!(job.id = %self.job.id, "{text}");
        self.log.push(JobLine { at: platform.now(), text });
    }

    /// Returns the progress reporter of the run.
    pub(in crate::platform) fn progress<'p>(&self, platform: &'p Platform) -> Progress<'p> {
        // The payload and log are not needed to identify the run.
        let job = JobRecord { payload: serde_json::Value::Null, log: Vec::new(), ..self.job.clone() };
        Progress { platform, job, told: None }
    }

    /// Returns the operation that finishes the run, to include in the transaction that stores its effect.
    pub(in crate::platform) fn finish(&self, platform: &Platform, outcome: JobOutcome) -> FinishJob {
        let end = JobEnd::Done(outcome);
        FinishJob { job: self.job.clone(), now: platform.now(), end, log: self.log.clone() }
    }
}

/// Reports the progress of a run. Each stage is reported once, and counts within it at most [`MAX_UPDATES_PER_STAGE`]
/// times.
pub(in crate::platform) struct Progress<'p> {
    platform: &'p Platform,
    job: JobRecord,
    /// The last reported stage and step.
    told: Option<(JobStage, u64)>,
}

impl Progress<'_> {
    /// Starts a stage.
    ///
    /// # Errors
    /// `Conflict` if another worker has taken over the job and this run is obsolete.
    pub(in crate::platform) async fn stage(&mut self, stage: JobStage) -> Result<()> {
        if self.told.is_some_and(|(told, _)| told == stage) {
            return Ok(());
        }
        self.told = Some((stage, 0));
        self.report(stage, None).await
    }

    /// Reports the progress within a stage.
    ///
    /// # Errors
    /// Same as [`stage`](Self::stage).
    pub(in crate::platform) async fn count(&mut self, stage: JobStage, of: JobProgress) -> Result<()> {
        let step = 1 + of.done.saturating_mul(MAX_UPDATES_PER_STAGE - 1) / of.total.max(1);
        if self.told.is_some_and(|told| told == (stage, step)) {
            return Ok(());
        }
        self.told = Some((stage, step));
        self.report(stage, Some(of)).await
    }

    async fn report(&self, stage: JobStage, progress: Option<JobProgress>) -> Result<()> {
        let (job, now, lease) = (self.job.clone(), self.platform.now(), self.platform.inner.job_lease);
        match self.platform.upkeep(&TellProgress { job, now, lease, stage, progress }).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::conflict("the lease of the job belongs to another worker")),
            // The work continues, but its progress is not visible.
            Err(error) => {
                tracing::warn!(job.id = %self.job.id, error = ?error, "failed to store progress of job");
                Ok(())
            }
        }
    }
}

impl Platform {
    /// Begins a job of a space that the caller runs itself. The job is listed, and other users can see its progress.
    ///
    /// The work runs in [`with_lease_renewal`](Platform::with_lease_renewal); its outcome is passed to
    /// [`end_listed_job`](Self::end_listed_job). If the caller dies, the lease expires, and the worker that claims the
    /// job fails it through [`Job::run`].
    pub(in crate::platform) async fn begin_listed_job<J: Payload>(
        &self,
        job: &J,
        space: &SpaceRecord,
        by: &UserId,
    ) -> Result<JobRun> {
        let (id, now) = (self.id::<JobId>(), self.now());
        let audience = Audience::Subject { by: Some(by.clone()), same: None };
        let owner = Some(space.organization.to_string());
        let job = NewJob { audience, owner, ..job.to_new_job(&id, &space.id, now)? };
        self.upkeep(&BeginJob { job, now, lease: self.inner.job_lease }).await?;
        let record: Option<Arc<JobRecord>> = self.read().await?.get(&JobRecord::key_for(&id)).await?;
        let record = record.ok_or_else(|| Error::internal(format!("the started job {id} does not exist")))?;
        Ok(JobRun::new(JobRecord::clone(&record), StopSignal::new(Arc::clone(self.clock()))))
    }

    /// Ends a job run by its caller, unless the work has already ended it.
    pub(in crate::platform) async fn end_listed_job<T>(
        &self,
        mut run: JobRun,
        done: Option<Result<T>>,
    ) -> Result<T> {
        let taken_over = || {
            Err(Error::new(
                ErrorKind::Unavailable,
                "the job was cancelled or exceeded its time limit; try again",
            ))
        };
        let done = done.unwrap_or_else(taken_over);
        let end = match &done {
            Ok(_) => JobEnd::Done(std::mem::take(&mut run.outcome)),
            Err(error) => JobEnd::Failed(error.kind(), error.message().to_owned()),
        };
        let id = run.job.id.clone();
        if let Err(error) = self.end_run(run, end).await {
            // The effect is stored or has reported its own error. The lease of the job will expire.
            tracing::warn!(job.id = %id, error = ?error, "failed to store result of job");
        }
        done
    }
}

/// Finishes a run in the transaction that stores its effect. Rejects the transaction if another worker took over the
/// job.
pub(in crate::platform) async fn finish_in(tx: &mut Tx, finish: &FinishJob) -> Result<()> {
    match jobs::finish(tx, finish).await? {
        true => Ok(()),
        false => Err(Error::conflict("the lease of the job belongs to another worker")),
    }
}
