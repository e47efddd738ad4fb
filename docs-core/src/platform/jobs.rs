//! Workers that run background jobs.

mod run;

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::FutureExt as _;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use self::run::Stopping;
pub(super) use self::run::{Progress, Run, finish_in};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{JobId, Timestamp},
    platform::{
        Platform,
        content::{comments, openapi_specs},
        exchange::{git, import, pdf, translations},
        host::{collect, purge, tidy::TIDY_CHUNK, turns::Reach},
        kernel::metrics::{JOB_DURATION, JOB_FAILURES, JOB_RUNS, error_label},
        library::{collections, follow, spaces},
        people::{joining, members, teams},
        search::Round,
        sites::settings,
    },
    store::{
        FeedPos,
        jobs::{self, Audience, NewJob, PutOff},
        records::{JobLine, JobRecord},
        topic,
    },
};

/// Maximum wait of an idle worker, in case a notification of the feed was lost.
const IDLE_WAIT: Duration = Duration::from_secs(30);
/// Pause of a worker after a store error.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Pause between two batches for the search index.
///
/// The cost of a batch hardly depends on its size, so the pause collects concurrent writes. It is far shorter than the
/// documented delay until searches find a write.
const SEARCH_BATCH_PAUSE: Duration = Duration::from_millis(200);
/// Interval between housekeeping runs of a worker.
const TIDY_EVERY: TimeDelta = TimeDelta::hours(1);

/// Urgency of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Urgency {
    /// Requested by a user: a postponed retry is run immediately.
    Asked,
    /// Follows from a change: a postponed retry stays postponed. Otherwise a burst of changes would use up the attempts
    /// while a dependency is unreachable.
    Follows,
}

/// A kind of background job: its payload and its implementation.
///
/// Each implementation has to be listed in [`JOB_KINDS`]. A run may end at any point, for example by a crash, and the
/// job is run again.
#[async_trait]
pub(super) trait Job: Serialize + DeserializeOwned + Send + Sync {
    /// Name of the kind in the store.
    const KIND: &'static str;

    /// `true` if the job waits for external hosts, which may be slow; other jobs do not wait for these.
    const WAITS_FOR_HOSTS: bool = false;

    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect>;

    /// Creates the maintenance job to enqueue, outside any lane and due immediately.
    ///
    /// # Errors
    /// `Internal` for a payload that cannot be serialized.
    fn about(&self, id: &JobId, subject: impl ToString, now: Timestamp) -> Result<NewJob> {
        let payload = serde_json::to_value(self).map_err(Error::internal)?;
        let (id, subject) = (id.clone(), subject.to_string());
        let audience = Audience::Operator;
        Ok(NewJob {
            id,
            kind: Self::KIND,
            payload,
            subject,
            audience,
            lane: None,
            put_off: PutOff::Holds,
            due: now,
        })
    }
}

struct Kind {
    name: &'static str,
    waits_for_hosts: bool,
    run: for<'a> fn(&'a Platform, &'a mut Run) -> BoxFuture<'a, Result<Effect>>,
}

impl Kind {
    const fn of<J: Job>() -> Self {
        Self {
            name: J::KIND,
            waits_for_hosts: J::WAITS_FOR_HOSTS,
            run: |platform, run| {
                Box::pin(async move {
                    let job: J = serde_json::from_value(run.job.payload.clone()).map_err(Error::internal)?;
                    job.run(platform, run).await
                })
            },
        }
    }
}

/// All kinds of jobs.
const JOB_KINDS: &[Kind] = &[
    Kind::of::<purge::PurgeSpace>(),
    Kind::of::<spaces::MarkTrash>(),
    Kind::of::<members::ClearMember>(),
    Kind::of::<joining::RedeemInvites>(),
    Kind::of::<git::ImportPayload>(),
    Kind::of::<git::ExportPayload>(),
    Kind::of::<follow::git::SyncRun>(),
    Kind::of::<git::RepositoryLook>(),
    Kind::of::<import::ImportRun>(),
    Kind::of::<pdf::PdfWork>(),
    Kind::of::<openapi_specs::process::ProcessSpec>(),
    Kind::of::<openapi_specs::PurgeSpec>(),
    Kind::of::<collections::PurgeGrants>(),
    Kind::of::<comments::PurgeReplies>(),
    Kind::of::<teams::PurgeTeam>(),
    Kind::of::<settings::PurgeSettings>(),
    Kind::of::<settings::PurgeRedirects>(),
    Kind::of::<collect::CollectObjects>(),
    Kind::of::<translations::TranslateSpace>(),
    Kind::of::<translations::FollowGlossary>(),
    Kind::of::<translations::PurgeTranslation>(),
];

/// State of a job after its run succeeded.
pub(super) enum Effect {
    /// The work is done; the job still has to be finished.
    Done,
    /// The work is done, and the same transaction finished the job.
    Finished,
}

