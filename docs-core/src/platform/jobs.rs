//! Background work: who does it, and when.

mod list;
mod run;
mod tidy;
mod turns;

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Serialize, de::DeserializeOwned};

use tokio::time::Instant;

use self::{run::Stopping, tidy::TIDY_CHUNK, turns::Reach};
pub(super) use self::{
    run::{Progress, Run, finish_in},
    tidy::JOBS_KEPT,
    turns::Turns,
};
use super::{
    Platform, collect, collections, comments, git, import, invites, members,
    metrics::{JOB_DURATION, JOB_FAILURES, JOB_RUNS, error_label},
    openapi_specs, pdf,
    search::Round,
    site_settings, spaces, teams, translations,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{JobId, Timestamp},
    store::{
        FeedPos,
        jobs::{self, Audience, NewJob, PutOff},
        records::{JobLine, JobRecord},
        topic,
    },
};

/// Longest wait of an idle worker: what the feed's news may have missed is found then.
const IDLE_WAIT: Duration = Duration::from_secs(30);
/// The pause of a worker whose store failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// The pause between two batches for the search index. Nothing is waited for that could tell of itself: a batch costs
/// the index about the same whatever is in it, so writes that come meanwhile are let gather, and who searches finds
/// them in well under the two seconds that are promised.
const SEARCH_BATCH_PAUSE: Duration = Duration::from_millis(200);
/// How often a worker tidies up.
const TIDY_EVERY: TimeDelta = TimeDelta::hours(1);

/// Whether somebody waits for a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Urgency {
    /// Somebody has asked for it: a run that failed, and is put off, is tried again at once.
    Asked,
    /// It follows from a change: what is put off stays so, or a burst of changes would use up its attempts while what
    /// it needs cannot be reached.
    Follows,
}

/// Background work of one kind: its payload, and what is done with it.
///
/// Whoever implements it adds it to [`JOB_KINDS`]. A run may end anywhere, by a crash too, and the job is run again.
#[async_trait]
pub(super) trait Job: Serialize + DeserializeOwned + Send + Sync {
    /// The name of the kind in the store.
    const KIND: &'static str;

    /// Tells whether it waits for hosts outside, which may be slow: others do not wait for those.
    const WAITS_FOR_HOSTS: bool = false;

    /// Does the work.
    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect>;

    /// The job to enqueue as upkeep, in no lane and due at once.
    ///
    /// # Errors
    /// `Internal` for a payload that is no JSON.
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

/// A kind of jobs.
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
    Kind::of::<spaces::PurgeSpace>(),
    Kind::of::<spaces::MarkTrash>(),
    Kind::of::<members::ClearMember>(),
    Kind::of::<invites::RedeemInvites>(),
    Kind::of::<git::ImportPayload>(),
    Kind::of::<git::ExportPayload>(),
    Kind::of::<git::SyncRun>(),
    Kind::of::<git::RepositoryLook>(),
    Kind::of::<import::ImportRun>(),
    Kind::of::<pdf::PdfWork>(),
    Kind::of::<openapi_specs::process::ProcessSpec>(),
    Kind::of::<openapi_specs::PurgeSpec>(),
    Kind::of::<collections::PurgeGrants>(),
    Kind::of::<comments::PurgeReplies>(),
    Kind::of::<teams::PurgeTeam>(),
    Kind::of::<site_settings::PurgeSettings>(),
    Kind::of::<site_settings::PurgeRedirects>(),
    Kind::of::<collect::CollectObjects>(),
    Kind::of::<translations::TranslateSpace>(),
    Kind::of::<translations::FollowGlossary>(),
    Kind::of::<translations::PurgeTranslation>(),
];

/// What became of a run's effect.
pub(super) enum Effect {
    /// Done; the job is still to be finished.
    Done,
    /// Done, and the job was finished in the same transaction.
    Finished,
}

