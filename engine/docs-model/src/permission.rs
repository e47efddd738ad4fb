//! Roles granted on content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CollectionId, OrgId, Patch, Role, SiteId, Space, SpaceId, Team, TeamId, Timestamp, User, UserId,
    list::constants, patch::deserialize_non_null,
};

constants! {
    /// `organization`.
    PermissionFromOrganization = "organization",
    /// `site`.
    PermissionFromSite = "site",
}

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

/// A resource on which roles can be granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionTarget {
    /// A collection.
    Collection(CollectionId),
    /// A space.
    Space(SpaceId),
    /// A site.
    Site(SiteId),
}

impl PermissionTarget {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Collection(id) => id.as_str(),
            Self::Space(id) => id.as_str(),
            Self::Site(id) => id.as_str(),
        }
    }
}

impl From<ContentTarget> for PermissionTarget {
    fn from(content: ContentTarget) -> Self {
        match content {
            ContentTarget::Collection(id) => Self::Collection(id),
            ContentTarget::Space(id) => Self::Space(id),
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

/// The role of a member on a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UserSitePermission {
    pub permission: Role,
    pub user: User,
    /// The source of the role.
    pub origin: SitePermissionOrigin,
    /// `true` if the member is disabled. Members cannot be disabled, so this is always `false`.
    pub disabled: bool,
    /// The time of the member's latest visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
}

/// The source of a member's role on a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum SitePermissionOrigin {
    /// The role in the organization.
    Organization {
        /// Always `organization`.
        #[serde(rename = "type")]
        kind: PermissionFromOrganization,
        organization: OrgId,
    },
    /// A role granted on the site, or its default level.
    Site {
        /// Always `site`.
        #[serde(rename = "type")]
        kind: PermissionFromSite,
        site: SiteId,
        reason: SitePermissionReason,
        /// The team whose role applies.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team: Option<TeamId>,
    },
}

/// The reason for a role that a site itself defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SitePermissionReason {
    /// The role granted to the member directly.
    Member,
    /// The highest role granted to one of the member's teams.
    Team,
    /// The default level of the site.
    Default,
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
