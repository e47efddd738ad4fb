//! What is imported from Git repositories, and exported to them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::url::WEB_URL_OR_EMPTY;
use super::{BoundedText, Timestamp};

/// The URL of a repository.
#[cfg(feature = "schema")]
pub(crate) const REPOSITORY: &str = concat!(
    r"^([Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#][^\s\u0000?#]*",
    r"|[Gg][Ii][Tt]://[^\s/\\?#@]+/[^\s\u0000?#]+",
    r"|[Ff][Ii][Ll][Ee]://[^\s\u0000?#]+)$"
);

/// The full name of a ref, as [`is_full_ref`] reads it.
#[cfg(feature = "schema")]
pub(crate) const REF: &str =
    r"^(?!.*(/\.|\.\.|@\{|\.lock(/|$)|\.$))refs(/[^\u0000-\u0020\u007f~^:?*\[\\/]+)+$";

/// The full name of a branch.
#[cfg(feature = "schema")]
const BRANCH: &str = r"^(?!.*(/\.|\.\.|@\{|\.lock(/|$)|\.$))refs/heads(/[^\u0000-\u0020\u007f~^:?*\[\\/]+)+$";

/// Tells whether text is the full name of a ref, by the rules of `git check-ref-format`.
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

/// What is imported from where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportGitRepository {
    /// The repository: https, http, git, or file where the platform allows it; may hold credentials.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REPOSITORY)))]
    pub url: BoundedText<1, 2048>,
    /// The ref in full, like `refs/heads/main`.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REF)))]
    pub reference: BoundedText<1, 1024>,
    /// A name under which the clone may be kept.
    #[serde(default, rename = "repoCacheID", skip_serializing_if = "Option::is_none")]
    pub repo_cache_id: Option<BoundedText<0, 512>>,
    /// Address of the tree of files, for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_tree_url: Option<BoundedText<0, 2048>>,
    /// Address below which commits are shown.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_commit_url: Option<BoundedText<0, 2048>>,
    /// Folder of the repository that holds the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<BoundedText<0, 1024>>,
    /// When the event behind the import happened: orders imports and exports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Import even what was imported before, and ignore the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Make a revision without changing the space's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standalone: Option<bool>,
    /// What to show as the space's repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_info: Option<GitInfoUpdate>,
}

/// What is exported where to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExportGitRepository {
    /// The repository: https, http, git, or file where the platform allows it; may hold credentials.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = REPOSITORY)))]
    pub url: BoundedText<1, 2048>,
    /// The branch in full, like `refs/heads/main`; it is made where there is none.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = BRANCH)))]
    pub reference: BoundedText<1, 1024>,
    /// The message of the commit.
    pub commit_message: BoundedText<1, 4000>,
    /// A name under which the clone may be kept.
    #[serde(default, rename = "repoCacheID", skip_serializing_if = "Option::is_none")]
    pub repo_cache_id: Option<BoundedText<0, 512>>,
    /// Address of the tree of files, for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_tree_url: Option<BoundedText<0, 2048>>,
    /// Address below which commits are shown.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub repo_commit_url: Option<BoundedText<0, 2048>>,
    /// Folder of the repository that holds the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<BoundedText<0, 1024>>,
    /// When the event behind the export happened: orders imports and exports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Export even what is in sync already, and ignore the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// What to show as the space's repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_info: Option<GitInfoUpdate>,
}

/// What to show as a space's repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GitInfoUpdate {
    /// Who hosts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<GitInfoProvider>,
    /// Its address on the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = WEB_URL_OR_EMPTY)))]
    pub url: Option<BoundedText<0, 2048>>,
}

/// Who hosts a repository, as imports and exports name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum GitInfoProvider {
    Github,
    Gitlab,
}
