//! Background jobs as records: enqueued by the requesting transaction, run at least once, finished exactly once.
//!
//! Each job has a due time. Starting a job increments its attempt counter and sets the due time to the end of a lease,
//! so a job whose worker died automatically becomes due again. Only the worker of the latest attempt can finish a job:
//! the attempt number is the fencing token, so correctness never depends on clocks. The jobs of a lane run
//! sequentially, in order.
//!
//! The queued jobs of an owner and class form a queue. Claims consider only the first job of each queue, so the cost of
//! a claim does not depend on the length of the queues that it skips.

mod record;

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docs_model::{
    JobId, JobProgress, JobStage, Timestamp, UserId,
    error::{Error, ErrorKind, Result},
    redact_credentials, without_nul,
};
use serde_json::Value as Json;

pub use self::record::{JobClass, JobLine, JobOutcome, JobRecord, JobState, PutOff, SUBJECTS};
use super::{Entity, Key, KeyBuf, Operation, Scan, StoreError, StoreResult, Tx, key, topic};

/// Default lease of a job, after which another worker may take over the job. Operators can configure it. A worker
/// renews its lease when a third of it has passed.
pub const DEFAULT_LEASE: TimeDelta = TimeDelta::seconds(30);
/// Maximum lease that an operator can configure.
pub const MAX_LEASE: TimeDelta = TimeDelta::days(1);
/// Size of a log line without its text, in bytes.
const JOB_LINE_OVERHEAD: usize = 64;
/// Maximum number of jobs in a lane that are searched for the running one. Jobs for earlier events may be ahead of it.
const JOB_LANE_AHEAD: u32 = 100;
/// Number of latest jobs with the same deduplication key that are searched for a pending one. At most two are
/// unfinished at a time: one running and one pending.
const SAME_LOOKED_AT: u32 = 4;
/// Maximum number of consecutive failures that are counted.
const FAILED_LOOKED_AT: u32 = 8;
/// Maximum batch size of a claim that skips jobs of busy owners.
const LOOKED_AT: u32 = 64;
/// Maximum number of starts of a job that fails repeatedly with transient errors.
pub const MAX_STARTS: u32 = 8;

/// Maximum number of listed jobs per subject and kind. If it is exceeded, a new job evicts the one that ended first.
pub const MAX_LISTED: u32 = 100;
/// Maximum number of unfinished jobs per kind and owner. At the limit, users of the owner cannot request further jobs.
pub const MAX_UNFINISHED: u32 = 500;
/// Maximum number of ended jobs that a new job evicts to stay within [`MAX_LISTED`].
const DROPPED_AT_ONCE: u32 = 10;

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The id. A deterministic id makes enqueueing idempotent.
    pub id: JobId,
    pub kind: &'static str,
    /// The input of the job.
    pub payload: Json,
    /// The id of the item that the job concerns.
    pub subject: String,
    /// The organization whose worker share the job uses.
    pub owner: Option<String>,
    pub class: JobClass,
    /// The users who can see the job.
    pub audience: Audience,
    /// The lane and the position in the lane.
    pub lane: Option<(String, Timestamp)>,
    /// The effect on other jobs in its lane while it waits for a retry.
    pub put_off: PutOff,
    /// The earliest start time.
    pub due: Timestamp,
}

/// The users who can see a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// Only the operator, because the job is maintenance.
    #[default]
    Operator,
    /// Users with access to the jobs of the subject.
    Subject {
        /// The user who requested the job.
        by: Option<UserId>,
        /// See [`JobRecord::same`].
        same: Option<String>,
    },
}

/// Enqueues a job in the caller's transaction.
///
/// # Errors
/// `Conflict` if the subject has [`MAX_LISTED`] (100) listed jobs of the kind, all of them unfinished; any error of the
/// store.
pub async fn enqueue(tx: &mut Tx, now: Timestamp, job: NewJob) -> Result<()> {
    create(tx, now, None, job).await
}

