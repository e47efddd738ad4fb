//! Workers that run background jobs.

use std::{future::Future, sync::Arc, time::Duration};

use chrono::TimeDelta;
use docs_macros::boxed;
use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::{
    BoxFuture, Error, ErrorKind, Result,
    platform::{
        host::{
            kinds::JOB_KINDS,
            tidy::TIDY_CHUNK,
            turns::{ClaimScope, Turns},
        },
        jobs::{
            Effect, catch_panic,
            run::{JOB_STOP_WINDOW, JobRun, StopSignal},
        },
        kernel::{
            metrics::{JOB_DURATION, JOB_FAILURES, JOB_RUNS, error_label},
            platform::Platform,
        },
        search::RoundOutcome,
    },
    store::{
        FeedPos,
        jobs::{self, JobClass},
        records::JobRecord,
        topic,
    },
};

/// Maximum wait of an idle worker, in case a feed notification was lost.
const IDLE_WAIT: Duration = Duration::from_secs(30);

/// Pause of a worker after a store error, to avoid a busy loop while the store is down. No event signals the end of an
/// outage.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// Pause between two batches of search index updates.
///
/// The cost of a batch hardly depends on its size, so the pause groups concurrent writes. It is far shorter than the
/// documented delay before a write becomes searchable.
const SEARCH_BATCH_PAUSE: Duration = Duration::from_millis(200);

/// Interval between housekeeping runs of a worker.
const TIDY_INTERVAL: TimeDelta = TimeDelta::hours(1);

impl Platform {
    /// Runs background jobs and keeps the search index up to date until `stop` completes.
    ///
    /// A running job may then finish within 10 seconds. If it takes longer, it is interrupted, and a worker of another
    /// server or of the next start runs it again. After [`MAX_STARTS`](jobs::MAX_STARTS) (8) starts without a result,
    /// the job fails.
    ///
    /// Run it in a separate task, once per desired concurrent job.
    pub fn work<'a>(&'a self, stop: impl Future<Output = ()> + Send + 'a) -> BoxFuture<'a, ()> {
        self.work_until(Box::pin(stop))
    }

