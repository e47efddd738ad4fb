//! Background jobs, as they are shown.

use serde::{Deserialize, Serialize};

use super::{JobId, Timestamp};

/// A background job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The id.
    pub id: JobId,
    /// The kind of work, such as `git_import`.
    pub kind: String,
    /// The id of the space, the site or the like that it is about.
    pub subject: String,
    /// Where it stands.
    pub state: JobState,
    /// How often it was started.
    pub attempt: u32,
    /// When it is due: to start, or, while it runs, to be taken over by another worker.
    pub due: Timestamp,
    /// When it was enqueued.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why it failed, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What happened, in order.
    pub log: Vec<JobLine>,
}

/// Where a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

/// A line of a job's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobLine {
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    pub text: String,
}
