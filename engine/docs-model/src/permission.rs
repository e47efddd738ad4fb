//! Roles granted on content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CollectionId, Patch, Role, Space, SpaceId, Team, TeamId, User, UserId, patch::deserialize_non_null,
};

/// Content on which roles can be granted: a collection or a space.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentTarget {
    /// A collection.
    Collection(CollectionId),
    /// A space.
    Space(SpaceId),
}

impl ContentTarget {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Collection(id) => id.as_str(),
            Self::Space(id) => id.as_str(),
        }
    }
}

/// The user or team that receives a role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grantee {
    /// A member of the organization.
    User(UserId),
    /// All members of a team.
    Team(TeamId),
}

/// The role of a user on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UserPermission {
    pub permission: Role,
    pub user: User,
}

/// The role of a team on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamPermission {
    pub permission: Role,
    pub team: Team,
}

/// The role of a member on a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberSpace {
    pub permission: Role,
    pub space: Space,
}

/// A request to grant a role on content to at least one user or team.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::one_of_required(&[("users", "array"), ("teams", "array")]))))]
pub struct Invite {
    /// The role; `null` revokes a granted role.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "schema", schemars(with = "Patch<Role>"))]
    pub role: Option<Role>,
    /// Members of the organization, by user id or e-mail address.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub users: Option<Vec<String>>,
    /// Teams of the organization, by id.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub teams: Option<Vec<String>>,
}

/// A partial update of a granted role. Omitted fields are unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdatePermission {
    /// The role; `null` revokes the granted role.
    #[serde(default)]
    pub role: Patch<Role>,
}
