//! A run of a job: what it says of itself while it goes on, and work that its caller waits for.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

use super::{Job, Platform};
use crate::{
    Error, ErrorKind, Result,
    model::{JobId, JobProgress, JobStage, UserId},
    store::{
        Tx,
        jobs::{self, Audience, BeginJob, FinishJob, JobEnd, JobOutcome, NewJob, TellProgress},
        records::{JobLine, JobRecord},
    },
};

/// How long a job that can go on later may go on when its worker is told to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// How often the progress of one stage is stored at most, however much is done in it.
const TOLD_PER_STAGE: u64 = 20;

/// When the worker was told to stop.
pub(super) type Stopping = Arc<OnceLock<Instant>>;

/// One run of a job.
pub(in crate::platform) struct Run {
    /// The job as it was claimed.
    pub(in crate::platform) job: JobRecord,
    /// What happened, for the user.
    pub(in crate::platform) log: Vec<JobLine>,
    /// What came of it, for a run that ends as [`Effect::Done`](super::Effect::Done).
    pub(in crate::platform) outcome: JobOutcome,
    stopping: Stopping,
}

impl Run {
    pub(super) const fn new(job: JobRecord, stopping: Stopping) -> Self {
        Self { job, log: Vec::new(), outcome: JobOutcome { result: None, object: None }, stopping }
    }

    /// Tells whether the worker was told to stop a while ago: a long job that can go on later ends as `Unavailable`.
    pub(in crate::platform) fn is_stopping(&self) -> bool {
        self.stopping.get().is_some_and(|told| told.elapsed() >= STOP_PATIENCE)
    }

    /// Adds a line to the job's log.
    pub(in crate::platform) fn say(&mut self, platform: &Platform, text: String) {
        tracing::info!(job.id = %self.job.id, "{text}");
        self.log.push(JobLine { at: platform.now(), text });
    }

    /// Where the run says how far it is.
    pub(in crate::platform) fn progress<'p>(&self, platform: &'p Platform) -> Progress<'p> {
        // What it works on is no part of what says which run it is.
        let job = JobRecord { payload: serde_json::Value::Null, log: Vec::new(), ..self.job.clone() };
        Progress { platform, job, told: None }
    }

    /// What ends the run in the transaction that stores its effect.
    pub(in crate::platform) fn finish(&self, platform: &Platform, outcome: JobOutcome) -> FinishJob {
        let end = JobEnd::Done(outcome);
        FinishJob { job: self.job.clone(), now: platform.now(), end, log: self.log.clone() }
    }
}

/// Says how far a run is: every stage once, and of what is counted in it so many steps at most.
pub(in crate::platform) struct Progress<'p> {
    platform: &'p Platform,
    job: JobRecord,
    /// The stage, and the step of it, that was said last.
    told: Option<(JobStage, u64)>,
}

impl Progress<'_> {
    /// Begins a stage.
    ///
    /// # Errors
    /// `Conflict` when another worker has taken the job over: what this run does is of no use any more.
    pub(in crate::platform) async fn stage(&mut self, stage: JobStage) -> Result<()> {
        if self.told.is_some_and(|(told, _)| told == stage) {
            return Ok(());
        }
        self.told = Some((stage, 0));
        self.tell(stage, None).await
    }

    /// Says how much of a stage is done.
    ///
    /// # Errors
    /// As [`stage`](Self::stage).
    pub(in crate::platform) async fn count(&mut self, stage: JobStage, of: JobProgress) -> Result<()> {
        let step = 1 + of.done.saturating_mul(TOLD_PER_STAGE - 1) / of.total.max(1);
        if self.told.is_some_and(|told| told == (stage, step)) {
            return Ok(());
        }
        self.told = Some((stage, step));
        self.tell(stage, Some(of)).await
    }

    async fn tell(&self, stage: JobStage, progress: Option<JobProgress>) -> Result<()> {
        let (job, now, lease) = (self.job.clone(), self.platform.now(), self.platform.inner.job_lease);
        match self.platform.upkeep(&TellProgress { job, now, lease, stage, progress }).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::conflict("another worker has taken the job over")),
            // The work goes on all the same; only nobody sees how far it is.
            Err(error) => {
                tracing::warn!(job.id = %self.job.id, error = ?error, "the progress of a job was not stored");
                Ok(())
            }
        }
    }
}

impl Platform {
    /// Begins a job that its caller does and waits for: it is listed, and others see how far it is.
    ///
    /// What is done goes into [`while_leased`](Self::while_leased), and what came of it into
    /// [`end_listed`](Self::end_listed). A caller that dies in the midst of it leaves a job whose lease ends; whoever
    /// then claims it says by [`Job::run`] that it failed.
    pub(in crate::platform) async fn begin_listed<J: Job>(
        &self,
        job: &J,
        subject: &str,
        by: &UserId,
    ) -> Result<Run> {
        let (id, now) = (self.id::<JobId>(), self.now());
        let audience = Audience::Subject { by: Some(by.clone()), same: None };
        let job = NewJob { audience, ..job.about(&id, subject, now)? };
        self.upkeep(&BeginJob { job, now, lease: self.inner.job_lease }).await?;
        let record: Option<Arc<JobRecord>> = self.read().await?.get(&JobRecord::at(&id)).await?;
        let record =
            record.ok_or_else(|| Error::internal(format!("the job {id} was begun and is not there")))?;
        Ok(Run::new(JobRecord::clone(&record), Stopping::default()))
    }

    /// Ends a job that its caller did, unless what it did has ended it already.
    pub(in crate::platform) async fn end_listed<T>(
        &self,
        mut run: Run,
        done: Option<Result<T>>,
    ) -> Result<T> {
        let taken_over = || Err(Error::new(ErrorKind::Unavailable, "this took too long; try again"));
        let done = done.unwrap_or_else(taken_over);
        let end = match &done {
            Ok(_) => JobEnd::Done(std::mem::take(&mut run.outcome)),
            Err(error) => JobEnd::Failed(error.kind(), error.message().to_owned()),
        };
        let id = run.job.id.clone();
        if let Err(error) = self.end_run(run, end).await {
            // What was done is stored, and what was not has its own error; the lease of the job ends.
            tracing::warn!(job.id = %id, error = ?error, "the end of a job was not stored");
        }
        done
    }
}

/// Ends a run in the transaction that stores its effect; refuses the transaction of one that was taken over.
pub(in crate::platform) async fn finish_in(tx: &mut Tx, finish: &FinishJob) -> Result<()> {
    match jobs::finish(tx, finish).await? {
        true => Ok(()),
        false => Err(Error::conflict("another worker has taken the job over")),
    }
}
