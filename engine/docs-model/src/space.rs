//! Spaces.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as SerdeError};

use super::{
    BoundedText, CollectionId, DefaultLevel, Emoji, IntegrationName, OrgId, Patch, RevisionId, Role, SpaceId,
    Timestamp, Url, list::constants, patch::given,
};

constants! {
    /// `space`.
    SpaceObject = "space",
    /// `space`: the only type of spaces there is.
    SpaceType = "space",
}

/// Title of a space.
pub type SpaceTitle = BoundedText<0, 50>;

/// Who may see content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EditMode {
    /// Live content may be edited.
    Live,
    /// Only change requests change content.
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
    /// The space's id.
    pub id: SpaceId,
    /// Always `space`; published clients demand it.
    #[serde(rename = "type")]
    pub kind: SpaceType,
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
    /// When it was deleted; it can be restored for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Until when a deleted space can be restored; then it is removed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restorable_until: Option<Timestamp>,
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
    /// How visitors prove who they are, where its site is for authenticated visitors; not for visitors themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visitor_auth: Option<VisitorAuth>,
    /// The active revision.
    pub revision: RevisionId,
    /// The level that is set for members it is not granted to by name: a role, or `inherit` for what the collection or
    /// the organization gives them; `null` hides it from them. Sent back, it changes nothing.
    pub default_level: Option<Level>,
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

/// How visitors of a space prove who they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "backend", rename_all = "lowercase")]
pub enum VisitorAuth {
    /// With tokens that a program of the site's owner signs.
    Custom,
    /// With tokens that an integration signs.
    Integration {
        /// The name of the integration.
        integration: IntegrationName,
    },
}

/// Addresses of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum GitProvider {
    Github,
    Gitlab,
    GithubLegacy,
}

/// What a space is in sync with: the `gitSync` of a space and the answer of git info.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// Where people see the tree of its files, as the last import or export said: what edit links are made of.
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    pub repo_tree_url: Option<String>,
    /// When it was last in sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// What a new space is made of; everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateSpace {
    /// The title; `Untitled` when absent.
    pub title: Option<SpaceTitle>,
    /// The emoji before the title.
    pub emoji: Option<Emoji>,
    /// The collection to create it in.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
    /// Whether live content may be edited; `locked` when absent.
    pub edit_mode: Option<EditMode>,
}

/// The level of content as requests and answers say it, where `null` stands for [`DefaultLevel::Nobody`].
///
/// ```
/// use docs_model::{DefaultLevel, Level, Role};
/// assert_eq!(DefaultLevel::Nobody.stated(), None);
/// assert_eq!(serde_json::to_value(DefaultLevel::Inherit.stated()).unwrap(), "inherit");
/// assert_eq!(serde_json::from_str::<Level>("\"read\"").unwrap(), Level::Role(Role::Read));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// What the collection gives, else the role in the organization.
    Inherit,
    /// This role.
    Role(Role),
}

impl Level {
    const INHERIT: &str = "inherit";

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inherit => Self::INHERIT,
            Self::Role(role) => role.as_str(),
        }
    }

    /// The names on the wire.
    fn names() -> impl Iterator<Item = &'static str> {
        Role::ALL.iter().map(|role| role.as_str()).chain([Self::INHERIT])
    }
}

impl DefaultLevel {
    /// The level as it is said on the wire; `None` stands for `null`.
    #[must_use]
    pub const fn stated(self) -> Option<Level> {
        match self {
            Self::Inherit => Some(Level::Inherit),
            Self::Nobody => None,
            Self::Role(role) => Some(Level::Role(role)),
        }
    }

    /// The level after a change of it.
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

/// A change of a space; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::not_both("emoji", "icon"))))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSpace {
    /// `live` or `locked`.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub edit_mode: Option<EditMode>,
    /// The title.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SpaceTitle>,
    /// A role, `inherit`, or `null` to hide the space from all but administrators and its creator.
    #[serde(default)]
    pub default_level: Patch<Level>,
    /// An emoji, or `null` for the default one; not together with `icon`, whose place another emoji than the one that
    /// is shown takes.
    #[serde(default)]
    pub emoji: Patch<Emoji>,
    /// The address of a picture, or `null`; not together with `emoji`.
    #[serde(default)]
    pub icon: Patch<Url>,
}
