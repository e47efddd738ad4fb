//! Background work as records: enqueued in the transaction that wants it, done at least once, finished exactly once.
//!
//! A job is due at a time. Starting it counts the attempt up and moves the time to the end of a lease, so a job
//! whose worker died is due again by itself. Only the worker of the latest attempt can finish it: that number is the
//! fence, and correctness never depends on clocks. Jobs of one lane run one after the other, in order.

mod record;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use docs_model::{
    JobId, JobProgress, JobStage, Timestamp, UserId,
    error::{Error, ErrorKind, Result},
    redacted, without_nul,
};
use serde_json::Value as Json;

pub use self::record::{JobLine, JobOutcome, JobRecord, JobState, PutOff, SUBJECTS};
use super::{Entity, Key, Operation, Scan, StoreError, StoreResult, Tx, key, topic};

/// How long a worker has a job before others may take it over, unless an operator says otherwise; workers renew at a
/// third of it.
pub const LEASE: TimeDelta = TimeDelta::seconds(30);
/// The longest lease that an operator may choose.
pub const MAX_LEASE: TimeDelta = TimeDelta::days(1);
/// What a line of a log takes besides its text.
const JOB_LINE_OVERHEAD: usize = 64;
/// Jobs of a lane looked at to find the one that runs: it may have been overtaken by earlier events.
const JOB_LANE_AHEAD: u32 = 100;
/// The latest jobs for some work among which one that waits is looked for: at the same time there are two at most, one
/// that runs and one that waits.
const SAME_LOOKED_AT: u32 = 4;
/// Failures in a row that are counted.
const FAILED_LOOKED_AT: u32 = 8;
/// Jobs that a claim which leaves some to others looks at, at once.
const LOOKED_AT: u32 = 64;
/// Most starts of a job that keeps failing for reasons that may pass.
pub const MAX_STARTS: u32 = 8;

/// Most jobs of a kind that are listed of a subject: of those that have ended, the one that ended first goes for a new
/// one.
pub const MAX_LISTED: u32 = 100;
/// Ended jobs that a new one removes at most, where there are more than [`MAX_LISTED`].
const DROPPED_AT_ONCE: u32 = 10;

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The id; a fixed one makes enqueueing idempotent.
    pub id: JobId,
    /// What is to be done.
    pub kind: &'static str,
    /// What it is done with.
    pub payload: Json,
    /// What it is about.
    pub subject: String,
    /// For whom it is.
    pub audience: Audience,
    /// The lane, and the place in it.
    pub lane: Option<(String, Timestamp)>,
    /// What it is to the others of its lane while it waits to be tried again.
    pub put_off: PutOff,
    /// When to start.
    pub due: Timestamp,
}

/// Who learns of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// Nobody but the operator: it is upkeep.
    #[default]
    Operator,
    /// Those who may see the jobs of its subject.
    Subject {
        /// Who asked for it.
        by: Option<UserId>,
        /// See [`JobRecord::same`].
        same: Option<String>,
    },
}

/// Enqueues a job in the transaction that wants it.
///
/// # Errors
/// `Conflict` when the subject has [`MAX_LISTED`] listed jobs of the kind of which none has ended; the store's.
pub async fn enqueue(tx: &mut Tx, now: Timestamp, job: NewJob) -> Result<()> {
    create(tx, now, None, job).await
}

/// Begins a job that its caller runs: it is running from the start, as if its caller had claimed it.
#[derive(Debug)]
pub struct BeginJob {
    /// The job.
    pub job: NewJob,
    /// The time.
    pub now: Timestamp,
    /// How long the caller has it.
    pub lease: TimeDelta,
}

#[async_trait]
impl Operation for BeginJob {
    type Out = ();
    const NAME: &'static str = "job_begin";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        create(tx, self.now, Some(self.lease), self.job.clone()).await
    }
}

/// Makes room for a job, and creates it: one that runs already when its worker has a lease.
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
        // An earlier event goes before one whose job has not started, and any before one that gives way.
        Some(head) if head.state == JobState::Queued && (lane_at < head.lane_at || gives_way(head)) => {
            tx.put(&**head, JobRecord { state: JobState::Waiting, ..JobRecord::clone(head) })?;
            JobState::Queued
        }
        Some(_) => JobState::Waiting,
        None if lease.is_some() => JobState::Running,
        None => JobState::Queued,
    };
    let runs = state == JobState::Running;
    let record = tx.create(JobRecord {
        id: job.id,
        kind: job.kind.to_owned(),
        payload: job.payload,
        subject: job.subject,
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
    });
    tx.feed(topic::JOBS, JobRecord::at(&record.id));
    Ok(())
}

