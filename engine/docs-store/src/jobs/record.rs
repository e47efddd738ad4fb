//! Background jobs.

use docs_model::{Job, JobId, SpaceId, Timestamp};
pub use docs_model::{JobLine, JobState};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value};

/// Class of the records that jobs are about, those of spaces: a job belongs to whom its subject belongs.
pub const SUBJECTS: &str = "spc";

/// A background job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The id.
    pub id: JobId,
    /// What is to be done.
    pub kind: String,
    /// What it is done with; secrets in it are sealed or redacted by whoever enqueues it.
    pub payload: Json,
    /// What it is about: the id of a space, for example. Jobs are listed by it.
    pub subject: String,
    /// Jobs of one lane run one after the other, in order.
    #[serde(default)]
    pub lane: Option<String>,
    /// The place in its lane: the time of the event behind the job.
    pub lane_at: Timestamp,
    /// Where it stands.
    pub state: JobState,
    /// When it is due: to start, or, while it runs, to be taken over.
    pub due: Timestamp,
    /// How often it was started; also the fence: only the latest start may finish it.
    #[serde(default)]
    pub attempt: u32,
    /// When it was enqueued.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(default)]
    pub ended_at: Option<Timestamp>,
    /// Why it failed, in a sentence for the user.
    #[serde(default)]
    pub error: Option<String>,
    /// What happened, at most [`JobRecord::MAX_LOG`] bytes of JSON.
    #[serde(default)]
    pub log: Vec<JobLine>,
}

impl Entity for JobRecord {
    const KIND: &'static str = "job";
}

impl JobRecord {
    /// Most bytes of a log, so that a job fits into a record; a last line says that there was more.
    pub const MAX_LOG: usize = 96 * 1024;
    /// Most bytes of one line of a log, and of an error.
    pub const MAX_LINE: usize = 1_000;

    /// The job as it is shown: without what it is done with.
    #[must_use]
    pub fn view(&self) -> Job {
        Job {
            id: self.id.clone(),
            kind: self.kind.clone(),
            subject: self.subject.clone(),
            state: self.state,
            attempt: self.attempt,
            due: self.due,
            created_at: self.created_at,
            ended_at: self.ended_at,
            error: self.error.clone(),
            log: self.log.clone(),
        }
    }

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

    /// Jobs of a subject, by the time they were enqueued.
    #[must_use]
    pub fn of_subject(subject: &str) -> KeyBuf {
        KeyBuf::new("job.s").part(subject)
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
    const INDEXES: &'static [&'static str] = &["job.d", "job.e", "job.l", "job.s"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let subject = Self::of_subject(&self.subject).time(self.created_at.time()).part(id);
        let mut rows = vec![Row::Index(subject.key(), Value::Unit)];
        // Whoever waits in a lane is not due: however many there are, they keep nobody else waiting.
        if matches!(self.state, JobState::Queued | JobState::Running) {
            rows.push(Row::Index(Self::due().time(self.due.time()).part(id).key(), Value::Unit));
        }
        if let Some(at) = self.ended_at {
            rows.push(Row::Index(Self::ended().time(at.time()).part(id).key(), Value::Unit));
        }
        if let Some(lane) = self.lane.as_ref().filter(|_| !self.has_ended()) {
            let place = Self::of_lane(lane).time(self.lane_at.time()).time(self.created_at.time()).part(id);
            rows.push(Row::Index(place.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        let space = self.subject.parse::<SpaceId>();
        space.map_or(Owner::Nobody, |space| Owner::As(KeyBuf::new(SUBJECTS).part(space.as_str()).key()))
    }
}
