//! Background work: who does it, and when.

use std::{
    collections::VecDeque,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    task::Poll,
    time::Duration,
};

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Serialize, de::DeserializeOwned};

use tokio::time::Instant;

use super::{
    Platform, collect, collections, comments, git, invites, members,
    metrics::{JOB_DURATION, JOB_FAILURES, JOB_RUNS, error_label},
    nouns::{Caller, SpaceHandle},
    search::Round,
    site_settings, spaces, teams,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{self, JobId, Timestamp},
    store::{
        Entity, FeedPos, Key, KeyBuf, Operation, Tx,
        jobs::{self, NewJob},
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
/// How long a job that can go on later may go on when its worker is told to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// How long jobs are kept after their end.
pub(super) const JOBS_KEPT: TimeDelta = TimeDelta::days(30);
/// How long receipts of operations are kept.
const RECEIPTS_KEPT: TimeDelta = TimeDelta::days(1);
/// How often a worker tidies up.
const TIDY_EVERY: TimeDelta = TimeDelta::hours(1);
/// News of moved heads that are kept.
const HEADS_KEPT: usize = 10_000;
/// Rows that one transaction of tidying removes.
const TIDY_CHUNK: u32 = 500;

/// Background work of one kind: its payload, and what is done with it.
///
/// Whoever implements it adds it to [`JOB_KINDS`]. A run may end anywhere, by a crash too, and the job is run again.
#[async_trait]
pub(super) trait Job: Serialize + DeserializeOwned + Send + Sync {
    /// The name of the kind in the store.
    const KIND: &'static str;

    /// Does the work.
    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect>;

    /// The job to enqueue, in no lane and due at once.
    ///
    /// # Errors
    /// `Internal` for a payload that is no JSON.
    fn about(&self, id: &JobId, subject: impl ToString, now: Timestamp) -> Result<NewJob> {
        let payload = serde_json::to_value(self).map_err(Error::internal)?;
        let (id, subject) = (id.clone(), subject.to_string());
        Ok(NewJob { id, kind: Self::KIND, payload, subject, lane: None, due: now })
    }
}

/// A kind of jobs.
struct Kind {
    name: &'static str,
    run: for<'a> fn(&'a Platform, &'a mut Run) -> BoxFuture<'a, Result<Effect>>,
}

impl Kind {
    const fn of<J: Job>() -> Self {
        Self {
            name: J::KIND,
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
    Kind::of::<collections::PurgeGrants>(),
    Kind::of::<comments::PurgeReplies>(),
    Kind::of::<teams::PurgeTeam>(),
    Kind::of::<site_settings::PurgeSettings>(),
    Kind::of::<site_settings::PurgeRedirects>(),
    Kind::of::<collect::CollectObjects>(),
];

/// One run of a job.
pub(super) struct Run {
    /// The job as it was claimed.
    pub(super) job: JobRecord,
    /// What happened, for the user.
    pub(super) log: Vec<JobLine>,
    stopping: Stopping,
}

/// When the worker was told to stop.
type Stopping = Arc<OnceLock<Instant>>;

impl Run {
    /// Tells whether the worker was told to stop a while ago: a long job that can go on later ends as `Unavailable`.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.get().is_some_and(|told| told.elapsed() >= STOP_PATIENCE)
    }
}

/// What became of a run's effect.
pub(super) enum Effect {
    /// Done; the job is still to be finished.
    Done,
    /// Done, and the job was finished in the same transaction.
    Finished,
}

impl<'p> SpaceHandle<'p> {
    /// Lists the latest jobs about a space, newest first. Credentials are not part of them.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// for job in me.space(space).list_jobs().await? {
    ///     println!("{}: {:?}", job.kind, job.state);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_jobs(self) -> BoxFuture<'p, Result<Vec<model::Job>>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let access = super::access::any_space(&tx, actor, space).await?;
            access.require(crate::policy::SpaceAction::Manage)?;
            let found = jobs::of_subject(&tx, space.as_str(), 100).await?;
            Ok(found.iter().map(|job| job.view()).collect())
        })
    }
}