/// Removes the listed jobs of a subject and a kind that ended first, so that there is room for another.
async fn make_room(tx: &mut Tx, subject: &str, kind: &str) -> Result<()> {
    let listed = tx.number(&JobRecord::count_of(subject, kind)).await?;
    let over = u32::try_from(listed + 1 - i64::from(MAX_LISTED)).unwrap_or_default().min(DROPPED_AT_ONCE);
    if over == 0 {
        return Ok(());
    }
    let rows = tx.below(&JobRecord::ended_of(subject, kind), over).await?;
    if rows.is_empty() {
        return Err(Error::conflict(format!(
            "{MAX_LISTED} jobs of this kind have not ended yet; wait until one of them has"
        )));
    }
    tx.delete_all::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
    Ok(())
}

/// The latest job of a subject for some work.
///
/// # Errors
/// The store's.
pub async fn for_the_same(
    tx: &Tx,
    subject: &str,
    same: &str,
) -> StoreResult<Option<std::sync::Arc<JobRecord>>> {
    Ok(newest(tx, subject, same, 1).await?.pop())
}

/// The latest jobs of a subject for some work, the newest first.
async fn newest(
    tx: &Tx,
    subject: &str,
    same: &str,
    limit: u32,
) -> StoreResult<Vec<std::sync::Arc<JobRecord>>> {
    let (from, to) = JobRecord::for_the_same(subject, same).below();
    let rows = tx.scan(&Scan { from, to, rev: true, limit }).await?;
    let found = tx.get_many::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
    Ok(found.into_iter().flatten().collect())
}

/// A job of a subject for some work that no worker is at yet: whoever wants the work needs no other.
///
/// # Errors
/// The store's.
pub async fn waiting_for_the_same(
    tx: &Tx,
    subject: &str,
    same: &str,
) -> StoreResult<Option<std::sync::Arc<JobRecord>>> {
    let (from, to) = JobRecord::for_the_same(subject, same).below();
    for (row, _) in tx.scan(&Scan { from, to, rev: true, limit: SAME_LOOKED_AT }).await? {
        let job = tx.get::<JobRecord>(&JobRecord::named_by(&row)).await?;
        if let Some(job) = job.filter(|job| matches!(job.state, JobState::Queued | JobState::Waiting)) {
            return Ok(Some(job));
        }
    }
    Ok(None)
}

/// Makes the first job of a lane due where it was put off: the lane waits for it.
///
/// # Errors
/// The store's.
pub async fn hasten_lane(tx: &mut Tx, lane: &str, now: Timestamp) -> StoreResult<()> {
    let first = head_of(tx, lane).await?;
    if let Some(job) = first.filter(|job| job.state == JobState::Queued && job.due > now) {
        tx.put(&*job, JobRecord { due: now, ..JobRecord::clone(&job) })?;
        tx.feed(topic::JOBS, JobRecord::at(&job.id));
    }
    Ok(())
}

/// The latest jobs of a subject for some work, as far back as they failed one after the other, the newest first; at
/// most eight.
///
/// # Errors
/// The store's.
pub async fn failed_in_a_row(
    tx: &Tx,
    subject: &str,
    same: &str,
) -> StoreResult<Vec<std::sync::Arc<JobRecord>>> {
    let found = newest(tx, subject, same, FAILED_LOOKED_AT).await?;
    Ok(found.into_iter().take_while(|job| job.state == JobState::Failed).collect())
}

/// How a run of a job ended.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEnd {
    /// It is done.
    Done(JobOutcome),
    /// It cannot be done; the sentence is for the user.
    Failed(ErrorKind, String),
    /// Something that may pass came in the way: again at that time.
    Again(Timestamp, String),
}

/// Takes the first due job: counts its attempt and gives it a lease.
#[derive(Debug)]
pub struct ClaimJob {
    /// The time of the claim.
    pub now: Timestamp,
    /// How long the caller has the job.
    pub lease: TimeDelta,
    /// The kinds of jobs that are left to others.
    pub but: Vec<&'static str>,
}

/// What a claim found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Claimed {
    /// This job: it is the caller's until its lease ends.
    Job(JobId),
    /// The first job was started too often; it has failed now, and the next one may be due.
    GivenUp,
    /// Nothing is due, but for what is left to others; the next job is due then, if there is one.
    Nothing(Option<Timestamp>),
}

#[async_trait]
impl Operation for ClaimJob {
    type Out = Claimed;
    const NAME: &'static str = "job_claim";

