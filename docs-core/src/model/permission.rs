//! Roles on content that were given by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Role, Space, Team, User};

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
