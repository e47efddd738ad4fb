//! Roles on content that were given by name.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CollectionId, Patch, Role, Space, SpaceId, Team, TeamId, User, UserId, patch::given};

/// Content that roles are given on, and that lies in a collection or in an organization itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentTarget {
    /// A collection.
    Collection(CollectionId),
    /// A space.
    Space(SpaceId),
}

impl ContentTarget {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Collection(id) => id.as_str(),
            Self::Space(id) => id.as_str(),
        }
    }
}

/// The user or the team that a role is given to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grantee {
    /// A member.
    User(UserId),
    /// The members of a team.
    Team(TeamId),
}

/// The role of a user on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UserPermission {
    /// The role.
    pub permission: Role,
    /// Who has it.
    pub user: User,
}

/// The role of a team on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamPermission {
    /// The role.
    pub permission: Role,
    /// Which team has it.
    pub team: Team,
}

/// The role of a member on a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberSpace {
    /// The role.
    pub permission: Role,
    /// The space.
    pub space: Space,
}

/// A role for users and teams on content. It names at least one of them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::given(&[("users", "array"), ("teams", "array")]))))]
pub struct Invite {
    /// The role; `null` takes the role away that they were given.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "schema", schemars(with = "Patch<Role>"))]
    pub role: Option<Role>,
    /// Members of the organization, by the ids or e-mail addresses of their users.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub users: Option<Vec<String>>,
    /// Teams of the organization, by id.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub teams: Option<Vec<String>>,
}

/// Another role for somebody who was given one on content; what is left out stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdatePermission {
    /// The role; `null` takes it away.
    #[serde(default)]
    pub role: Patch<Role>,
}