    /// All workers want the same first row: in turn they take it, at once they make each other fail, and with them
    /// those who enqueue.
    fn hot(&self) -> Vec<Key> {
        vec![JobRecord::due().key()]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<Claimed> {
        let Some(job) = self.first(tx).await? else { return Ok(Claimed::Nothing(None)) };
        if job.due > self.now {
            return Ok(Claimed::Nothing(Some(job.due)));
        }
        let mut started = JobRecord::clone(&job);
        started.state = JobState::Running;
        if job.attempt >= MAX_STARTS {
            // Whoever had it died each time, so it never came to an end of its own.
            let why = "given up: it was started too often and never finished";
            let end = JobEnd::Failed(ErrorKind::Internal, why.to_owned());
            let job = JobRecord::clone(&*tx.put(&*job, started)?);
            finish(tx, &FinishJob { job, now: self.now, end, log: Vec::new() }).await?;
            return Ok(Claimed::GivenUp);
        }
        started.attempt += 1;
        started.started_at = started.started_at.or(Some(self.now));
        started.due = end_of(self.now, self.lease);
        tx.put(&*job, started)?;
        Ok(Claimed::Job(job.id.clone()))
    }
}

impl ClaimJob {
    /// The first job by the time it is due, of those that are not left to others.
    async fn first(&self, tx: &Tx) -> StoreResult<Option<std::sync::Arc<JobRecord>>> {
        let at_once = if self.but.is_empty() { 1 } else { LOOKED_AT };
        let (mut from, to) = JobRecord::due().below();
        loop {
            let scan = Scan { from, to: to.clone(), rev: false, limit: at_once };
            let rows = tx.scan(&scan).await?;
            let found = tx.get_many::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
            for ((row, _), job) in rows.iter().zip(found) {
                let job = job.ok_or_else(|| StoreError::Corrupt(format!("`{row}` leads to no job")))?;
                if job.due > self.now || !self.but.contains(&job.kind.as_str()) {
                    return Ok(Some(job));
                }
            }
            match rows.last() {
                Some((last, _)) if rows.len() == at_once as usize => from = key::after(last),
                _ => return Ok(None),
            }
        }
    }
}

/// Ends a run of a job, unless a later attempt has taken it over.
///
/// `Out` tells whether the run was still the latest. The effect of the job belongs into the same transaction: see
/// [`fence`].
#[derive(Debug)]
pub struct FinishJob {
    /// The job as it was claimed.
    pub job: JobRecord,
    /// When the run ended.
    pub now: Timestamp,
    /// How it ended.
    pub end: JobEnd,
    /// What to add to its log.
    pub log: Vec<JobLine>,
}

#[async_trait]
impl Operation for FinishJob {
    type Out = bool;
    const NAME: &'static str = "job_finish";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        finish(tx, self).await
    }
}

/// Ends a run of a job inside a transaction that also stores its effect.
///
/// # Errors
/// The store's.
pub async fn finish(tx: &mut Tx, run: &FinishJob) -> Result<bool> {
    let Some(job) = latest(tx, &run.job).await? else { return Ok(false) };
    let mut ended = JobRecord::clone(&job);
    add_log(&mut ended, &run.log);
    match &run.end {
        JobEnd::Done(outcome) => {
            ended.state = JobState::Done;
            ended.outcome = outcome.clone();
        }
        JobEnd::Again(due, _) if job.attempt < MAX_STARTS => {
            ended.state = JobState::Queued;
            ended.due = *due;
        }
        JobEnd::Failed(_, why) | JobEnd::Again(_, why) => {
            ended.state = JobState::Failed;
            ended.error = Some(cut(why));
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
        Some(lane) if is_end || gives_way(&ended) => next_of(tx, lane).await?,
        _ => None,
    };
    // One that was put off as well has its own time to wait for.
    let next = next.filter(|next| is_end || !gives_way(next));
    if !is_end && next.is_some() {
        ended.state = JobState::Waiting;
    }
    tx.put(&*job, ended)?;
    if let Some(next) = next {
        tx.put(&*next, JobRecord { state: JobState::Queued, ..JobRecord::clone(&next) })?;
    }
    // Whoever waits for the lane, or for the job's new time, looks again.
    tx.feed(topic::JOBS, JobRecord::at(&run.job.id));
    Ok(true)
}

/// Refuses a transaction of a run that was taken over.
///
/// # Errors
/// `Conflict` when a later attempt has the job; the store's.
pub async fn fence(tx: &Tx, job: &JobRecord) -> Result<()> {
    match latest(tx, job).await? {
        Some(_) => Ok(()),
        None => Err(Error::conflict("another worker has taken the job over")),
    }
}

/// Keeps a running job for another lease.
#[derive(Debug)]
pub struct RenewJob {
    /// The job as it was claimed.
    pub job: JobRecord,
    /// The time of the renewal.
    pub now: Timestamp,
    /// How long the caller has it from then on.
    pub lease: TimeDelta,
}

#[async_trait]
impl Operation for RenewJob {
    type Out = bool;
    const NAME: &'static str = "job_renew";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(job) = latest(tx, &self.job).await? else { return Ok(false) };
        let mut renewed = JobRecord::clone(&job);
        renewed.due = end_of(self.now, self.lease);
        tx.put(&*job, renewed)?;
        Ok(true)
    }
}

