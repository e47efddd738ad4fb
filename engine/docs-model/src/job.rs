//! Background jobs, as they are shown.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeRequestId, JobId, RevisionId, Timestamp, User, list::constants};

constants! {
    /// `job`.
    JobObject = "job",
}

/// A background job: work that goes on after its request was answered, or that takes long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Always `job`.
    pub object: JobObject,
    /// The id.
    pub id: JobId,
    /// The kind of work: `git_import`, `git_export`, `git_sync`, `content_import` or `pdf`.
    pub kind: String,
    /// The id of the space that it is about.
    pub subject: String,
    /// Where it stands.
    pub state: JobState,
    /// What it does now, or did last; absent before it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<JobStage>,
    /// How far the stage is, where that can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// How often it was started.
    pub attempt: u32,
    /// Who asked for it; absent for work of visitors and of the platform itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<User>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it is to start, or to start again; only while it is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// When it was started for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// What came of it, where there is something to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// Why it failed, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What happened, in order. Only where one job is read, not in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<JobLine>,
}

/// Where a job stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for its time, or for those before it.
    Queued,
    /// A server is at it.
    Running,
    /// It is done.
    Done,
    /// It was given up; its error says why.
    Failed,
}

/// What a job does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobStage {
    /// Fetches a repository.
    RepoFetch,
    /// Reads how the repository is laid out.
    ConfigCheck,
    /// Fetches and converts documents.
    DocumentFetch,
    /// Reads pages and files.
    ContentProcess,
    /// Sets pages as a PDF file.
    Typeset,
    /// Translates pages.
    Translate,
    /// Stores what was made.
    Finalize,
}

/// How far a stage of a job is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobProgress {
    /// How many pages or files are done.
    pub done: u64,
    /// How many there are.
    pub total: u64,
}

/// What came of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobResult {
    /// The revision that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionId>,
    /// Where the revision can be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The change request that has what could not be united.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
}

/// A line of a job's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JobLine {
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    pub text: String,
}
