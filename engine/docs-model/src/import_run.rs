//! Import runs: the imports of an organization.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangeRequestId, ImportContentSource, JobId, PageId, SiteId, SpaceId, Timestamp, Url, UserId,
    list::constants,
};

constants! {
    /// `import-run`.
    ContentImportRunObject = "import-run",
}

/// An import of documents into a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContentImportRun {
    /// Always `import-run`.
    pub object: ContentImportRunObject,
    /// The id of the run and of its job.
    pub id: JobId,
    pub status: ImportRunStatus,
    /// The reason for the failure, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub source: ImportRunSource,
    pub target: ImportRunTarget,
    /// The site for which the run was started, otherwise the site of the space, if the space is on exactly one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteId>,
    /// The user who started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<UserId>,
    /// Time at which the run was requested.
    pub created_at: Timestamp,
    /// Time at which the run was started for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Time of the last change of the status.
    pub updated_at: Timestamp,
    /// Time of the end, if the run is completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    pub urls: ImportRunUrls,
}

/// The URLs of an import run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ImportRunUrls {
    /// The URL of the run in the API.
    pub location: String,
}

/// The status of an import run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportRunStatus {
    /// Waiting to be executed.
    Pending,
    /// Running on a server.
    InProgress,
    /// Completed successfully.
    Completed,
    /// Failed permanently; `reason` contains the reason.
    Failed,
    /// Cancelled by a user before its end.
    Cancelled,
}

/// The import runs in a list, by status.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportRunSelection {
    /// Runs that have not ended: `pending` and `in-progress`.
    Active,
    Pending,
    InProgress,
    Completed,
    Failed,
    Cancelled,
}

impl ImportRunSelection {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Pending => "pending",
            Self::InProgress => "in-progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns `true` if the selection contains runs with a status.
    #[must_use]
    pub const fn contains(self, status: ImportRunStatus) -> bool {
        match status {
            ImportRunStatus::Pending => matches!(self, Self::Active | Self::Pending),
            ImportRunStatus::InProgress => matches!(self, Self::Active | Self::InProgress),
            ImportRunStatus::Completed => matches!(self, Self::Completed),
            ImportRunStatus::Failed => matches!(self, Self::Failed),
            ImportRunStatus::Cancelled => matches!(self, Self::Cancelled),
        }
    }
}

/// The source of an import run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ImportRunSource {
    /// Content at a URL.
    Website {
        /// The URL without credentials.
        url: String,
        /// The format of the content: `website` for a page and the pages of the same site that it links to.
        format: ImportContentSource,
    },
    /// Files.
    File {
        /// The keys of the files, if they were uploaded to storage.
        files: Vec<String>,
        /// The name of the file, if it was part of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

/// The content into which a run imports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportRunTarget {
    pub space: SpaceId,
    /// The change request, unless the run imports into live content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
    /// The parent of the imported pages, unless they are at the top level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<PageId>,
}

/// A request to start an import run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StartImportRun {
    /// The content to import.
    pub source: NewImportSource,
    /// The content that receives the pages.
    pub target: NewImportTarget,
    /// The id of the site for which the space is prepared. It is needed only to list the run among those of a site
    /// that does not contain the space yet.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub site: Option<String>,
    /// Must be `false`, because the platform has no AI model.
    #[serde(default)]
    pub enhance: Option<bool>,
}

impl StartImportRun {
    /// Maximum number of files in one run.
    pub const MAX_FILES: usize = 50;
}

/// The source of a new import run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum NewImportSource {
    /// A web page and the pages of the same site that it links to.
    Website {
        /// The URL of the page. It must not contain credentials.
        url: Url,
    },
    /// Uploaded files: documents, or one archive.
    File {
        /// The keys of files that the caller uploaded to storage.
        #[cfg_attr(feature = "schema", schemars(length(min = 1, max = StartImportRun::MAX_FILES)))]
        files: Vec<String>,
    },
}

/// The target of a new import run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NewImportTarget {
    /// The id of the space.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space: String,
    /// The id or number of a change request. By default, live content receives the pages.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub change_request: Option<String>,
    /// The id of the parent of the imported pages. By default, they are at the top level.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub page: Option<String>,
}