/// Tells how far a running job is, and keeps it for another lease.
#[derive(Debug)]
pub struct TellProgress {
    /// The job as it was claimed.
    pub job: JobRecord,
    /// The time.
    pub now: Timestamp,
    /// How long the caller has it from then on.
    pub lease: TimeDelta,
    /// What it does.
    pub stage: JobStage,
    /// How far that is, where it can be counted.
    pub progress: Option<JobProgress>,
}

#[async_trait]
impl Operation for TellProgress {
    type Out = bool;
    const NAME: &'static str = "job_progress";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(job) = latest(tx, &self.job).await? else { return Ok(false) };
        let mut told = JobRecord::clone(&job);
        told.due = end_of(self.now, self.lease);
        (told.stage, told.progress) = (Some(self.stage), self.progress);
        tx.put(&*job, told)?;
        Ok(true)
    }
}

/// When to try again after a failure that may pass: 1 s, 4 s, 16 s … at most an hour.
#[must_use]
pub fn again_at(now: DateTime<Utc>, attempt: u32) -> Timestamp {
    let seconds = 4_i64.saturating_pow(attempt.saturating_sub(1)).min(3_600);
    Timestamp::new(now + TimeDelta::seconds(seconds))
}

/// When a lease ends that begins now.
fn end_of(now: Timestamp, lease: TimeDelta) -> Timestamp {
    Timestamp::new(now.time() + lease)
}

async fn latest(tx: &Tx, run: &JobRecord) -> StoreResult<Option<std::sync::Arc<JobRecord>>> {
    let found = tx.get::<JobRecord>(&JobRecord::at(&run.id)).await?;
    Ok(found.filter(|job| job.attempt == run.attempt && job.state == JobState::Running))
}

/// The first job of a lane that has not ended: the one that is due or running, unless the lane is being handed on.
async fn head_of(tx: &Tx, lane: &str) -> StoreResult<Option<std::sync::Arc<JobRecord>>> {
    let mut first = None;
    for (row, _) in tx.below(&JobRecord::of_lane(lane), JOB_LANE_AHEAD).await? {
        let Some(job) = tx.get::<JobRecord>(&JobRecord::named_by(&row)).await? else { continue };
        if job.state != JobState::Waiting {
            return Ok(Some(job));
        }
        first = first.or(Some(job));
    }
    Ok(first)
}

/// Tells whether a job lets those of its lane go first that do not, as it has failed before.
fn gives_way(job: &JobRecord) -> bool {
    job.attempt > 0 && job.put_off == PutOff::Yields
}

/// Who has a lane next: the first that waits and gives no way, else the first that waits.
async fn next_of(tx: &Tx, lane: &str) -> StoreResult<Option<std::sync::Arc<JobRecord>>> {
    let mut first = None;
    for (row, _) in tx.below(&JobRecord::of_lane(lane), JOB_LANE_AHEAD).await? {
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
        let text = cut(&line.text);
        size += json_size(&text) + JOB_LINE_OVERHEAD;
        if size > JobRecord::MAX_LOG {
            job.log.push(JobLine { at: line.at, text: "… and more, see the server's log".to_owned() });
            return;
        }
        job.log.push(JobLine { at: line.at, text });
    }
}

/// What a text takes where a store keeps it: a character that JSON escapes takes up to six bytes.
fn json_size(text: &str) -> usize {
    Json::from(text).to_string().len()
}

/// Text cut to what a line may have, and fit to be kept: lines quote what hosts and their files say, whatever that is.
/// Credentials in addresses are no part of it.
fn cut(text: &str) -> String {
    let text = redacted(text);
    let text = without_nul(&text);
    let mut end = text.len().min(JobRecord::MAX_LINE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
