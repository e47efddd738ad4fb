//! Background jobs of the API.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeRequestId, JobId, RevisionId, Timestamp, User, list::constants};

constants! {
    /// `job`.
    JobObject = "job",
}

/// A background job. It runs asynchronously to the request that created it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Always `job`.
    pub object: JobObject,
    pub id: JobId,
    /// The kind of job: `git_import`, `git_export`, `git_sync`, `content_import` or `pdf`.
    pub kind: String,
    /// The id of the space that the job processes.
    pub subject: String,
    pub state: JobState,
    /// The current or, after the end, the last stage; absent before the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<JobStage>,
    /// The progress within the stage, if it can be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// The number of attempts so far.
    pub attempt: u32,
    /// The user who requested the job; absent for maintenance jobs and for jobs requested by site visitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<User>,
    /// Time at which the job was requested.
    pub created_at: Timestamp,
    /// Time of the next attempt; present only while the job is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// Time of the first attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The result, if the job produced one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// The reason for the failure, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The log of the job in chronological order. Omitted in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<JobLine>,
}

/// The state of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waiting for its scheduled time or for earlier jobs.
    Queued,
    /// Running on a server.
    Running,
    /// Completed successfully.
    Done,
    /// Failed permanently; `error` contains the reason.
    Failed,
    /// Cancelled by a user before its end, without an effect.
    Cancelled,
}

/// The stage of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobStage {
    /// Fetching a repository.
    RepoFetch,
    /// Reading the repository configuration.
    ConfigCheck,
    /// Fetching and converting documents.
    DocumentFetch,
    /// Processing pages and files.
    ContentProcess,
    /// Typesetting pages as a PDF file.
    Typeset,
    /// Translating pages.
    Translate,
    /// Storing the result.
    Finalize,
}

/// The progress of a job within its stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobProgress {
    /// The number of processed pages or files.
    pub done: u64,
    /// The total number of pages or files.
    pub total: u64,
}

/// The result of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobResult {
    /// The revision that the job created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionId>,
    /// The URL of the revision in the web application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The change request with the conflicting changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
}

/// A log entry of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobLine {
    pub at: Timestamp,
    /// The log message, as a sentence.
    pub text: String,
}
