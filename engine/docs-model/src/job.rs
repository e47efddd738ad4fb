//! Background jobs as the API returns them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeRequestId, JobId, RevisionId, Timestamp, User, list::constants};

constants! {
    /// `job`.
    JobObject = "job",
}

/// A background job: work that continues after the response to its request, or that takes long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Always `job`.
    pub object: JobObject,
    pub id: JobId,
    /// The kind of work: `git_import`, `git_export`, `git_sync`, `content_import` or `pdf`.
    pub kind: String,
    /// The id of the space that the job works on.
    pub subject: String,
    pub state: JobState,
    /// The current stage, or the last one after the end; absent before the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<JobStage>,
    /// The progress within the stage, if the work can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// The number of attempts so far.
    pub attempt: u32,
    /// The user who requested the job; absent for requests of site visitors and for maintenance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<User>,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time of the next start; present only while the job is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// Time of the first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The result, if the job produced one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// The reason of a failure, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The events of the job in chronological order. Omitted in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<JobLine>,
}

/// The state of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waiting for its start time or for earlier jobs.
    Queued,
    /// Running on a server.
    Running,
    /// Completed successfully.
    Done,
    /// Given up after a failure; `error` contains the reason.
    Failed,
}

/// The stage of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobStage {
    /// Fetching a repository.
    RepoFetch,
    /// Reading the layout of a repository.
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
    /// The address of the revision in the web application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The change request that contains the conflicting changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
}

/// A log entry of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobLine {
    pub at: Timestamp,
    /// The event, as a sentence.
    pub text: String,
}
