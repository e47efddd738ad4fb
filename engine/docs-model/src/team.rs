//! Teams.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Member, TeamId, Timestamp, list::constants, patch::given};

constants! {
    /// `team`.
    TeamObject = "team",
}

/// Title of a team.
pub type TeamTitle = BoundedText<1, 64>;

/// What a member may do with a team.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TeamRole {
    /// Is in it.
    #[default]
    Member,
    /// Adds and removes members.
    Owner,
}

/// A team: members who are granted content together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Team {
    /// Always `team`.
    pub object: TeamObject,
    /// The id.
    pub id: TeamId,
    /// The title; several teams may have the same.
    pub title: TeamTitle,
    /// How many members it has.
    pub members: u64,
    /// How many spaces were granted to it.
    pub spaces: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// What the reader may do.
    pub permissions: TeamPermissions,
}

/// What the reader may do with a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamPermissions {
    /// Add and remove members.
    pub admin: bool,
    /// See it.
    pub view: bool,
}

/// A place in a team, as the team shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamMember {
    /// Who it is.
    pub organization: Member,
    /// The place.
    pub team: TeamMembership,
    /// What the reader may do.
    pub permissions: TeamMemberPermissions,
}

/// What a member may do with a team, as a part of other answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamMembership {
    /// The role.
    pub role: TeamRole,
}

/// What the reader may do with a place in a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TeamMemberPermissions {
    /// See it.
    pub view: bool,
}

/// A place in a team, as the member shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberTeam {
    /// The team.
    pub team: Team,
    /// The place.
    pub member: TeamMembership,
}

/// What a new team is made of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateTeam {
    /// The title.
    pub title: TeamTitle,
    /// Members of the organization, by the ids of their users.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub members: Option<Vec<String>>,
}

/// A change of a team.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateTeam {
    /// The title.
    pub title: TeamTitle,
}

/// A change of who is in a team. Whoever is added and removed by one request is removed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateTeamMembers {
    /// Members to add, by the ids or e-mail addresses of their users; who is in the team keeps the role.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub add: Option<Vec<String>>,
    /// Members to add, or to give another role, by the ids of their users.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub memberships: Option<BTreeMap<String, TeamMembership>>,
    /// Members to remove, by the ids or e-mail addresses of their users; who is not in the team is no error.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub remove: Option<Vec<String>>,
}

/// A place in a team to make or to change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PutTeamMember {
    /// The role; when absent, a new member is no owner, and who is in the team keeps the role.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub role: Option<TeamRole>,
}
