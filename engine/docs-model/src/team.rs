//! Teams and their members.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Member, TeamId, Timestamp, list::constants, patch::deserialize_non_null};

constants! {
    /// `team`.
    TeamObject = "team",
}

/// Title of a team.
pub type TeamTitle = BoundedText<1, 64>;

/// The role of a member in a team.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TeamRole {
    /// A member of the team.
    #[default]
    Member,
    /// A member who can also add and remove members.
    Owner,
}

/// A team: a group of members that can be granted roles on content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Team {
    /// Always `team`.
    pub object: TeamObject,
    pub id: TeamId,
    /// The title. It need not be unique.
    pub title: TeamTitle,
    /// The number of members.
    pub members: u64,
    /// The number of spaces on which the team has a role.
    pub spaces: u64,
    pub created_at: Timestamp,
    /// The caller's permissions for the team.
    pub permissions: TeamPermissions,
}

/// The caller's permissions for a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamPermissions {
    /// The caller can add and remove members.
    pub admin: bool,
    /// The caller can see the team.
    pub view: bool,
}

/// A team membership, as returned with the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamMember {
    /// The member.
    pub organization: Member,
    /// The role in the team.
    pub team: TeamMembership,
    /// The caller's permissions for the membership.
    pub permissions: TeamMemberPermissions,
}

/// The role of a member in a team, as part of other responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamMembership {
    pub role: TeamRole,
}

/// The caller's permissions for a team membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamMemberPermissions {
    /// The caller can see the membership.
    pub view: bool,
}

/// A team membership, as returned with the member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberTeam {
    pub team: Team,
    /// The role in the team.
    pub member: TeamMembership,
}

/// A new team.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateTeam {
    pub title: TeamTitle,
    /// The members, by user id.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub members: Option<Vec<String>>,
}

/// An update of a team.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateTeam {
    pub title: TeamTitle,
}

/// Changes to the members of a team. A member who is both added and removed is removed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateTeamMembers {
    /// Members to add, by user id or e-mail address. Existing members keep their role.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub add: Option<Vec<String>>,
    /// Roles of members to add or change, by user id.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub memberships: Option<BTreeMap<String, TeamMembership>>,
    /// Members to remove, by user id or e-mail address. Users who do not belong to the team are ignored.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub remove: Option<Vec<String>>,
}

/// A team membership to create or update.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PutTeamMember {
    /// The role. By default, a new member becomes `member` and an existing member keeps their role.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub role: Option<TeamRole>,
}
