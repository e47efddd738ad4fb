//! Background jobs.

pub use docs_model::JobLine;
use docs_model::{
    self as model, JobId, JobProgress, JobResult, JobStage, SpaceId, Timestamp, UserId, error::ErrorKind,
    hash::Hash,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value, key::COUNTERS};

/// Class of the records that jobs are about, those of spaces: a job belongs to whom its subject belongs.
pub const SUBJECTS: &str = "spc";

/// Where a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for those before it in its lane.
    Waiting,
    /// Waits for its time.
    Queued,
    /// A worker is at it.
    Running,
    /// Done.
    Done,
    /// Given up; the log says why.
    Failed,
}

impl JobState {
    /// The state as it is shown.
    #[must_use]
    pub const fn shown(self) -> model::JobState {
        match self {
            Self::Waiting | Self::Queued => model::JobState::Queued,
            Self::Running => model::JobState::Running,
            Self::Done => model::JobState::Done,
            Self::Failed => model::JobState::Failed,
        }
    }
}

/// What a job that failed, and waits to be tried again, is to the others of its lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PutOff {
    /// They wait for it.
    #[default]
    Holds,
    /// Those that were not tried yet go first.
    Yields,
}

/// A background job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The id.
    pub id: JobId,
    /// What is to be done.
    pub kind: String,
    /// What it is done with; secrets in it are sealed or redacted by whoever enqueues it.
    pub payload: Json,
    /// What it is about: the id of a space, for example.
    pub subject: String,
    /// Whether it is listed among the jobs of its subject: work that somebody asked for, not upkeep.
    #[serde(default)]
    pub listed: bool,
    /// Who asked for it.
    #[serde(default)]
    pub by: Option<UserId>,
    /// What tells it from other work of its subject: who wants the same asks for the latest job of that name.
    #[serde(default)]
    pub same: Option<String>,
    /// Jobs of one lane run one after the other, in order.
    #[serde(default)]
    pub lane: Option<String>,
    /// The place in its lane: the time of the event behind the job.
    pub lane_at: Timestamp,
    /// What it is to the others of its lane while it waits to be tried again.
    #[serde(default)]
    pub put_off: PutOff,
    /// Where it stands.
    pub state: JobState,
    /// When it is due: to start, or, while it runs, to be taken over.
    pub due: Timestamp,
    /// How often it was started; also the fence: only the latest start may finish it.
    #[serde(default)]
    pub attempt: u32,
    /// When it was enqueued.
    pub created_at: Timestamp,
    /// When it was started for the first time.
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    /// What it does, or did last.
    #[serde(default)]
    pub stage: Option<JobStage>,
    /// How far that is.
    #[serde(default)]
    pub progress: Option<JobProgress>,
    /// When it ended.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    #[serde(default)]
    pub outcome: JobOutcome,
    /// Why it failed, in a sentence for the user.
    #[serde(default)]
    pub error: Option<String>,
    /// The kind of its failure.
    #[serde(default)]
    pub failure: Option<ErrorKind>,
    /// What happened, at most [`JobRecord::MAX_LOG`] bytes of JSON.
    #[serde(default)]
    pub log: Vec<JobLine>,
}

/// What came of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOutcome {
    /// What is shown of it.
    #[serde(default)]
    pub result: Option<JobResult>,
    /// The object that it made, which goes as all objects do that no revision names.
    #[serde(default)]
    pub object: Option<Hash>,
}

impl Entity for JobRecord {
    const KIND: &'static str = "job";
}

impl JobRecord {
    /// Most bytes of a log, so that a job fits into a record; a last line says that there was more.
    pub const MAX_LOG: usize = 96 * 1024;
    /// Most bytes of one line of a log, and of an error.
    pub const MAX_LINE: usize = 1_000;

    /// The key of a job.
    #[must_use]
    pub fn at(id: &JobId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Jobs by the time they are due.
    #[must_use]
    pub fn due() -> KeyBuf {
        KeyBuf::new("job.d")
    }

    /// Jobs of a lane that have not ended, in order.
    #[must_use]
    pub fn of_lane(lane: &str) -> KeyBuf {
        KeyBuf::new("job.l").part(lane)
    }

    /// Jobs of a subject that are listed, by the time they were enqueued.
    #[must_use]
    pub fn of_subject(subject: &str) -> KeyBuf {
        KeyBuf::new("job.s").part(subject)
    }

    /// Jobs of a subject for the same work, by the time they were enqueued.
    #[must_use]
    pub fn for_the_same(subject: &str, same: &str) -> KeyBuf {
        KeyBuf::new("job.q").part(subject).part(same)
    }

    /// Listed jobs of a subject and a kind that have ended, by the time of their end.
    #[must_use]
    pub fn ended_of(subject: &str, kind: &str) -> KeyBuf {
        KeyBuf::new("job.f").part(subject).part(kind)
    }

    /// How many listed jobs of a kind a subject has.
    #[must_use]
    pub fn count_of(subject: &str, kind: &str) -> Key {
        KeyBuf::new(COUNTERS).part(subject).part("jobs").part(kind).key()
    }

    /// Jobs that have ended, by the time of their end.
    #[must_use]
    pub fn ended() -> KeyBuf {
        KeyBuf::new("job.e")
    }

    /// Tells whether the job has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.state, JobState::Done | JobState::Failed)
    }
}

impl Indexed for JobRecord {
    const INDEXES: &'static [&'static str] =
        &["job.d", "job.e", "job.f", "job.l", "job.q", "job.s", COUNTERS];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let unit = |row: KeyBuf| Row::Index(row.part(id).key(), Value::Unit);
        let mut rows = Vec::new();
        // Whoever waits in a lane is not due: however many there are, they keep nobody else waiting.
        if matches!(self.state, JobState::Queued | JobState::Running) {
            rows.push(unit(Self::due().time(self.due.time())));
        }
        if let Some(at) = self.ended_at {
            rows.push(unit(Self::ended().time(at.time())));
        }
        if let Some(lane) = self.lane.as_ref().filter(|_| !self.has_ended()) {
            rows.push(unit(Self::of_lane(lane).time(self.lane_at.time()).time(self.created_at.time())));
        }
        if let Some(same) = &self.same {
            rows.push(unit(Self::for_the_same(&self.subject, same).time(self.created_at.time())));
        }
        if self.listed {
            rows.push(unit(Self::of_subject(&self.subject).time(self.created_at.time())));
            rows.push(Row::Count(Self::count_of(&self.subject, &self.kind)));
            if let Some(at) = self.ended_at {
                rows.push(unit(Self::ended_of(&self.subject, &self.kind).time(at.time())));
            }
        }
        rows
    }
    fn owner(&self) -> Owner {
        let space = self.subject.parse::<SpaceId>();
        space.map_or(Owner::Nobody, |space| Owner::As(KeyBuf::new(SUBJECTS).part(space.as_str()).key()))
    }
}