/// Rejects a request for another job if the owner has [`MAX_UNFINISHED`] (500) unfinished jobs of the kind. Jobs
/// triggered by a change are not restricted, because at most one of them is pending per item.
///
/// # Errors
/// `Conflict` at the limit; any error of the store.
pub async fn require_room(tx: &Tx, owner: &str, kind: &str) -> Result<()> {
    if tx.number(&JobRecord::unfinished_of(owner, kind)).await? < i64::from(MAX_UNFINISHED) {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "at most {MAX_UNFINISHED} jobs of this kind can be unfinished in an organization; wait until one of them ends"
    )))
}

/// Creates a job that the caller runs itself. The job is created in the running state, as if the caller had claimed it.
#[derive(Debug)]
pub struct BeginJob {
    pub job: NewJob,
    /// The current time.
    pub now: Timestamp,
    /// The lease of the caller.
    pub lease: TimeDelta,
}

#[async_trait]
impl Operation for BeginJob {
    type Output = ();
    const NAME: &'static str = "job_begin";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        create(tx, self.now, Some(self.lease), self.job.clone()).await
    }
}

/// Evicts old jobs and creates the job record. If there is a lease, the initial state is running.
async fn create(tx: &mut Tx, now: Timestamp, lease: Option<TimeDelta>, job: NewJob) -> Result<()> {
    let (listed, by, same) = match job.audience {
        Audience::Operator => (false, None, None),
        Audience::Subject { by, same } => {
            make_room(tx, &job.subject, job.kind).await?;
            (true, by, same)
        }
    };
    let (lane, lane_at) = match job.lane {
        Some((lane, at)) => (Some(lane), at),
        None => (None, job.due),
    };
    let head = match &lane {
        Some(lane) => head_of(tx, lane).await?,
        None => None,
    };
    let state = match &head {
        // A job for an earlier event precedes a queued job. Any job precedes a job that yields.
        Some(head) if head.state == JobState::Queued && (lane_at < head.lane_at || gives_way(head)) => {
            let waiting = JobRecord { state: JobState::Waiting, ..JobRecord::clone(head) };
            store(tx, Some(&**head), waiting).await?;
            JobState::Queued
        }
        Some(_) => JobState::Waiting,
        None if lease.is_some() => JobState::Running,
        None => JobState::Queued,
    };
    let runs = state == JobState::Running;
    let record = JobRecord {
        id: job.id,
        kind: job.kind.to_owned(),
        payload: job.payload,
        subject: job.subject,
        owner: job.owner,
        class: job.class,
        behind: false,
        listed,
        by,
        same,
        lane,
        lane_at,
        put_off: job.put_off,
        state,
        due: lease.filter(|_| runs).map_or(job.due, |lease| end_of(now, lease)),
        attempt: u32::from(runs),
        created_at: now,
        started_at: runs.then_some(now),
        stage: None,
        progress: None,
        ended_at: None,
        outcome: JobOutcome::default(),
        error: None,
        failure: None,
        log: Vec::new(),
    };
    let record = store(tx, None, record).await?;
    tx.feed(topic::JOBS, JobRecord::key_for(&record.id));
    Ok(())
}

/// Stores a job that enters or leaves its queue. In the queue, all jobs but the first are marked as `behind`.
async fn store(tx: &mut Tx, old: Option<&JobRecord>, mut job: JobRecord) -> StoreResult<Arc<JobRecord>> {
    let is_queued = job.state == JobState::Queued;
    let was_queued = old.is_some_and(|old| old.state == JobState::Queued);
    if let Some(queue) = job.queue().filter(|_| is_queued || was_queued) {
        let first = first_except(tx, &queue, &job.id).await?;
        let leads = is_queued && first.as_ref().is_none_or(|first| job.turn() < first.turn());
        job.behind = is_queued && !leads;
        if let Some(first) = first.filter(|first| first.behind != leads) {
            tx.put(&*first, JobRecord { behind: leads, ..JobRecord::clone(&first) })?;
        }
    }
    match old {
        Some(old) => tx.put(old, job),
        None => Ok(tx.create(job)),
    }
}

/// Returns the first job of a queue, ignoring the job with the given id.
async fn first_except(tx: &Tx, queue: &KeyBuf, id: &JobId) -> StoreResult<Option<Arc<JobRecord>>> {
    let this = JobRecord::key_for(id);
    let rows = tx.scan_prefix(queue, 2).await?;
    match JobRecord::named_by_all(&rows).iter().find(|key| **key != this) {
        Some(first) => tx.get::<JobRecord>(first).await,
        None => Ok(None),
    }
}

