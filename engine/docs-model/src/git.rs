//! Requests to import from and export to Git repositories.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::url::WEB_URL_OR_EMPTY;
use super::{BoundedText, Timestamp};

/// The pattern of a repository URL.
#[cfg(feature = "schema")]
pub(crate) const REPOSITORY: &str =
    concat!(r"^([Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#][^\s\u0000?#]*", r"|[Ff][Ii][Ll][Ee]://[^\s\u0000?#]+)$");

/// The pattern of a full ref name, equivalent to [`is_full_ref`].
#[cfg(feature = "schema")]
pub(crate) const REF: &str =
    r"^(?!.*(/\.|\.\.|@\{|\.lock(/|$)|\.$))refs(/[^\u0000-\u0020\u007f~^:?*\[\\/]+)+$";

/// The pattern of a full branch name, equivalent to [`is_full_branch`].
#[cfg(feature = "schema")]
const BRANCH: &str = r"^(?!.*(/\.|\.\.|@\{|\.lock(/|$)|\.$))refs/heads(/[^\u0000-\u0020\u007f~^:?*\[\\/]+)+$";

/// Returns `true` if the string is a full ref name according to `git check-ref-format`.
///
/// ```
/// use docs_model::is_full_ref;
/// assert!(is_full_ref("refs/heads/feature/x-1"));
/// for wrong in ["main", "refs/", "refs/heads/", "refs/heads/a..b", "refs/heads/.a", "refs/heads/a.lock", "refs/a b"] {
///     assert!(!is_full_ref(wrong), "{wrong}");
/// }
/// ```
#[must_use]
pub fn is_full_ref(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("refs/") else { return false };
    let is_component = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock") && !part.contains("..")
    };
    let is_refused = |c: char| c <= ' ' || matches!(c, '\u{7f}' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    !rest.ends_with('.')
        && !rest.contains("@{")
        && !rest.contains(is_refused)
        && rest.split('/').all(is_component)
}

/// Returns `true` if the string is the full name of a branch.
///
/// ```
/// use docs_model::is_full_branch;
/// assert!(is_full_branch("refs/heads/main"));
/// assert!(!is_full_branch("refs/tags/v1"));
/// ```
#[must_use]
pub fn is_full_branch(text: &str) -> bool {
    text.starts_with("refs/heads/") && is_full_ref(text)
}

/// An import from a Git repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportGitRepository {
    /// The URL of the repository. The scheme is https, http or, if the platform allows it, file. It may contain
    /// credentials.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REPOSITORY)))]
    pub url: BoundedText<1, 2048>,
    /// The full name of the ref, for example `refs/heads/main`.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REF)))]
    pub reference: BoundedText<1, 1024>,
    /// The name of a cached clone.
    #[serde(default, rename = "repoCacheID", skip_serializing_if = "Option::is_none")]
    pub repo_cache_id: Option<BoundedText<0, 512>>,
    /// Base URL of the repository's files on the web, used for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_tree_url: Option<BoundedText<0, 2048>>,
    /// Base URL of commit pages on the host.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_commit_url: Option<BoundedText<0, 2048>>,
    /// The directory in the repository that contains the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<BoundedText<0, 1024>>,
    /// Time of the event that triggered the import. Imports and exports are ordered by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// `true` imports the commit even if it was already imported or is out of order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// `true` creates a revision without changing the content of the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standalone: Option<bool>,
    /// The repository information displayed for the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_info: Option<GitInfoUpdate>,
}

/// An export to a Git repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExportGitRepository {
    /// The URL of the repository. The scheme is https, http or, if the platform allows it, file. It may contain
    /// credentials.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REPOSITORY)))]
    pub url: BoundedText<1, 2048>,
    /// The full name of the branch, for example `refs/heads/main`. A missing branch is created.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = BRANCH)))]
    pub reference: BoundedText<1, 1024>,
    pub commit_message: BoundedText<1, 4000>,
    /// The name of a cached clone.
    #[serde(default, rename = "repoCacheID", skip_serializing_if = "Option::is_none")]
    pub repo_cache_id: Option<BoundedText<0, 512>>,
    /// Base URL of the repository's files on the web, used for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_tree_url: Option<BoundedText<0, 2048>>,
    /// Base URL of commit pages on the host.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_commit_url: Option<BoundedText<0, 2048>>,
    /// The directory in the repository that contains the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<BoundedText<0, 1024>>,
    /// Time of the event that triggered the export. Imports and exports are ordered by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// `true` exports even if the repository is up to date or the export is out of order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// The repository information displayed for the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_info: Option<GitInfoUpdate>,
}

/// The repository information displayed for a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GitInfoUpdate {
    /// The hosting service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<GitInfoProvider>,
    /// The URL of the repository's web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub url: Option<BoundedText<0, 2048>>,
}

/// The hosting service of a repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GitInfoProvider {
    Github,
    Gitlab,
}
