//! The record type of background jobs.

pub use docs_model::JobLine;
use docs_model::{
    self as model, JobId, JobProgress, JobResult, JobStage, SpaceId, Timestamp, UserId, error::ErrorKind,
    hash::Hash,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value, key::COUNTERS};

/// Class of the records that are subjects of jobs: spaces. The owner of a job is that of its subject.
pub const SUBJECTS: &str = "spc";

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for earlier jobs of its lane.
    Waiting,
    /// Waits for its due time.
    Queued,
    /// A worker is running it.
    Running,
    /// Finished successfully.
    Done,
    /// Failed permanently; the log contains the reason.
    Failed,
    /// Cancelled by a user, without an effect.
    Cancelled,
}

impl JobState {
    /// Converts the state to its API representation.
    #[must_use]
    pub const fn shown(self) -> model::JobState {
        match self {
            Self::Waiting | Self::Queued => model::JobState::Queued,
            Self::Running => model::JobState::Running,
            Self::Done => model::JobState::Done,
            Self::Failed => model::JobState::Failed,
            Self::Cancelled => model::JobState::Cancelled,
        }
    }
}

/// The class of a job. A worker can be restricted to one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobClass {
    /// The job does not access external hosts.
    #[default]
    Local,
    /// The job waits for external hosts, which may be slow.
    Remote,
}

impl JobClass {
    /// All classes.
    pub const ALL: [Self; 2] = [Self::Local, Self::Remote];

    /// Returns the segment for the class in index rows.
    const fn segment(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// The effect of a failed job that waits for a retry on other jobs in its lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PutOff {
    /// The other jobs wait for the job.
    #[default]
    Holds,
    /// Jobs that have not been attempted yet run first.
    Yields,
}

/// A background job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    pub id: JobId,
    pub kind: String,
    /// The input of the job. The code that enqueues the job seals or redacts secrets in it.
    pub payload: Json,
    /// The item that the job concerns, for example the id of a space.
    pub subject: String,
    /// The organization whose worker share the job uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default)]
    pub class: JobClass,
    /// `true` if an earlier job of the same owner and class is queued. Claims skip such jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
    /// `true` if the job is listed for its subject: it was requested by a user and is not maintenance.
    #[serde(default)]
    pub listed: bool,
    /// The user who requested the job.
    #[serde(default)]
    pub by: Option<UserId>,
    /// A deduplication key within the subject. A request for the same work looks up the latest job with this key.
    #[serde(default)]
    pub same: Option<String>,
    /// The lane. The jobs of a lane run sequentially, in order.
    #[serde(default)]
    pub lane: Option<String>,
    /// The position in the lane: the time of the event that triggered the job.
    pub lane_at: Timestamp,
    /// The effect on other jobs in its lane while it waits for a retry.
    #[serde(default)]
    pub put_off: PutOff,
    pub state: JobState,
    /// The scheduled start of a queued job. For a running job, the end of the lease.
    pub due: Timestamp,
    /// The number of starts. It is also the fencing token: only the latest start can finish the job.
    #[serde(default)]
    pub attempt: u32,
    /// The time when the job was enqueued.
    pub created_at: Timestamp,
    /// The time of the first start.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// The current or last stage.
    #[serde(default)]
    pub stage: Option<JobStage>,
    /// Progress within the stage.
    #[serde(default)]
    pub progress: Option<JobProgress>,
    /// The time when the job finished.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    #[serde(default)]
    pub outcome: JobOutcome,
    /// The error message for the user, if the job failed.
    #[serde(default)]
    pub error: Option<String>,
    /// The error kind, if the job failed.
    #[serde(default)]
    pub failure: Option<ErrorKind>,
    /// The log, at most [`JobRecord::MAX_LOG`] bytes of JSON.
    #[serde(default)]
    pub log: Vec<JobLine>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// The part of the outcome that the API returns.
    #[serde(default)]
    pub result: Option<JobResult>,
    /// The object that the job produced. Like every object, it is garbage-collected unless a revision references it.
    #[serde(default)]
    pub object: Option<Hash>,
}

impl Entity for JobRecord {
    const KIND: &'static str = "job";
}

impl JobRecord {
    /// Maximum size of a log in bytes, so that the job fits into a record. A truncated log ends with a line that says
    /// so.
    pub const MAX_LOG: usize = 96 * 1024;
    /// Maximum length of a log line or an error message in bytes.
    pub const MAX_LINE: usize = 1_000;

