//! The setting that keeps a space and a repository in step.

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

/// What follows what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GitSyncDirection {
    /// The space mirrors the repository.
    Import,
    /// The repository follows the space.
    Export,
    /// Each follows the other; what both changed is merged.
    Both,
}

impl GitSyncDirection {
    /// Tells whether the space follows the repository.
    #[must_use]
    pub const fn imports(self) -> bool {
        matches!(self, Self::Import | Self::Both)
    }

    /// Tells whether the repository follows the space.
    #[must_use]
    pub const fn exports(self) -> bool {
        matches!(self, Self::Export | Self::Both)
    }
}

/// How many minutes are between two looks at a repository.
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
    /// The shortest: hosts count how often they are asked.
    const SHORTEST: u16 = 5;
    /// The longest: a week.
    const LONGEST: u16 = 7 * 24 * 60;

    /// An interval; `None` when it is too short or too long.
    #[must_use]
    pub const fn new(minutes: u16) -> Option<Self> {
        if minutes >= Self::SHORTEST && minutes <= Self::LONGEST { Some(Self(minutes)) } else { None }
    }

    /// The minutes.
    #[must_use]
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl<'de> Deserialize<'de> for GitSyncInterval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (shortest, longest) = (Self::SHORTEST, Self::LONGEST);
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
        json_schema!({ "type": "integer", "minimum": Self::SHORTEST, "maximum": Self::LONGEST })
    }
}

/// How a space and a repository are kept in step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "properties": { "direction": { "type": "string", "enum": ["import"] } } },
    { "properties": { "ref": { "type": "string", "pattern": "^refs/heads/" } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct SetGitSync {
    /// The repository: https, http, git, or file where the platform allows it; may hold credentials. Without any, those
    /// that were given for the same address before are kept.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REPOSITORY)))]
    pub url: BoundedText<1, 2048>,
    /// The ref in full, like `refs/heads/main`; a branch unless the direction is `import`.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REF)))]
    pub reference: BoundedText<1, 1024>,
    /// Folder of the repository that holds the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<BoundedText<0, 1024>>,
    /// What follows what.
    pub direction: GitSyncDirection,
    /// Minutes between two looks at the repository, where no webhook tells of pushes; `null` for none.
    #[serde(default)]
    pub schedule: Option<GitSyncInterval>,
    /// The message of commits. `{change_request_number}` and `{change_request_subject}` stand for the change request
    /// that was merged last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub commit_message: Option<BoundedText<1, 4000>>,
    /// Who hosts the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<GitInfoProvider>,
    /// Address of the tree of files, for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_tree_url: Option<BoundedText<0, 2048>>,
    /// Address below which commits are shown.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_commit_url: Option<BoundedText<0, 2048>>,
}

/// How a space and a repository are kept in step, and how far they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncSetting {
    /// Always `git-sync`.
    pub object: GitSyncObject,
    /// What was set; its URL is without credentials.
    #[serde(flatten)]
    pub setting: SetGitSync,
    /// Whether there are credentials for the URL.
    pub has_credentials: bool,
    /// Where the host of the repository tells of pushes.
    pub webhook: GitSyncWebhook,
    /// How far space and repository are in step.
    pub state: GitSyncProgress,
    /// Who set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_by: Option<User>,
    /// When it was set.
    pub updated_at: Timestamp,
}

/// Where the host of a repository tells of pushes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncWebhook {
    /// The address that the host posts to.
    pub url: String,
    /// The secret that the host signs with, or sends as its token. Only in the answer that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// When the secret was made.
    pub secret_created_at: Timestamp,
}

/// How far a space and a repository are in step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncProgress {
    /// Whether what the space has now is in the repository, and came from there or went there.
    pub in_step: bool,
    /// The commit that both last had in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The last import into the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_import: Option<GitSyncEvent>,
    /// The last export to the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_export: Option<GitSyncEvent>,
    /// The newest job; absent when there was none for a long time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<GitSyncJob>,
    /// The change request with what could not be united. The space is not exported until it is merged or archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
}

/// An import or an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GitSyncEvent {
    /// When it was stored.
    pub at: Timestamp,
    /// The commit.
    pub commit: String,
    /// The revision with the content of the commit.
    pub revision: RevisionId,
}

/// The job that brings a space and a repository in step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSyncJob {
    /// Its id among the jobs of the space.
    pub id: JobId,
    /// Where it stands.
    pub state: JobState,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