    #[boxed('a)]
    async fn work_until<'a>(&'a self, stop: BoxFuture<'a, ()>) -> () {
        tokio::select! {
            () = self.work_on_jobs(stop) => {}
            () = self.work_on_index() => {}
        }
    }

    async fn work_on_jobs(&self, mut stop: BoxFuture<'_, ()>) {
        let turns = self.inner.memory.get_or_default::<Turns>();
        let _worker = turns.worker();
        let mut seen: Option<FeedPos> = None;
        let stopping = StopSignal::new(Arc::clone(self.clock()));
        let mut tidy_at = self.clock().now();
        loop {
            // Notifications of jobs enqueued from here on end the wait below. They are read before they are trimmed.
            if let Err(error) = self.catch_up(&mut seen).await {
                tracing::warn!(error = ?error, "failed to read job feed");
            }
            if self.clock().now() >= tidy_at {
                tidy_at = self.clock().now() + TIDY_INTERVAL;
                if let Err(error) = self.tidy().await {
                    tracing::warn!(error = ?error, "failed to clean up");
                }
            }
            let reach = turns.reach();
            let is_limited = matches!(reach, ClaimScope::Rest);
            let claimed = self.work_until_stopped(&stopping, &mut stop, reach).await;
            if stopping.is_stopped() {
                return;
            }
            let next = match claimed {
                Ok(jobs::ClaimOutcome::Job(_) | jobs::ClaimOutcome::GivenUp) => {
                    if stop.as_mut().now_or_never().is_some() {
                        return;
                    }
                    continue;
                }
                Ok(jobs::ClaimOutcome::Nothing(next)) => next,
                Err(error) => {
                    tracing::warn!(error = ?error, "failed to claim jobs");
                    tokio::select! {
                        () = &mut stop => return,
                        () = tokio::time::sleep(FAILURE_PAUSE) => continue,
                    }
                }
            };
            let wake = next.map_or_else(|| self.clock().now() + IDLE_WAIT, |next| next.time());
            tokio::select! {
                () = &mut stop => return,
                news = self.store().changed(topic::JOBS, seen.clone(), IDLE_WAIT) => {
                    if news.is_err() {
                        tokio::time::sleep(FAILURE_PAUSE).await;
                    }
                }
                () = self.clock().wait_until(wake) => {}
                () = turns.wait_for_release(), if is_limited => {}
            }
        }
    }

    /// Claims a job and runs it. If the worker is stopped, the job may still finish within [`JOB_STOP_WINDOW`].
    async fn work_until_stopped(
        &self,
        stopping: &Arc<StopSignal>,
        stop: &mut BoxFuture<'_, ()>,
        reach: ClaimScope<'_>,
    ) -> Result<jobs::ClaimOutcome> {
        let working = self.work_once(stopping, reach);
        tokio::pin!(working);
        tokio::select! {
            biased;
            claimed = &mut working => claimed,
            () = stop => {
                stopping.stop();
                working.await
            }
        }
    }

    /// Keeps the search index up to date. Never returns.
    async fn work_on_index(&self) {
        let Some(follower) = self.follower() else { return std::future::pending().await };
        let _turn = follower.turn().await;
        loop {
            match catch_panic(self.index_batch(&follower)).await {
                Ok(RoundOutcome::Changed) => tokio::time::sleep(SEARCH_BATCH_PAUSE).await,
                Ok(RoundOutcome::Unfinished) => tokio::task::yield_now().await,
                Ok(RoundOutcome::Current(seen)) => {
                    if self.store().changed(topic::HEAD, seen, IDLE_WAIT).await.is_err() {
                        tokio::time::sleep(FAILURE_PAUSE).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(error = ?error, "failed to update search index");
                    tokio::time::sleep(FAILURE_PAUSE).await;
                }
            }
        }
    }

    /// Runs all work that is due according to the platform's clock. Returns the number of jobs run.
    ///
    /// Earlier writes are searchable afterwards. For tests, and for applications with their own scheduling.
    ///
    /// # Errors
    /// Errors of the store and of the search index.
    #[boxed('a)]
    pub async fn settle<'a>(&'a self) -> Result<usize> {
        let mut ran = 0;
        let stopping = StopSignal::new(Arc::clone(self.clock()));
        loop {
            match self.work_once(&stopping, ClaimScope::All(None)).await? {
                jobs::ClaimOutcome::Job(_) => ran += 1,
                jobs::ClaimOutcome::GivenUp => {}
                jobs::ClaimOutcome::Nothing(_) => break,
            }
        }
        self.index_all().await?;
        Ok(ran)
    }

    /// Claims a job, runs it and stores its result.
    async fn work_once(
        &self,
        stopping: &Arc<StopSignal>,
        reach: ClaimScope<'_>,
    ) -> Result<jobs::ClaimOutcome> {
        let turns = self.inner.memory.get_or_default::<Turns>();
        let claiming = turns.claim().await;
        let busy = match &reach {
            // A caller that is not a worker runs all due jobs.
            ClaimScope::All(None) => Vec::new(),
            ClaimScope::All(Some(_)) | ClaimScope::Rest => turns.busy(),
        };
        let (now, lease, classes) = (self.now(), self.inner.job_lease, reach.classes());
        let claimed = self.upkeep(&jobs::ClaimJob { now, lease, classes, busy }).await?;
        if let jobs::ClaimOutcome::Job(id) = &claimed {
            let job: Option<Arc<JobRecord>> = self.read().await?.get(&JobRecord::key_for(id)).await?;
            let job = job.ok_or_else(|| Error::internal(format!("the claimed job {id} does not exist")))?;
            let _turn = reach.turn().filter(|_| job.class == JobClass::Remote);
            let _share = job.owner.as_deref().map(|owner| turns.share(owner, job.class));
            drop(claiming);
            self.run_job(JobRecord::clone(&job), stopping).await?;
        }
        Ok(claimed)
    }

    async fn run_job(&self, job: JobRecord, stopping: &Arc<StopSignal>) -> Result<()> {
        tracing::info!(job.id = %job.id, job.kind, job.subject, attempt = job.attempt, "job started");
        let counted = JobCount { platform: self, kind: kind_label(&job.kind), since: Instant::now() };
        let mut run = JobRun::new(job, Arc::clone(stopping));
        let leased = run.job.clone();
        let result = tokio::select! {
            biased;
            result = self.with_lease_renewal(&leased, catch_panic(self.do_job(&mut run))) => Some(result),
            () = stopping.wait_for(JOB_STOP_WINDOW) => None,
        };
        let end = match result {
            Some(None) => {
                counted.end("taken_over");
                return Ok(());
            }
            Some(Some(Ok(Effect::Finished))) => {
                tracing::info!(job.id = %leased.id, leased.kind, "job done");
                counted.end("done");
                return Ok(());
            }
            None => {
                tracing::warn!(job.id = %leased.id, leased.kind, "interrupt job; the worker stops");
                // If the run has committed its effect in the meantime, it has also ended the job, and this result is
                // ignored.
                jobs::JobEnd::Retry(self.now(), "the server stopped before the job ended".to_owned())
            }
            Some(Some(Ok(Effect::Done))) => jobs::JobEnd::Done(std::mem::take(&mut run.outcome)),
            Some(Some(Err(error))) => {
                self.metrics().add(&JOB_FAILURES, &[counted.kind, error_label(error.kind())], 1);
                self.job_end_for(&leased, &error)
            }
        };
        counted.end(match &end {
            jobs::JobEnd::Done(_) => "done",
            jobs::JobEnd::Failed(..) => "failed",
            jobs::JobEnd::Retry(..) => "again",
        });
        self.end_run(run, end).await
    }

    /// Maps an error to the outcome of a run. Transient errors are retried.
    pub(in crate::platform) fn job_end_for(&self, job: &JobRecord, error: &Error) -> jobs::JobEnd {
        tracing::warn!(job.id = %job.id, job.kind, job.subject, error = ?error, "job failed");
        match error.kind() {
            ErrorKind::Unavailable => jobs::JobEnd::Retry(
                jobs::again_at(self.clock().now(), job.attempt),
                error.message().to_owned(),
            ),
            kind => jobs::JobEnd::Failed(kind, error.message().to_owned()),
        }
    }

    async fn do_job(&self, run: &mut JobRun) -> Result<Effect> {
        let kind = JOB_KINDS.iter().find(|kind| kind.name == run.job.kind);
        let kind =
            kind.ok_or_else(|| Error::internal(format!("the job kind `{}` is unknown", run.job.kind)))?;
        (kind.run)(self, run).await
    }

    /// Advances past the existing notifications.
    async fn catch_up(&self, seen: &mut Option<FeedPos>) -> Result<()> {
        loop {
            let news = self.store().changes(topic::JOBS, seen.clone(), TIDY_CHUNK).await?;
            match news.last() {
                Some((last, _)) => *seen = Some(last.clone()),
                None => return Ok(()),
            }
        }
    }
}

/// Records the metrics of a job run when it ends.
struct JobCount<'p> {
    platform: &'p Platform,
    kind: &'static str,
    since: Instant,
}

impl JobCount<'_> {
    fn end(self, outcome: &'static str) {
        let metrics = self.platform.metrics();
        metrics.add(&JOB_RUNS, &[self.kind, outcome], 1);
        metrics.observe(&JOB_DURATION, &[self.kind], self.since.elapsed());
    }
}

/// Returns the value of the `kind` label. A job of another version may have an unknown kind.
fn kind_label(kind: &str) -> &'static str {
    JOB_KINDS.iter().find(|known| known.name == kind).map_or("unknown", |known| known.name)
}