    /// Returns the key of a job.
    #[must_use]
    pub fn key_for(id: &JobId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Returns the index prefix of queued and running jobs, ordered by due time.
    #[must_use]
    pub fn by_due_time() -> KeyBuf {
        KeyBuf::new("job.d")
    }

    /// Returns the index prefix of the jobs of a class that claims consider, ordered by due time: running jobs, queued
    /// jobs without an owner, and the first queued job of each owner.
    #[must_use]
    pub fn claimable(class: JobClass) -> KeyBuf {
        KeyBuf::new("job.c").part(class.segment())
    }

    /// Returns the index prefix of the queued jobs of the same owner and class, ordered by due time, or `None` if the
    /// job has no owner.
    #[must_use]
    pub fn queue(&self) -> Option<KeyBuf> {
        let owner = self.owner.as_ref()?;
        Some(KeyBuf::new("job.o").part(owner).part(self.class.segment()))
    }

    /// Returns the key of the counter of an owner's unfinished jobs of a kind.
    #[must_use]
    pub fn unfinished_of(owner: &str, kind: &str) -> Key {
        KeyBuf::new(COUNTERS).part(owner).part("unfinished").part(kind).key()
    }

    /// Returns the index prefix of the unfinished jobs of a lane, in order.
    #[must_use]
    pub fn by_lane(lane: &str) -> KeyBuf {
        KeyBuf::new("job.l").part(lane)
    }

    /// Returns the index prefix of the listed jobs of a subject, ordered by creation time.
    #[must_use]
    pub fn by_subject(subject: &str) -> KeyBuf {
        KeyBuf::new("job.s").part(subject)
    }

    /// Returns the index prefix of the listed jobs of an owner and kind, ordered by creation time.
    #[must_use]
    pub fn by_owner(owner: &str, kind: &str) -> KeyBuf {
        KeyBuf::new("job.r").part(owner).part(kind)
    }

    /// Returns the index prefix of the jobs of a subject with a deduplication key, ordered by creation time.
    #[must_use]
    pub fn for_the_same(subject: &str, same: &str) -> KeyBuf {
        KeyBuf::new("job.q").part(subject).part(same)
    }

    /// Returns the index prefix of the finished listed jobs of a subject and kind, ordered by end time.
    #[must_use]
    pub fn ended_by_subject(subject: &str, kind: &str) -> KeyBuf {
        KeyBuf::new("job.f").part(subject).part(kind)
    }

    /// Returns the key of the counter of the listed jobs of a subject and kind.
    #[must_use]
    pub fn count_of(subject: &str, kind: &str) -> Key {
        KeyBuf::new(COUNTERS).part(subject).part("jobs").part(kind).key()
    }

    /// Returns the index prefix of finished jobs, ordered by end time.
    #[must_use]
    pub fn by_end_time() -> KeyBuf {
        KeyBuf::new("job.e")
    }

    /// Returns the sort key by which claims order jobs. Index rows have the same order.
    #[must_use]
    pub fn turn(&self) -> (Timestamp, &JobId) {
        (self.due, &self.id)
    }

    /// Returns `true` if the job has finished, successfully or not, or was cancelled.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.state, JobState::Done | JobState::Failed | JobState::Cancelled)
    }
}

impl Indexed for JobRecord {
    const INDEXES: &'static [&'static str] =
        &["job.c", "job.d", "job.e", "job.f", "job.l", "job.o", "job.q", "job.r", "job.s", COUNTERS];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let unit = |row: KeyBuf| Row::Index(row.part(id).key(), Value::Unit);
        let mut rows = Vec::new();
        // Jobs that wait in a lane have no row by due time.
        if matches!(self.state, JobState::Queued | JobState::Running) {
            rows.push(unit(Self::by_due_time().time(self.due.time())));
            if !self.behind {
                rows.push(unit(Self::claimable(self.class).time(self.due.time())));
            }
        }
        if let Some(queue) = self.queue().filter(|_| self.state == JobState::Queued) {
            rows.push(unit(queue.time(self.due.time())));
        }
        if let Some(owner) = self.owner.as_ref().filter(|_| !self.has_ended()) {
            rows.push(Row::Count(Self::unfinished_of(owner, &self.kind)));
        }
        if let Some(at) = self.ended_at {
            rows.push(unit(Self::by_end_time().time(at.time())));
        }
        if let Some(lane) = self.lane.as_ref().filter(|_| !self.has_ended()) {
            rows.push(unit(Self::by_lane(lane).time(self.lane_at.time()).time(self.created_at.time())));
        }
        if let Some(same) = &self.same {
            rows.push(unit(Self::for_the_same(&self.subject, same).time(self.created_at.time())));
        }
        if self.listed {
            rows.push(unit(Self::by_subject(&self.subject).time(self.created_at.time())));
            if let Some(owner) = &self.owner {
                rows.push(unit(Self::by_owner(owner, &self.kind).time(self.created_at.time())));
            }
            rows.push(Row::Count(Self::count_of(&self.subject, &self.kind)));
            if let Some(at) = self.ended_at {
                rows.push(unit(Self::ended_by_subject(&self.subject, &self.kind).time(at.time())));
            }
        }
        rows
    }
    fn owner(&self) -> Owner {
        let space = self.subject.parse::<SpaceId>();
        space.map_or(Owner::NoOrganization, |space| {
            Owner::As(KeyBuf::new(SUBJECTS).part(space.as_str()).key())
        })
    }
}