impl<'p> Caller<'p> {
    /// Reads a job. Only the platform itself may.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for users.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::JobId};
    /// # async fn example(platform: &Platform, job: &JobId) -> Result<()> {
    /// let job = platform.as_platform().get_job(job).await?;
    /// println!("{:?}, begun {} times", job.state, job.attempt);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_job(self, id: &'p JobId) -> BoxFuture<'p, Result<model::Job>> {
        Box::pin(async move {
            let (platform, actor) = (self.platform, &self.actor());
            actor.require_platform()?;
            let job: Option<Arc<JobRecord>> = platform.read().await?.get(&JobRecord::at(id)).await?;
            job.map(|job| job.view()).ok_or_else(|| Error::not_found("job"))
        })
    }
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
            let claimed = {
                let working = self.work_once(&stopping);
                tokio::pin!(working);
                tokio::select! {
                    biased;
                    claimed = &mut working => claimed,
                    () = &mut stop => {
                        stopping.get_or_init(Instant::now);
                        working.await
                    }
                }
            };
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
                match self.work_once(&stopping).await? {
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
    async fn work_once(&self, stopping: &Stopping) -> Result<jobs::Claimed> {
        let claimed = self.upkeep(&jobs::ClaimJob { now: self.now() }).await?;
        if let jobs::Claimed::Job(id) = &claimed {
            let job: Option<Arc<JobRecord>> = self.read().await?.get(&JobRecord::at(id)).await?;
            let job =
                job.ok_or_else(|| Error::internal(format!("the job {id} was claimed and is not there")))?;
            self.run_job(JobRecord::clone(&job), stopping).await?;
        }
        Ok(claimed)
    }

    async fn run_job(&self, job: JobRecord, stopping: &Stopping) -> Result<()> {
        tracing::info!(job.id = %job.id, job.kind, job.subject, attempt = job.attempt, "job started");
        let counted = JobCount { platform: self, kind: kind_label(&job.kind), since: Instant::now() };
        let mut run = Run { job: job.clone(), log: Vec::new(), stopping: Arc::clone(stopping) };
        let result = {
            let doing = unpanicked(self.do_job(&mut run));
            tokio::pin!(doing);
            loop {
                let renewal = self.clock().now() + jobs::LEASE / 3;
                tokio::select! {
                    result = &mut doing => break result,
                    () = self.clock().wait_until(renewal) => {
                        match self.upkeep(&jobs::RenewJob { job: job.clone(), now: self.now() }).await {
                            Ok(true) => {}
                            Ok(false) => {
                                tracing::warn!(job.id = %job.id, "another worker has taken the job over");
                                counted.end("taken_over");
                                return Ok(());
                            }
                            // The lease still runs; the next renewal comes before it ends.
                            Err(error) => {
                                tracing::warn!(job.id = %job.id, error = ?error, "the lease was not renewed");
                            }
                        }
                    }
                }
            }
        };
        let end = match result {
            Ok(Effect::Finished) => {
                tracing::info!(job.id = %job.id, job.kind, "job done");
                counted.end("done");
                return Ok(());
            }
            Ok(Effect::Done) => jobs::JobEnd::Done,
            Err(error) => {
                self.metrics().add(&JOB_FAILURES, &[counted.kind, error_label(error.kind())], 1);
                self.end_of(&job, &error)
            }
        };
        counted.end(match &end {
            jobs::JobEnd::Done => "done",
            jobs::JobEnd::Failed(_) => "failed",
            jobs::JobEnd::Again(..) => "again",
        });
        if let jobs::JobEnd::Failed(why) | jobs::JobEnd::Again(_, why) = &end {
            run.log.push(JobLine { at: self.now(), text: why.clone() });
        }
        let finish = jobs::FinishJob { job, now: self.now(), end, log: run.log };
        match self.upkeep(&finish).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
            // Whatever the store cannot take is in the log or in the reason: without them the job still ends.
            Err(error) => {
                tracing::error!(job.id = %finish.job.id, error = ?error, "the end of a job cannot be stored");
                let end =
                    jobs::JobEnd::Failed("its end could not be stored; the server's log says why".to_owned());
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
            _ => jobs::JobEnd::Failed(error.message().to_owned()),
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

    /// Removes what is kept for a time only: receipts of operations, answers to requests that may be sent again,
    /// invitations that have ended, jobs that ended, entries of the audit log, news of jobs that all workers have seen.
    /// Enqueues a collection of objects when the last was a day ago.
    ///
    /// # Errors
    /// The store's.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// platform.tidy().await?;
    /// println!("tidy");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tidy<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let before = self.clock().now() - RECEIPTS_KEPT;
            while self.upkeep(&DropReceipts { before }).await? {}
            self.tidy_answers().await?;
            let before = self.clock().now() - JOBS_KEPT;
            while self.upkeep(&DropJobs { before }).await? {}
            while self.upkeep(&super::invites::DropInvites { now: self.now() }).await? {}
            self.tidy_audit_log().await?;
            self.tidy_copy_notes().await?;
            self.schedule_collection().await?;
            // News only wake idle workers, who look for themselves every now and then.
            self.trim(topic::JOBS, 0).await?;
            // Whoever follows the heads and falls further behind than this starts anew from the store.
            self.trim(topic::HEAD, HEADS_KEPT).await
        })
    }

    /// Forgets the news of a topic but for the latest.
    async fn trim(&self, topic: u16, kept: usize) -> Result<()> {
        let mut latest: VecDeque<FeedPos> = VecDeque::new();
        let (mut at, mut trimmed) = (None, None);
        loop {
            let news = self.store().changes(topic, at.clone(), TIDY_CHUNK).await?;
            let Some((last, _)) = news.last() else { break };
            at = Some(last.clone());
            latest.extend(news.into_iter().map(|(position, _)| position));
            while latest.len() > kept {
                trimmed = latest.pop_front();
            }
        }
        match trimmed {
            Some(upto) => Ok(self.store().trim(topic, &upto).await?),
            None => Ok(()),
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

/// Removes jobs that ended long ago; `Out` tells whether there may be more.
struct DropJobs {
    before: chrono::DateTime<chrono::Utc>,
}

#[async_trait]
impl Operation for DropJobs {
    type Out = bool;
    const NAME: &'static str = "jobs_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let (from, _) = JobRecord::ended().below();
        let to = JobRecord::ended().time(self.before).key();
        let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: TIDY_CHUNK / 5 }).await?;
        tx.delete_all::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
        Ok(rows.len() == (TIDY_CHUNK / 5) as usize)
    }
}

/// Removes old receipts; `Out` tells whether there may be more.
struct DropReceipts {
    before: chrono::DateTime<chrono::Utc>,
}

#[async_trait]
impl Operation for DropReceipts {
    type Out = bool;
    const NAME: &'static str = "receipts_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let (from, _) = KeyBuf::new(crate::store::RECEIPTS).below();
        let to: Key = KeyBuf::new(crate::store::RECEIPTS).time(self.before).key();
        let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: TIDY_CHUNK }).await?;
        for (row, _) in &rows {
            tx.delete_value(Arc::clone(row));
        }
        Ok(rows.len() == TIDY_CHUNK as usize)
    }
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
