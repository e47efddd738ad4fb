//! Roles on content that were given by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Patch, Role, Space, Team, User, text::given};

/// The role of a user on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserPermission {
    /// The role.
    pub permission: Role,
    /// Who has it.
    pub user: User,
}

/// The role of a team on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamPermission {
    /// The role.
    pub permission: Role,
    /// Which team has it.
    pub team: Team,
}

/// The role of a member on a space (SPEC 2.10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberSpace {
    /// The role.
    pub permission: Role,
    /// The space.
    pub space: Space,
}

/// A role for users and teams on content. It names at least one of them.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Invite {
    /// The role; `null` takes the role away that they were given.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(with = "Patch<Role>")]
    pub role: Option<Role>,
    /// Members of the organization, by the ids or e-mail addresses of their users.
    #[serde(default, deserialize_with = "given")]
    #[schemars(length(min = 1))]
    pub users: Option<Vec<String>>,
    /// Teams of the organization, by id.
    #[serde(default, deserialize_with = "given")]
    #[schemars(length(min = 1))]
    pub teams: Option<Vec<String>>,
}

/// Another role for somebody who was given one on content; what is left out stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct UpdatePermission {
    /// The role; `null` takes it away.
    #[serde(default)]
    pub role: Patch<Role>,
}