/// Evicts the listed jobs of a subject and kind that ended first, so that another job fits within the limit.
async fn make_room(tx: &mut Tx, subject: &str, kind: &str) -> Result<()> {
    let listed = tx.number(&JobRecord::count_of(subject, kind)).await?;
    let over = u32::try_from(listed + 1 - i64::from(MAX_LISTED)).unwrap_or_default().min(DROPPED_AT_ONCE);
    if over == 0 {
        return Ok(());
    }
    let rows = tx.scan_prefix(&JobRecord::ended_by_subject(subject, kind), over).await?;
    if rows.is_empty() {
        return Err(Error::conflict(format!(
            "at most {MAX_LISTED} jobs of this kind can be unfinished; wait until one of them ends"
        )));
    }
    tx.delete_all::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
    Ok(())
}

/// Returns the latest job of a subject with the given deduplication key.
///
/// # Errors
/// Any error of the store.
pub async fn for_the_same(tx: &Tx, subject: &str, same: &str) -> StoreResult<Option<Arc<JobRecord>>> {
    Ok(newest(tx, subject, same, 1).await?.pop())
}

/// Returns the latest jobs of a subject with the given deduplication key, newest first.
async fn newest(tx: &Tx, subject: &str, same: &str, limit: u32) -> StoreResult<Vec<Arc<JobRecord>>> {
    let (from, to) = JobRecord::for_the_same(subject, same).prefix_range();
    let rows = tx.scan(&Scan { from, to, rev: true, limit }).await?;
    let found = tx.get_many::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns a job of a subject with the given deduplication key that has not started. A caller can rely on it instead of
/// enqueueing another job.
///
/// # Errors
/// Any error of the store.
pub async fn waiting_for_the_same(tx: &Tx, subject: &str, same: &str) -> StoreResult<Option<Arc<JobRecord>>> {
    let (from, to) = JobRecord::for_the_same(subject, same).prefix_range();
    for (row, _) in tx.scan(&Scan { from, to, rev: true, limit: SAME_LOOKED_AT }).await? {
        let job = tx.get::<JobRecord>(&JobRecord::named_by(&row)).await?;
        if let Some(job) = job.filter(|job| matches!(job.state, JobState::Queued | JobState::Waiting)) {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

/// Makes the first job of a lane due now if it is waiting for a retry, because it blocks the lane.
///
/// # Errors
/// Any error of the store.
pub async fn hasten_lane(tx: &mut Tx, lane: &str, now: Timestamp) -> StoreResult<()> {
    let first = head_of(tx, lane).await?;
    if let Some(job) = first.filter(|job| job.state == JobState::Queued && job.due > now) {
        store(tx, Some(&*job), JobRecord { due: now, ..JobRecord::clone(&job) }).await?;
        tx.feed(topic::JOBS, JobRecord::key_for(&job.id));
    }
    Ok(())
}

/// Returns the most recent jobs of a subject with the given deduplication key if they failed, newest first, until the
/// last that did not fail. Returns at most eight.
///
/// # Errors
/// Any error of the store.
pub async fn failed_in_a_row(tx: &Tx, subject: &str, same: &str) -> StoreResult<Vec<Arc<JobRecord>>> {
    let found = newest(tx, subject, same, FAILED_LOOKED_AT).await?;
    Ok(found.into_iter().take_while(|job| job.state == JobState::Failed).collect())
}

/// The result of a job run.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEnd {
    /// Success.
    Done(JobOutcome),
    /// A permanent failure, with a message for the user.
    Failed(ErrorKind, String),
    /// A transient failure. The job is retried at the given time, or fails permanently after [`MAX_STARTS`] (8) starts.
    Retry(Timestamp, String),
}

/// Claims the first due job by incrementing its attempt counter and granting a lease.
#[derive(Debug)]
pub struct ClaimJob {
    /// The time of the claim.
    pub now: Timestamp,
    /// The lease of the caller.
    pub lease: TimeDelta,
    pub classes: &'static [JobClass],
    /// Owners whose jobs are skipped.
    pub busy: Vec<BusyOwner>,
}

/// An owner whose worker share is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusyOwner {
    pub owner: String,
    /// The classes of jobs to skip.
    pub classes: &'static [JobClass],
}

impl BusyOwner {
    fn matches(&self, job: &JobRecord) -> bool {
        job.owner.as_ref() == Some(&self.owner) && self.classes.contains(&job.class)
    }
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ClaimOutcome {
    /// The caller holds this job until the lease expires.
    Job(JobId),
    /// The first due job exceeded [`MAX_STARTS`] and was marked as failed. The next one may be due.
    GivenUp,
    /// No job is due, except for skipped ones. Contains the due time of the next job, if any.
    Nothing(Option<Timestamp>),
}

#[async_trait]
impl Operation for ClaimJob {
    type Output = ClaimOutcome;
    const NAME: &'static str = "job_claim";

    /// All workers contend for the same first row. If claims are serialized, each of them succeeds; if they run
    /// concurrently, they conflict with each other and with transactions that enqueue jobs.
    fn hot_keys(&self) -> Vec<Key> {
        vec![JobRecord::by_due_time().key()]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<ClaimOutcome> {
        let Some(job) = self.first(tx).await? else { return Ok(ClaimOutcome::Nothing(None)) };
        if job.due > self.now {
            return Ok(ClaimOutcome::Nothing(Some(job.due)));
        }
        let mut started = JobRecord::clone(&job);
        started.state = JobState::Running;
        if job.attempt >= MAX_STARTS {
            // Every previous worker died, so no run reported a result.
            let why = "abandoned after too many starts without a result";
            let end = JobEnd::Failed(ErrorKind::Internal, why.to_owned());
            let job = JobRecord::clone(&*store(tx, Some(&*job), started).await?);
            finish(tx, &FinishJob { job, now: self.now, end, log: Vec::new() }).await?;
            return Ok(ClaimOutcome::GivenUp);
        }
        started.attempt += 1;
        started.started_at = started.started_at.or(Some(self.now));
        started.due = end_of(self.now, self.lease);
        store(tx, Some(&*job), started).await?;
        Ok(ClaimOutcome::Job(job.id.clone()))
    }
}

impl ClaimJob {
    /// Returns the first job by due time that is not skipped.
    async fn first(&self, tx: &Tx) -> StoreResult<Option<Arc<JobRecord>>> {
        let mut first: Option<Arc<JobRecord>> = None;
        for class in self.classes {
            let found = self.first_of(tx, *class).await?;
            first = first.into_iter().chain(found).min_by(|a, b| a.turn().cmp(&b.turn()));
        }
        Ok(first)
    }

    /// Returns the first job of a class by due time that is not skipped. The index contains one queued job of each busy
    /// owner, in addition to the running jobs.
    async fn first_of(&self, tx: &Tx, class: JobClass) -> StoreResult<Option<Arc<JobRecord>>> {
        let at_once = u32::try_from(self.busy.len()).unwrap_or(LOOKED_AT).saturating_add(1).min(LOOKED_AT);
        let (mut from, to) = JobRecord::claimable(class).prefix_range();
        loop {
            let scan = Scan { from, to: to.clone(), rev: false, limit: at_once };
            let rows = tx.scan(&scan).await?;
            let found = tx.get_many::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
            for ((row, _), job) in rows.iter().zip(found) {
                let job =
                    job.ok_or_else(|| StoreError::Corrupt(format!("the row `{row}` refers to no job")))?;
                if job.due > self.now || !self.busy.iter().any(|busy| busy.matches(&job)) {
                    return Ok(Some(job));
                }
            }
            match rows.last() {
                Some((last, _)) if rows.len() == at_once as usize => from = key::successor(last),
                _ => return Ok(None),
            }
        }
    }
}

/// Finishes a job run, unless a later attempt has taken over the job.
///
/// `Output` is `true` if the run was still the latest one. The effect of the job must be stored in the same
/// transaction; see [`fence`].
#[derive(Debug)]
pub struct FinishJob {
    /// The job as claimed.
    pub job: JobRecord,
    /// The end time of the run.
    pub now: Timestamp,
    /// The result of the run.
    pub end: JobEnd,
    /// Lines to append to the log of the job.
    pub log: Vec<JobLine>,
}

#[async_trait]
impl Operation for FinishJob {
    type Output = bool;
    const NAME: &'static str = "job_finish";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        finish(tx, self).await
    }
}

/// Finishes a job run in a transaction that also stores the effect of the job.
///
/// # Errors
/// Any error of the store.
pub async fn finish(tx: &mut Tx, run: &FinishJob) -> Result<bool> {
    let Some(job) = latest_run(tx, &run.job).await? else { return Ok(false) };
    let mut ended = JobRecord::clone(&job);
    add_log(&mut ended, &run.log);
    match &run.end {
        JobEnd::Done(outcome) => {
            ended.state = JobState::Done;
            ended.outcome = outcome.clone();
        }
        JobEnd::Retry(due, _) if job.attempt < MAX_STARTS => {
            ended.state = JobState::Queued;
            ended.due = *due;
        }
        JobEnd::Failed(_, why) | JobEnd::Retry(_, why) => {
            ended.state = JobState::Failed;
            ended.error = Some(truncate_line(why));
            ended.failure = Some(match &run.end {
                JobEnd::Failed(kind, _) => *kind,
                _ => ErrorKind::Unavailable,
            });
        }
    }
    if ended.has_ended() {
        ended.ended_at = Some(run.now);
    }
    let is_end = ended.has_ended();
    let next = match &ended.lane {
        Some(lane) if is_end || gives_way(&ended) => next_in_lane(tx, lane).await?,
        _ => None,
    };
    // If the next job also yields, both keep their retry times.
    let next = next.filter(|next| is_end || !gives_way(next));
    if !is_end && next.is_some() {
        ended.state = JobState::Waiting;
    }
    store(tx, Some(&*job), ended).await?;
    queue(tx, next).await?;
    // Wakes workers that wait for the lane or for the new due time.
    tx.feed(topic::JOBS, JobRecord::key_for(&run.job.id));
    Ok(true)
}

/// Cancels a job that has not ended. A run of the job can no longer finish it, so its effect is not stored; the worker
/// stops at the next renewal of its lease.
///
/// # Errors
/// Any error of the store.
pub async fn cancel(tx: &mut Tx, job: &JobRecord, now: Timestamp) -> StoreResult<()> {
    let is_head = job.state != JobState::Waiting;
    let cancelled = JobRecord { state: JobState::Cancelled, ended_at: Some(now), ..job.clone() };
    store(tx, Some(job), cancelled).await?;
    let next = match job.lane.as_ref().filter(|_| is_head) {
        Some(lane) => next_in_lane(tx, lane).await?,
        None => None,
    };
    queue(tx, next).await?;
    tx.feed(topic::JOBS, JobRecord::key_for(&job.id));
    Ok(())
}

/// Rejects the transaction of a run whose job has been taken over.
///
/// # Errors
/// `Conflict` if a later attempt has taken over the job; any error of the store.
pub async fn fence(tx: &Tx, job: &JobRecord) -> Result<()> {
    match latest_run(tx, job).await? {
        Some(_) => Ok(()),
        None => Err(Error::conflict("the lease of the job belongs to another worker")),
    }
}

/// Extends the lease of a running job.
#[derive(Debug)]
pub struct RenewJob {
    /// The job as claimed.
    pub job: JobRecord,
    /// The time of the renewal.
    pub now: Timestamp,
    /// The new lease, starting at `now`.
    pub lease: TimeDelta,
}

#[async_trait]
impl Operation for RenewJob {
    type Output = bool;
    const NAME: &'static str = "job_renew";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(job) = latest_run(tx, &self.job).await? else { return Ok(false) };
        let mut renewed = JobRecord::clone(&job);
        renewed.due = end_of(self.now, self.lease);
        tx.put(&*job, renewed)?;
        Ok(true)
    }
}

/// Updates the progress of a running job and extends its lease.
#[derive(Debug)]
pub struct TellProgress {
    /// The job as claimed.
    pub job: JobRecord,
    /// The current time.
    pub now: Timestamp,
    /// The new lease, starting at `now`.
    pub lease: TimeDelta,
    /// The current stage.
    pub stage: JobStage,
    /// Progress within the stage, if it can be measured.
    pub progress: Option<JobProgress>,
}

#[async_trait]
impl Operation for TellProgress {
    type Output = bool;
    const NAME: &'static str = "job_progress";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(job) = latest_run(tx, &self.job).await? else { return Ok(false) };
        let mut told = JobRecord::clone(&job);
        told.due = end_of(self.now, self.lease);
        (told.stage, told.progress) = (Some(self.stage), self.progress);
        tx.put(&*job, told)?;
        Ok(true)
    }
}

/// Returns the retry time after a transient failure. The exponential backoff is 1 s, 4 s, 16 s …, at most one hour.
#[must_use]
pub fn again_at(now: DateTime<Utc>, attempt: u32) -> Timestamp {
    let seconds = 4_i64.saturating_pow(attempt.saturating_sub(1)).min(3_600);
    Timestamp::new(now + TimeDelta::seconds(seconds))
}

/// Returns the end of a lease that begins now.
fn end_of(now: Timestamp, lease: TimeDelta) -> Timestamp {
    Timestamp::new(now.time() + lease)
}

async fn latest_run(tx: &Tx, run: &JobRecord) -> StoreResult<Option<Arc<JobRecord>>> {
    let found = tx.get::<JobRecord>(&JobRecord::key_for(&run.id)).await?;
    Ok(found.filter(|job| job.attempt == run.attempt && job.state == JobState::Running))
}

/// Returns the first unfinished job of a lane that is not waiting, or the first waiting job if there is none.
async fn head_of(tx: &Tx, lane: &str) -> StoreResult<Option<Arc<JobRecord>>> {
    let mut first = None;
    for (row, _) in tx.scan_prefix(&JobRecord::by_lane(lane), JOB_LANE_AHEAD).await? {
        let Some(job) = tx.get::<JobRecord>(&JobRecord::named_by(&row)).await? else { continue };
        if job.state != JobState::Waiting {
            return Ok(Some(job));
        }
        first = first.or(Some(job));
    }
    Ok(first)
}

/// Returns `true` if the job has failed before and yields to the other jobs of its lane.
fn gives_way(job: &JobRecord) -> bool {
    job.attempt > 0 && job.put_off == PutOff::Yields
}

/// Queues the next job of a lane.
async fn queue(tx: &mut Tx, next: Option<Arc<JobRecord>>) -> StoreResult<()> {
    let Some(next) = next else { return Ok(()) };
    store(tx, Some(&*next), JobRecord { state: JobState::Queued, ..JobRecord::clone(&next) }).await?;
    Ok(())
}

/// Returns the next job of a lane: the first waiting job that does not yield, or the first waiting job if all yield.
async fn next_in_lane(tx: &Tx, lane: &str) -> StoreResult<Option<Arc<JobRecord>>> {
    let mut first = None;
    for (row, _) in tx.scan_prefix(&JobRecord::by_lane(lane), JOB_LANE_AHEAD).await? {
        let job = tx.get::<JobRecord>(&JobRecord::named_by(&row)).await?;
        let Some(job) = job.filter(|job| job.state == JobState::Waiting) else { continue };
        if !gives_way(&job) {
            return Ok(Some(job));
        }
        first = first.or(Some(job));
    }
    Ok(first)
}

fn add_log(job: &mut JobRecord, lines: &[JobLine]) {
    let mut size: usize = job.log.iter().map(|line| json_size(&line.text)).sum();
    for line in lines {
        let text = truncate_line(&line.text);
        size += json_size(&text) + JOB_LINE_OVERHEAD;
        if size > JobRecord::MAX_LOG {
            job.log.push(JobLine { at: line.at, text: "… and more; see the log of the server".to_owned() });
            return;
        }
        job.log.push(JobLine { at: line.at, text });
    }
}

/// Returns the size of a string as JSON. An escaped character has up to six bytes.
fn json_size(text: &str) -> usize {
    Json::from(text).to_string().len()
}

/// Redacts credentials in URLs, removes NUL and truncates the text to [`JobRecord::MAX_LINE`] bytes. Log lines quote
/// arbitrary output of remote hosts and files.
fn truncate_line(text: &str) -> String {
    let text = redact_credentials(text);
    let text = without_nul(&text);
    let mut end = text.len().min(JobRecord::MAX_LINE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
