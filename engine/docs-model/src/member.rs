//! Members of organizations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Patch, Role, Timestamp, User, UserId, list::constants};

constants! {
    /// `member`.
    MemberObject = "member",
}

/// A member of an organization (SPEC 2.10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Always `member`.
    pub object: MemberObject,
    /// The id of the user, by which the member is found in the organization.
    pub id: UserId,
    /// What the member may do; `null` for a guest.
    pub role: Option<Role>,
    /// Who it is.
    pub user: User,
    /// The member cannot sign in.
    pub disabled: bool,
    /// When the member joined.
    pub joined_at: Timestamp,
    /// When the member was last there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// The member signs in through the organization's single sign-on.
    pub sso: bool,
    /// Spaces that were granted to the member by name.
    pub spaces: u64,
    /// Teams that the member is in.
    pub teams: u64,
}

/// What a list of members is narrowed to: a role, or guests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum MemberRole {
    Admin,
    Create,
    Review,
    Edit,
    Comment,
    Read,
    Guest,
}

impl MemberRole {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Create => "create",
            Self::Review => "review",
            Self::Edit => "edit",
            Self::Comment => "comment",
            Self::Read => "read",
            Self::Guest => "guest",
        }
    }
}

impl From<Option<Role>> for MemberRole {
    fn from(role: Option<Role>) -> Self {
        match role {
            Some(Role::Admin) => Self::Admin,
            Some(Role::Create) => Self::Create,
            Some(Role::Review) => Self::Review,
            Some(Role::Edit) => Self::Edit,
            Some(Role::Comment) => Self::Comment,
            Some(Role::Read) => Self::Read,
            None => Self::Guest,
        }
    }
}

/// What members are listed by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MemberSort {
    /// The time of joining.
    #[default]
    JoinedAt,
    /// The time of the last visit; members who were never there are left out.
    LastSeenAt,
}

/// A change of a member; what is left out stays (SPEC 4.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct UpdateMember {
    /// A role, or `null` for guest.
    #[serde(default)]
    pub role: Patch<Role>,
}

/// What a member is told who tells that they are there (SPEC 4.10).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// A signed token (RFC 7519) by which the organization's sites know the member for an hour; absent for guests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_visitor_claims: Option<String>,
}