impl Platform {
    /// Does background work until `stop` completes; the job in flight is then brought to its end first. Beside the
    /// jobs, the search index is kept up to date.
    ///
    /// Run it as a task of its own, as often as jobs are to run side by side.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::{Platform, platform::NewUser};
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// # let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// # let ada = platform.as_platform().users().create(ada).await?;
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// let work = platform.work(async { drop(stopped.await) });
    /// let serve = async { drop(stop) };
    /// tokio::join!(work, serve);
    /// # Ok(())
    /// # }
    /// ```
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
            // News of jobs enqueued from here on end the wait below. They are read before they are tidied away.
            if let Err(error) = self.catch_up(&mut seen).await {
                tracing::warn!(error = ?error, "the news of jobs cannot be read");
            }
            if self.clock().now() >= tidy_at {
                tidy_at = self.clock().now() + TIDY_EVERY;
                if let Err(error) = self.tidy().await {
                    tracing::warn!(error = ?error, "tidying up failed");
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
                    if is_ready(stop.as_mut()).await {
                        return;
                    }
                    continue;
                }
                Ok(jobs::Claimed::Nothing(next)) => next,
                Err(error) => {
                    tracing::warn!(error = ?error, "jobs cannot be claimed");
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

    /// Claims a job and does it. A job in flight is done also when the worker is told to stop.
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

    /// Keeps the search index up to date; never ends.
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
                    tracing::warn!(error = ?error, "the search index cannot be brought up to date");
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            }
        }
    }

    /// Does everything that is due by the platform's clock and returns when nothing is left; answers how many jobs
    /// ran. What was stored before is then found by searches. For tests, and programs that do their own scheduling.
    ///
    /// # Errors
    /// The store's, and the search index's.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::{Platform, model::CreateSpace, platform::NewUser};
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// # let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// # let ada = platform.as_platform().users().create(ada).await?;
    /// # let org = platform.as_platform().orgs().create("Engines".parse()?, &ada.id).await?.id;
    /// platform.as_user(&ada.id).org(&org).spaces().create(CreateSpace::default()).await?;
    /// platform.settle().await?;
    /// assert_eq!(platform.settle().await?, 0);
    /// # Ok(())
    /// # }
    /// ```
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
            let job =
                job.ok_or_else(|| Error::internal(format!("the job {id} was claimed and is not there")))?;
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

    /// Keeps a job's lease while something is done; `None` when another worker has taken the job over.
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
                            tracing::warn!(job.id = %job.id, "another worker has taken the job over");
                            return None;
                        }
                        // The lease still runs; the next renewal comes before it ends.
                        Err(error) => {
                            tracing::warn!(job.id = %job.id, error = ?error, "the lease was not renewed");
                        }
                    }
                }
            }
        }
    }

    /// Stores how a run ended, unless it was taken over, or has ended already.
    async fn end_run(&self, mut run: Run, end: jobs::JobEnd) -> Result<()> {
        if let jobs::JobEnd::Failed(_, why) | jobs::JobEnd::Again(_, why) = &end {
            run.log.push(JobLine { at: self.now(), text: why.clone() });
        }
        let finish = jobs::FinishJob { job: run.job, now: self.now(), end, log: run.log };
        match self.upkeep(&finish).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
            // Whatever the store cannot take is in the log or in the reason: without them the job still ends.
            Err(error) => {
                tracing::error!(job.id = %finish.job.id, error = ?error, "the end of a job cannot be stored");
                let why = "its end could not be stored; the server's log says why";
                let end = jobs::JobEnd::Failed(ErrorKind::Internal, why.to_owned());
                self.upkeep(&jobs::FinishJob { end, log: Vec::new(), ..finish }).await.map(drop)
            }
        }
    }

    /// What a failure means for a job: what may pass is tried again.
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
        let kind = kind.ok_or_else(|| {
            Error::internal(format!("no program here knows jobs of kind `{}`", run.job.kind))
        })?;
        (kind.run)(self, run).await
    }

    /// Moves behind the news that are there already.
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

/// A run of a job that is counted when it ends.
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

/// The value of the label `kind`: a job may have been enqueued by another version.
fn kind_label(kind: &str) -> &'static str {
    JOB_KINDS.iter().find(|known| known.name == kind).map_or("unknown", |known| known.name)
}

/// Turns a panic into a failure: a job that panics must not take the worker with it.
pub(super) async fn unpanicked<T>(doing: impl Future<Output = Result<T>>) -> Result<T> {
    let mut doing = std::pin::pin!(doing);
    let caught =
        std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| doing.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(Some(result)),
            Err(_) => Poll::Ready(None),
        });
    caught.await.unwrap_or_else(|| Err(Error::internal("it panicked")))
}

/// Tells whether a future is ready, without waiting for it.
async fn is_ready(mut future: std::pin::Pin<&mut (dyn Future<Output = ()> + Send)>) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}