impl Platform {
    /// Runs background jobs and keeps the search index up to date until `stop` completes. The job in flight is finished
    /// first.
    ///
    /// Run it as a separate task, once per job that may run concurrently.
    pub fn work<'a>(&'a self, stop: impl Future<Output = ()> + Send + 'a) -> BoxFuture<'a, ()> {
        self.work_until(Box::pin(stop))
    }

    fn work_until<'a>(&'a self, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            tokio::select! {
                () = self.work_on_jobs(stop) => {}
                () = self.work_on_index() => {}
            }
        })
    }

    async fn work_on_jobs(&self, mut stop: BoxFuture<'_, ()>) {
        let _worker = self.inner.turns.worker();
        let mut seen: Option<FeedPos> = None;
        let stopping = Stopping::default();
        let mut tidy_at = self.clock().now();
        loop {
            // Notifications of jobs enqueued from here on end the wait below. They are read before they are trimmed.
            if let Err(error) = self.catch_up(&mut seen).await {
                tracing::warn!(error = ?error, "failed to read job feed");
            }
            if self.clock().now() >= tidy_at {
                tidy_at = self.clock().now() + TIDY_EVERY;
                if let Err(error) = self.tidy().await {
                    tracing::warn!(error = ?error, "failed to clean up");
                }
            }
            let reach = self.inner.turns.reach();
            let is_limited = matches!(reach, Reach::Rest);
            let claimed = self.work_until_stopped((&stopping, &mut stop), reach).await;
            if stopping.get().is_some() {
                return;
            }
            let next = match claimed {
                Ok(jobs::Claimed::Job(_) | jobs::Claimed::GivenUp) => {
                    if stop.as_mut().now_or_never().is_some() {
                        return;
                    }
                    continue;
                }
                Ok(jobs::Claimed::Nothing(next)) => next,
                Err(error) => {
                    tracing::warn!(error = ?error, "failed to claim jobs");
                    tokio::select! {
                        () = &mut stop => return,
                        () = tokio::time::sleep(AFTER_FAILURE) => continue,
                    }
                }
            };
            let wake = next.map_or_else(|| self.clock().now() + IDLE_WAIT, |next| next.time());
            tokio::select! {
                () = &mut stop => return,
                news = self.store().changed(topic::JOBS, seen.clone(), IDLE_WAIT) => {
                    if news.is_err() {
                        tokio::time::sleep(AFTER_FAILURE).await;
                    }
                }
                () = self.clock().wait_until(wake) => {}
                () = self.inner.turns.freed(), if is_limited => {}
            }
        }
    }

    /// Claims a job and runs it. A job in flight is finished even if the worker is stopped.
    async fn work_until_stopped(
        &self,
        (stopping, stop): (&Stopping, &mut BoxFuture<'_, ()>),
        reach: Reach<'_>,
    ) -> Result<jobs::Claimed> {
        let working = self.work_once(stopping, reach);
        tokio::pin!(working);
        tokio::select! {
            biased;
            claimed = &mut working => claimed,
            () = stop => {
                stopping.get_or_init(Instant::now);
                working.await
            }
        }
    }

    /// Keeps the search index up to date; never returns.
    async fn work_on_index(&self) {
        let Some(follower) = self.follower() else { return std::future::pending().await };
        let _turn = follower.turn().await;
        loop {
            match unpanicked(self.index_some(follower)).await {
                Ok(Round::Some) => tokio::time::sleep(SEARCH_BATCH_PAUSE).await,
                Ok(Round::None(seen)) => {
                    if self.store().changed(topic::HEAD, seen, IDLE_WAIT).await.is_err() {
                        tokio::time::sleep(AFTER_FAILURE).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(error = ?error, "failed to update search index");
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    /// Runs everything that is due by the platform's clock; returns the number of jobs run.
    ///
    /// Earlier writes are searchable afterwards. For tests, and for applications with their own scheduling.
    ///
    /// # Errors
    /// Errors of the store and of the search index.
    pub fn settle<'a>(&'a self) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move {
            let mut ran = 0;
            let stopping = Stopping::default();
            loop {
                match self.work_once(&stopping, Reach::All(None)).await? {
                    jobs::Claimed::Job(_) => ran += 1,
                    jobs::Claimed::GivenUp => {}
                    jobs::Claimed::Nothing(_) => break,
                }
            }
            self.index_all().await?;
            Ok(ran)
        })
    }

    /// Claims a job, runs it and finishes it.
    async fn work_once(&self, stopping: &Stopping, reach: Reach<'_>) -> Result<jobs::Claimed> {
        let but = match &reach {
            Reach::All(_) => Vec::new(),
            Reach::Rest => {
                JOB_KINDS.iter().filter(|kind| kind.waits_for_hosts).map(|kind| kind.name).collect()
            }
        };
        let claimed =
            self.upkeep(&jobs::ClaimJob { now: self.now(), lease: self.inner.job_lease, but }).await?;
        if let jobs::Claimed::Job(id) = &claimed {
            let job: Option<Arc<JobRecord>> = self.read().await?.get(&JobRecord::at(id)).await?;
            let job = job.ok_or_else(|| Error::internal(format!("the claimed job {id} does not exist")))?;
            let waits = JOB_KINDS.iter().any(|kind| kind.name == job.kind && kind.waits_for_hosts);
            let _turn = reach.turn().filter(|_| waits);
            self.run_job(JobRecord::clone(&job), stopping).await?;
        }
        Ok(claimed)
    }

    async fn run_job(&self, job: JobRecord, stopping: &Stopping) -> Result<()> {
        tracing::info!(job.id = %job.id, job.kind, job.subject, attempt = job.attempt, "job started");
        let counted = JobCount { platform: self, kind: kind_label(&job.kind), since: Instant::now() };
        let mut run = Run::new(job, Arc::clone(stopping));
        let leased = run.job.clone();
        let result = self.while_leased(&leased, unpanicked(self.do_job(&mut run))).await;
        let end = match result {
            None => {
                counted.end("taken_over");
                return Ok(());
            }
            Some(Ok(Effect::Finished)) => {
                tracing::info!(job.id = %leased.id, leased.kind, "job done");
                counted.end("done");
                return Ok(());
            }
            Some(Ok(Effect::Done)) => jobs::JobEnd::Done(std::mem::take(&mut run.outcome)),
            Some(Err(error)) => {
                self.metrics().add(&JOB_FAILURES, &[counted.kind, error_label(error.kind())], 1);
                self.end_of(&leased, &error)
            }
        };
        counted.end(match &end {
            jobs::JobEnd::Done(_) => "done",
            jobs::JobEnd::Failed(..) => "failed",
            jobs::JobEnd::Again(..) => "again",
        });
        self.end_run(run, end).await
    }

    /// Renews the lease of a job while a future runs; `None` if another worker has taken the job over.
    pub(super) async fn while_leased<T>(
        &self,
        job: &JobRecord,
        doing: impl Future<Output = Result<T>>,
    ) -> Option<Result<T>> {
        tokio::pin!(doing);
        let lease = self.inner.job_lease;
        loop {
            let renewal = self.clock().now() + lease / 3;
            tokio::select! {
                result = &mut doing => return Some(result),
                () = self.clock().wait_until(renewal) => {
                    match self.upkeep(&jobs::RenewJob { job: job.clone(), now: self.now(), lease }).await {
                        Ok(true) => {}
                        Ok(false) => {
                            tracing::warn!(job.id = %job.id, "stop job; another worker has it");
                            return None;
                        }
                        // The lease is still valid, and the next renewal comes before it expires.
                        Err(error) => {
                            tracing::warn!(job.id = %job.id, error = ?error, "failed to renew lease");
                        }
                    }
                }
            }
        }
    }

    /// Stores the end of a run, unless the job was taken over or has already ended.
    async fn end_run(&self, mut run: Run, end: jobs::JobEnd) -> Result<()> {
        if let jobs::JobEnd::Failed(_, why) | jobs::JobEnd::Again(_, why) = &end {
            run.log.push(JobLine { at: self.now(), text: why.clone() });
        }
        let finish = jobs::FinishJob { job: run.job, now: self.now(), end, log: run.log };
        match self.upkeep(&finish).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
            // The store rejects the log or the reason. The job ends without them.
            Err(error) => {
                tracing::error!(job.id = %finish.job.id, error = ?error, "failed to store result of job");
                let why = "failed to store the result; see the log of the server";
                let end = jobs::JobEnd::Failed(ErrorKind::Internal, why.to_owned());
                self.upkeep(&jobs::FinishJob { end, log: Vec::new(), ..finish }).await.map(drop)
            }
        }
    }

    /// Maps a failure to the end of a run: transient errors are retried.
    fn end_of(&self, job: &JobRecord, error: &Error) -> jobs::JobEnd {
        tracing::warn!(job.id = %job.id, job.kind, job.subject, error = ?error, "job failed");
        match error.kind() {
            ErrorKind::Unavailable => jobs::JobEnd::Again(
                jobs::again_at(self.clock().now(), job.attempt),
                error.message().to_owned(),
            ),
            kind => jobs::JobEnd::Failed(kind, error.message().to_owned()),
        }
    }

    async fn do_job(&self, run: &mut Run) -> Result<Effect> {
        let kind = JOB_KINDS.iter().find(|kind| kind.name == run.job.kind);
        let kind =
            kind.ok_or_else(|| Error::internal(format!("the job kind `{}` is unknown", run.job.kind)))?;
        (kind.run)(self, run).await
    }

    /// Advances past the notifications that exist already.
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

/// A run that is counted when it ends.
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

/// Value of the label `kind`. A job of another version may have an unknown kind.
fn kind_label(kind: &str) -> &'static str {
    JOB_KINDS.iter().find(|known| known.name == kind).map_or("unknown", |known| known.name)
}

/// Converts a panic into an error, so that a panicking job does not end the worker.
pub(super) async fn unpanicked<T>(doing: impl Future<Output = Result<T>>) -> Result<T> {
    let caught = AssertUnwindSafe(doing).catch_unwind().await;
    caught.unwrap_or_else(|_| Err(Error::internal("it panicked")))
}
