//! Spaces and their access levels.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as SerdeError};

use super::{
    ApplySpaceTemplate, BoundedText, CollectionId, DefaultLevel, Emoji, IntegrationName, OrgId, Patch,
    RevisionId, Role, SpaceId, SpaceMergeRules, Timestamp, TranslationLanguage, Unsupported, Url,
    list::constants, patch::deserialize_non_null, unsupported::reject_computed_source,
};

constants! {
    /// `space`.
    SpaceObject = "space",
}

/// The title of a space.
pub type SpaceTitle = BoundedText<0, 50>;

/// The audience of content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Visibility {
    /// Anyone. Search engines may index the content.
    Public,
    /// Anyone. Search engines must not index the content.
    Unlisted,
    /// Anyone who has a secret URL.
    ShareLink,
    /// Visitors who are authenticated by a signed token.
    VisitorAuth,
    /// Anyone who can see the parent collection.
    InCollection,
    /// Members with permission.
    #[default]
    Private,
}

/// Controls how live content can be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EditMode {
    /// Live content can be edited directly.
    Live,
    /// Content can only be changed through change requests.
    #[default]
    Locked,
}

/// A space: a container of pages and files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Space {
    /// Always `space`.
    pub object: SpaceObject,
    pub id: SpaceId,
    pub title: SpaceTitle,
    pub emoji: Emoji,
    pub visibility: Visibility,
    pub created_at: Timestamp,
    /// Time of the last change to the space or its content.
    pub updated_at: Timestamp,
    /// Time of deletion. A deleted space can be restored until `restorableUntil`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// The end of the period in which a deleted space can be restored. After it, the space is removed permanently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restorable_until: Option<Timestamp>,
    pub edit_mode: EditMode,
    pub urls: SpaceUrls,
    /// The organization that owns the space.
    pub organization: OrgId,
    /// The parent collection; absent at the top level of the organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CollectionId>,
    /// The Git repository with which the space is synchronized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_sync: Option<GitSync>,
    /// The visitor authentication of the space's site, if required. Not returned to visitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visitor_auth: Option<VisitorAuth>,
    /// The current revision.
    pub revision: RevisionId,
    /// The language of the content, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<TranslationLanguage>,
    /// The rules for merging change requests. Returned as `inherit` to visitors.
    #[serde(default)]
    pub merge_rules: SpaceMergeRules,
    /// The access level of members without a grant of their own: a role, `inherit` for the level of the parent
    /// collection or organization, or `null` for no access. The returned value can be sent back without effect.
    pub default_level: Option<Level>,
    /// The number of open comments.
    pub comments: u64,
    /// The number of change requests.
    pub change_requests: u64,
    /// The number of change requests in review.
    pub change_requests_open: u64,
    /// The number of change requests in draft.
    pub change_requests_draft: u64,
    /// The caller's permissions for the space.
    pub permissions: SpacePermissions,
}

/// The visitor authentication of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "backend", rename_all = "lowercase")]
pub enum VisitorAuth {
    /// Tokens signed by a service run by the site owner.
    Custom,
    /// Tokens signed by an integration.
    Integration {
        /// The name of the integration.
        integration: IntegrationName,
    },
}

/// URLs of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpaceUrls {
    /// The space in this API.
    pub location: String,
    /// The space in the web application.
    pub app: String,
    /// The published URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The published URL, if it is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Url>,
}

/// The caller's permissions for a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
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
    /// Always `false`, because the platform has no integrations.
    pub install_integration: bool,
}

/// The hosting service of a Git repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GitProvider {
    Github,
    Gitlab,
    GithubLegacy,
}

/// The state of the synchronization between a space and its repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GitInstallationStatus {
    /// The space is kept in sync with the repository.
    Active,
    /// The space was imported from the repository or exported to it. Its Git Sync is not set up.
    Pending,
}

