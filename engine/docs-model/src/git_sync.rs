//! Git Sync: the setting that synchronizes a space with a repository.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    BoundedText, ChangeRequestId, GitInfoProvider, JobId, JobState, RevisionId, Timestamp, User,
    list::constants,
};
#[cfg(feature = "schema")]
use super::{
    git::{REF, REPOSITORY},
    url::WEB_URL_OR_EMPTY,
};

constants! {
    /// `git-sync`.
    GitSyncObject = "git-sync",
}

/// The direction in which content is synchronized.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GitSyncDirection {
    /// From the repository to the space.
    Import,
    /// From the space to the repository.
    Export,
    /// In both directions. Concurrent changes are merged.
    Both,
}

impl GitSyncDirection {
    /// Returns `true` if changes of the repository are imported into the space.
    #[must_use]
    pub const fn imports(self) -> bool {
        matches!(self, Self::Import | Self::Both)
    }

    /// Returns `true` if changes of the space are exported to the repository.
    #[must_use]
    pub const fn exports(self) -> bool {
        matches!(self, Self::Export | Self::Both)
    }
}

/// The interval at which a repository is polled, in minutes.
///
/// ```
/// use docs_model::GitSyncInterval;
/// assert_eq!(GitSyncInterval::new(15).map(GitSyncInterval::minutes), Some(15));
/// assert_eq!(GitSyncInterval::new(0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(transparent)]
pub struct GitSyncInterval(u16);

impl GitSyncInterval {
    /// The shortest interval in minutes. Git hosts limit the request rate.
    const MIN_INTERVAL_MINUTES: u16 = 5;
    /// The longest interval in minutes: one week.
    const MAX_INTERVAL_MINUTES: u16 = 7 * 24 * 60;

    /// Creates an interval, or returns `None` if it is too short or too long.
    #[must_use]
    pub const fn new(minutes: u16) -> Option<Self> {
        if minutes >= Self::MIN_INTERVAL_MINUTES && minutes <= Self::MAX_INTERVAL_MINUTES {
            Some(Self(minutes))
        } else {
            None
        }
    }

    /// Returns the interval in minutes.
    #[must_use]
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl<'de> Deserialize<'de> for GitSyncInterval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (shortest, longest) = (Self::MIN_INTERVAL_MINUTES, Self::MAX_INTERVAL_MINUTES);
        let minutes = u16::deserialize(deserializer)?;
        Self::new(minutes).ok_or_else(|| {
            serde::de::Error::custom(format!("must be a whole number from {shortest} to {longest}"))
        })
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for GitSyncInterval {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GitSyncInterval".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": Self::MIN_INTERVAL_MINUTES, "maximum": Self::MAX_INTERVAL_MINUTES })
    }
}

/// A synchronization setting of a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "properties": { "direction": { "type": "string", "enum": ["import"] } } },
    { "properties": { "ref": { "type": "string", "pattern": "^refs/heads/" } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct SetGitSync {
    /// The URL of the repository. The scheme is https, http or, if the platform allows it, file. It may contain
    /// credentials. Without them, credentials stored earlier for the same URL remain in use.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REPOSITORY)))]
    pub url: BoundedText<1, 2048>,
    /// The full name of the ref, for example `refs/heads/main`. It must be a branch unless the direction is `import`.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REF)))]
    pub reference: BoundedText<1, 1024>,
    /// The directory in the repository that contains the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<BoundedText<0, 1024>>,
    pub direction: GitSyncDirection,
    /// The polling interval in minutes, for repositories without a webhook. `null` disables polling.
    #[serde(default)]
    pub schedule: Option<GitSyncInterval>,
    /// The commit message. `{change_request_number}` and `{change_request_subject}` are placeholders for the most
    /// recently merged change request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub commit_message: Option<BoundedText<1, 4000>>,
    /// The hosting service of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<GitInfoProvider>,
    /// Base URL of the repository's files on the web, used for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_tree_url: Option<BoundedText<0, 2048>>,
    /// Base URL of commit pages on the host.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_commit_url: Option<BoundedText<0, 2048>>,
}

/// The synchronization setting of a space and its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncSetting {
    /// Always `git-sync`.
    pub object: GitSyncObject,
    /// The setting. The credentials are removed from its URL.
    #[serde(flatten)]
    pub setting: SetGitSync,
    /// `true` if credentials for the URL are stored.
    pub has_credentials: bool,
    /// The webhook that receives pushes to the repository.
    pub webhook: GitSyncWebhook,
    /// The progress of synchronization.
    pub state: GitSyncProgress,
    /// The user who last changed the setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_by: Option<User>,
    /// Time of the last change of the setting.
    pub updated_at: Timestamp,
}

/// The webhook that receives pushes to a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncWebhook {
    /// The URL to which the Git host sends events.
    pub url: String,
    /// The secret with which the Git host signs events or which it sends as a token. It is returned only by the request
    /// that creates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Creation time of the secret.
    pub secret_created_at: Timestamp,
}

/// The progress of synchronization between a space and a repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncProgress {
    /// `true` if the current content of the space equals the last import or export.
    pub in_step: bool,
    /// The last commit that the space and the repository have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The most recent import into the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_import: Option<GitSyncEvent>,
    /// The most recent export to the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_export: Option<GitSyncEvent>,
    /// The most recent job; absent if it is no longer stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<GitSyncJob>,
    /// The change request with conflicting changes. Exports are suspended until it is merged or archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
}

/// A completed import or export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GitSyncEvent {
    /// Time of completion.
    pub at: Timestamp,
    /// The id of the commit.
    pub commit: String,
    /// The revision that has the content of the commit.
    pub revision: RevisionId,
}

/// A job that synchronizes a space with a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncJob {
    /// The id of the job within the space.
    pub id: JobId,
    pub state: JobState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The reason for the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
