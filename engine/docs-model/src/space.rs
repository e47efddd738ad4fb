//! Spaces.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    CollectionId, DefaultLevel, Emoji, OrgId, Patch, RevisionId, Role, SpaceId, Text, Timestamp, Url,
    list::constants, text::given,
};

constants! {
    /// `space`.
    SpaceObject = "space",
}

/// Title of a space: at most 50 characters (SPEC 8).
pub type SpaceTitle = Text<0, 50>;

/// Who may see content (SPEC 2.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// Anyone, and search engines.
    Public,
    /// Anyone, not indexed.
    Unlisted,
    /// Anyone with a secret in the address.
    ShareLink,
    /// Anyone authenticated through a signed token.
    VisitorAuth,
    /// Anyone who may see the parent collection.
    InCollection,
    /// Authorized members.
    #[default]
    Private,
}

/// Whether live content may be edited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EditMode {
    /// Live content may be edited.
    Live,
    /// Only change requests change content.
    #[default]
    Locked,
}

/// A space: a container of pages and files (SPEC 2.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// Always `space`.
    pub object: SpaceObject,
    /// The space's id.
    pub id: SpaceId,
    /// Its title.
    pub title: SpaceTitle,
    /// Its emoji.
    pub emoji: Emoji,
    /// Who may see it.
    pub visibility: Visibility,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it, or its content, last changed.
    pub updated_at: Timestamp,
    /// When it was deleted; it can be restored for seven days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Whether live content may be edited.
    pub edit_mode: EditMode,
    /// Addresses of the space.
    pub urls: SpaceUrls,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The collection it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CollectionId>,
    /// The Git repository it is in sync with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_sync: Option<GitSync>,
    /// The active revision.
    pub revision: RevisionId,
    /// The level for members it is not granted to by name; `null` hides it from them.
    pub default_level: Option<Role>,
    /// Opened comments.
    pub comments: u64,
    /// Change requests.
    pub change_requests: u64,
    /// Change requests in review.
    pub change_requests_open: u64,
    /// Change requests in draft.
    pub change_requests_draft: u64,
    /// What the reader may do.
    pub permissions: SpacePermissions,
}

/// Addresses of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceUrls {
    /// The space in this API.
    pub location: String,
    /// The space for people.
    pub app: String,
    /// Where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// Where it is published to everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
    /// Its icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Url>,
}

/// What the reader may do with a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct SpacePermissions {
    pub view: bool,
    pub access: bool,
    pub admin: bool,
    pub view_invite_links: bool,
    pub edit: bool,
    pub trigger_git_sync: bool,
    pub comment: bool,
    pub merge: bool,
    pub review: bool,
}

/// Who hosts a Git repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum GitProvider {
    Github,
    Gitlab,
    GithubLegacy,
}

/// What a space is in sync with: the `gitSync` of a space and the answer of git info (SPEC 2.5, 2.11).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitSync {
    /// Name of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_name: Option<String>,
    /// Who hosts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installation_provider: Option<GitProvider>,
    /// The integration that keeps it in sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
    /// Its address, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// When it was last in sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// What a new space is made of; everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateSpace {
    /// At most 50 characters; `Untitled` when absent.
    pub title: Option<SpaceTitle>,
    /// At most 50 characters.
    pub emoji: Option<Emoji>,
    /// The collection to create it in.
    pub parent: Option<String>,
    /// Whether live content may be edited; `locked` when absent.
    pub edit_mode: Option<EditMode>,
}

/// A level as a request gives it: a role, or `inherit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelInput(pub DefaultLevel);

impl<'de> Deserialize<'de> for LevelInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "inherit" {
            return Ok(Self(DefaultLevel::Inherit));
        }
        let role = serde_json::from_value(serde_json::Value::String(text)).map_err(|_| {
            serde::de::Error::custom(
                "must be `read`, `comment`, `edit`, `review`, `create`, `admin`, `inherit` or null",
            )
        })?;
        Ok(Self(DefaultLevel::Role(role)))
    }
}

impl JsonSchema for LevelInput {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "LevelInput".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["read", "comment", "edit", "review", "create", "admin", "inherit"] })
    }
}

/// A change of a space; what is left out stays (SPEC 4.4).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdateSpace {
    /// `live` or `locked`.
    #[serde(default, deserialize_with = "given")]
    pub edit_mode: Option<EditMode>,
    /// At most 50 characters.
    #[serde(default, deserialize_with = "given")]
    pub title: Option<SpaceTitle>,
    /// A role, `inherit`, or `null` to hide the space from all but administrators and its creator.
    #[serde(default)]
    pub default_level: Patch<LevelInput>,
    /// An emoji, or `null` for the default one; not together with `icon`.
    #[serde(default)]
    pub emoji: Patch<Emoji>,
    /// The address of a picture, or `null`; not together with `emoji`.
    #[serde(default)]
    pub icon: Patch<Url>,
}

/// What is imported from where (SPEC 4.14).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportGitRepository {
    /// The repository: https, http, git, or file where the platform allows it; may hold credentials.
    pub url: Text<1, 2048>,
    /// The ref in full, like `refs/heads/main`.
    #[serde(rename = "ref")]
    pub reference: Text<1, 1024>,
    /// A name under which the clone may be kept.
    #[serde(default, rename = "repoCacheID", skip_serializing_if = "Option::is_none")]
    pub repo_cache_id: Option<Text<0, 512>>,
    /// Address of the tree of files, for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    pub repo_tree_url: Option<Text<0, 2048>>,
    /// Address below which commits are shown.
    #[serde(default, rename = "repoCommitURL", skip_serializing_if = "Option::is_none")]
    pub repo_commit_url: Option<Text<0, 2048>>,
    /// Folder of the repository that holds the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_project_directory: Option<Text<0, 1024>>,
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

/// What to show as a space's repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitInfoUpdate {
    /// Who hosts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<GitInfoProvider>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Text<0, 2048>>,
}

/// Who hosts a repository, as an import names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum GitInfoProvider {
    Github,
    Gitlab,
}