/// The Git repository of a space, as returned with the space and by the Git information operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSync {
    /// The id of the Git Sync installation, which is the id of the space.
    pub installation_id: SpaceId,
    pub installation_status: GitInstallationStatus,
    /// The hosting service as stated by the last import or export, or else derived from the host of the repository:
    /// `github` for github.com, `gitlab` for all others, because published clients know no other services.
    pub installation_provider: GitProvider,
    /// The name of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_name: Option<String>,
    /// The integration that synchronizes the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<String>,
    /// The URL of the repository, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Base URL of the repository's files on the web, as set by the last import or export. Used for edit links.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    pub repo_tree_url: Option<String>,
    /// Time of the last synchronization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// A new space. All fields are optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateSpace {
    /// The title; `Untitled` by default.
    pub title: Option<SpaceTitle>,
    /// The emoji before the title.
    pub emoji: Option<Emoji>,
    /// The id of the parent collection; the top level of the organization by default.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
    /// Controls how live content can be changed; `locked` by default.
    pub edit_mode: Option<EditMode>,
    /// The language of the content.
    pub language: Option<TranslationLanguage>,
    /// The template for the content. Without one, the space is empty.
    pub template: Option<ApplySpaceTemplate>,
    /// Not supported.
    #[serde(default, deserialize_with = "reject_computed_source")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub computed_source: Unsupported,
}

/// An access level in requests and responses, where `null` represents [`DefaultLevel::Nobody`].
///
/// ```
/// use docs_model::{DefaultLevel, Level, Role};
/// assert_eq!(DefaultLevel::Nobody.stated(), None);
/// assert_eq!(serde_json::to_value(DefaultLevel::Inherit.stated()).unwrap(), "inherit");
/// assert_eq!(serde_json::from_str::<Level>("\"read\"").unwrap(), Level::Role(Role::Read));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// The level of the parent collection, or the organization role at the top level.
    Inherit,
    /// A fixed role.
    Role(Role),
}

impl Level {
    const INHERIT: &str = "inherit";

    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inherit => Self::INHERIT,
            Self::Role(role) => role.as_str(),
        }
    }

    /// Returns all values of the wire format.
    fn names() -> impl Iterator<Item = &'static str> {
        Role::ALL.iter().map(|role| role.as_str()).chain([Self::INHERIT])
    }
}

impl DefaultLevel {
    /// Converts the level to its wire representation, where `None` becomes `null`.
    #[must_use]
    pub const fn stated(self) -> Option<Level> {
        match self {
            Self::Inherit => Some(Level::Inherit),
            Self::Nobody => None,
            Self::Role(role) => Some(Level::Role(role)),
        }
    }

    /// Applies a patch to the level.
    #[must_use]
    pub const fn patched(self, change: &Patch<Level>) -> Self {
        match change {
            Patch::Keep => self,
            Patch::Clear => Self::Nobody,
            Patch::Set(Level::Inherit) => Self::Inherit,
            Patch::Set(Level::Role(role)) => Self::Role(*role),
        }
    }
}

impl From<DefaultLevel> for Patch<Level> {
    fn from(level: DefaultLevel) -> Self {
        level.stated().map_or(Self::Clear, Self::Set)
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == Self::INHERIT {
            return Ok(Self::Inherit);
        }
        text.parse().map(Self::Role).map_err(|_| {
            let names: Vec<String> = Self::names().map(|name| format!("`{name}`")).collect();
            D::Error::custom(format_args!("must be {} or null", names.join(", ")))
        })
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Level {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::names().collect::<Vec<_>>() })
    }
}

/// A partial update of a space. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::not_both("emoji", "icon"))))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSpace {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub edit_mode: Option<EditMode>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SpaceTitle>,
    /// The default access level: a role, `inherit`, or `null` to hide the space from everyone except administrators and
    /// its creator.
    #[serde(default)]
    pub default_level: Patch<Level>,
    /// An emoji, or `null` for the default emoji; cannot be combined with `icon`. Setting an emoji that differs from
    /// the current one removes the icon.
    #[serde(default)]
    pub emoji: Patch<Emoji>,
    /// The URL of an image; `null` removes it. Cannot be combined with `emoji`.
    #[serde(default)]
    pub icon: Patch<Url>,
    /// The language of the content.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub language: Option<TranslationLanguage>,
    /// The rules for merging change requests.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub merge_rules: Option<SpaceMergeRules>,
}
